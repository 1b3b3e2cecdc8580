"""Runs a case on both libraries and measures how far each is from the truth."""

import importlib
import pkgutil

import cases
import numpy as np
import pytest
import torch

import ocl

for module in pkgutil.iter_modules(cases.__path__):
    importlib.import_module(f"cases.{module.name}")


def drawn(name, seed):
    return cases.CASES[name](cases.Draw([seed, *name.encode()]))


# Operators of float32 and float64 alone, as PyTorch's are on a CPU.
WIDE_ALONE = {"complex", "conj", "imag", "polar", "real", "vdot", "view_as_complex", "view_as_real"}
WIDE_ALONE |= {"_fft_c2c", "_fft_c2r", "_fft_r2c"}

# Where the oracle itself fails before a version (docs/driver-faults.md).
FIRST_RIGHT_TORCH = dict.fromkeys(("aminmax", "cumprod", "lp_pool1d", "lp_pool2d", "lp_pool3d"), (2, 13))


def skip_where_torch_fails(name):
    if torch.__version__ < FIRST_RIGHT_TORCH.get(name, (0,)):
        pytest.skip(f"the gradient of {name} fails in PyTorch {torch.__version__}")


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def array_of(tensor):
    if str(tensor.dtype).endswith("float16"):  # NumPy has no bfloat16
        tensor = tensor.to(torch.float32 if isinstance(tensor, torch.Tensor) else ocl.float32)
    return tensor.numpy(force=True)


def rounded(array, dtype):
    """float32 numbers that `dtype` (a name of torch's) holds exactly."""
    return torch.from_numpy(np.array(array, np.float32)).to(getattr(torch, dtype)).float().numpy()


class Run:
    """A case computed by one library in one floating dtype: results, and gradients of the floating inputs.

    `device`: where PyTorch computes. `rounded_to` names a narrower dtype to whose numbers the inputs and
    incoming gradients are rounded; `absolute` says of which, "inputs" or "gradients", the signs are dropped.
    """

    def __init__(self, lib, case, dtype, absolute=(), backward=True, rounded_to=None, device="cpu"):
        def tensor_of(array, kind="inputs"):
            if array.dtype.kind != "f":
                return lib.tensor(array) if lib is ocl else torch.from_numpy(array.copy()).to(device)
            if rounded_to:
                array = rounded(array, rounded_to)
            array = np.array(
                np.abs(array) if kind in absolute else array, "float64" if dtype == "float64" else "float32"
            )
            tensor = lib.tensor(array) if lib is ocl else torch.from_numpy(array).to(device)
            return tensor.to(getattr(lib, dtype))

        built = [i.build(tensor_of) for i in case.inputs]
        leaves = [leaf for leaf, _ in built]
        if backward:
            for i, leaf in zip(case.inputs, leaves, strict=True):
                leaf.requires_grad_(i.is_floating)
            built = [i.build(lambda _, leaf=leaf: leaf) for i, leaf in zip(case.inputs, leaves, strict=True)]
        self.results = as_list(case.function(lib, *(view for _, view in built)))
        self.gradients = []
        roots = [r for r in self.results if r.requires_grad] if backward else []
        if roots:
            rng = np.random.default_rng(7)
            upstream = [rng.uniform(-1, 1, tuple(r.shape)).astype(np.float32) for r in roots]
            gradients = [tensor_of(u, "gradients").to(r.dtype) for u, r in zip(upstream, roots, strict=True)]
            if len(roots) == 1:
                roots[0].backward(gradients[0])
            else:
                sum((r * g).sum() for r, g in zip(roots, gradients, strict=True)).backward()
            self.gradients = [leaf.grad for i, leaf in zip(case.inputs, leaves, strict=True) if i.is_floating]


class Distances:
    """The largest error of each result and gradient over the cases, in units in the last place."""

    def __init__(self, dtype="float32", least=0):
        """`least`: the least size by which errors are measured where one size serves all elements."""
        self.least = least
        self.dtype = getattr(torch, dtype)
        self.kind = torch.finfo(self.dtype)
        self.ours, self.theirs, self.worst = {}, {}, {}

    def add(self, what, actual, truth, single, magnitude, seed):
        if actual.size == 0:
            return
        if self.kind.bits == 16:
            single = self.nearer_of_two(single, truth, actual)
        np.testing.assert_array_equal(
            np.where(np.isfinite(single), 0, single),
            np.where(np.isfinite(actual), 0, actual),
            err_msg=f"{what}, seed {seed}: not finite where PyTorch is, or the other way round",
        )
        finite = np.isfinite(single) & np.isfinite(truth)
        scale = np.where(np.isfinite(magnitude), np.maximum(np.abs(magnitude), np.abs(truth)), np.abs(truth))
        unit = np.maximum(scale * self.kind.eps, self.kind.tiny)
        with np.errstate(invalid="ignore"):
            ours = np.where(finite, np.abs(actual.astype(np.float64) - truth) / unit, 0)
            theirs = np.where(finite, np.abs(single.astype(np.float64) - truth) / unit, 0)
        self.theirs[what] = max(self.theirs.get(what, 0), theirs.max())
        if ours.max() > self.ours.get(what, -1):
            self.ours[what] = ours.max()
            at = np.unravel_index(np.argmax(ours), ours.shape)
            self.worst[what] = (
                f"seed {seed} at {at}: {actual[at]!r}, PyTorch {single[at]!r}, truth {truth[at]!r}"
            )

    def nearer_of_two(self, single, truth, actual):
        """PyTorch's numbers, but where either they or the truth is out of the dtype's range the one of these
        that ours is like: PyTorch's own kernels may overflow on the way, or stop short of it."""
        held = torch.from_numpy(np.asarray(truth, np.float64)).to(self.dtype).double().numpy()
        differ = np.isfinite(single) != np.isfinite(held)
        return np.where(differ & (np.isfinite(actual) == np.isfinite(held)), held, single)

    def check(self, units=1):
        """Fails where an error is more than 4 times PyTorch's own and `units` on top."""
        for what, ours in self.ours.items():
            allowed = 4 * self.theirs[what] + units
            assert ours <= allowed, f"{what}: {ours:.2f} units off, allowed {allowed:.2f}; {self.worst[what]}"


