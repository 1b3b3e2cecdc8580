"""Every operator of the registry, alone, ours beside PyTorch's: forward, and forward with backward."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as torch_functional

import ocl
import ocl.nn.functional as ocl_functional

from .nets import torch_device
from .timing import by_turns, seconds_of_steps

# Where a function is smooth and PyTorch's takes no other path.
DOMAINS = {
    **dict.fromkeys(
        ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "pow", "digamma"), (0.1, 3)
    ),
    **dict.fromkeys(("lgamma", "special_entr", "polygamma", "xlogy", "special_xlog1py"), (0.1, 3)),
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), (-0.9, 0.9)),
    "acosh": (1.1, 3),
    "logit": (0.05, 0.95),
    "nanmedian": (0, 1),
}
WHOLE_NUMBERS = {
    *("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
}
# Names of kernels that another row's function uses, under no name of PyTorch's.
PARTS = {
    *("polygamma_kernel", "prelu_kernel", "glu_kernel", "div_floor", "div_trunc", "round_decimals"),
    *("clamp_tensor", "clamp_min_tensor", "clamp_max_tensor", "gelu_tanh"),
}
# Rows that are not timed here, by reason.
ELSEWHERE = {
    "no element is touched": (
        "split chunk unbind view reshape flatten transpose permute t squeeze unsqueeze expand "
        "unflatten movedim diagonal as_strided narrow select swapaxes expand_as view_as "
        "unfold_dimension empty empty_like meshgrid real imag view_as_real view_as_complex"
    ),
    "of a convolution's kind, timed in nets": (
        "conv1d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution "
        "batch_norm_activation lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell "
        "rnn_relu_cell"
    ),
    "of pairs, where PyTorch's are of complex numbers": "_fft_c2c _fft_r2c _fft_c2r",
    "of boxes, which PyTorch lacks": (
        "box_area box_convert box_iou clip_boxes_to_image remove_small_boxes nms batched_nms roi_align"
    ),
    "of weights in few bits, which PyTorch lacks; timed in docs/quantization.md": (
        "quantize_int8 quantize_int4 dequantize_weight quantized_linear"
    ),
    "the same kernel as another's": (
        "fliplr flipud rot90 hstack vstack dstack column_stack max_pool1d max_pool3d avg_pool1d "
        "avg_pool3d adaptive_avg_pool1d adaptive_max_pool1d adaptive_avg_pool3d adaptive_max_pool3d "
        "lp_pool1d lp_pool3d scatter_ scatter_add_ index_add_ index_copy_ masked_fill_ dropout2d "
        "rand_like randn_like randint_like full_like zeros_like ones_like full zeros ones softmin "
        "nansum nanmean take_along_dim addr addmv mv contiguous zero_ batched_nms vector_norm tile "
        "swapaxes inner block_diag cartesian_prod combinations trace eye kron tensordot addbmm "
        "nanquantile unique unique_consecutive allclose equal outer complex polar conj vdot"
    ),
    "a layer of a few elements, or made of timed ones": (
        "rrelu gumbel_softmax normal bernoulli multinomial bilinear renorm affine_grid "
        "channel_shuffle fold pixel_unshuffle local_response_norm cosine_embedding_loss "
        "triplet_margin_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss "
        "margin_ranking_loss hinge_embedding_loss gaussian_nll_loss poisson_nll_loss soft_margin_loss "
        "embedding_bag index_reduce masked_scatter put_ pdist pairwise_distance random_ exponential_ "
        "bernoulli_ einsum dot randperm linspace arange mode diff normal_ copy_ fill_ kthvalue"
    ),
}


class Draw:
    """Inputs of about `elements` numbers, the same for both libraries."""

    def __init__(self, elements):
        self.rng = np.random.default_rng(0)
        self.rows = 1 << (int(math.log2(elements)) // 2)
        self.columns = max(elements // self.rows // 2 * 2, 2)  # glu halves them
        self.side = max(math.isqrt(elements // 16), 4)

    def floats(self, shape, low=-2.0, high=2.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def plane(self, low=-2.0, high=2.0):
        return self.floats((self.rows, self.columns), low, high)

    def images(self):
        return self.floats((2, 8, self.side, self.side))

    def mask(self):
        return self.rng.random((self.rows, self.columns)) < 0.5

    def integers(self, high, shape):
        return self.rng.integers(0, high, shape)

    def places(self):
        return self.integers(self.columns, (self.rows, self.columns))


@dataclass
class Row:
    """A call to be timed."""

    name: str
    call: Callable  # of (library, its functional, tensors)
    inputs: Callable  # of a Draw: arrays
    differentiable: bool = True


def on_plane(call, low=-2.0, high=2.0):
    return call, lambda draw: [draw.plane(low, high)]


def on_two_planes(call, low=-2.0, high=2.0):
    return call, lambda draw: [draw.plane(low, high), draw.plane(low, high)]


def on_images(call):
    return call, lambda draw: [draw.images()]


def by_places(call):
    return call, lambda draw: [draw.plane(), draw.places(), draw.plane()]


def products(call, *shapes):
    """`shapes` of letters: s is the side of a square of the elements, b a batch of 8 of smaller ones."""

    def inputs(draw):
        sizes = {"s": draw.rows, "b": 8, "q": max(draw.rows // 4, 2), "1": 1}
        return [draw.floats([sizes[letter] for letter in shape]) for shape in shapes]

    return call, inputs


CALLS = {
    # reductions of the last dimension; of all elements under "NAME, all"
    **{
        name: on_plane(lambda lib, F, x, name=name: getattr(lib, name)(x, -1))
        for name in (
            "sum mean prod amax amin all any count_nonzero argmax argmin max min var std var_mean std_mean "
            "cumsum cumprod cummax cummin logcumsumexp sort argsort median nanmedian"
        ).split()
    },
    **{
        f"{name}, all": on_plane(lambda lib, F, x, name=name: getattr(lib, name)(x))
        for name in ("sum", "mean", "prod", "max", "argmax", "var", "any")
    },
    **{
        f"{name}, columns": on_plane(lambda lib, F, x, name=name: getattr(lib, name)(x, 0))
        for name in ("sum", "amax", "argmax", "var", "cumsum", "sort")
    },
    "logsumexp": on_plane(lambda lib, F, x: lib.logsumexp(x, -1)),
    "norm": on_plane(lambda lib, F, x: lib.norm(x, 2, -1)),
    "norm, 3": on_plane(lambda lib, F, x: lib.norm(x, 3, -1)),
    "aminmax": on_plane(lambda lib, F, x: lib.aminmax(x, dim=-1)),
    "topk": on_plane(lambda lib, F, x: lib.topk(x, min(5, x.shape[-1]))),
    "quantile": on_plane(lambda lib, F, x: lib.quantile(x, 0.3, -1)),
    # views that copy
    "cat": on_two_planes(lambda lib, F, x, y: lib.cat((x, y), 1)),
    "stack": on_two_planes(lambda lib, F, x, y: lib.stack((x, y))),
    "repeat": on_plane(lambda lib, F, x: x.repeat(2, 2)),
    "repeat_interleave": on_plane(lambda lib, F, x: lib.repeat_interleave(x, 2, 1)),
    "flip": on_plane(lambda lib, F, x: lib.flip(x, (1,))),
    "roll": on_plane(lambda lib, F, x: lib.roll(x, 3, 1)),
    "clone": on_plane(lambda lib, F, x: lib.clone(x)),
    "clone of a transposition": on_plane(lambda lib, F, x: x.t().contiguous()),
    "tril": on_plane(lambda lib, F, x: lib.tril(x)),
    "triu": on_plane(lambda lib, F, x: lib.triu(x)),
    "pad": on_images(lambda lib, F, x: F.pad(x, (1, 2, 3, 1))),
    "pad, reflect": on_images(lambda lib, F, x: F.pad(x, (1, 2, 3, 1), mode="reflect")),
    # indexing
    "gather": (lambda lib, F, x, i: lib.gather(x, 1, i), lambda draw: [draw.plane(), draw.places()]),
    "take": (lambda lib, F, x, i: lib.take(x, i), lambda draw: [draw.plane(), draw.places()]),
    "scatter": by_places(lambda lib, F, x, i, y: lib.scatter(x, 1, i, y)),
    "scatter_add": by_places(lambda lib, F, x, i, y: lib.scatter_add(x, 1, i, y)),
    "scatter_reduce": by_places(lambda lib, F, x, i, y: lib.scatter_reduce(x, 1, i, y, "amax")),
    "index_select": (
        lambda lib, F, x, i: lib.index_select(x, 0, i),
        lambda draw: [draw.plane(), draw.integers(draw.rows, draw.rows)],
    ),
    "index_add": (
        lambda lib, F, x, i, y: lib.index_add(x, 0, i, y),
        lambda draw: [draw.plane(), draw.integers(draw.rows, draw.rows), draw.plane()],
    ),
    "index_copy": (
        lambda lib, F, x, i, y: lib.index_copy(x, 0, i, y),
        lambda draw: [draw.plane(), draw.rng.permutation(draw.rows), draw.plane()],
    ),
    "index_fill": (
        lambda lib, F, x, i: lib.index_fill(x, 0, i, 1.5),
        lambda draw: [draw.plane(), draw.integers(draw.rows, draw.rows)],
    ),
    "embedding": (
        lambda lib, F, w, i: F.embedding(i, w),
        lambda draw: [draw.plane(), draw.integers(draw.rows, draw.rows)],
    ),
    "one_hot": (
        lambda lib, F, i: F.one_hot(i, 8),
        lambda draw: [draw.integers(8, max(draw.rows * draw.columns // 8, 1))],
    ),
    "masked_fill": (
        lambda lib, F, x, m: lib.masked_fill(x, m, 1.5),
        lambda draw: [draw.plane(), draw.mask()],
    ),
    "masked_select": (
        lambda lib, F, x, m: lib.masked_select(x, m),
        lambda draw: [draw.plane(), draw.mask()],
    ),
    "nonzero": (lambda lib, F, m: lib.nonzero(m), lambda draw: [draw.mask()]),
    "where": (
        lambda lib, F, m, x, y: lib.where(m, x, y),
        lambda draw: [draw.mask(), draw.plane(), draw.plane()],
    ),
    # counting and searching
    "searchsorted": (
        lambda lib, F, s, x: lib.searchsorted(s, x),
        lambda draw: [np.sort(draw.floats(1000)), draw.plane()],
    ),
    "bucketize": (
        lambda lib, F, x, s: lib.bucketize(x, s),
        lambda draw: [draw.plane(), np.sort(draw.floats(1000))],
    ),
    "isin": (lambda lib, F, x, y: lib.isin(x, y), lambda draw: [draw.places(), draw.integers(100, 20)]),
    "bincount": (
        lambda lib, F, x: lib.bincount(x, minlength=64),
        lambda draw: [draw.integers(64, draw.rows * draw.columns)],
    ),
    "histc": on_plane(lambda lib, F, x: lib.histc(x, 64, -2, 2)),
    # softmax, norms, losses
    **{
        name: on_plane(lambda lib, F, x, name=name: getattr(F, name)(x, dim=-1))
        for name in ("softmax", "log_softmax", "normalize", "glu")
    },
    "softmax, columns": on_plane(lambda lib, F, x: F.softmax(x, dim=0)),
    "layer_norm": (
        lambda lib, F, x, w, b: F.layer_norm(x, w.shape, w, b),
        lambda draw: [draw.plane(), draw.floats(draw.columns), draw.floats(draw.columns)],
    ),
    "rms_norm": (
        lambda lib, F, x, w: F.rms_norm(x, w.shape, w),
        lambda draw: [draw.plane(), draw.floats(draw.columns)],
    ),
    "batch_norm": on_images(lambda lib, F, x: F.batch_norm(x, None, None, training=True)),
    "group_norm": on_images(lambda lib, F, x: F.group_norm(x, 4)),
    "instance_norm": on_images(lambda lib, F, x: F.instance_norm(x)),
    "prelu": (lambda lib, F, x, w: F.prelu(x, w), lambda draw: [draw.plane(), draw.floats(1)]),
    **{
        name: on_two_planes(lambda lib, F, x, y, name=name: getattr(F, name)(x, y), 0.05, 0.95)
        for name in ("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits").split()
    },
    "binary_cross_entropy": (
        lambda lib, F, x, y: F.binary_cross_entropy(x, y.detach()),
        lambda draw: [draw.plane(0.05, 0.95), draw.plane(0.05, 0.95)],
    ),
    "kl_div": on_two_planes(lambda lib, F, x, y: F.kl_div(x, y, reduction="batchmean"), 0.05, 0.95),
    **{
        name: (
            lambda lib, F, x, i, name=name: getattr(F, name)(x, i),
            lambda draw: [draw.plane(), draw.integers(draw.columns, draw.rows)],
        )
        for name in ("nll_loss", "cross_entropy")
    },
    # pooling and resampling
    "max_pool2d": on_images(lambda lib, F, x: F.max_pool2d(x, 2)),
    "max_pool2d, overlapping": on_images(lambda lib, F, x: F.max_pool2d(x, 3, 2, 1)),
    "avg_pool2d": on_images(lambda lib, F, x: F.avg_pool2d(x, 2)),
    "adaptive_avg_pool2d": on_images(lambda lib, F, x: F.adaptive_avg_pool2d(x, 1)),
    "adaptive_max_pool2d": on_images(lambda lib, F, x: F.adaptive_max_pool2d(x, 3)),
    "lp_pool2d": on_images(lambda lib, F, x: F.lp_pool2d(x, 2, 2)),
    "interpolate": on_images(lambda lib, F, x: F.interpolate(x, scale_factor=2)),
    "interpolate, bilinear": on_images(lambda lib, F, x: F.interpolate(x, scale_factor=2, mode="bilinear")),
    "grid_sample": (
        lambda lib, F, x, grid: F.grid_sample(x, grid, align_corners=False),
        lambda draw: [draw.images(), draw.floats((2, draw.side, draw.side, 2), -1, 1)],
    ),
    "unfold": on_images(lambda lib, F, x: F.unfold(x, 2, stride=2)),
    "pixel_shuffle": on_images(lambda lib, F, x: F.pixel_shuffle(x, 2)),
    # products
    "mm": products(lambda lib, F, x, y: lib.mm(x, y), "ss", "ss"),
    "matmul": products(lambda lib, F, x, y: lib.matmul(x, y), "bqq", "bqq"),
    "bmm": products(lambda lib, F, x, y: lib.bmm(x, y), "bqq", "bqq"),
    "baddbmm": products(lambda lib, F, c, x, y: lib.baddbmm(c, x, y), "bqq", "bqq", "bqq"),
    "addmm": products(lambda lib, F, c, x, y: lib.addmm(c, x, y), "ss", "ss", "ss"),
    "linear": products(lambda lib, F, x, w, b: F.linear(x, w, b), "ss", "ss", "s"),
    "scaled_dot_product_attention": products(
        lambda lib, F, q, k, v: F.scaled_dot_product_attention(q, k, v), "1bqq", "1bqq", "1bqq"
    ),
    "conv2d": (
        lambda lib, F, x, w: F.conv2d(x, w, padding=1),
        lambda draw: [draw.images(), draw.floats((8, 8, 3, 3))],
    ),
    "cdist": products(lambda lib, F, x, y: lib.cdist(x, y), "sq", "sq"),
    "cosine_similarity": on_two_planes(lambda lib, F, x, y: F.cosine_similarity(x, y)),
    "cross": (
        lambda lib, F, x, y: lib.cross(x, y, dim=-1),
        lambda draw: [draw.floats((draw.rows * draw.columns // 3, 3)) for _ in range(2)],
    ),
    # what differs from a pointwise row's plain call
    "polygamma": on_plane(lambda lib, F, x: lib.polygamma(1, x), 0.1, 3.0),
    "pow, 2": on_plane(lambda lib, F, x: x**2),
    "pow, 2.5": on_plane(lambda lib, F, x: x**2.5, 0.1, 3.0),
    "pow of 2": on_plane(lambda lib, F, x: 2**x),
    "clamp": on_plane(lambda lib, F, x: lib.clamp(x, -1, 1)),
    "clamp_min": on_plane(lambda lib, F, x: lib.clamp_min(x, 0.5)),
    "clamp_max": on_plane(lambda lib, F, x: lib.clamp_max(x, 0.5)),
    "threshold": on_plane(lambda lib, F, x: F.threshold(x, 0.1, 2.0)),
    "gelu": on_plane(lambda lib, F, x: F.gelu(x)),
    "gelu, tanh": on_plane(lambda lib, F, x: F.gelu(x, approximate="tanh")),
    "dropout": on_plane(lambda lib, F, x: F.dropout(x, 0.5)),
    "nan_to_num": on_plane(lambda lib, F, x: lib.nan_to_num(x)),
    "isclose": on_two_planes(lambda lib, F, x, y: lib.isclose(x, y)),
    "add of a row": (lambda lib, F, x, y: x + y, lambda draw: [draw.plane(), draw.floats(draw.columns)]),
    "rand": on_plane(lambda lib, F, x: lib.rand(x.shape, device=x.device)),
    "randn": on_plane(lambda lib, F, x: lib.randn(x.shape, device=x.device)),
    "randint": on_plane(lambda lib, F, x: lib.randint(0, 100, tuple(x.shape), device=x.device)),
    "uniform_": on_plane(lambda lib, F, x: x.detach().uniform_()),
}


def pointwise_call(row, arity):
    def call(lib, F, *tensors):
        source = row["source"].removeprefix("torch.")
        module = F if source.startswith("nn.functional.") else lib
        function = module
        for part in source.removeprefix("nn.functional.").split("."):
            function = getattr(function, part)
        return function(*tensors)

    low, high = DOMAINS.get(row["name"], (-2.0, 2.0))
    if row["name"] in WHOLE_NUMBERS:
        return call, lambda draw: [draw.integers(8, (draw.rows, draw.columns)) for _ in range(arity)]
    return call, lambda draw: [draw.plane(low, high) for _ in range(arity)]


def rows():
    """Every row that is timed."""
    table = {row["name"]: row for row in ocl._C.operator_table()}
    arities = {row["name"]: row["inputs"] for row in ocl._C.pointwise_table()}
    found = []
    for name, row in table.items():
        if row["family"] == "Pointwise" and name in arities and name not in CALLS and name not in PARTS:
            call, inputs = pointwise_call(row, arities[name])
            found.append(Row(name, call, inputs, bool(row["derivative"])))
    for name, (call, inputs) in CALLS.items():
        row = table.get(name.partition(",")[0].partition(" ")[0], {"derivative": "yes"})
        found.append(Row(name, call, inputs, bool(row["derivative"])))
    return found


def first_of(result):
    return result[0] if isinstance(result, (tuple, list)) else result


class Contender:
    """One library's calls of a row."""

    def __init__(self, library, functional, device, wait, arrays, dtype, permuted):
        self.library, self.functional, self.wait = library, functional, wait
        self.tensors = [self._tensor(array, device, dtype, permuted) for array in arrays]

    def _tensor(self, array, device, dtype, permuted):
        if permuted and array.ndim == 2:
            return self._tensor(np.ascontiguousarray(array.T), device, dtype, False).t()
        tensor = self.library.tensor(array, device=device)
        return tensor.to(getattr(self.library, dtype)) if array.dtype == np.float32 else tensor

    def forward(self, row):
        def step():
            return row.call(self.library, self.functional, *self.tensors)

        return step

    def training(self, row):
        """Forward and backward; None where no gradient comes of it."""
        leaves = [t.detach().clone() if not t.is_contiguous() else t for t in self.tensors]
        leaves = [t.detach().requires_grad_(t.dtype.is_floating_point) for t in leaves]
        wanted = [t for t in leaves if t.requires_grad]
        if not wanted:
            return None
        result = first_of(row.call(self.library, self.functional, *leaves))
        if not result.requires_grad:
            return None
        towards = self.library.ones_like(result)
        try:
            self.library.autograd.grad(result, wanted, towards, allow_unused=True)
        except RuntimeError as error:
            if "not implemented" not in str(error):
                raise
            print(f"{row.name}: {self.library.__name__} has no gradient: {error}")
            return None

        def step():
            result = first_of(row.call(self.library, self.functional, *leaves))
            return self.library.autograd.grad(result, wanted, towards, allow_unused=True)

        return step


