"""Exported programs give the bits of eager calls, on inputs that they were not exported with."""

import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

import ocl
import ocl.nn.functional as F
from ocl import models, nn, optim

DRAWS = np.random.default_rng(0)


def drawn(*shape):
    return ocl.tensor(DRAWS.standard_normal(shape).astype(np.float32))


def round_trip(program, tmp_path):
    program.save(tmp_path / "program.ocl")
    return ocl.runtime.load(tmp_path / "program.ocl")


def assert_same_bits(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype
    assert a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 7, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(14, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


NETS = {
    "resnet18": (lambda: models.resnet18(num_classes=5), (2, 3, 32, 32)),
    "mobilenet_v3_small": (lambda: models.mobilenet_v3_small(num_classes=5), (2, 3, 32, 32)),
    "densenet121": (lambda: models.densenet121(num_classes=5), (1, 3, 32, 32)),
    "vit_b_16": (lambda: models.vit_b_16(image_size=32, num_classes=5), (1, 3, 32, 32)),
    "lstm": (Recurrent, (2, 6, 5)),
    "transformer": (lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), (2, 5, 16)),
}


@pytest.mark.parametrize("name", NETS)
def test_nets_give_eagers_bits(name, tmp_path):
    make, shape = NETS[name]
    ocl.manual_seed(1)
    net = make().eval()
    program = round_trip(ocl.export(net, (drawn(*shape),)), tmp_path)
    for _ in range(3):  # the first run, the one that keeps its commands, and a replay
        x = drawn(*shape)
        with ocl.no_grad():
            assert_same_bits(program(x), net(x))
    assert program.replays
    assert program.memory["lower_bound"] <= program.memory["arena"] <= 1.05 * program.memory["lower_bound"]


def test_gpt2_takes_tokens(tmp_path):
    net = models.gpt2(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2).eval()
    tokens = [ocl.tensor(DRAWS.integers(0, 50, (2, 8))) for _ in range(3)]
    program = round_trip(ocl.export(lambda tokens: net(tokens), (tokens[0],), named=net), tmp_path)
    for each in tokens:
        with ocl.no_grad():
            assert_same_bits(program(each), net(each))


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.05),
    "momentum": lambda p: optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.01),
    "adadelta": lambda p: optim.Adadelta(p),
    "adam": lambda p: optim.Adam(p, lr=0.01, capturable=True),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, amsgrad=True, capturable=True),
}


def training(optimizer_name):
    ocl.manual_seed(2)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(4 * 36, 10)
    )
    optimizer = OPTIMIZERS[optimizer_name](net.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    return net, step


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_step_gives_eagers_bits(optimizer, tmp_path):
    net, step = training(optimizer)
    batches = [(drawn(5, 1, 8, 8), ocl.tensor(DRAWS.integers(0, 10, 5))) for _ in range(12)]
    step(*batches[0])
    before = {name: value.numpy() for name, value in net.state_dict().items()}
    exported = ocl.export(step, batches[0], named=net)
    for name, value in net.state_dict().items():
        assert value.numpy().tobytes() == before[name].tobytes(), f"the export has changed {name}"

    program = round_trip(exported, tmp_path)
    for i, (x, y) in enumerate(batches):
        assert_same_bits(program.run({"x": x, "y": y})["output_loss"], step(x, y)["loss"])
        if i == 5:  # stops, and goes on from a file
            program.save(tmp_path / "half.ocl")
            program = ocl.runtime.load(tmp_path / "half.ocl")
    state = program.state_dict()
    for name, value in net.state_dict().items():
        assert_same_bits(state[name], value)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: x.mean(0),
        lambda x: x.std(),
        lambda x: x.max(1),
        lambda x: x.softmax(1).log(),
        lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
        lambda x: F.interpolate(x[None, None], scale_factor=2, mode="nearest-exact"),
        lambda x: ocl.cat([x, x.t()], 1),
        lambda x: x.cumsum(0).sort(1)[0],
        lambda x: ocl.addmm(x, x, x, beta=0.5),
        lambda x: x.gather(1, ocl.tensor([[0, 2], [1, 1], [3, 0], [2, 2]])),
        lambda x: F.pad(x, (1, 1), value=-np.inf),
        lambda x: ocl.where(x > 0, x**2, x.exp()),
        lambda x: F.layer_norm(x, (4,)) + ocl.arange(4),
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
        lambda x: F.mse_loss(x, x.t()) + F.smooth_l1_loss(x, x.t()) + F.huber_loss(x, x.t()),
    ],
)
def test_operators_give_eagers_bits(work, tmp_path):
    program = round_trip(ocl.export(work, (drawn(4, 4),)), tmp_path)
    for _ in range(3):
        x = drawn(4, 4)
        made, expected = program(x), work(x)
        for a, b in zip(made, expected, strict=True) if isinstance(made, tuple) else [(made, expected)]:
            assert_same_bits(a, b)


