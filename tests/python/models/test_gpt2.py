"""``ocl.models.gpt2`` against GPT-2 written here in PyTorch: numbers, initialisation, files, generation."""

import copy
import math
import pickle

import numpy as np
import pytest
import safetensors.torch
import torch
import torch.nn.functional as F
from ocl.models.gpt2 import Conv1D, GPT2Attention, GPT2Block, GPT2LMHeadModel

import ocl
from ocl import models, nn

LAYERS, HEADS, WIDTH, POSITIONS, VOCABULARY = 3, 2, 24, 20, 53
SIZES = {
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_embd": WIDTH,
    "n_positions": POSITIONS,
    "vocab_size": VOCABULARY,
}
NO_CHANCE = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
# The count of Hugging Face's gpt2, `transformers.GPT2LMHeadModel(config).num_parameters()`.
PUBLISHED = {
    "gpt2": 124_439_808,
    "gpt2_medium": 354_823_168,
    "gpt2_large": 774_030_080,
    "gpt2_xl": 1_557_611_200,
}


def small_net(**options):
    ocl.manual_seed(0)
    return models.gpt2(**(SIZES | NO_CHANCE | options))


def trained_state(seed=0):
    """Weights under Hugging Face's names, large enough for attention to be uneven."""
    torch.manual_seed(seed)
    shapes = {"wte.weight": (VOCABULARY, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
    for i in range(LAYERS):
        for name, shape in {
            "attn.c_attn": (WIDTH, 3 * WIDTH),
            "attn.c_proj": (WIDTH, WIDTH),
            "mlp.c_fc": (WIDTH, 4 * WIDTH),
            "mlp.c_proj": (4 * WIDTH, WIDTH),
        }.items():
            shapes[f"h.{i}.{name}.weight"] = shape
            shapes[f"h.{i}.{name}.bias"] = shape[1:]
        for norm in ("ln_1", "ln_2"):
            shapes[f"h.{i}.{norm}.weight"] = shapes[f"h.{i}.{norm}.bias"] = (WIDTH,)
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = (WIDTH,)
    state = {name: 0.2 * torch.randn(shape) for name, shape in shapes.items()}
    return {f"transformer.{n}": t + 1 if "ln_" in n and n.endswith("weight") else t for n, t in state.items()}


def logits_in_torch(state, tokens, epsilon=1e-5):
    """GPT-2 from a state dict alone, with the masked scores in full."""
    state = {name.removeprefix("transformer."): tensor for name, tensor in state.items()}
    items, length = tokens.shape
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)

    def norm(x, name):
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) / torch.sqrt(variance + epsilon) * state[f"{name}.weight"] + state[f"{name}.bias"]

    def product(x, name):
        return torch.einsum("nti,io->nto", x, state[f"{name}.weight"]) + state[f"{name}.bias"]

    def attention(x, name):
        def heads(part):
            return part.reshape(items, length, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)

        query, key, value = map(heads, product(x, f"{name}.c_attn").split(WIDTH, -1))
        scores = torch.einsum("nhqe,nhke->nhqk", query, key) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        together = torch.einsum("nhqk,nhke->nqhe", weights, value).reshape(items, length, WIDTH)
        return product(together, f"{name}.c_proj")

    def perceptron(x, name):
        x = product(x, f"{name}.c_fc")
        x = 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return product(x, f"{name}.c_proj")

    x = state["wte.weight"][tokens] + state["wpe.weight"][:length]
    for i in range(LAYERS):
        x = x + attention(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn")
        x = x + perceptron(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp")
    return norm(x, "ln_f") @ state["wte.weight"].T


def as_ours(state):
    return {name: ocl.tensor(tensor.numpy()) for name, tensor in state.items()}


@pytest.fixture(scope="module")
def state():
    return trained_state()


@pytest.fixture
def net(state):
    net = small_net()
    net.load_state_dict(as_ours(state))
    return net.eval()


def tokens_of(rng, items, length):
    return rng.integers(0, VOCABULARY, (items, length))


def near_as_pytorch(actual, single, exact):
    """The distance from float64 is at most 4 times that of PyTorch's float32."""
    scale = np.abs(exact).max()
    own, distance = np.abs(single - exact).max() / scale, np.abs(actual - exact).max() / scale
    return distance <= 4 * own + np.finfo(np.float32).eps


class TestNumbers:
    @pytest.mark.parametrize(("items", "length"), [(1, 1), (2, 7), (3, POSITIONS)])
    def test_logits(self, net, state, rng, items, length):
        tokens = tokens_of(rng, items, length)
        doubles = {name: tensor.double() for name, tensor in state.items()}
        single, exact = (logits_in_torch(s, torch.tensor(tokens)).numpy() for s in (state, doubles))
        actual = net(ocl.tensor(tokens)).detach().numpy()
        assert actual.shape == (items, length, VOCABULARY)
        assert near_as_pytorch(actual, single, exact)
        np.testing.assert_array_equal(net(ocl.tensor(tokens.astype(np.int32))).detach().numpy(), actual)

    def test_loss_and_gradients(self, net, state, rng):
        tokens = tokens_of(rng, 4, 13)
        results = []
        for dtype in (torch.float32, torch.float64):
            leaves = {name: tensor.to(dtype, copy=True).requires_grad_() for name, tensor in state.items()}
            logits = logits_in_torch(leaves, torch.tensor(tokens))
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), torch.tensor(tokens)[:, 1:].flatten())
            loss.backward()
            results.append((loss.item(), {name: leaf.grad.numpy() for name, leaf in leaves.items()}))
        ours = ocl.tensor(tokens)
        loss = nn.functional.cross_entropy(net(ours)[:, :-1].flatten(0, 1), ours[:, 1:].flatten())
        loss.backward()
        (single, of_single), (exact, of_exact) = results
        assert abs(loss.item() - exact) <= 4 * abs(single - exact) + 4 * np.finfo(np.float32).eps * exact
        gradients = {name: parameter.grad.numpy() for name, parameter in net.named_parameters()}
        assert gradients.keys() == of_exact.keys()  # the head's is the embedding's
        for name, gradient in gradients.items():
            assert near_as_pytorch(gradient, of_single[name], of_exact[name]), name

    def test_no_position_sees_what_comes_after_it(self, net, rng):
        tokens = tokens_of(rng, 1, 9)
        other = tokens.copy()
        other[0, 5:] = (other[0, 5:] + 1) % VOCABULARY
        first, second = (net(ocl.tensor(t)).detach().numpy() for t in (tokens, other))
        np.testing.assert_allclose(first[:, :5], second[:, :5], rtol=1e-5, atol=1e-5)
        assert not np.allclose(first[:, 5:], second[:, 5:], atol=1e-2)

    def test_each_dropout_acts_while_training(self, state, rng):
        tokens = ocl.tensor(tokens_of(rng, 2, 8))
        for name in NO_CHANCE:
            net = small_net(**{name: 0.5})
            net.load_state_dict(as_ours(state))
            assert not np.allclose(net(tokens).detach().numpy(), net(tokens).detach().numpy()), name
            net.eval()
            np.testing.assert_array_equal(net(tokens).detach().numpy(), net(tokens).detach().numpy())

    def test_a_temperature_is_of_no_effect_where_nothing_is_drawn(self, net):
        tokens = ocl.zeros(1, 3, dtype=ocl.int64)
        cold = net.generate(tokens, max_new_tokens=4, temperature=0.0)
        assert cold.tolist() == net.generate(tokens, max_new_tokens=4).tolist()

    def test_tokens_that_do_not_fit(self, net):
        with pytest.raises(ValueError, match=r"GPT2Model: a sequence of 21 tokens .* n_positions=20"):
            net(ocl.zeros(1, POSITIONS + 1, dtype=ocl.int64))
        with pytest.raises(ValueError, match=r"GPT2Model: expected tokens \[N, T\].* got shape \[4\]"):
            net(ocl.zeros(4, dtype=ocl.int64))
        with pytest.raises(ValueError, match=r"T of at least 1, got shape \[2, 0\]"):
            net(ocl.zeros(2, 0, dtype=ocl.int64))
        with pytest.raises(
            TypeError, match="GPT2Model: expected tokens of dtype int64 or int32, got float32"
        ):
            net(ocl.zeros(1, 4))
        with pytest.raises(ValueError, match="n_embd=24 is not divisible by n_head=5"):
            small_net(n_head=5)


