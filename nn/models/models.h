#pragma once

/** \file All nets of ocl::models. */

#include "nn/models/alexnet.h"
#include "nn/models/blocks.h"
#include "nn/models/convnext.h"
#include "nn/models/densenet.h"
#include "nn/models/efficientnet.h"
#include "nn/models/googlenet.h"
#include "nn/models/gpt2.h"
#include "nn/models/inception.h"
#include "nn/models/maxvit.h"
#include "nn/models/mnasnet.h"
#include "nn/models/mobilenetv2.h"
#include "nn/models/mobilenetv3.h"
#include "nn/models/registry.h"
#include "nn/models/regnet.h"
#include "nn/models/resnet.h"
#include "nn/models/shufflenetv2.h"
#include "nn/models/squeezenet.h"
#include "nn/models/swin_transformer.h"
#include "nn/models/vgg.h"
#include "nn/models/vision_transformer.h"