def test_adams_count_on_the_host_is_refused():
    weight = drawn(3).requires_grad_()
    optimizer = optim.Adam([weight])

    def step(x):
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()
        return weight

    step(drawn(3))
    before = weight.detach().numpy().copy()
    with pytest.raises(
        ocl.Error if hasattr(ocl, "Error") else RuntimeError, match="fused_step.*coefficients"
    ):
        ocl.export(step, (drawn(3),))
    assert weight.detach().numpy().tobytes() == before.tobytes()


def test_the_line_that_reads_elements_is_in_the_traceback():
    def works(x):
        return x * 2 if x.sum() > 0 else x  # this line

    with pytest.raises(RuntimeError, match="read on the host") as caught:
        ocl.export(works, (drawn(3),))
    assert any("this line" in str(entry.statement) for entry in caught.traceback)


@pytest.mark.parametrize(
    "work",
    [
        lambda x: ocl.nonzero(x),
        lambda x: x[x > 0],
        lambda x: ocl.tensor(x.tolist()),
    ],
    ids=["nonzero", "mask", "tolist"],
)
def test_data_dependent_work_is_refused(work):
    with pytest.raises(RuntimeError, match="export"):
        ocl.export(work, (drawn(3),))


def test_random_state_is_put_back():
    ocl.manual_seed(3)
    expected = ocl.rand(4)
    ocl.manual_seed(3)
    ocl.export(lambda x: F.dropout(x, 0.5), (drawn(8),))
    assert_same_bits(ocl.rand(4), expected)


def test_random_numbers_go_on(tmp_path):
    def noisy(x):
        return F.dropout(x, 0.5) + ocl.rand(8)

    x = drawn(8)
    ocl.manual_seed(4)
    program = round_trip(ocl.export(noisy, (x,)), tmp_path)
    for _ in range(4):
        assert_same_bits(program(x), noisy(x))


def test_inputs_views_and_identities(tmp_path):
    base = drawn(6, 4)

    def work(x, y):
        return x, y.t(), x[1:3] + 1, base[2]

    x, y = drawn(4, 3), drawn(3, 4).t()
    program = round_trip(ocl.export(work, (x, y)), tmp_path)
    assert program.input_names == ["x", "y"]
    for made, expected in zip(program(x, y), work(x, y), strict=True):
        np.testing.assert_array_equal(made.numpy(), expected.numpy())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), ()])
def test_small_and_empty(shape, tmp_path):
    x = drawn(*shape)
    program = round_trip(ocl.export(lambda x: x.exp() + 1, (x,)), tmp_path)
    np.testing.assert_array_equal(program(x).numpy(), (x.exp() + 1).numpy())


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "int64", "int32", "int16", "int8", "uint8", "bool_"]
)
def test_dtypes(dtype, tmp_path):
    x = ocl.tensor(DRAWS.integers(0, 2, (3, 5))).to(getattr(ocl, dtype))
    constant = ocl.ones(5).to(x.dtype)
    program = round_trip(ocl.export(lambda x: ocl.maximum(x, constant), (x,)), tmp_path)
    assert_same_bits(program(x).to(ocl.float32), ocl.maximum(x, constant).to(ocl.float32))


def test_special_numbers_survive_the_file(tmp_path):
    x = drawn(9)
    program = round_trip(
        ocl.export(lambda x: x.clamp(-np.inf, 0.1).masked_fill(x > 0, -np.inf), (x,)), tmp_path
    )
    np.testing.assert_array_equal(
        program(x).numpy(), x.clamp(-np.inf, 0.1).masked_fill(x > 0, -np.inf).numpy()
    )


