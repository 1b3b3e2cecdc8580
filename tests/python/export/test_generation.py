"""ocl.models.GenerationStep: tokens of exported programs against net.generate, and tapecl-run --generate."""

import numpy as np
import pytest
from test_c_interface import BUILD, not_compared, run

import ocl
from ocl import models

VOCABULARY, POSITIONS = 53, 40


def small_net(seed=1):
    ocl.manual_seed(seed)
    sizes = {"vocab_size": VOCABULARY, "n_positions": POSITIONS, "n_embd": 24, "n_layer": 3, "n_head": 2}
    return models.gpt2(**sizes, initializer_range=0.4).eval()


def prompt_of(rng, items, length):
    return ocl.tensor(rng.integers(0, VOCABULARY, (items, length)))


def written(step, prompt, count):
    """The prompt and `count` more tokens by a step or a program."""
    tokens, parts, known = prompt, [prompt], 0
    for _ in range(count):
        positions = ocl.arange(known, known + tokens.shape[1])
        known += tokens.shape[1]
        tokens = step(tokens, positions)
        parts.append(tokens)
    return ocl.cat(parts, 1)


@pytest.mark.parametrize(("items", "length", "count"), [(1, 1, 12), (1, 9, 12), (3, 2, 5), (2, 30, 1)])
def test_tokens_of_generate(rng, tmp_path, items, length, count):
    net, prompt = small_net(), prompt_of(rng, items, length)
    expected = net.generate(prompt, count).tolist()
    step = models.GenerationStep(net, batch_size=items, length=30)
    with ocl.no_grad():
        assert written(step, prompt, count).tolist() == expected
    step.export().save(tmp_path / "net.ocl")
    program = ocl.runtime.load(tmp_path / "net.ocl")
    assert written(program, prompt, count).tolist() == expected
    assert written(program, prompt, count).tolist() == expected  # over what the run before has left
    assert program.symbols == {"tokens": (1, 30)}


def test_a_prompt_in_pieces(rng):
    net, prompt = small_net(), prompt_of(rng, 2, 11)
    step = models.GenerationStep(net, batch_size=2)
    whole = step(prompt, ocl.arange(11))
    for start, end in ((0, 4), (4, 5), (5, 11)):
        last = step(prompt[:, start:end], ocl.arange(start, end))
    assert last.tolist() == whole.tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_net_of_16_bits(rng, dtype):
    step = models.GenerationStep(small_net(), length=20).to(getattr(ocl, dtype))
    assert step.keys_0.dtype == getattr(ocl, dtype)
    assert written(step, prompt_of(rng, 1, 3), 4).shape == (1, 7)


def test_what_is_drawn_is_likely_and_repeats(rng, tmp_path):
    net, prompt = small_net(), prompt_of(rng, 1, 4)
    step = models.GenerationStep(net, length=32, do_sample=True, temperature=1.5, top_k=4)
    step.export().save(tmp_path / "net.ocl")
    program = ocl.runtime.load(tmp_path / "net.ocl")
    tokens = written(program, prompt, 25)
    logits = net(tokens).detach()[0, 3:-1].numpy()
    place = (logits > np.take_along_axis(logits, tokens[0, 4:].numpy()[:, None], 1)).sum(1)
    assert place.max() < 4 and len(set(place.tolist())) > 1
    assert written(ocl.runtime.load(tmp_path / "net.ocl"), prompt, 25).tolist() == tokens.tolist()
    assert written(program, prompt, 25).tolist() != tokens.tolist()


