"""Runs the samples of PyTorch's own list of operators (OpInfo) on both libraries and compares them.

`python tests/python/ops/opinfo_runs.py [NAME...] [--failures FILE]` counts the samples and shows what fails.
"""

import argparse
import collections
import dataclasses
import time
import types
import warnings

import numpy as np
import torch

import ocl

# The results are random, or what memory held: shapes and dtypes are compared.
VALUES_DIFFER = {
    "bernoulli", "empty", "empty_like", "empty_strided", "multinomial", "new_empty", "normal", "rand_like",
    "randint", "randint_like", "randn", "randn_like", "nn.functional.alpha_dropout", "nn.functional.dropout",
    "nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.feature_alpha_dropout",
    "nn.functional.rrelu", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.multi_head_attention_forward",
    "svd_lowrank", "pca_lowrank", "resize_", "cauchy", "exponential", "geometric", "log_normal", "uniform",
}  # fmt: skip

# Signs, and bases of equal values, are free: a product is compared, made by the library's own operators.
PRODUCTS = {
    "svd": lambda r, _: [(r[0] * r[1].unsqueeze(-2)) @ r[2].mH, r[1]],
    "linalg.svd": lambda r, _: (
        [r[1]] + ([(r[0] * r[1].unsqueeze(-2)) @ r[2]] if r[0].shape[-1] == r[2].shape[-2] else [])
    ),
    "linalg.eigh": lambda r, _: [(r[1] * r[0].unsqueeze(-2)) @ r[1].mH, r[0]],
    "lobpcg": lambda r, _: [r[0]],
}

# Among equal elements either place is right: the elements at the places are compared.
PLACES = {"argsort", "kthvalue", "mode", "sort", "topk", "msort", "median", "nanmedian"}

DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


@dataclasses.dataclass
class Counts:
    """The counts of one OpInfo's samples, and what fails."""

    samples: int = 0
    skipped: int = 0  # without a counterpart: sparse, dtypes and layouts that ocl lacks or refuses
    failures: list = dataclasses.field(default_factory=list)


def op_infos():
    """PyTorch's list; ImportError where a package that it reads is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    # The import forbids all later programs of the process to set torch.backends.cudnn's flags.
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    return list(op_db)


def full_name(info):
    return info.name + ("." + info.variant_test_name if info.variant_test_name else "")


def at(root, name):
    for part in name.split("."):
        root = getattr(root, part, None)
        if root is None:
            return None
    return root


class Absent(Exception):
    """A sample that takes or gives what ocl does not have."""


def to_ocl(value, gradients, memo):
    """The value with ocl's tensors, dtypes and names in the place of PyTorch's, layouts kept."""
    if isinstance(value, torch.Tensor):
        return tensor_to_ocl(value, gradients, memo)
    if isinstance(value, torch.dtype):
        found = getattr(ocl, str(value).split(".")[1], None)
        if found is None:
            raise Absent(f"no dtype {value}")
        return found
    if isinstance(value, torch.device) or value == "cpu":
        return "ocl:0"
    if isinstance(value, (torch.layout, torch.memory_format)):
        if isinstance(value, torch.layout):
            raise Absent("no layouts")
        return getattr(ocl, str(value).split(".")[1])
    if isinstance(value, torch.nn.Module):
        return getattr(ocl.nn, type(value).__name__)()
    if isinstance(value, torch.Generator):
        return ocl.Generator()
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [to_ocl(v, gradients, memo) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: to_ocl(v, gradients, memo) for k, v in value.items()}
    return value


def tensor_to_ocl(tensor, gradients, memo):
    if id(tensor) in memo:
        return memo[id(tensor)]
    if tensor.layout is not torch.strided:
        raise Absent("no sparse or nested tensors")
    if getattr(ocl, str(tensor.dtype).split(".")[1], None) is None:
        raise Absent(f"no dtype {tensor.dtype}")
    plain = tensor.detach().resolve_conj().resolve_neg()
    if plain.is_contiguous():
        made = array_to_ocl(plain)
    else:
        size = (
            1 + sum((n - 1) * s for n, s in zip(plain.shape, plain.stride(), strict=True))
            if plain.numel()
            else 0
        )
        made = array_to_ocl(plain.as_strided((size,), (1,)).clone()).as_strided(
            tuple(plain.shape), plain.stride()
        )
    if gradients and tensor.requires_grad:
        made = made.detach().requires_grad_()
    memo[id(tensor)] = made
    return made


def array_to_ocl(tensor):
    if tensor.dtype == torch.bfloat16:
        return ocl.tensor(tensor.float().numpy()).to(ocl.bfloat16)
    return ocl.tensor(tensor.numpy())


def leaves(value):
    if isinstance(value, (torch.Tensor, ocl.Tensor)):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)


def as_leaves(value, memo):
    """A copy of the arguments whose tensors are leaves, as a sample's may be views of others."""
    if isinstance(value, torch.Tensor):
        if value.layout is not torch.strided:
            raise Absent("no sparse or nested tensors")
        if id(value) not in memo:
            memo[id(value)] = value.detach().clone() if value.is_contiguous() else value.detach()
            memo[id(value)].requires_grad_(value.requires_grad)
        return memo[id(value)]
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, (list, tuple)):
        items = [as_leaves(v, memo) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: as_leaves(v, memo) for k, v in value.items()}
    return value


