"""quantize_ on models: files, copies, adapters, exported programs, and what it costs a small GPT-2."""

import copy
import io
import pickle

import numpy as np
import pytest

import ocl
import ocl.nn.functional as F
from ocl import models, nn, optim
from ocl._C._models.gpt2 import Conv1D
from ocl.quantization import (
    Int4WeightOnlyConfig,
    Int8WeightOnlyConfig,
    QuantizedLinear,
    dequantize_weight,
    quantize_,
)

CONFIGS = [Int8WeightOnlyConfig(), Int4WeightOnlyConfig(group_size=32), Int4WeightOnlyConfig(group_size=64)]


def net(seed=0):
    ocl.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Sequential(nn.Linear(128, 10, bias=False)))


def drawn(rng, *shape):
    return ocl.tensor(rng.standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_linear_layers_are_replaced_in_place(config, rng):
    model = net().eval()
    x = drawn(rng, 5, 64)
    before = model(x)
    first = model[0]
    assert quantize_(model, config) is None
    assert isinstance(model[0], QuantizedLinear) and isinstance(model[2][0], QuantizedLinear)
    assert model[0].bias is first.bias and model[2][0].bias is None
    assert not model[0].training
    assert [name for name, _ in model.named_parameters()] == ["0.bias"]
    error = float((model(x) - before).norm() / before.norm())
    assert error < (0.01 if isinstance(config, Int8WeightOnlyConfig) else 0.12)
    expected = F.linear(x, model[0].dequantize(), first.bias)
    np.testing.assert_allclose(model[0](x).detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_repr():
    model = net()
    quantize_(model, Int4WeightOnlyConfig(group_size=32))
    assert "QuantizedLinear(in_features=64, out_features=128, bias=True, int4, group_size=32)" in repr(model)
    quantized = QuantizedLinear(3, 4, Int8WeightOnlyConfig(), bias=False)
    assert repr(quantized) == "QuantizedLinear(in_features=3, out_features=4, bias=False, int8)"
    assert Int4WeightOnlyConfig().group_size == 128


def test_a_filter_chooses_by_module_and_path():
    seen, model = [], net()

    def is_last(module, path):
        seen.append((type(module).__name__, path))
        return path == "2.0"

    quantize_(model, Int8WeightOnlyConfig(), is_last)
    assert isinstance(model[0], nn.Linear) and isinstance(model[2][0], QuantizedLinear)
    assert ("Linear", "0") in seen and ("Sequential", "") in seen


def test_a_layer_at_several_places_stays_one():
    shared = nn.Linear(32, 32)
    model = nn.ModuleDict({"a": shared, "b": nn.Sequential(shared)})
    quantize_(model, Int8WeightOnlyConfig())
    assert isinstance(model["a"], QuantizedLinear) and model["b"][0] is model["a"]


def test_nothing_changes_where_one_layer_does_not_fit():
    model = nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 48), nn.Linear(48, 4))
    with pytest.raises(ValueError, match=r"'2': quantize_int4: .*48 inputs, which group_size 32 does not"):
        quantize_(model, Int4WeightOnlyConfig(group_size=32))
    assert all(isinstance(layer, nn.Linear) for layer in model)


def test_layers_with_a_forward_of_their_own_stay():
    class Doubling(nn.Linear):
        def forward(self, x):
            return super().forward(2 * x)

    model = nn.Sequential(
        Doubling(32, 32), nn.MultiheadAttention(32, 2), nn.TransformerEncoderLayer(32, 2, 64)
    )
    quantize_(model, Int8WeightOnlyConfig())
    assert isinstance(model[0], Doubling)
    assert isinstance(model[1].out_proj, nn.Linear)
    assert isinstance(model[2].linear1, QuantizedLinear)
    x = ocl.rand(3, 2, 32)
    assert model[2].eval()(x).shape == (3, 2, 32)