def test_bad_arguments(rng):
    net = small_net()
    with pytest.raises(ValueError, match="length must be from 1 to n_positions=40, got 41"):
        models.GenerationStep(net, length=41)
    with pytest.raises(ValueError, match="batch_size must be above 0"):
        models.GenerationStep(net, batch_size=0)
    step, prompt = models.GenerationStep(net), prompt_of(rng, 1, 3)
    with pytest.raises(ValueError, match=r"expected positions \[3\], one for each token, got shape \[2\]"):
        step(prompt, ocl.arange(2))
    with pytest.raises(TypeError, match="positions of dtype int64, got int32"):
        step(prompt, ocl.arange(3, dtype=ocl.int32))
    with pytest.raises(ValueError, match="next_tokens: temperature must be above 0"):
        models.GenerationStep(net, do_sample=True, temperature=0)(prompt, ocl.arange(3))
    with pytest.raises(ValueError, match="the cache has 2 tensors, too few for the net's blocks"):
        net.next_tokens(prompt, ocl.arange(3), net.make_cache(1, 8)[:2])
    with pytest.raises(IndexError, match="index out of range"):
        step(prompt, ocl.arange(38, 41)).tolist()


needs_tapecl_run = pytest.mark.skipif(
    BUILD is None, reason=not_compared("tokens of tapecl-run", "build of the library tapecl_runtime")
)


@needs_tapecl_run
def test_tapecl_run_writes_tokens(rng, tmp_path):
    net, prompt = small_net(), prompt_of(rng, 1, 5)
    models.GenerationStep(net, length=24).export().save(tmp_path / "net.ocl")
    expected = net.generate(prompt, 20)[0].tolist()
    np.save(tmp_path / "prompt.npy", prompt.numpy())
    tool, output = BUILD / "tools/tapecl-run", tmp_path / "tokens.npy"
    numbers = ",".join(map(str, expected[:5]))
    for given in (("--prompt", numbers), ("--input", f"tokens={tmp_path / 'prompt.npy'}")):
        made = run(tool, tmp_path / "net.ocl", "--generate", 20, *given, "--output", output)
        assert made.returncode == 0, made.stderr
        lines = made.stdout.splitlines()
        assert lines[0] == " ".join(map(str, expected[5:])) and "5 tokens read in" in lines[1]
        assert np.load(output).tolist() == [expected]
    stop = expected[5 + 3]
    at = expected[5:].index(stop)
    made = run(tool, tmp_path / "net.ocl", "--generate", 20, "--prompt", numbers, "--end", stop)
    assert made.stdout.splitlines()[0] == " ".join(map(str, expected[5 : 6 + at]))


@needs_tapecl_run
def test_tapecl_run_writes_several_sequences(rng, tmp_path):
    net, prompt = small_net(), prompt_of(rng, 3, 4)
    models.GenerationStep(net, batch_size=3, length=16).export().save(tmp_path / "net.ocl")
    expected = net.generate(prompt, 6)[:, 4:].tolist()
    np.save(tmp_path / "prompt.npy", prompt.numpy())
    made = run(
        BUILD / "tools/tapecl-run",
        tmp_path / "net.ocl",
        "--generate",
        6,
        "--input",
        tmp_path / "prompt.npy",
    )
    assert made.returncode == 0, made.stderr
    steps = [[int(token) for token in line.split()] for line in made.stdout.splitlines()[:6]]
    assert np.array(steps).T.tolist() == expected


@needs_tapecl_run
def test_what_tapecl_run_refuses(rng, tmp_path):
    tool = BUILD / "tools/tapecl-run"
    models.GenerationStep(small_net(), length=8).export().save(tmp_path / "net.ocl")
    ocl.export(ocl.nn.Linear(3, 2), (ocl.zeros(1, 3),)).save(tmp_path / "linear.ocl")

    def message(*arguments):
        made = run(tool, *arguments)
        assert made.returncode != 0
        return made.stderr

    files = tmp_path / "net.ocl", "--generate"
    assert "room for 8 positions" in message(*files, 6, "--prompt", "1,2,3,4")
    assert "--generate takes --prompt TOKEN,TOKEN,..." in message(*files, 6)
    assert "needs a program of ocl.models.GenerationStep" in message(
        tmp_path / "linear.ocl", "--generate", 2, "--prompt", "1"
    )
    assert "index out of range" in message(*files, 2, "--prompt", "1,53")
    np.save(tmp_path / "prompt.npy", np.zeros((1, 3), np.float32))
    assert "int64[N, T]" in message(*files, 2, "--input", tmp_path / "prompt.npy")