def test_inputs_are_checked(tmp_path):
    program = round_trip(ocl.export(lambda x, y: x + y, (drawn(3), drawn(3))), tmp_path)
    x = drawn(3)
    with pytest.raises(TypeError, match="misses the inputs y"):
        program(x)
    with pytest.raises(TypeError, match="takes 2 inputs, got 3"):
        program(x, x, x)
    with pytest.raises(TypeError, match="'x' is given twice"):
        program(x, x=x)
    with pytest.raises(TypeError, match="'z' is none of the inputs x, y"):
        program(x, z=x)
    with pytest.raises(
        ValueError,
        match=r"input y: the program was exported for float32\[3\], got \[4\]: dimension 0 is 4, and must",
    ):
        program(x, drawn(4))
    with pytest.raises(TypeError, match="input y: the program was exported for float32, got int64"):
        program(x, ocl.ones(3, dtype=ocl.int64))
    with pytest.raises(TypeError, match="expected tensors as arguments, got int"):
        ocl.export(lambda x: x, (3,))
    with pytest.raises(TypeError, match="expected a module or a function"):
        ocl.export(3, (x,))
    with pytest.raises(TypeError, match="results must be tensors"):
        ocl.export(lambda x: 3, (x,))
    with pytest.raises(ValueError, match="shares memory with another input"):
        ocl.export(lambda x, y: x + y, (x, x[:2]))


def header_of(path):
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_the_file_is_a_safetensors_file(tmp_path):
    net = nn.Linear(3, 2)
    ocl.export(net, (drawn(1, 3),)).save(tmp_path / "net.ocl")
    header, _ = header_of(tmp_path / "net.ocl")
    assert set(header) == {"__metadata__", "weight", "bias"}
    np.testing.assert_array_equal(
        ocl.load(tmp_path / "net.ocl")["weight"].numpy(), net.weight.detach().numpy()
    )


def changed(change):
    """A file whose program is changed by `change(program)`."""

    def apply(path):
        header, data = header_of(path)
        program = json.loads(header["__metadata__"]["tapecl_program"])
        change(program)
        header["__metadata__"]["tapecl_program"] = json.dumps(program)
        write(path, header, data)

    return apply


def place(program):
    return program["calls"][0]["arguments"]["x"]["$tensor"]


