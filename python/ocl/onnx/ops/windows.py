"""Paddings of windows, which convolutions and pooling share."""

from dataclasses import dataclass


@dataclass
class Windows:
    """Windows over the last dimensions: one number each a dimension."""

    sizes: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]

    @property
    def symmetric(self) -> bool:
        return self.before == self.after

    def padding(self) -> list[int]:
        """The list that `nn.functional.pad` takes."""
        return [each for pair in reversed(list(zip(self.before, self.after, strict=True))) for each in pair]

    def extents(self) -> list[int]:
        """The elements that a window spans."""
        return [(size - 1) * step + 1 for size, step in zip(self.sizes, self.dilations, strict=True)]


def windows(call, x, sizes) -> Windows:
    """The windows of a node over the input's last dimensions."""
    rank = x.ndim - 2
    sizes = list(sizes)
    strides, dilations = call.get("strides", [1] * rank), call.get("dilations", [1] * rank)
    pads = call.get("pads", [0] * 2 * rank)
    found = Windows(sizes, strides, dilations, pads[:rank], pads[rank:])
    mode = call.get("auto_pad", "NOTSET")
    if mode == "VALID":
        found.before, found.after = [0] * rank, [0] * rank
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        totals = [
            max((-(-size // stride) - 1) * stride + extent - size, 0)
            for size, stride, extent in zip(x.shape[2:], strides, found.extents(), strict=True)
        ]
        small, large = [total // 2 for total in totals], [total - total // 2 for total in totals]
        found.before, found.after = (small, large) if mode == "SAME_UPPER" else (large, small)
    return found
