"""Pooling over 1, 2 and 3 dimensions."""

import ocl
from ocl.export.aten.table import operator, operators

F = ocl.nn.functional
_MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}

operators(
    "pool",
    {
        "aten.adaptive_avg_pool1d.default": F.adaptive_avg_pool1d,
        "aten.adaptive_avg_pool2d.default": F.adaptive_avg_pool2d,
        "aten._adaptive_avg_pool2d.default": F.adaptive_avg_pool2d,
        "aten.adaptive_avg_pool3d.default": F.adaptive_avg_pool3d,
        "aten._adaptive_avg_pool3d.default": F.adaptive_avg_pool3d,
    },
)


def _max_pool(rank: int, with_indices: bool):
    def pool(x, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _MAX[rank](x, kernel_size, stride or None, padding, dilation, ceil_mode, with_indices)

    def pool_with_indices(call, *args, **kwargs):
        if call.wants(1):
            return pool(*args, **kwargs)
        return _max_pool(rank, False)(*args, **kwargs), None

    return pool_with_indices if with_indices else pool


def _avg_pool(rank: int):
    def pool(
        x, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, *divisor, **named
    ):
        return _AVERAGE[rank](
            x, kernel_size, stride or None, padding, ceil_mode, count_include_pad, *divisor, **named
        )

    return pool


def _adaptive_max_pool(rank: int):
    pooling = {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}[rank]

    def pool(call, x, output_size):
        return pooling(x, output_size, True) if call.wants(1) else (pooling(x, output_size), None)

    return pool


for _rank in (1, 2, 3):
    operator(f"aten.max_pool{_rank}d.default")(_max_pool(_rank, False))
    operator(f"aten.max_pool{_rank}d_with_indices.default", call=True)(_max_pool(_rank, True))
    operator(f"aten.avg_pool{_rank}d.default")(_avg_pool(_rank))
    operator(f"aten.adaptive_max_pool{_rank}d.default", call=True)(_adaptive_max_pool(_rank))