DAMAGES = {
    "unknown primitive": (changed(lambda p: p["calls"][0].update(primitive="rm")), "no primitive named rm"),
    "buffer out of range": (changed(lambda p: place(p).__setitem__(0, 99)), "call 0: .*buffer 99 of"),
    "offset": (changed(lambda p: place(p).__setitem__(4, 1 << 40)), "reaches past its buffer"),
    "negative offset": (changed(lambda p: place(p).__setitem__(4, -1)), "does not lie in memory"),
    "huge sizes": (changed(lambda p: place(p).__setitem__(2, [1 << 40, 1 << 40])), "does not lie in memory"),
    "dtype": (changed(lambda p: place(p).__setitem__(1, "float8")), "call 0: .*float8"),
    "kind of a buffer": (changed(lambda p: p["buffers"][1].update(kind="disk")), "buffer 1: .*disk"),
    "an input without a name": (changed(lambda p: p["inputs"][0].pop("name")), 'input 0: "name" is missing'),
    "an output's tensor": (changed(lambda p: p["outputs"][0].update(tensor=3)), "output 0: .*list of five"),
    "arguments": (changed(lambda p: p["calls"][0].update(arguments={})), "not its arguments"),
    "no calls": (changed(lambda p: p.pop("calls")), '"calls" is missing'),
    "two inputs of a name": (changed(lambda p: p["inputs"].append(p["inputs"][0])), "are named"),
    "read before written": (
        changed(lambda p: p["buffers"][0].update(kind="temporary")),
        "kind|before it is written",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_say_where(name, tmp_path):
    path = tmp_path / "net.ocl"
    ocl.export(nn.Linear(3, 2), (drawn(1, 3),)).save(path)
    damage, message = DAMAGES[name]
    damage(path)
    with pytest.raises(OSError, match=message) as caught:
        ocl.runtime.load(path)
    assert str(path) in str(caught.value)


def test_text_that_is_no_json_says_the_byte(tmp_path):
    path = tmp_path / "net.ocl"
    ocl.export(nn.Linear(3, 2), (drawn(1, 3),)).save(path)
    header, data = header_of(path)
    header["__metadata__"]["tapecl_program"] = header["__metadata__"]["tapecl_program"][:-1]
    write(path, header, data)
    length = len(header["__metadata__"]["tapecl_program"])
    with pytest.raises(OSError, match=f"not JSON at byte {length + 1} of its text"):
        ocl.runtime.load(path)


def transposed(program):
    """Its first call's weight."""
    weight = program["calls"][0]["arguments"]["weight"]["$tensor"]
    weight[2].reverse()
    weight[3].reverse()


def without_precision(program):
    program["calls"][0]["arguments"]["precision"] = 9


@pytest.mark.parametrize(
    "change, message",
    [
        (transposed, r"^call 0, linear_forward: "),
        (without_precision, r"^call 0: linear_forward: argument precision: "),
    ],
)
def test_calls_that_do_not_fit_are_named(change, message, tmp_path):
    path = tmp_path / "net.ocl"
    ocl.export(nn.Linear(3, 2), (drawn(1, 3),)).save(path)
    changed(change)(path)
    with pytest.raises(ValueError, match=message):
        ocl.runtime.load(path)(drawn(1, 3))


@pytest.mark.parametrize("change", [lambda inputs: inputs.pop(), lambda inputs: inputs.append(inputs[0])])
def test_pointwise_calls_have_as_many_inputs_as_their_expression(change, tmp_path):
    path = tmp_path / "sum.ocl"
    ocl.export(lambda a, b: a.atan2(b), (drawn(3), drawn(3))).save(path)
    changed(lambda program: change(program["calls"][0]["arguments"]["inputs"]))(path)
    with pytest.raises(ValueError, match="call 0, pointwise: .*expected 2 inputs"):
        ocl.runtime.load(path)(drawn(3), drawn(3))


def test_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "net.ocl"
    ocl.export(nn.Linear(3, 2), (drawn(1, 3),)).save(path)
    header, data = header_of(path)
    header["__metadata__"]["tapecl_format"] = "3"
    write(path, header, data)
    with pytest.raises(OSError, match="version 3 of the format, and this library reads versions 1 to 2"):
        ocl.runtime.load(path)


def mutated(content: bytes, random) -> bytes:
    """One to four bytes changed, removed or repeated, mostly within the program's text."""
    length = struct.unpack("<Q", content[:8])[0]
    mutable = bytearray(content)
    for _ in range(random.integers(1, 5)):
        at = int(random.integers(8, 8 + length if random.random() < 0.95 else len(mutable)))
        kind = random.integers(4)
        if kind == 0:
            mutable[at] = int(random.integers(32, 127))
        elif kind == 1:
            mutable[at : at + 1] = b""
        elif kind == 2:
            mutable[at:at] = bytes([int(random.choice(list(b'0123456789-.[]{},"e')))])
        else:
            mutable[at : at + 3] = str(random.integers(-(1 << 62), 1 << 62)).encode()
    if random.random() < 0.9:  # the length of the header follows, so that more gets past its check
        grown = len(mutable) - len(content)
        mutable[:8] = struct.pack("<Q", max(0, length + grown))
    return bytes(mutable)


def try_mutations(tmp_path, count, seed):
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3)
    ).eval()
    x = drawn(2, 1, 6, 6)
    path = tmp_path / "net.ocl"
    ocl.export(net, (x,)).save(path)
    content = path.read_bytes()
    random = np.random.default_rng(seed)
    refused = 0
    for _ in range(count):
        path.write_bytes(mutated(content, random))
        try:
            program = ocl.runtime.load(path)
            program(*(ocl.zeros(shape, dtype=dtype) for _, shape, dtype in program._runner.inputs)).numpy()
        except (OSError, ValueError, TypeError, RuntimeError, IndexError, MemoryError):
            refused += 1
    assert refused > count // 2
    path.write_bytes(content)
    with ocl.no_grad():
        assert_same_bits(ocl.runtime.load(path)(x), net(x))


def test_mutated_files_do_no_harm(tmp_path):
    try_mutations(tmp_path, 300, 0)


@pytest.mark.slow
def test_many_mutated_files_do_no_harm(tmp_path):
    try_mutations(tmp_path, int(os.environ.get("OCL_MUTATIONS", "20000")), 1)


def test_text_shows_calls_and_names():
    text = str(ocl.export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (drawn(1, 3),)))
    assert (
        text.startswith("program(") and "linear_forward" in text and "0.weight" in text and "return" in text
    )


def test_files_of_version_1_stay_readable():
    """Kept since the format's first version: convolution, batch norm, pooling, a linear layer, softmax."""
    files = Path(__file__).parent / "files"
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype(np.float32)
    made = ocl.runtime.load(files / "version_1.ocl")(x)
    np.testing.assert_allclose(made.numpy(), np.load(files / "version_1_output.npy"), rtol=1e-6, atol=1e-7)