class _Torch:
    """Stands for `torch` in a function of OpInfo's: ocl."""

    def __getattr__(self, name):
        return getattr(ocl, name)


def of_ocl(function):
    """A function that OpInfo wraps around PyTorch's, around ocl's."""
    if isinstance(function, torch._ops.OpOverloadPacket):
        return None
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing"):
        cells = tuple(types.CellType(named_in_ocl(c.cell_contents)) for c in function.__closure__ or ())
        scope = {**function.__globals__, "torch": _Torch(), "F": ocl.nn.functional}
        scope["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
        defaults = tuple(named_in_ocl(d) for d in function.__defaults__ or ()) or None
        made = types.FunctionType(function.__code__, scope, function.__name__, defaults, cells or None)
        made.__kwdefaults__ = function.__kwdefaults__
        return made
    return None


def named_in_ocl(value):
    if callable(value) and not isinstance(value, type):
        for name, root in (
            ("", ocl),
            ("nn.functional.", ocl),
            ("linalg.", ocl),
            ("special.", ocl),
            ("Tensor.", ocl),
        ):
            found = at(root, name + getattr(value, "__name__", "?"))
            if found is not None and at(torch, name + value.__name__) is value:
                return found
        return of_ocl(value) or value
    return value


def variants(info):
    """(label, PyTorch's function, ocl's function) of the forms that OpInfo names and ocl has."""
    ours = at(ocl, info.name)
    wrapped = of_ocl(info.op)
    if wrapped is not None:
        if ours is not None or hasattr(ocl.Tensor, info.name) or info.name in ("where",):
            yield "function", info.op, wrapped
    elif callable(ours):  # and no dtype, as cfloat is one beside a method
        yield "function", info.op, ours
    for label, method in (("method", info.method_variant), ("in place", info.inplace_variant)):
        name = getattr(method, "__name__", None)
        if name and getattr(torch.Tensor, name, None) is method and hasattr(ocl.Tensor, name):
            yield label, method, getattr(ocl.Tensor, name)
        elif name and method is not None and of_ocl(method) is not None and hasattr(ocl.Tensor, info.name):
            yield label, method, of_ocl(method)


def is_present(info):
    return any(True for _ in variants(info))


def array_of(tensor):
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.detach().resolve_conj().resolve_neg()
        return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy(force=True)
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == ocl.bfloat16 else tensor).numpy()


def name_of_dtype(dtype):
    return str(dtype).split(".")[1]