class TestWeights:
    def test_names_and_layouts_are_those_of_hugging_face(self, state):
        own = {name: tuple(tensor.shape) for name, tensor in small_net().state_dict().items()}
        expected = {name: tuple(tensor.shape) for name, tensor in state.items()}
        assert own == expected | {"lm_head.weight": (VOCABULARY, WIDTH)}
        assert own["transformer.h.0.attn.c_attn.weight"] == (WIDTH, 3 * WIDTH)

    @pytest.mark.parametrize("name", PUBLISHED)
    def test_sizes(self, name):
        """Parameters by the formula of the architecture, from the arguments that each name stands for."""
        assert name in models.list_language_models()
        net = models.get_model(name, n_layer=1, vocab_size=8)
        width, layers = net.n_embd, {"gpt2": 12, "gpt2_medium": 24, "gpt2_large": 36, "gpt2_xl": 48}[name]
        assert f"n_layer: int = {layers}" in getattr(models, name).__doc__
        of_block = sum(p.numel() for p in net.transformer.h[0].parameters())
        assert net.n_positions == 1024
        assert width // net.n_head == 64
        assert 50257 * width + 1024 * width + layers * of_block + 2 * width == PUBLISHED[name]

    def test_it_begins_as_hugging_faces_does(self):
        net = small_net(n_embd=64, n_layer=8, vocab_size=500, n_positions=64)
        for name, parameter in net.named_parameters():
            values = parameter.detach().numpy()
            if name.endswith("bias"):
                assert not values.any(), name
            elif "ln_" in name:
                assert (values == 1).all(), name
            else:
                deviation = 0.02 / (math.sqrt(2 * 8) if name.endswith("c_proj.weight") else 1)
                assert abs(values.std() / deviation - 1) < 0.05, name
                assert abs(values.mean()) < 0.1 * deviation, name
        assert small_net(initializer_range=0.5).transformer.wpe.weight.detach().numpy().std() > 0.4

    def test_head_and_embedding_are_one_tensor(self, net, rng):
        assert net.lm_head.weight is net.transformer.wte.weight
        assert "lm_head.weight" not in dict(net.named_parameters())
        tokens = ocl.tensor(tokens_of(rng, 1, 5))
        before = net(tokens).detach().numpy()
        for copied in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
            assert copied.lm_head.weight is copied.transformer.wte.weight
            assert copied.lm_head.weight is not net.lm_head.weight
            np.testing.assert_array_equal(copied(tokens).detach().numpy(), before)
            copied.load_state_dict(small_net().state_dict())
        np.testing.assert_array_equal(net(tokens).detach().numpy(), before)

    @pytest.mark.parametrize("save", [torch.save, safetensors.torch.save_file], ids=["pth", "safetensors"])
    @pytest.mark.parametrize("layout", ["with the head", "without the head", "bare", "old"])
    def test_files_load_by_name(self, state, net, rng, tmp_path, save, layout):
        """The file that transformers saves, with either kind of file, and as gpt2 was published: without
        the prefix, and in old files with the masks.
        """
        given = dict(state)
        if layout == "with the head":
            given["lm_head.weight"] = state["transformer.wte.weight"].clone()
        if layout in ("bare", "old"):
            given = {name.removeprefix("transformer."): tensor for name, tensor in state.items()}
        if layout == "old":
            for i in range(LAYERS):
                given[f"h.{i}.attn.bias"] = torch.ones(1, 1, POSITIONS, POSITIONS).tril()
                given[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
        save(given, tmp_path / "file.safetensors")
        tokens = ocl.tensor(tokens_of(rng, 2, 6))
        expected = net(tokens).detach().numpy()
        for loaded in (
            models.gpt2(weights=tmp_path / "file.safetensors", **SIZES),
            small_net(),
        ):
            loaded.load_state_dict(ocl.load(tmp_path / "file.safetensors"))
            np.testing.assert_array_equal(loaded.eval()(tokens).detach().numpy(), expected)

    def test_what_it_saves_loads_again(self, net, rng, tmp_path):
        tokens = ocl.tensor(tokens_of(rng, 2, 6))
        ocl.save(net.state_dict(), tmp_path / "file")
        again = models.gpt2(weights=tmp_path / "file", **SIZES).eval()
        np.testing.assert_array_equal(again(tokens).detach().numpy(), net(tokens).detach().numpy())

    def test_weights_that_do_not_fit(self, state):
        given = as_ours(state)
        with pytest.raises(ValueError, match=r'Missing key.*"transformer.ln_f.bias"'):
            small_net().load_state_dict({n: t for n, t in given.items() if n != "transformer.ln_f.bias"})
        with pytest.raises(ValueError, match=r'Unexpected key.*"transformer.h.0.attn.rotary"'):
            small_net().load_state_dict(given | {"h.0.attn.rotary": ocl.ones(1)})

    def test_a_head_of_its_own_must_be_there(self, state):
        net = small_net()
        net.lm_head.weight = nn.Parameter(ocl.zeros(VOCABULARY, WIDTH))
        with pytest.raises(ValueError, match=r'Missing key.*"lm_head.weight"'):
            net.load_state_dict(as_ours(state))

    def test_within_another_module(self, state, net, rng):
        outer = nn.ModuleDict({"language": small_net()})
        outer.load_state_dict({f"language.{name}": tensor for name, tensor in as_ours(state).items()})
        tokens = ocl.tensor(tokens_of(rng, 2, 6))
        np.testing.assert_array_equal(
            outer["language"].eval()(tokens).detach().numpy(), net(tokens).detach().numpy()
        )


def generated_naively(net, tokens, count):
    """The likeliest token after each, from the whole sequence every time."""
    for _ in range(count):
        logits = net(ocl.tensor(tokens)).detach().numpy()[:, -1]
        tokens = np.concatenate([tokens, logits.argmax(-1)[:, None]], 1)
    return tokens


class TestGeneration:
    @pytest.mark.parametrize(("items", "length"), [(1, 1), (1, 7), (3, 5), (2, 13)])
    def test_the_likeliest_tokens(self, net, rng, items, length):
        tokens = tokens_of(rng, items, length)
        expected = generated_naively(net, tokens, POSITIONS - length)
        for use_cache in (True, False):
            made = net.generate(ocl.tensor(tokens), POSITIONS - length, use_cache=use_cache)
            np.testing.assert_array_equal(made.numpy(), expected)
            assert made.dtype == ocl.int64
            assert not made.requires_grad
        assert len({tuple(row[length:]) for row in expected}) == items  # sequences do not mix

    def test_the_cache_changes_no_logits_and_costs_one_position(self, net, rng):
        tokens = ocl.tensor(tokens_of(rng, 2, 5))
        seen, lengths = {True: [], False: []}, {True: [], False: []}
        for use_cache in (True, False):
            hooks = [
                net.lm_head.register_forward_hook(lambda m, a, y, c=use_cache: seen[c].append(y.numpy())),
                net.transformer.h[1].register_forward_hook(
                    lambda m, a, y, c=use_cache: lengths[c].append(y.shape[1])
                ),
            ]
            net.generate(tokens, 9, use_cache=use_cache)
            for hook in hooks:
                hook.remove()
        assert lengths == {True: [5] + 8 * [1], False: list(range(5, 14))}
        assert len(seen[True]) == 9
        for cached, whole in zip(seen[True], seen[False], strict=True):
            assert cached.shape == (2, 1, VOCABULARY)
            np.testing.assert_allclose(cached, whole, rtol=1e-4, atol=1e-4)

    def test_drawing_follows_the_probabilities(self, net, rng):
        tokens = np.repeat(tokens_of(rng, 1, 4), 2000, 0)
        logits = net(ocl.tensor(tokens[:1])).detach().numpy()[0, -1].astype(np.float64)

        def shares(**options):
            ocl.manual_seed(5)
            made = net.generate(ocl.tensor(tokens), 1, do_sample=True, **options).numpy()[:, -1]
            return np.bincount(made, minlength=VOCABULARY) / len(made)

        def likely(temperature):
            weights = np.exp((logits - logits.max()) / temperature)
            return weights / weights.sum()

        def assert_drawn_from(expected, drawn):
            assert not drawn[expected == 0].any()
            assert np.abs(drawn - expected).max() < 5 * np.sqrt(0.25 / len(tokens))

        order = np.argsort(-logits)
        assert_drawn_from(likely(1), shares())
        assert_drawn_from(likely(0.4), shares(temperature=0.4))
        expected = np.zeros(VOCABULARY)
        expected[order[:5]] = likely(2)[order[:5]]
        assert_drawn_from(expected / expected.sum(), shares(temperature=2.0, top_k=5))
        assert_drawn_from(likely(1), shares(top_k=1000))
        for top_p in (0.3, 0.8, 1.0):
            before = np.cumsum(likely(1)[order]) - likely(1)[order]
            expected = np.zeros(VOCABULARY)
            expected[order[before < top_p]] = likely(1)[order[before < top_p]]
            assert_drawn_from(expected / expected.sum(), shares(top_p=top_p))
        np.testing.assert_array_equal(np.flatnonzero(shares(top_p=1e-9)), [order[0]])
        np.testing.assert_array_equal(np.flatnonzero(shares(top_k=1)), [order[0]])

    def test_a_generator_repeats_what_it_drew(self, net, rng):
        tokens = ocl.tensor(tokens_of(rng, 2, 3))

        def drawn(seed, **options):
            generator = ocl.Generator()
            generator.manual_seed(seed)
            return net.generate(tokens, 12, do_sample=True, generator=generator, **options).numpy()

        np.testing.assert_array_equal(drawn(1), drawn(1))
        np.testing.assert_array_equal(drawn(1, top_p=0.9, use_cache=False), drawn(1, top_p=0.9))
        assert (drawn(1) != drawn(2)).any()

    def test_the_end_of_a_sequence(self, net, rng):
        tokens = tokens_of(rng, 3, 4)
        free = generated_naively(net, tokens, 12)
        end = int(free[0, 6])
        expected = free.copy()
        for row in expected:
            at = np.flatnonzero(row[4:] == end)
            if len(at):
                row[4 + at[0] :] = end
        made = net.generate(ocl.tensor(tokens), 12, eos_token_id=end).numpy()
        np.testing.assert_array_equal(made, expected[:, : made.shape[1]])
        assert (expected[:, made.shape[1] :] == end).all()
        one = net.generate(ocl.tensor(tokens[:1]), 12, eos_token_id=end).numpy()
        assert one.shape[1] == 4 + np.flatnonzero(free[0, 4:] == end)[0] + 1

    def test_nothing_new(self, net, rng):
        tokens = tokens_of(rng, 2, 4)
        np.testing.assert_array_equal(net.generate(ocl.tensor(tokens), 0).numpy(), tokens)

    def test_tokens_keep_their_dtype(self, net, rng):
        tokens = tokens_of(rng, 2, 4)
        made = net.generate(ocl.tensor(tokens.astype(np.int32)), 3)
        assert made.dtype == ocl.int32
        np.testing.assert_array_equal(made.numpy(), generated_naively(net, tokens, 3))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"max_new_tokens": POSITIONS - 2},
                "3 tokens and max_new_tokens=18 are more than n_positions=20",
            ),
            ({"max_new_tokens": -1}, "max_new_tokens must not be negative, got -1"),
            ({"max_new_tokens": 2**63 - 1}, f"3 tokens and max_new_tokens={2**63 - 1} are more than"),
            ({"do_sample": True, "temperature": 0.0}, "temperature must be above 0, got 0; do_sample=False"),
            ({"do_sample": True, "temperature": math.inf}, "temperature must be above 0, got inf"),
            ({"top_k": 0}, "top_k must be above 0, got 0"),
            ({"top_p": 0.0}, r"top_p must be in \(0, 1\], got 0"),
            ({"top_p": 1.1}, r"top_p must be in \(0, 1\], got 1.1"),
            ({"eos_token_id": VOCABULARY}, "eos_token_id must be below vocab_size=53, got 53"),
        ],
    )
    def test_senseless_options(self, net, options, message):
        with pytest.raises(ValueError, match=f"^generate: {message}"):
            net.generate(ocl.zeros(1, 3, dtype=ocl.int64), **{"max_new_tokens": 2} | options)

    def test_tokens_that_do_not_fit(self, net):
        with pytest.raises(ValueError, match=r"generate: expected tokens \[N, T\].* got shape \[3\]"):
            net.generate(ocl.zeros(3, dtype=ocl.int64))
        with pytest.raises(TypeError, match="generate: expected tokens of dtype int64 or int32, got float32"):
            net.generate(ocl.zeros(1, 3))

    def test_parts_of_the_callers_own(self, net, rng):
        """Modules that keep no keys are refused with the cache, and serve without it."""
        tokens = tokens_of(rng, 1, 4)

        class Doubled(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, x):
                return 2 * self.inner(x)

        net.transformer.h[0].attn = Doubled(net.transformer.h[0].attn)  # the cache sees through it
        expected = generated_naively(net, tokens, 8)
        np.testing.assert_array_equal(net.generate(ocl.tensor(tokens), 8).numpy(), expected)
        net.transformer.h[1] = nn.Identity()
        expected = generated_naively(net, tokens, 8)
        with pytest.raises(ValueError, match="of 3 blocks 2 keep their keys and values; use_cache=False"):
            net.generate(ocl.tensor(tokens), 8)
        made = net.generate(ocl.tensor(tokens), 8, use_cache=False).numpy()
        np.testing.assert_array_equal(made, expected)

    def test_hooks_may_call_nets(self, net, rng):
        """Their results are no part of the text that is generated."""
        tokens, other = tokens_of(rng, 2, 5), small_net(n_layer=1).eval()
        expected = generated_naively(net, tokens, 8)
        seen, given = [], ocl.tensor(tokens_of(rng, 1, 6))

        def look(module, arguments, output):
            if not seen or seen[-1] is not None:  # not within the call that this makes
                seen.append(None)
                seen[-1] = [made(given).detach().numpy() for made in (other, net)]

        alone = [made(given).detach().numpy() for made in (other, net)]
        net.transformer.h[1].register_forward_hook(look)
        net.lm_head.register_forward_hook(look)
        np.testing.assert_array_equal(net.generate(ocl.tensor(tokens), 8).numpy(), expected)
        assert len(seen) == 16
        for found in seen:
            for one, whole in zip(found, alone, strict=True):
                np.testing.assert_allclose(one, whole, rtol=1e-4, atol=1e-5)

    def test_float16(self, net, rng):
        tokens = ocl.tensor(tokens_of(rng, 2, 5))
        half = copy.deepcopy(net).to(ocl.float16)
        np.testing.assert_array_equal(
            half.generate(tokens, 4).numpy(), half.generate(tokens, 4, use_cache=False).numpy()
        )


