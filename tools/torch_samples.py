"""One sample of PyTorch's for an operator: called on an ocl device and on the CPU, and compared.

tools/torch_operators.py runs these over all operators; torch_derivatives.py has calls of other kinds.
"""

import contextlib
import re
from unittest import mock

import torch
from torch.utils._pytree import tree_flatten, tree_map_only

# (rtol, atol): PyTorch computes on the CPU in other orders, and float16 in float32 only in parts.
TOLERANCES = {
    "float64": (1e-7, 1e-7),
    "float32": (2e-4, 2e-5),
    "float16": (5e-3, 5e-3),
    "bfloat16": (4e-2, 4e-2),
    "complex128": (1e-7, 1e-7),
    "complex64": (2e-4, 2e-5),
    "complex32": (5e-3, 5e-3),
}
WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}
# The contents of these are whatever was there before.
UNDEFINED = re.compile(r"empty|resize_")
# Functions of shapes alone.
OF_NO_DEVICE = ("broadcast_shapes",)
# PyTorch 2.13's own kernels of these write beyond the memory of an `out` that has gaps.
SPOILERS = ("tril", "triu", "lu_unpack", "linalg.lu")


# A gradient that is a difference of like terms times 1 / sqrt(eps): rounding counts so much more.
NOISY = {"nn.functional.layer_norm": 2e-3, "native_layer_norm": 2e-3}
# For half types alone: dlprim's attention rounds scores to them, and the samples' scores are in the hundreds.
NOISY_HALF = {"nn.functional.scaled_dot_product_attention": 0.6}
# Their second result, or only one, says where elements stood; PyTorch's order of equal ones is any.
PLACES = {
    "sort": (0, "dim"),
    "argsort": (0, "dim"),
    "mode": (0, "dim"),
    "topk": (1, "dim"),
    "kthvalue": (1, "dim"),
}
# Where elements are equal, any of them has the gradient.
ANY_OF_EQUALS = ("mode",)
# On the CPU statistics of float16 and bfloat16 have that dtype, on other devices float32.
STATISTICS = re.compile("native_.*norm")


class NotOnTheCpu(Exception):
    """A call that fails on the CPU, which thus says nothing of the device."""


class Disagreement(Exception):
    """A result that is not the CPU's."""


def on_device(tensor, device="ocl"):
    """The tensor with its strides and offset, as a leaf of its own."""
    if tensor.layout != torch.strided or tensor.is_quantized or type(tensor) is not torch.Tensor:
        return tensor.to(device)
    source = tensor.detach()
    whole = torch.empty(0, dtype=source.dtype).set_(source.untyped_storage())
    there = whole.to(device, copy=True).as_strided(source.size(), source.stride(), source.storage_offset())
    return there.requires_grad_(tensor.requires_grad)


class Sample:
    """One call of an operator: its arguments on one device, fresh each time."""

    def __init__(self, sample, device, name=""):
        def move(tensor):
            return on_device(tensor, device)

        self.arguments = tree_map_only(torch.Tensor, move, [sample.input, sample.args, sample.kwargs])
        # A device among the arguments is the device that it runs on.
        words = {"cpu": device, torch.device("cpu"): torch.device(device)}
        for kind in (str, torch.device):
            self.arguments = tree_map_only(kind, lambda given: words.get(given, given), self.arguments)
        takes_device = not tensors_of(self.arguments) and name not in OF_NO_DEVICE
        if "device" in self.arguments[2] or takes_device:
            self.arguments[2]["device"] = device
        self.leaves = [t for t in tensors_of(self.arguments) if t.requires_grad]
        self.process = sample.output_process_fn_grad

    def call(self, function, **more):
        torch.manual_seed(0)
        given, args, kwargs = self.arguments
        return function(given, *args, **kwargs, **more)


def tensors_of(result):
    return [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]


