"""torchvision.ops on boxes in plain PyTorch and NumPy: what the compiled functions of torchvision compute."""

import numpy as np
import torch


def upcast(boxes):
    return (
        boxes
        if boxes.dtype in (torch.float64, torch.int64)
        else boxes.to(torch.float32 if boxes.is_floating_point() else torch.int32)
    )


def corners(boxes, fmt):
    first, second = boxes[..., :2], boxes[..., 2:]
    if fmt == "xyxy":
        return first, second
    return (first, first + second) if fmt == "xywh" else (first - 0.5 * second, first + 0.5 * second)


def box_area(boxes, fmt="xyxy"):
    boxes = upcast(boxes)
    sides = boxes[..., 2:] - boxes[..., :2] if fmt == "xyxy" else boxes[..., 2:]
    return sides[..., 0] * sides[..., 1]


def box_convert(boxes, in_fmt, out_fmt):
    if in_fmt == out_fmt:
        return boxes.clone()
    low, high = corners(boxes, in_fmt)
    if out_fmt == "xyxy":
        return torch.cat([low, high], -1)
    return torch.cat([low if out_fmt == "xywh" else (low + high) / 2, high - low], -1)


def box_iou(boxes1, boxes2, fmt="xyxy"):
    low1, high1 = corners(boxes1[..., :, None, :], fmt)
    low2, high2 = corners(boxes2[..., None, :, :], fmt)
    sides = upcast(torch.minimum(high1, high2) - torch.maximum(low1, low2)).clamp(min=0)
    both = sides[..., 0] * sides[..., 1]
    return both / (box_area(boxes1, fmt)[..., :, None] + box_area(boxes2, fmt)[..., None, :] - both)


def clip_boxes_to_image(boxes, size):
    x, y = boxes[..., 0::2].clamp(0, size[1]), boxes[..., 1::2].clamp(0, size[0])
    return torch.stack([x, y], -1).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    sides = boxes[:, 2:] - boxes[:, :2]
    return torch.where((sides >= min_size).all(1))[0]


def nms(boxes, scores, iou_threshold, idxs=None):
    """Follows torchvision's kernel for CPUs, of float32 where the dtype is narrower; with `idxs` only boxes
    of one number suppress each other.
    """
    boxes, scores = (t.detach().cpu() for t in (boxes, scores))
    order = torch.sort(scores, stable=True, descending=True)[1].numpy()
    ordered = (boxes if boxes.dtype == torch.float64 else boxes.float()).numpy()[order]
    kinds = np.zeros(len(order)) if idxs is None else idxs.numpy()[order]
    areas = (ordered[:, 2] - ordered[:, 0]) * (ordered[:, 3] - ordered[:, 1])
    is_removed, kept = np.zeros(len(order), bool), []
    for i, (x1, y1, x2, y2) in enumerate(ordered):
        if is_removed[i]:
            continue
        kept.append(order[i])
        rest = ordered[i + 1 :]
        with np.errstate(all="ignore"):
            # std::max(a, b) is a unless a < b, std::min(a, b) is a unless b < a: also where one is NaN
            left, top = np.where(x1 < rest[:, 0], rest[:, 0], x1), np.where(y1 < rest[:, 1], rest[:, 1], y1)
            right, bottom = (
                np.where(rest[:, 2] < x2, rest[:, 2], x2),
                np.where(rest[:, 3] < y2, rest[:, 3], y2),
            )
            width, height = (np.where(side > 0, side, 0) for side in (right - left, bottom - top))
            both = width * height
            overlap = (both / (areas[i] + areas[i + 1 :] - both)).astype(np.float64)
            is_removed[i + 1 :] |= (overlap > iou_threshold) & (kinds[i + 1 :] == kinds[i])
    return torch.tensor(np.array(kept, np.int64))


def batched_nms(boxes, scores, idxs, iou_threshold):
    return nms(boxes, scores, iou_threshold, idxs)


def _points(low, high, bins, size, sampling_ratio, aligned):
    """For one axis of a region, and for each point of each bin: whether it lies on the plane [points], the
    two elements that it reads and how much they count [points, 2]; and the number of points of a bin.
    """
    extent = high - low if aligned else (high - low).clamp(min=1)
    bin_size = extent / bins
    count = sampling_ratio if sampling_ratio > 0 else max(int(torch.ceil(bin_size)), 0)
    of_bin = torch.arange(bins, dtype=low.dtype)[:, None]
    in_bin = torch.arange(count, dtype=low.dtype) + 0.5
    at = (low + of_bin * bin_size + in_bin * bin_size / max(count, 1)).reshape(-1)
    is_inside, held = (at >= -1) & (at <= size), at.clamp(0, size - 1)
    first = held.long()
    weight = held - first
    elements = torch.stack([first, (first + 1).clamp(max=size - 1)], 1)
    return is_inside, elements, torch.stack([1 - weight, weight], 1), count


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """Follows torchvision's kernel for CPUs; differentiable."""
    if not isinstance(boxes, torch.Tensor):
        numbers = [torch.full_like(b[:, :1], i) for i, b in enumerate(boxes)]
        boxes = torch.cat([torch.cat(pair, 1) for pair in zip(numbers, boxes, strict=True)])
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    dtype = torch.float64 if input.dtype == torch.float64 else torch.float32
    planes, offset = input.to(dtype), 0.5 if aligned else 0.0
    results = [(0 * planes[..., :1, :1]).sum(0, True).expand(-1, -1, height, width)[:0]]
    for image, *box in boxes.detach().to(dtype):
        x1, y1, x2, y2 = (coordinate * spatial_scale - offset for coordinate in box)
        on_rows, y, of_rows, rows = _points(y1, y2, height, input.shape[2], sampling_ratio, aligned)
        on_columns, x, of_columns, columns = _points(x1, x2, width, input.shape[3], sampling_ratio, aligned)
        values = planes[int(image)][:, y][..., x]  # [C, points, 2, points, 2]
        values = (values * (of_rows[:, :, None, None] * of_columns)).sum((2, 4))
        values = torch.where(on_rows[:, None] & on_columns, values, 0)
        bins = values.reshape(input.shape[1], height, rows, width, columns).sum((2, 4))
        results.append(bins[None] / max(rows * columns, 1))
    return torch.cat(results).to(input.dtype)
