"""Every layer of nn with random options, trained a few steps and taken over in the middle, beside PyTorch's.

A case builds a layer (layer_options.py) in both libraries, gives it the same weights, and runs a few steps:
forward, a loss of a subset of the results, backward, an update. Between the steps it is saved and loaded,
copied, pickled, or sent through a layer of PyTorch's. Results, gradients and states are compared.
"""

import copy
import io
import pickle
import warnings

import comparison
import numpy as np
import torch
from support import has_float64

import ocl
from fuzz.found import WRONG, Found
from fuzz.hostile import HostileDraw, described
from fuzz.layer_options import FAMILIES
from fuzz.operators import attempt, judge_errors
from fuzz.spies import is_tensor
from fuzz.twins import disagreement, recorded, set_weights, weights_like

DTYPES = (*["float32"] * 6, "float64", "float64", "float16", "bfloat16")
LIMITS = (12, 60, 400)


def tensors_of(results):
    """Tensors of nested tuples; None where a result is None."""
    if isinstance(results, (tuple, list)):
        return [t for part in results for t in tensors_of(part)]
    return [results]


# --- what happens between the steps: the module goes on as what these give


def reloaded(lib, module, drawn, records):
    """A new layer with the saved state."""
    file = io.BytesIO()
    lib.save(module.state_dict(), file)
    file.seek(0)
    state = lib.load(file)
    records.append(("keys", list(state)))
    fresh = like(drawn.build(lib), module)
    records.append(("keys", str(fresh.load_state_dict(state))))
    return fresh


def like(fresh, module):
    """`fresh` in the mode and dtype of the module, whichever library either is of."""
    lib = torch if isinstance(fresh, torch.nn.Module) else ocl
    names = [str(t.dtype).split(".")[1] for t in module.state_dict().values()]
    floating = next((name for name in names if "float" in name), "float32")
    return fresh.to(getattr(lib, floating)).train(module.training)


def through_pytorch(lib, module, drawn, records):
    """The state dict through a layer of PyTorch's, and back."""
    if lib is torch:
        return module
    theirs = like(drawn.build(torch), module)
    state = module.state_dict()
    theirs.load_state_dict({name: torch.from_numpy(comparison.array_of(t)) for name, t in state.items()})
    module.load_state_dict(theirs.state_dict())
    return module


def pickled(lib, module, drawn, records):
    return pickle.loads(pickle.dumps(module))


def copied(lib, module, drawn, records):
    return copy.deepcopy(module)


def channels_last(lib, module, drawn, records):
    return module.to(memory_format=lib.channels_last)


CHANGES = {
    "nothing": lambda lib, module, drawn, records: module,
    "reload": reloaded,
    "through PyTorch": through_pytorch,
    "pickle": pickled,
    "deepcopy": copied,
    "channels_last": channels_last,
    "eval": lambda lib, module, drawn, records: module.eval(),
}


# --- one step


def inputs_of(lib, drawn, dtype, rounded_to, keeps_layout):
    """The leaves and the tensors that the layer is called with."""

    def make(array):
        tensor = lib.tensor(np.array(array))
        return (
            tensor.to(getattr(lib, rounded_to)).to(getattr(lib, dtype)) if array.dtype.kind == "f" else tensor
        )

    leaves = []
    for i, given in enumerate(drawn.inputs):
        view = given.build(make)[1]
        view = view if keeps_layout else view.contiguous()
        is_target = i > 0 and drawn.name.endswith("Loss")
        leaves.append(view.detach().requires_grad_(given.is_floating and not is_target))
    # Times 1, so that layers may write over what they are given.
    return leaves, [x * 1 if x.requires_grad and x.is_contiguous() else x for x in leaves]


def one_step(lib, module, drawn, inputs, rng, records):
    leaves, given = inputs
    call = drawn.call or (lambda layer, *tensors, **keywords: layer(*tensors, **keywords))
    results = tensors_of(call(module, *given, **drawn.keywords))
    records += [recorded(f"result {i}", r) for i, r in enumerate(results)]
    records.append(("flags", [is_tensor(r) and r.requires_grad for r in results]))
    useful = [r for r in results if is_tensor(r) and r.requires_grad]
    if not useful:
        return
    chosen = sorted(rng.permutation(len(useful))[: rng.integers(1, len(useful) + 1)])
    module.zero_grad()
    loss = sum((useful[i] * weights_like(lib, useful[i], int(i))).sum() for i in chosen)
    loss.backward()
    records += [recorded(f"gradient of input {i}", x.grad) for i, x in enumerate(leaves)]
    records += [recorded(f"gradient of {name}", p.grad) for name, p in module.named_parameters()]
    with lib.no_grad():
        for parameter in module.parameters():
            if parameter.grad is not None:
                parameter.sub_(parameter.grad * 0.125)


def run(lib, drawn, plan, dtype, rounded_to):
    """The records of the plan in one library and dtype; the inputs are first rounded to another."""
    records, rng = [], np.random.default_rng(plan["seed"])
    module = set_weights(lib, drawn.build(lib), plan["seed"])
    module = module.to(getattr(lib, rounded_to)).to(getattr(lib, dtype))
    for change in plan["changes"]:
        module = CHANGES[change](lib, module, drawn, records)
        one_step(lib, module, drawn, inputs_of(lib, drawn, dtype, rounded_to, plan["layouts"]), rng, records)
        state = module.state_dict()
        records.append(("keys", list(state)))
        records += [recorded(f"state {name}", tensor) for name, tensor in state.items()]
    return records


def subject_of(seed):
    names = tuple(FAMILIES)
    return names[int(np.random.default_rng([seed, 7]).integers(len(names)))]


def run_one(name, seed, limit, announce):
    name = name or subject_of(seed)
    draw = HostileDraw([seed, *name.encode()], limit or LIMITS[seed % len(LIMITS)])
    draw.has_specials = False
    drawn = FAMILIES[name](draw)
    dtype = draw.choice(DTYPES)
    if dtype == "float64" and not has_float64():
        dtype = "float32"
    changes = ["nothing"] + [draw.choice(tuple(CHANGES)) for _ in range(draw.integer(0, 2))]
    plan = {"changes": changes, "seed": draw.integer(0, 1000), "layouts": draw.chance(0.7)}
    inputs = ", ".join(described(i.array, i.layout) for i in drawn.inputs)
    text = f"{drawn.text()} in {dtype}, {plan}: {inputs}"
    records = {}

    def record(key, *arguments):
        records[key] = run(*arguments)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        announce(torch, text)
        rounded_to = "float32" if dtype == "float64" else dtype
        their_error = attempt(lambda: record("single", torch, drawn, plan, rounded_to, rounded_to))
        if their_error is None:
            record("truth", torch, drawn, plan, "float64", rounded_to)
        elif "not implemented for" in str(their_error):
            return None  # PyTorch has no kernel of that dtype
        announce(ocl, text)
        our_error = attempt(lambda: record("ours", ocl, drawn, plan, dtype, rounded_to))
        found = judge_errors(our_error, their_error)
        if found is None and our_error is None:
            detail = disagreement(records["ours"], records["single"], records["truth"], dtype)
            found = detail and (WRONG, detail)
    return Found(found[0], f"module: {name}", text, found[1]) if found else None


def smaller(seed):
    for limit in LIMITS:
        for other in range(20):
            yield 1000 * seed + other, limit
