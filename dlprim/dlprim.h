#pragma once

/**
 * \file The operator library: devices, memory, raw tensors, and the forward and backward of every operator.
 *
 * A function takes tensors of any strides and offset, or refuses them with a ValueError before it has written
 * anything: where a header says that a tensor is contiguous, that is checked.
 */

#include "dlprim/core/call.h"
#include "dlprim/core/dims.h"
#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"
#include "dlprim/core/recorder.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/attention/attention.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/creation/arange.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/loss/nll_loss.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/norm/local_response_norm.h"
#include "dlprim/ops/norm/row_norm.h"
#include "dlprim/ops/optim/fused.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/optim/rules.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pool/avg_pool2d.h"
#include "dlprim/ops/pool/max_pool2d.h"
#include "dlprim/ops/random/multinomial.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/pad.h"
#include "dlprim/ops/resample/unfold.h"
#include "dlprim/ops/rnn/rnn.h"
#include "dlprim/ops/scan/scan.h"
#include "dlprim/ops/softmax/softmax.h"
#include "dlprim/ops/sort/sort.h"
#include "dlprim/runtime/device.h"