def difference(ours, theirs, truth, values, what="result"):
    """None, or what differs between two results: shapes, dtypes, and values farther from the truth."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, ocl.Tensor):
            return f"{what}: {type(ours).__name__} in the place of a tensor"
        if name_of_dtype(ours.dtype) != name_of_dtype(theirs.dtype):
            return f"{what}: {ours.dtype}, PyTorch {theirs.dtype}"
        if tuple(ours.shape) != tuple(theirs.shape):
            return f"{what}: shape {tuple(ours.shape)}, PyTorch {tuple(theirs.shape)}"
        if not values:
            return None
        a, b = array_of(ours), array_of(theirs)
        if a.dtype.kind not in "fc":
            return None if np.array_equal(a, b) else f"{what}: {shown(a, b)}"
        return differing_floats(a, b, truth if isinstance(truth, torch.Tensor) else None, what)
    if isinstance(theirs, (list, tuple)) and not isinstance(theirs, torch.Size):
        if not isinstance(ours, (list, tuple)):
            return f"{what}: {type(ours).__name__}, PyTorch {type(theirs).__name__}"
        if len(ours) != len(theirs):
            return f"{what}: {len(ours)} items, PyTorch {len(theirs)}"
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            t = truth[i] if isinstance(truth, (list, tuple)) and len(truth) == len(theirs) else None
            found = difference(a, b, t, values, f"{what} {i}")
            if found:
                return found
        return None
    if isinstance(theirs, torch.dtype):
        return None if name_of_dtype(ours) == name_of_dtype(theirs) else f"{what}: {ours}, PyTorch {theirs}"
    if isinstance(theirs, (float, complex)):
        return differing_floats(np.asarray(ours), np.asarray(theirs), None, what)
    if theirs is None and ours is None:
        return None
    return None if ours == theirs or not values else f"{what}: {ours!r}, PyTorch {theirs!r}"


def differing_floats(a, b, truth, what):
    with np.errstate(all="ignore"):
        largest = np.abs(b[np.isfinite(b)]).max(initial=0)
        rough = 2e-2 if b.dtype == np.float16 else 1e-4
        if np.allclose(a, b, rtol=rough, atol=rough / 10 * max(1, largest), equal_nan=True):
            return None
        if truth is not None and truth.shape == b.shape:
            t = array_of(truth)
            both = np.isfinite(b) & np.isfinite(t)
            if np.array_equal(np.isfinite(a) | ~both, np.ones_like(both)):
                mine, its = np.abs(a - t)[both].max(initial=0), np.abs(b - t)[both].max(initial=0)
                if mine <= 4 * its + 1e-5 * max(1, largest) and np.array_equal(
                    a[~both], b[~both], equal_nan=True
                ):
                    return None
    return f"{what}: {shown(a, b)}"


def shown(a, b):
    """The first elements that differ."""
    with np.errstate(all="ignore"):
        differ = ~np.isclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True) if a.dtype.kind in "fc" else a != b
    at_ = np.flatnonzero(np.broadcast_to(differ, a.shape).ravel())
    i = at_[0] if at_.size else 0
    return f"{at_.size} of {a.size} differ, at {i} {a.ravel()[i]!r}, PyTorch {b.ravel()[i]!r}"


def projected(results, seed):
    """Sum of the floating results (real parts) times random numbers, the same for both libraries."""
    total = None
    for place, result in enumerate(leaves(results)):
        rng = np.random.default_rng([seed, place])
        kind = str(result.dtype)
        if not result.requires_grad or not ("float" in kind or "complex" in kind):
            continue
        weights = rng.uniform(-1, 1, tuple(result.shape)).astype(np.float32)
        if "complex" in kind:
            weights = weights + 1j * rng.uniform(-1, 1, weights.shape).astype(np.float32)
        made = (
            torch.from_numpy(np.asarray(weights)) if isinstance(result, torch.Tensor) else ocl.tensor(weights)
        )
        product = result * made.to(result.dtype)
        term = (product.real if "complex" in kind else product).sum()
        total = term if total is None else total + term
    return total


WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}


def in_double(value):
    if isinstance(value, torch.Tensor):
        made = value.detach().to(WIDE.get(value.dtype, value.dtype), copy=True)
        return made.requires_grad_(value.requires_grad)
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, torch.dtype):
        return WIDE.get(value, value)
    if isinstance(value, (list, tuple)):
        items = [in_double(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: in_double(v) for k, v in value.items()}
    return value


def called(lib, function, arguments, in_place, gradients, product):
    """The result of a library's function and the gradients of a random projection of it."""
    lib.manual_seed(0)
    args, kwargs = arguments
    if in_place:
        args = (args[0].clone(), *args[1:])
    result = function(*args, **kwargs)
    compared = product(result, args[0]) if product else result
    total = projected(compared, 1) if gradients else None
    if total is None:
        return compared, None
    wanted = [t for t in leaves(arguments) if t.requires_grad]
    return compared, list(lib.autograd.grad(total, wanted, allow_unused=True))


