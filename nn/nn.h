#pragma once

/** \file Everything a training program needs: tensors, autograd, modules, losses, optimizers, files. */

#include "autograd/autograd.h"
#include "nn/data/mnist.h"
#include "nn/functional.h"
#include "nn/init.h"
#include "nn/io/state_dict.h"
#include "nn/module.h"
#include "nn/modules/activation.h"
#include "nn/modules/attention.h"
#include "nn/modules/basic.h"
#include "nn/modules/container.h"
#include "nn/modules/conv.h"
#include "nn/modules/embedding.h"
#include "nn/modules/linear.h"
#include "nn/modules/loss.h"
#include "nn/modules/norm.h"
#include "nn/modules/pool.h"
#include "nn/modules/resample.h"
#include "nn/optim/optimizer.h"
#include "nn/optim/schedules.h"
#include "nn/utils/clip_grad.h"