def test_errors():
    model = net()
    with pytest.raises(TypeError, match=r"quantize_: expected a config .* got str"):
        quantize_(model, "int8")
    with pytest.raises(TypeError, match="quantize_: expected a Module, got int"):
        quantize_(3, Int8WeightOnlyConfig())
    with pytest.raises(ValueError, match="the model is a Linear itself"):
        quantize_(nn.Linear(32, 3), Int8WeightOnlyConfig())
    with pytest.raises(TypeError, match="filter_fn takes '1', which is a ReLU"):
        quantize_(model, Int8WeightOnlyConfig(), lambda module, path: path == "1")
    for size in (0, 16, 48, 512):
        with pytest.raises(ValueError, match=f"expected a group_size of 32, 64, 128 or 256, got {size}"):
            Int4WeightOnlyConfig(group_size=size)
    quantize_(model, Int8WeightOnlyConfig())
    with pytest.raises(TypeError, match="expected a floating dtype, got int64"):
        model(ocl.ones(2, 64, dtype=ocl.int64))
    with pytest.raises(ValueError, match="a weight for 64 input features"):
        model(ocl.ones(2, 63))
    with pytest.raises(TypeError, match="expected a config"):
        QuantizedLinear(32, 3, None)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_state_dicts_files_and_copies(config, tmp_path, rng):
    model, other = net(), net(seed=1)
    x = drawn(rng, 3, 64)
    quantize_(model, config)
    quantize_(other, config)
    expected = model(x).detach().numpy()
    is_int4 = isinstance(config, Int4WeightOnlyConfig)
    state = model.state_dict()
    assert state["0.weight"].dtype == (ocl.uint8 if is_int4 else ocl.int8)
    assert list(state) == [
        name
        for part, bias in (("0", True), ("2.0", False))
        for name in (
            *([f"{part}.bias"] if bias else []),
            f"{part}.weight",
            f"{part}.scales",
            *([f"{part}.zeros"] if is_int4 else []),
        )
    ]

    def same(module):
        np.testing.assert_array_equal(module(x).detach().numpy(), expected)

    path = tmp_path / "state.safetensors"
    ocl.save(state, path)
    other.load_state_dict(ocl.load(path))
    same(other)
    fresh = QuantizedLinear(64, 128, config)
    fresh.load_state_dict({k[2:]: v for k, v in ocl.load(path).items() if k.startswith("0.")})
    np.testing.assert_array_equal(fresh(x).detach().numpy(), model[0](x).detach().numpy())
    safetensors = pytest.importorskip("safetensors.numpy")
    kept = safetensors.load_file(path)
    assert {k: v.shape for k, v in kept.items()} == {k: tuple(v.shape) for k, v in state.items()}
    np.testing.assert_array_equal(kept["0.weight"], state["0.weight"].numpy())
    same(copy.deepcopy(model))
    same(pickle.loads(pickle.dumps(model)))
    buffer = io.BytesIO()
    ocl.save(state, buffer)
    buffer.seek(0)
    other.load_state_dict(ocl.load(buffer))
    same(other)
    with pytest.raises(RuntimeError, match="0.scales"):
        net().load_state_dict(state)


def test_other_dtypes_and_devices(rng):
    model = net()
    quantize_(model, Int4WeightOnlyConfig(group_size=32))
    x = drawn(rng, 3, 64)
    expected = model(x).detach().numpy()
    model.to(ocl.device("ocl:0"))
    np.testing.assert_array_equal(model(x).detach().numpy(), expected)
    model.half()
    assert model[0].weight.dtype == ocl.uint8 and model[0].scales.dtype == model[0].bias.dtype == ocl.float16
    y = model(x.half())
    assert y.dtype == ocl.float16
    np.testing.assert_allclose(y.detach().float().numpy(), expected, rtol=0.02, atol=0.02)


def test_autocast_computes_in_16_bits(rng):
    model = net()
    quantize_(model, Int8WeightOnlyConfig())
    x = drawn(rng, 3, 64)
    with ocl.autocast("ocl", dtype=ocl.bfloat16):
        y = model(x)
    assert y.dtype == ocl.bfloat16
    np.testing.assert_allclose(y.detach().float().numpy(), model(x).detach().numpy(), rtol=0.05, atol=0.05)