def has_gradients(info, dtype):
    return dtype in WIDE and info.supports_autograd and dtype in info.supported_backward_dtypes("cpu")


def compare_sample(info, label, theirs, ours, sample, dtype):
    """None, or the failure's text. Raises Absent where ocl has no counterpart of the sample."""
    gradients = has_gradients(info, dtype) and info.name not in VALUES_DIFFER
    values = info.name not in VALUES_DIFFER
    values = values and not sample.kwargs.get("dropout_p")
    gradients = gradients and values
    product = PRODUCTS.get(info.name)
    if info.name in PLACES and dtype != torch.float32:
        product = elements_at_places(info.name, sample)
    arguments = as_leaves(((sample.input, *sample.args), dict(sample.kwargs)), {})
    converted = to_ocl(arguments, gradients, {})
    in_place = label == "in place"
    try:
        expected, expected_grads = called(torch, theirs, arguments, in_place, gradients, product)
    except Exception as error:
        raise Absent(f"PyTorch fails: {error}") from error
    for tensor in leaves(expected):
        if tensor.layout is not torch.strided:
            raise Absent("no sparse results")
        if not hasattr(ocl, name_of_dtype(tensor.dtype)):
            raise Absent(f"no dtype {tensor.dtype}")
    try:
        actual, actual_grads = called(ocl, ours, converted, in_place, gradients, product)
    except Exception as error:
        if dtype.is_complex and isinstance(error, (TypeError, NotImplementedError)):
            raise Absent(f"no complex numbers: {error}") from error
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    truth = truth_grads = None
    found = difference(actual, expected, None, values)
    if not found and expected_grads is not None:
        found = difference_of_gradients(actual_grads, expected_grads, None)
    if found and values and dtype in WIDE:  # the costlier look: PyTorch's own distance from float64
        try:
            truth, truth_grads = called(torch, theirs, in_double(arguments), in_place, gradients, product)
        except Exception:
            return found
        found = difference(actual, expected, truth, values)
        if not found and expected_grads is not None:
            found = difference_of_gradients(actual_grads, expected_grads, truth_grads)
    return found


def elements_at_places(name, sample):
    """A function of a result and its input: the values, and the input's elements at the places."""
    first = {"topk": 1, "kthvalue": 1}.get(name, 0)  # where `dim` stands among the arguments
    dim = sample.kwargs.get("dim", sample.args[first] if len(sample.args) > first else -1)
    keeps = sample.kwargs.get("keepdim", any(a is True for a in sample.args)) or name in (
        "sort",
        "argsort",
        "topk",
    )

    def compared(result, given):
        results = [result] if hasattr(result, "dtype") else list(result)
        if name != "argsort" and len(results) < 2:
            return results
        places = results[-1]
        if given.ndim == 0:
            return [*results[:-1], places]
        elements = given.gather(dim, places if keeps else places.unsqueeze(dim))
        return [*results[:-1], elements]

    return compared


