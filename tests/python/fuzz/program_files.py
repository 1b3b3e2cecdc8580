"""Damaged files of exported programs (.ocl): the valid ones, the changes, and how they are read."""

import functools
import json
import math
import struct

import numpy as np
from training_steps import training

import ocl
import ocl.nn.functional as F
from fuzz import files
from fuzz.watched import Watch, judged_by
from ocl import nn
from ocl._C._export import load_program

PROGRAM, BINARIES, FORMAT = "tapecl_program", "tapecl_binaries", "tapecl_format"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool")
# An error says one of these places; for a file that is cut short it says how many bytes there are.
PLACES = (
    r"\bcall \d+|\bbuffer \d+|\bat byte \d+|\binput |\boutput |\bsymbol|tensor |binary \d+|header|\"\w+\"|"
    r"\d+ bytes|version .* of the format|two (buffers|inputs)|key \"|no exported program|too short"
)
# An error that the device finds, such as an index out of range, names the operator.
RUN_PLACES = PLACES + r"|^\w+: "
# A program that declares more memory for its temporaries than this is loaded, and not run.
MOST_ARENA = 64 << 20


# --- valid files


def drawn(*shape):
    return ocl.tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def pictures():
    layers = [nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))


def convolution():
    return ocl.export(pictures().eval(), (drawn(2, 2, 8, 8),))


def transformer():
    net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu").eval()
    sizes = {0: ocl.export.Dim("batch", max=3), 1: ocl.export.Dim("length", min=2, max=6)}
    return ocl.export(net, (drawn(2, 4, 8),), dynamic_shapes=(sizes,))


def training_step():
    net = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Dropout(0.3), nn.GELU(), nn.Linear(5, 3))
    optimizer = ocl.optim.AdamW(net.parameters(), capturable=True)
    step = training(net, optimizer)
    batch = drawn(6, 4), ocl.tensor([0, 1, 2, 0, 1, 2])
    step(*batch)
    return ocl.export(step, batch, named=net)


def int8():
    from ocl.quantization import quantize_static

    return quantize_static(ocl.export(pictures().eval(), (drawn(2, 2, 8, 8),)), [drawn(2, 2, 8, 8)])


class Words(nn.Module):
    """Places that the input names, a recurrent layer, a choice and an order."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4, padding_idx=0)
        self.layer = nn.LSTM(4, 3, batch_first=True)

    def forward(self, tokens):
        x, (h, _) = self.layer(self.words(tokens))
        best, places = x.topk(2, dim=1)
        kept = ocl.where(tokens.unsqueeze(2) > 2, x, x.cumsum(1))
        return ocl.cat([best, kept.sort(1)[0]], 1), places, h.softmax(-1), x.gather(2, tokens[:, :, None] % 3)


def words():
    return ocl.export(Words().eval(), (ocl.tensor([[1, 2, 3, 4], [5, 6, 0, 1]]),))


def gradients():
    """Backward passes of kinds that no net above has, on the device's own terms."""
    weight, kernel = drawn(2, 3, 3, 3).requires_grad_(), drawn(3, 2, 2, 2).requires_grad_()
    norm = drawn(2).requires_grad_()

    def work(x):
        x = x.detach().requires_grad_()
        y = F.group_norm(F.conv2d(x, weight, padding=1), 2, norm)
        y = F.conv_transpose2d(
            F.avg_pool2d(F.interpolate(y, scale_factor=2, mode="bilinear"), 3, 2), norm_of(y)
        )
        z = F.scaled_dot_product_attention(*(x.flatten(2) for _ in range(3)), is_causal=True)
        loss = (
            y.square().mean()
            + F.softplus(z).sum()
            + F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 3).logsumexp(1).sum()
        )
        return loss, *ocl.autograd.grad(loss, (x, weight, norm))

    def norm_of(y):
        return kernel[:2] * y.abs().amax()

    return ocl.export(work, (drawn(1, 3, 5, 5),))