class Adapted(nn.Module):
    """A layer with an adapter of low rank beside it (LoRA)."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


@pytest.mark.parametrize("config", CONFIGS[:2], ids=str)
def test_adapters_train_beside_constant_weights(config, rng):
    ocl.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 8))
    quantize_(model, config)
    for place in (0, 2):
        model[place].requires_grad_(False)
        model[place] = Adapted(model[place], 4)
    constants = {k: v.numpy().copy() for k, v in model.state_dict().items() if ".base." in k}
    x, target = drawn(rng, 16, 32), drawn(rng, 16, 8)
    trained = [p for p in model.parameters() if p.requires_grad]
    assert len(trained) == 4
    optimizer = optim.AdamW(trained, lr=0.02)
    losses = []
    for _ in range(60):
        loss = F.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    for name, value in model.state_dict().items():
        if ".base." in name:
            np.testing.assert_array_equal(value.numpy(), constants[name])


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_exported_programs_give_eagers_bits(config, tmp_path, rng):
    model = net().eval()
    quantize_(model, config)
    batch = ocl.export.Dim("batch", min=1, max=40)
    program = ocl.export(model, (drawn(rng, 3, 64),), dynamic_shapes=({0: batch},))
    assert "quantized_linear_forward" in str(program)
    program.save(tmp_path / "net.ocl")
    assert (tmp_path / "net.ocl").stat().st_size < 3e4  # float32's weights have 37 kB
    loaded = ocl.runtime.load(tmp_path / "net.ocl")
    for rows in (1, 3, 3, 3, 8, 9, 40):
        x = drawn(rng, rows, 64)
        with ocl.no_grad():
            np.testing.assert_array_equal(loaded(x).numpy(), model(x).numpy())
    program.optimized().save(tmp_path / "optimized.ocl")
    optimized = ocl.runtime.load(tmp_path / "optimized.ocl")
    with ocl.no_grad():
        x = drawn(rng, 3, 64)
        np.testing.assert_allclose(optimized(x).numpy(), model(x).numpy(), rtol=1e-5, atol=1e-5)


def text_batches():
    """Sentences of a small grammar, as bytes: batches [8, 65] of them."""
    rng = np.random.default_rng(3)
    words = ["the", "a", "cat", "dog", "bird", "sees", "hears", "likes", "small", "old", "red"]
    text = ""
    while len(text) < 40_000:
        article, adjective = words[rng.integers(0, 2)], words[rng.integers(8, 11)]
        subject, verb, thing = words[rng.integers(2, 5)], words[rng.integers(5, 8)], words[rng.integers(2, 5)]
        text += f"{article} {adjective} {subject} {verb} {words[rng.integers(0, 2)]} {thing}. "
    tokens = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
    starts = rng.integers(0, len(tokens) - 65, (64, 8))
    return [ocl.tensor(np.stack([tokens[s : s + 65] for s in row])) for row in starts]


def loss_of(model, batch):
    logits = model(batch[:, :-1])
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), batch[:, 1:].reshape(-1))


def test_a_small_gpt2_loses_little():
    """Four bits cost less than 3 % of the loss after a short training; eight bits next to nothing."""
    ocl.manual_seed(0)
    model = models.gpt2(
        vocab_size=128,
        n_positions=64,
        n_embd=64,
        n_layer=2,
        n_head=2,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
    )
    batches = text_batches()
    optimizer = optim.AdamW(model.parameters(), lr=5e-3)
    for batch in 6 * batches[:56]:
        loss = loss_of(model, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()

    def held_out(net):
        with ocl.no_grad():
            return float(np.mean([loss_of(net, batch).item() for batch in batches[56:]]))

    whole = held_out(model)
    assert whole < 1.3  # of log(128) = 4.85: it has learnt
    for config, allowed in ((Int4WeightOnlyConfig(group_size=32), 0.03), (Int8WeightOnlyConfig(), 0.002)):
        quantized = copy.deepcopy(model)
        quantize_(quantized, config)
        kept = [m for m in quantized.modules() if isinstance(m, QuantizedLinear)]
        assert len(kept) == 2 * 4 + 1  # attention and MLP have two each, and the head is one
        assert not [m for m in quantized.modules() if isinstance(m, (nn.Linear, Conv1D))]
        loss = held_out(quantized)
        assert whole != loss and abs(loss / whole - 1) < allowed, (config, whole, loss)
        prompt = batches[60][:1, :8]
        tokens = quantized.generate(prompt, max_new_tokens=12)
        assert tokens.shape == (1, 20)
        plain = quantized.generate(prompt, max_new_tokens=12, use_cache=False)
        np.testing.assert_array_equal(tokens.numpy(), plain.numpy())


def test_conv1d_of_gpt2_keeps_its_meaning(rng):
    model = models.gpt2(vocab_size=16, n_positions=8, n_embd=32, n_layer=1, n_head=1)
    before = model.transformer.h[0].mlp.c_fc
    quantize_(model, Int8WeightOnlyConfig())
    after = model.transformer.h[0].mlp.c_fc
    assert (after.in_features, after.out_features) == (32, 128)
    step = after.scales[:, None].numpy()
    assert (
        abs(dequantize_weight(after.weight, after.scales).numpy() - before.weight.t().detach().numpy())
        <= step
    ).all()