class TestRegistry:
    def test_language_models_are_a_list_of_their_own(self):
        assert models.list_language_models() == sorted(PUBLISHED)
        assert not set(models.list_language_models()) & set(models.list_models())

    def test_they_are_made_by_name(self):
        net = models.create_model("gpt2", **SIZES)
        assert isinstance(net, models.GPT2LMHeadModel)
        assert models.get_model_builder("gpt2_xl") is models.gpt2_xl
        with pytest.raises(ValueError, match="Unknown model gpt2_larg, did you mean gpt2_large"):
            models.get_model("gpt2_larg")
        with pytest.raises(TypeError, match=r"gpt2\(\) got an unexpected keyword argument 'num_classes'"):
            models.get_model("gpt2", num_classes=10)

    def test_classes_can_be_derived_from(self, rng):
        class Louder(GPT2LMHeadModel):
            def forward(self, tokens):
                return 2 * super().forward(tokens)

        louder, net = Louder(**SIZES, **NO_CHANCE), small_net()
        louder.load_state_dict(net.state_dict())
        tokens = ocl.tensor(tokens_of(rng, 1, 3))
        np.testing.assert_allclose(
            louder(tokens).detach().numpy(), 2 * net(tokens).detach().numpy(), rtol=1e-6
        )
        assert repr(louder).startswith("Louder(\n  (transformer): GPT2Model(\n    (wte): Embedding(53, 24)")

    def test_parts(self):
        assert repr(Conv1D(6, 4)) == "Conv1D(nf=6, nx=4)"
        x = ocl.ones(2, 3, 8)
        for part in (GPT2Attention, GPT2Block):
            assert part(n_embd=8, n_head=2)(x).shape == (2, 3, 8)
        with pytest.raises(
            ValueError, match=r"GPT2Attention: expected \[N, T, n_embd=8\], got shape \[3, 8\]"
        ):
            GPT2Attention(n_embd=8, n_head=2)(ocl.ones(3, 8))