def with_binaries():
    """Beside its program the file has a list of built kernels, which nothing may read without trust."""
    header, data = split(files.written(save(convolution)))
    code = bytes(range(64))
    each = {name: "text" for name in ("key", "label", "device", "driver", "variants")}
    header["__metadata__"][BINARIES] = json.dumps([{"tensor": "tapecl_binary.0"} | each])
    offsets = [len(data), len(data) + len(code)]
    header["tapecl_binary.0"] = {"dtype": "U8", "shape": [len(code)], "data_offsets": offsets}
    return joined(header, data + code)


@functools.cache
def save(make):
    """The function that writes the program which `make` gives."""

    def write(path):
        ocl.manual_seed(1)
        make().save(path)

    return write


def split(content):
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


# --- mutations


def of_program(change):
    """The mutation that changes the program's JSON by `change(rng, program)`, which may give another."""

    def mutate(rng, content):
        def edit(header):
            metadata = header["__metadata__"]
            program = json.loads(metadata[PROGRAM])
            if rng.random() < 0.5:
                make_room(program)
            metadata[PROGRAM] = json.dumps(change(rng, program) or program)
            return header

        try:
            return files.with_header(content, edit)
        except IndexError:  # an earlier mutation has left nothing to choose from
            return content

    return mutate


def make_room(program):
    """Larger buffers, so that other shapes get past the check of what lies in them."""
    for buffer in program["buffers"]:
        if buffer["kind"] in ("temporary", "input"):
            buffer["bytes"] = max(buffer["bytes"], 1 << 16)


def places_of(tree, wanted):
    return [(parent, key) for parent, key in files.walked(tree) if wanted(parent[key])]


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_tensor(value):
    return isinstance(value, list) and len(value) == 5 and isinstance(value[1], str)


def edit_any(rng, program):
    return files.edited(rng, program)


def edit_number(rng, program):
    """A number of a call or a tensor is another small one, or lies at an end of its type."""
    parent, key = rng.choice(places_of(program["calls"], is_number))
    near = (rng.randrange(-2, 10), files.nudged(rng, parent[key]), -1, 0, 2**31 - 1, -(2**63), 2**63 - 1)
    parent[key] = rng.choice((*near, rng.choice(files.EXTREMES)))


def edit_tensor(rng, program):
    """A tensor has another shape, strides, offset or dtype, another's place, or another buffer."""
    tensors = [parent[key] for parent, key in places_of(program, is_tensor)]
    tensor = rng.choice(tensors)
    action = rng.randrange(6)
    if action == 0:
        tensor[1] = rng.choice(DTYPES)
    elif action == 1:
        tensor[:] = json.loads(json.dumps(rng.choice(tensors)))
    elif action == 2:
        tensor[0] = rng.choice((rng.choice(tensors)[0], len(program["buffers"]), rng.randrange(-1, 9)))
    elif action == 3:
        tensor[4] = rng.choice((1, 8, -1, *files.EXTREMES))
    elif action == 4:  # one dimension more, or fewer, or in another order
        sizes = list(zip(tensor[2], tensor[3], strict=False))
        rng.shuffle(sizes)
        sizes = rng.choice((sizes, sizes[1:], [(1, 1), *sizes], [(2, 0), *sizes]))
        tensor[2], tensor[3] = [size for size, _ in sizes], [stride for _, stride in sizes]
    else:  # a size, with the strides that follow from it
        sizes = tensor[2]
        sizes[rng.randrange(len(sizes))] = rng.choice((0, 1, 2, 3, 5, 7, 16, 33, -1, 2**31, 2**62))
        if all(isinstance(size, int) for size in sizes):
            tensor[3] = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def edit_call(rng, program):
    """A call is another primitive's, is moved, doubled or left out, or takes other arguments."""
    calls = program["calls"]
    call, other = rng.choice(calls), rng.choice(calls)
    action = rng.randrange(6)
    if action == 0:
        call["primitive"] = rng.choice((other["primitive"], "copy", "fill", "gemm", "none"))
    elif action == 1:
        first, second = calls.index(call), calls.index(other)
        calls[first], calls[second] = other, call
    elif action == 2:
        calls.insert(calls.index(other), json.loads(json.dumps(call)))
    elif action == 3:
        calls.remove(call)
    elif action == 4:
        call["arguments"] = files.edited(rng, call["arguments"])
    else:
        texts = places_of(calls, lambda value: isinstance(value, str | bool) or value is None)
        (parent, key), (source, at) = rng.choice(texts), rng.choice(texts)
        parent[key] = not parent[key] if isinstance(parent[key], bool) else source[at]


