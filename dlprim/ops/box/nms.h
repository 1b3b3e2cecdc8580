#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * torchvision.ops.nms: from the highest score down, keeps each of the `boxes` [n, 4] (x1, y1, x2, y2) that
 * overlaps with none kept before by more than `iou_threshold` (intersection over union); of equal scores the
 * first counts as the higher, NaN as the highest. Only boxes of one category suppress each other, where
 * `categories` (int64 [n]) are given. `scores`: [n]. Gives where the kept ones stand, in order: int64 [kept].
 * Waits. Any floating dtype, which boxes and scores share. Contiguous. Throws ValueError, TypeError.
 */
Tensor nms(Queue& queue, const Tensor& boxes, const Tensor& scores, const Tensor* categories,
           double iou_threshold);

}  // namespace dlprim