def torch_run(case, dtype, rounded_to):
    """PyTorch's result in `dtype`, or float32's result rounded where it has no kernel of that dtype."""
    try:
        return Run(torch, case, dtype, backward=case.backward, rounded_to=rounded_to)
    except RuntimeError:
        if not rounded_to:
            raise
    run = Run(torch, case, "float32", backward=case.backward, rounded_to=rounded_to)
    for tensors in (run.results, run.gradients):
        tensors[:] = [
            t.to(getattr(torch, dtype)) if t is not None and t.is_floating_point() else t for t in tensors
        ]
    return run


def largest_of(array, least=0):
    return np.abs(array[np.isfinite(array)]).max(initial=least)


def compare(distances, seed, case, rounded_to=None):
    """Adds the distances of one case, in float32 or in the narrower dtype `rounded_to`."""
    dtype = rounded_to or "float32"
    truth = Run(torch, case, "float64", backward=case.backward, rounded_to=rounded_to)
    single = torch_run(case, dtype, rounded_to)
    ours = Run(ocl, case, dtype, backward=case.backward, rounded_to=rounded_to)
    largest_result = max((r.numel() for r in truth.results), default=0)
    is_summed = [i.is_floating and i.stored_elements() < largest_result for i in case.inputs]
    # With the inputs' signs too: without them, a function that chooses by value (clamp) sums other gradients.
    absolute = [
        Run(torch, case, "float64", absolute=kinds, backward=case.backward, rounded_to=rounded_to)
        for kinds in (("inputs", "gradients"), ("gradients",))
        if case.unit == "sums" or any(is_summed)
    ]
    # The unit for a rounding error of each result and gradient: a gradient that sums over broadcast
    # dimensions by the magnitudes that it adds up.
    sums = {
        "results": [case.unit == "sums"] * len(truth.results),
        "gradients": [
            case.unit == "sums" or summed
            for i, summed in zip(case.inputs, is_summed, strict=True)
            if i.is_floating
        ],
    }
    for kind in ("results", "gradients"):
        lists = [getattr(run, kind) for run in (ours, truth, single)]
        assert len(lists[0]) == len(lists[1]), (
            f"{kind}, seed {seed}: {len(lists[0])}, PyTorch has {len(lists[1])}"
        )
        for i, (a, t64, t32) in enumerate(zip(*lists, strict=True)):
            what = f"{kind[:-1]} {i}"
            assert (a is None) == (t64 is None), f"{what}, seed {seed}: {a}, PyTorch has {t64}"
            if a is None:
                continue
            assert tuple(a.shape) == tuple(t64.shape), f"{what}, seed {seed}"
            assert str(a.dtype).split(".")[1] == str(t32.dtype).split(".")[1], f"{what}, seed {seed}"
            actual, truth_array, single_array = array_of(a), array_of(t64), array_of(t32)
            if single_array.dtype.kind != "f":
                np.testing.assert_array_equal(actual, single_array, err_msg=f"{what}, seed {seed}")
                continue
            magnitude = np.float64(0)
            if sums[kind][i]:
                magnitude = np.fmax(*(np.abs(array_of(getattr(run, kind)[i])) for run in absolute))
            elif case.unit == "largest" and truth_array.size:
                magnitude = np.float64(largest_of(truth_array, distances.least))
            if case.unit == "largest" and truth_array.size:
                # A difference of what is as large as the others, as where softmax has one key: nothing in
                # float64 either, but for its rounding.
                largest = max(
                    largest_of(array_of(t)) for t in truth.results + truth.gradients if t is not None
                )
                is_nothing = magnitude <= 100 * np.finfo(np.float64).eps * largest
                magnitude = np.where(is_nothing, largest, magnitude)
            distances.add(what, actual, truth_array, single_array, magnitude, seed)


def units_on_top(name, dtype):
    """Attention on a GPU's tensor cores rounds its weights to 16 bits before it multiplies with them, as
    PyTorch's for CUDA does; gradients by scores are differences of their sums (tests/cpp/ops/attention)."""
    rounds_weights = name == "scaled_dot_product_attention" and dtype in ("float16", "bfloat16")
    return 8 if rounds_weights and not ocl.get_device_properties()["is_cpu"] else 1


def check_cases(name, seeds, rounded_to=None):
    """Fails unless the errors over the cases of these seeds are within what PyTorch's own allow."""
    distances = Distances(rounded_to or "float32")
    for seed in seeds:
        try:
            compare(distances, seed, drawn(name, seed), rounded_to)
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}: {type(error).__name__}: {error}") from error
    distances.check(units_on_top(name, rounded_to))