def difference_of_gradients(ours, theirs, truth):
    if ours is None:
        return "no gradient"
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a is None and b is None:
            continue
        if a is None or b is None:
            other = a if b is None else b
            if not array_of(other).any():  # an absent gradient is one of zeros
                continue
            words = ["None" if gradient is None else "there" for gradient in (a, b)]
            return f"gradient {i}: {words[0]}, PyTorch {words[1]}"
        found = difference(a, b, truth[i] if truth else None, True, f"gradient {i}")
        if found:
            return found
    return None


def described(sample, limit=200):
    def say(value):
        if isinstance(value, torch.Tensor):
            strided = "" if value.is_contiguous() else f" strides {tuple(value.stride())}"
            return f"{name_of_dtype(value.dtype)}{list(value.shape)}{strided}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(say, value)) + "]"
        return repr(value)

    text = ", ".join(
        [say(sample.input), *map(say, sample.args), *(f"{k}={say(v)}" for k, v in sample.kwargs.items())]
    )
    return text if len(text) <= limit else text[:limit] + "…"


def run(info, dtypes=DTYPES):
    """Counts of all samples of one OpInfo, in every form that it names."""
    counts = Counts()
    forms = list(variants(info))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes:
            if dtype not in info.dtypes:
                continue
            gradients = has_gradients(info, dtype)
            try:
                samples = list(info.sample_inputs("cpu", dtype, requires_grad=gradients))
            except Exception:
                counts.skipped += 1  # linear algebra, of floating tensors alone
                continue
            for sample in samples:
                for label, theirs, ours in forms:
                    try:
                        found = compare_sample(info, label, theirs, ours, sample, dtype)
                    except Absent:
                        counts.skipped += 1
                        continue
                    counts.samples += 1
                    if found:
                        counts.failures.append(f"{label}({described(sample)}): {found}")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--failures", help="a file for all failures")
    parser.add_argument("--each", type=int, default=3, help="failures shown of each name")
    parser.add_argument("--part", default="0/1", help="I/N: each Nth operator from I on")
    options = parser.parse_args()
    first, step = map(int, options.part.split("/"))
    ocl.set_default_device("ocl:0")
    infos = [
        i for i in op_infos() if not options.names or i.name in options.names or full_name(i) in options.names
    ]
    infos = infos[first::step]
    absent = sorted({i.name for i in infos if not is_present(i)})
    names, passing, samples, failed, skipped = set(), set(), 0, 0, 0
    by_name = collections.defaultdict(lambda: [0, 0])
    out = open(options.failures, "a") if options.failures else None
    for info in infos:
        if not is_present(info):
            continue
        begin = time.perf_counter()
        counts = run(info)
        names.add(info.name)
        samples, failed, skipped = (
            samples + counts.samples,
            failed + len(counts.failures),
            skipped + counts.skipped,
        )
        by_name[info.name][0] += counts.samples
        by_name[info.name][1] += len(counts.failures)
        if counts.failures or options.names:
            spent = time.perf_counter() - begin
            print(
                f"{full_name(info)}: {len(counts.failures)} of {counts.samples} fail ({spent:.1f} s)",
                flush=True,
            )
            for failure in counts.failures[: options.each]:
                print("    " + failure[:600], flush=True)
        if out:
            for failure in counts.failures:
                print(f"{full_name(info)}\t{failure}", file=out, flush=True)
    passing = {n for n, (all_, bad) in by_name.items() if all_ and bad <= all_ / 100}
    print(
        f"{len(names)} names, {len(passing)} with at least 99 % passing; {samples} samples, {failed} fail, "
        f"{skipped} skipped"
    )
    print(f"{len(absent)} absent: {' '.join(absent)}")


if __name__ == "__main__":
    main()