def steps_for(step, wait, least=2e-3):
    """How many calls a block needs to last `least` seconds."""
    step()
    wait()
    return max(1, min(200, math.ceil(least / max(seconds_of_steps(step, wait, 1, "wall"), 1e-7))))


def time_row(row, contenders, kind, blocks):
    """{library: least seconds of a call}; None where there is nothing to time."""
    steps = {name: getattr(c, kind)(row) for name, c in contenders.items()}
    if any(step is None for step in steps.values()):
        return None
    turns = {}
    for name, step in steps.items():
        wait, count = contenders[name].wait, steps_for(step, contenders[name].wait)
        turns[name] = lambda step=step, wait=wait, count=count: seconds_of_steps(step, wait, count, "wall")
    return {name: min(seconds) for name, seconds in by_turns(turns, blocks).items()}


def line_of(figures):
    ours, theirs = figures["seconds"]["ocl"], figures["seconds"]["torch"]
    return f"{1e3 * ours:9.3f} {1e3 * theirs:9.3f} {ours / theirs:7.2f}  {figures['row']}, {figures['what']}"


def bench_registry(options):
    device = torch_device(options)

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    wanted = set(filter(None, options.rows.split(";")))
    layouts = ("contiguous", "permuted") if options.permuted else ("contiguous",)
    results = []
    for elements in map(int, options.elements.split(",")):
        for layout in layouts:
            for row in rows():
                if wanted and row.name not in wanted:
                    continue
                arrays = row.inputs(Draw(elements))
                permuted = layout == "permuted"
                contenders = {
                    "ocl": Contender(
                        ocl, ocl_functional, options.device, ocl.synchronize, arrays, options.dtype, permuted
                    ),
                    "torch": Contender(
                        torch, torch_functional, device, wait, arrays, options.dtype, permuted
                    ),
                }
                for kind in ("forward", "training") if row.differentiable else ("forward",):
                    seconds = time_row(row, contenders, kind, options.blocks)
                    if seconds is None:
                        continue
                    what = f"{kind}, {elements} {layout} {options.dtype}"
                    results.append({"row": row.name, "what": what, "seconds": seconds})
                    print(line_of(results[-1]), flush=True)
    ratios = [r["seconds"]["ocl"] / r["seconds"]["torch"] for r in results]
    print(f"{'ours, ms':>9} {'theirs':>9} {'ratio':>7}  of {len(results)} calls, the slowest first")
    for figures in sorted(results, key=lambda r: -r["seconds"]["ocl"] / r["seconds"]["torch"]):
        print(line_of(figures))
    print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return results
