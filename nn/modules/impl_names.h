#pragma once

/** \file libtorch's second name of each module: there a holder's contents, here the same class. */

#include "nn/modules/activation.h"
#include "nn/modules/attention.h"
#include "nn/modules/basic.h"
#include "nn/modules/container.h"
#include "nn/modules/conv.h"
#include "nn/modules/distance.h"
#include "nn/modules/embedding.h"
#include "nn/modules/linear.h"
#include "nn/modules/loss.h"
#include "nn/modules/norm.h"
#include "nn/modules/pool.h"
#include "nn/modules/resample.h"
#include "nn/modules/rnn.h"
#include "nn/modules/transformer.h"

namespace ocl::nn {

#define IMPL(Class) using Class##Impl = Class;
#define OF_1_TO_3(Class) IMPL(Class##1d) IMPL(Class##2d) IMPL(Class##3d)
IMPL(Sequential)
IMPL(ModuleList)
IMPL(ModuleDict)
IMPL(ParameterList)
IMPL(ParameterDict)
IMPL(Functional)
IMPL(Identity)
IMPL(Flatten)
IMPL(Unflatten)
IMPL(Dropout)
IMPL(Dropout2d)
IMPL(Dropout3d)
IMPL(AlphaDropout)
IMPL(FeatureAlphaDropout)
IMPL(Linear)
IMPL(Bilinear)
IMPL(Embedding)
IMPL(EmbeddingBag)
IMPL(PairwiseDistance)
IMPL(CosineSimilarity)
IMPL(MultiheadAttention)
IMPL(TransformerEncoderLayer)
IMPL(TransformerDecoderLayer)
IMPL(TransformerEncoder)
IMPL(TransformerDecoder)
IMPL(Transformer)
IMPL(RNN)
IMPL(GRU)
IMPL(LSTM)
IMPL(RNNCell)
IMPL(GRUCell)
IMPL(LSTMCell)
IMPL(Softplus)
IMPL(Hardtanh)
IMPL(Threshold)
IMPL(RReLU)
IMPL(Softmax2d)
IMPL(GELU)
IMPL(PReLU)
IMPL(GLU)
IMPL(Softmax)
IMPL(LogSoftmax)
IMPL(Softmin)
IMPL(CrossEntropyLoss)
IMPL(NLLLoss)
IMPL(BCELoss)
IMPL(BCEWithLogitsLoss)
IMPL(MultiMarginLoss)
IMPL(MultiLabelSoftMarginLoss)
IMPL(TripletMarginLoss)
IMPL(TripletMarginWithDistanceLoss)
IMPL(MSELoss)
IMPL(L1Loss)
IMPL(SmoothL1Loss)
IMPL(HuberLoss)
IMPL(KLDivLoss)
IMPL(PoissonNLLLoss)
IMPL(HingeEmbeddingLoss)
IMPL(SoftMarginLoss)
IMPL(MultiLabelMarginLoss)
IMPL(MarginRankingLoss)
IMPL(CosineEmbeddingLoss)
IMPL(LayerNorm)
IMPL(GroupNorm)
IMPL(LocalResponseNorm)
IMPL(CrossMapLRN2d)
IMPL(Upsample)
IMPL(Unfold)
IMPL(Fold)
IMPL(PixelShuffle)
IMPL(PixelUnshuffle)
OF_1_TO_3(Conv)
OF_1_TO_3(ConvTranspose)
OF_1_TO_3(BatchNorm)
OF_1_TO_3(InstanceNorm)
OF_1_TO_3(AvgPool)
OF_1_TO_3(AdaptiveAvgPool)
OF_1_TO_3(MaxPool)
OF_1_TO_3(AdaptiveMaxPool)
OF_1_TO_3(LPPool)
OF_1_TO_3(ConstantPad)

#define ACTIVATION(Class, ...) IMPL(Class)
#define ACTIVATION_INPLACE(Class, ...) IMPL(Class)
#define ACTIVATION_P(Class, ...) IMPL(Class)
#define ACTIVATION_P_INPLACE(Class, ...) IMPL(Class)
#include "nn/modules/activations.def"
#define PADDING(Class, ...) IMPL(Class)
#include "nn/modules/paddings.def"
#undef IMPL
#undef OF_1_TO_3

}  // namespace ocl::nn