class Check:
    """Compares calls of one operator on the device with calls on the CPU, and raises Disagreement."""

    def __init__(self, op, dtype, device):
        self.op, self.dtype, self.device = op, dtype, device
        self.is_half = dtype in ("float16", "bfloat16")
        self.in_wider = False  # the CPU computes in a wider dtype than the device
        self.on_cpu = {}  # the CPU's results in the device's dtype
        self.only_shapes = False
        self.reason = ""  # why a sample could not be compared

    def sample(self, sample):
        """Whether there was something to compare with."""
        self.on_cpu = {}
        try:
            return self._sample(sample)
        except Disagreement:
            if self.dtype not in WIDER:
                raise
        # Half types: steps in between are rounded on the one and not on the other. float32: both may be far
        # from the numbers that the operator stands for, and then those count.
        self.in_wider = True
        try:
            return self._sample(sample)
        finally:
            self.in_wider = False

    def theirs(self, sample):
        def widened(t):
            if not isinstance(t, torch.Tensor) or t.dtype != getattr(torch, self.dtype):
                return t
            return t.detach().to(getattr(torch, WIDER[self.dtype])).requires_grad_(t.requires_grad)

        return Sample(sample.transform(widened) if self.in_wider else sample, "cpu", self.op.name)

    def on_the_cpu(self, sample, work):
        """The result of `work` there. Raises NotOnTheCpu, and keeps the reason, where that raises."""
        try:
            expected = work()
            self.only_shapes = has_no_numbers(self.op, sample)
        except Exception as error:
            self.reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise NotOnTheCpu from error
        return expected

    def _sample(self, sample):
        theirs = self.theirs(sample)
        try:
            expected = self.on_the_cpu(sample, lambda: theirs.call(self.op))
        except NotOnTheCpu:
            return False
        has_layouts = not all(is_plain(t) for t in tensors_of(expected))
        ours = Sample(sample, self.device, self.op.name)
        actual = ours.call(self.op)
        self.compare("result", self.without_places(ours, actual), self.without_places(theirs, expected))
        if not tensors_of(expected) and not self.only_shapes and actual != expected and expected == expected:
            raise Disagreement(f"{actual} for {expected}")
        if self.op.supports_autograd and theirs.leaves and self.op.name not in ANY_OF_EQUALS:
            with contextlib.suppress(NoGradient):
                wanted = gradients(theirs, expected, NoGradient)
                self.compare("gradient", gradients(ours, actual), wanted)
        detached = sample.transform(lambda t: t.detach() if hasattr(t, "detach") else t)
        if self.op.get_inplace() and not sample.broadcasts_input:
            self.in_place(detached)
        if self.op.supports_out and not has_layouts and self.op.name not in PLACES:
            for make in (empty_outs, strided_outs):
                if make is empty_outs or self.op.name not in SPOILERS:
                    self.out(detached, make)
        return True

    def in_place(self, sample):
        function = self.op.get_inplace()
        try:
            expected = tensors_of(self.theirs(sample).call(function))
        except (RuntimeError, TypeError):
            return
        self.compare(
            "in place", tensors_of(Sample(sample, self.device, self.op.name).call(function)), expected
        )

    def out(self, sample, make):
        result = self.theirs(sample).call(self.op)

        def call(sample, outs):
            sample.call(self.op, out=outs[0] if isinstance(result, torch.Tensor) else tuple(outs))
            return outs

        try:
            expected = call(self.theirs(sample), make(tensors_of(result), "cpu"))
            self.compare("out", expected, tensors_of(result), "cpu")
        except (RuntimeError, TypeError, Disagreement):
            return  # some operators write to a strided `out` as if it were contiguous
        dtypes = [t.dtype for t in tensors_of(Sample(sample, "cpu", self.op.name).call(self.op))]
        outs = make(tensors_of(result), self.device, dtypes)
        self.compare(make.__name__, call(Sample(sample, self.device, self.op.name), outs), expected)

    def without_places(self, sample, result):
        """Places where elements stood become the elements that stand there."""
        tensors = tensors_of(result)
        if self.op.name not in PLACES or sample.arguments[2].get("stable"):
            return tensors
        given, args, kwargs = sample.arguments
        position, word = PLACES[self.op.name]
        dim = args[position] if len(args) > position else kwargs.get(word, -1)
        places = tensors[-1]
        if places.dim() < given.dim():
            places = places.unsqueeze(dim)
        return [*tensors[:-1], torch.gather(given.detach().cpu(), dim, places.cpu()).to(places.device)]

    def compare(self, what, ours, theirs, device=None):
        if len(ours) != len(theirs):
            raise Disagreement(f"{what}: {len(ours)} results for {len(theirs)}")
        names = [what] if len(theirs) == 1 else [f"{what} {i}" for i in range(len(theirs))]
        if not self.in_wider:
            self.on_cpu.update(zip(names, theirs, strict=True))
        for name, a, e in zip(names, ours, theirs, strict=True):
            self.compare_one(name, a, e, device or self.device)

    def is_as_exact(self, name, a, e):
        """Whether it is at most four times as far from `e` as the CPU's result of the same dtype is."""
        own = self.on_cpu.get(name)
        if self.is_half or own is None or not a.is_floating_point() or a.shape != e.shape or not a.numel():
            return False
        ours, theirs = ((t.detach().cpu().double() - e.detach().double()).abs().max() for t in (a, own))
        return bool(ours <= 4 * theirs)

    def compare_one(self, name, a, e, device):
        if a is None or e is None:
            if a is not e:
                raise Disagreement(f"{name}: none" if a is None else f"{name}: one where the CPU has none")
            return
        if a.device.type != device.partition(":")[0]:
            raise Disagreement(f"{name}: on {a.device}")
        if self.in_wider and self.is_as_exact(name, a, e):
            return
        has_other_dtype = self.in_wider or (self.is_half and STATISTICS.search(self.op.name))
        if has_other_dtype and a.is_floating_point() and e.is_floating_point():
            e = e.to(a.dtype)
        if a.shape != e.shape or a.dtype != e.dtype:
            text = f"{name}: {a.dtype} {list(a.shape)} for {e.dtype} {list(e.shape)}"
            raise Disagreement(text.replace("torch.", ""))
        if a.layout != e.layout:
            raise Disagreement(f"{name}: {a.layout} for {e.layout}".replace("torch.", ""))
        here, e = comparable(a.detach().cpu()), comparable(e.detach())  # errors that only the device sees
        if self.only_shapes:
            return
        rtol, atol = self.tolerance(e.dtype)
        try:
            torch.testing.assert_close(here, e, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
        except AssertionError as error:
            raise Disagreement(f"{name}: " + " ".join(str(error).split())) from None

    def tolerance(self, dtype):
        pairs = [TOLERANCES.get(str(dtype).removeprefix("torch."), (0, 0))]
        if pairs[0][1]:
            pairs.append((0, NOISY.get(self.op.name, 0)))
            if self.is_half:
                pairs += [TOLERANCES[self.dtype], (0, NOISY_HALF.get(self.op.name, 0))]
        return [max(of) for of in zip(*pairs, strict=True)]


class NoGradient(Exception):
    """An operator that has none on the CPU either."""


def gradients(sample, result, otherwise=None):
    """Gradients of the leaves for fixed, uneven gradients of the results."""
    outputs = [t for t in tensors_of(sample.process(result)) if t.requires_grad and t.grad_fn is not None]
    outputs = [t for t in outputs if is_plain(t)]
    weights = [ramp(t) for t in outputs]
    try:
        return torch.autograd.grad(outputs, sample.leaves, weights, allow_unused=True) if outputs else []
    except (RuntimeError, NotImplementedError) as error:
        raise (otherwise(str(error)) if otherwise else error) from None


def ramp(like):
    """Uneven numbers that every floating dtype has, as a gradient or tangent of `like`."""
    numbers = torch.linspace(-1, 1, max(like.numel(), 1), dtype=torch.float64).cos()[: like.numel()]
    return numbers.reshape(like.shape).to(torch.bfloat16).to(like.dtype).to(like.device)


def is_plain(tensor):
    return isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided


def comparable(tensor):
    """The tensor as PyTorch's CPU can compare it."""
    tensor = tensor if tensor.layout == torch.strided else tensor.to_dense()
    return tensor.to(torch.complex64) if tensor.dtype == torch.complex32 else tensor


def known(tensor):
    """The tensor without NaN, which is equal to nothing."""
    tensor = comparable(tensor)
    return tensor.nan_to_num() if tensor.is_floating_point() else tensor


def is_random(function, sample):
    """Whether results differ from seed to seed: small ones may be equal for two."""
    results, set_seed = [], torch.manual_seed
    for run in range(4):
        given, args, kwargs = Sample(sample, "cpu", function.name).arguments
        # PyTorch's samples set a seed of their own, which is to be another each time, too.
        with mock.patch.object(torch, "manual_seed", lambda seed, run=run: set_seed(seed + run)):
            torch.manual_seed(0)
            results.append(tensors_of(function(given, *args, **kwargs)))
    same_places = [places for places in zip(*results, strict=False) if is_plain(places[0])]
    return any(
        a.shape == first.shape and not torch.equal(known(a), known(first))
        for first, *others in same_places
        for a in others
    )


def has_no_numbers(op, sample):
    """Whether results are random, or what was there before."""
    return bool(UNDEFINED.search(op.name)) or is_random(op, sample)


def empty_outs(results, device, dtypes=None):
    dtypes = dtypes or [t.dtype for t in results]
    return [torch.empty(0, dtype=dtype, device=device) for dtype in dtypes]


def strided_outs(results, device, dtypes=None):
    """Transposed, and every other element of a dimension."""
    outs = []
    for t, dtype in zip(results, dtypes or [t.dtype for t in results], strict=True):
        whole = torch.zeros([2 * n for n in t.shape[::-1]], dtype=dtype, device=device)
        parts = whole[tuple(slice(None, None, 2) for _ in t.shape)]
        outs.append(parts.permute(tuple(range(t.dim() - 1, -1, -1))))
    return outs


def evenly(samples, count):
    if not count or len(samples) <= count:
        return samples
    step = (len(samples) - 1) / max(count - 1, 1)
    return [samples[round(i * step)] for i in range(count)]