def edit_symbols(rng, program):
    """Bounds, names and formulas; a static program becomes one that says it has some."""
    symbols = program.setdefault("symbols", [])
    action = rng.randrange(4)
    if action == 0 or not symbols:
        symbols.append(
            {"name": rng.choice(("z", "min", "batch", "")), "min": 1, "max": rng.choice(files.EXTREMES)}
        )
    elif action == 1:
        rng.choice(symbols)[rng.choice(("min", "max", "name"))] = files.stranger(rng)
    else:
        formulas = places_of(program, lambda value: isinstance(value, str) and value.isidentifier())
        parent, key = rng.choice(formulas)
        parent[key] = rng.choice(
            ("batch + 1", "batch // 0", "length*length*9999999999", "-length", "(" * 99, "1 % batch")
        )


def deepen(rng, program):
    """Arguments nested far deeper than the program's stack."""
    depth = rng.choice((15, 100, 5000))
    call = rng.choice(program["calls"])
    inner = 1
    for _ in range(min(depth, 500)):
        inner = rng.choice(([inner], {"a": inner}))
    call["arguments"][rng.choice(sorted(call["arguments"]))] = inner


def edit_versions(rng, content):
    """The format's version, or the metadata beside the program."""

    def edit(header):
        metadata = header["__metadata__"]
        metadata[rng.choice((FORMAT, BINARIES))] = rng.choice(
            ("1", "2", "3", "", "[]", "[1]", "{}", "[" * 9999)
        )
        return header

    return files.with_header(content, edit)


MUTATIONS = (
    *files.SAFETENSORS,
    edit_versions,
    *(of_program(change) for change in (edit_any, edit_symbols, deepen)),
    *(of_program(change) for change in (edit_number, edit_tensor, edit_call) for _ in range(5)),
)


# --- reading


@judged_by
def read(path):
    """Loads a program, runs it at its least sizes three times, and makes a smaller program of it."""
    watch = Watch(path, PLACES)
    device = ocl.get_default_device()
    program = watch.loading(lambda: load_program(path, device))
    runner = watch.loading(lambda: ocl.runtime.prepare(program, device), names_file=False)
    if runner.memory["arena"] > MOST_ARENA:
        return
    watch.running(lambda: run(runner), RUN_PLACES)
    str(program)
    smaller = watch.running(program.optimized, PLACES)
    watch.running(lambda: run(ocl.runtime.prepare(smaller, device)), RUN_PLACES)


def run(program):
    inputs = []
    for _, shape, dtype in program._runner.inputs:
        sizes = [program.symbols[size][0] if isinstance(size, str) else size for size in shape]
        inputs.append(ocl.zeros(*sizes, dtype=dtype))
    for _ in range(3):  # the first run, the one that keeps its commands, and a replay
        results = program(*inputs)
        for result in results if isinstance(results, tuple) else (results,):
            result.detach().float().numpy()


KINDS = {
    f"{make.__name__}.ocl": (functools.partial(files.written, save(make)), read, MUTATIONS)
    for make in (convolution, transformer, training_step, int8, words, gradients)
} | {"binaries.ocl": (functools.cache(with_binaries), read, MUTATIONS)}


def run_one(name, seed, limit, announce):
    """The case of `seed` as the fuzzer runs it."""
    return files.run_one(name, seed, limit, announce, "program_files", KINDS)
