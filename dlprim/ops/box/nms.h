#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * torchvision.ops.nms: it takes the `boxes` [n, 4] (x1, y1, x2, y2) from the highest score down. It keeps
 * those whose overlap with every box kept before is at most `iou_threshold` (intersection over union). The
 * first of equal scores counts as the higher, and NaN as the highest. Only boxes of one category suppress
 * each other, where `categories` (int64 [n]) are given. `scores`: [n]. Gives where the kept ones stand, in
 * order: int64 [kept]. Waits. Any floating dtype, which boxes and scores share. Contiguous. Throws
 * ValueError, TypeError.
 */
Tensor nms(Queue& queue, const Tensor& boxes, const Tensor& scores, const Tensor* categories,
           double iou_threshold);

}  // namespace dlprim
