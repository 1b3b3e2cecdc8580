"""accelerate and transformers on ocl devices without a word about them in the program."""

import copy
import json
import logging

import pytest

torch = pytest.importorskip("torch")
from comparisons import find_torchvision, load_torchvision  # noqa: E402

if find_torchvision():
    load_torchvision()  # before transformers, which reads it


@pytest.fixture(autouse=True)
def no_device_named(monkeypatch):
    if torch.cuda.is_available():
        pytest.skip("NOT TESTED: accelerate and transformers take CUDA's device where there is one")
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE", raising=False)


@pytest.fixture
def accelerate():
    accelerate = pytest.importorskip("accelerate", reason="NOT TESTED: accelerate is not installed")
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    yield accelerate
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture
def transformers():
    pytest.importorskip("accelerate", reason="NOT TESTED: accelerate is not installed")
    return pytest.importorskip("transformers", reason="NOT TESTED: transformers is not installed")


def tiny_llama(transformers, dropout=0.0):
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "attention_dropout": dropout}
    config = transformers.LlamaConfig(vocab_size=61, max_position_embeddings=64, **sizes, **heads)
    return transformers.LlamaForCausalLM(config)


def sentences(count=16):
    generator = torch.Generator().manual_seed(1)
    rows = [torch.randint(0, 61, (9,), generator=generator) for _ in range(count)]
    return [{"input_ids": row, "labels": row} for row in rows]


def test_the_device_is_ocl_unless_the_program_says_otherwise(accelerate, monkeypatch):
    state, reset = accelerate.PartialState, accelerate.state.AcceleratorState._reset_state
    assert state().device == torch.device("ocl:0")
    reset(reset_partial_state=True)
    assert state(cpu=True).device.type == "cpu"
    reset(reset_partial_state=True)
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    assert state().device.type == "cpu"


def test_training_arguments_take_the_device(transformers, tmp_path, monkeypatch):
    def device(**options):
        return transformers.TrainingArguments(str(tmp_path), report_to=[], **options).device

    assert device() == torch.device("ocl:0") == device(use_cpu=False, bf16=True) == device(fp16=True)
    assert device(use_cpu=True).type == "cpu"
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    assert device().type == "cpu"
    with pytest.raises(ValueError, match="support bf16"):
        device(bf16=True)


def train(transformers, folder, dropout=0.0, resume=None, **options):
    net = tiny_llama(transformers, dropout)
    arguments = transformers.TrainingArguments(
        str(folder),
        per_device_train_batch_size=4,
        num_train_epochs=2,
        learning_rate=1e-2,
        report_to=[],
        disable_tqdm=True,
        seed=3,
        **options,
    )
    trainer = transformers.Trainer(net, arguments, train_dataset=sentences())
    trainer.train(resume_from_checkpoint=resume)
    return {name: p.detach().cpu() for name, p in net.named_parameters()}


@pytest.mark.parametrize("options", [{}, {"gradient_accumulation_steps": 2, "max_grad_norm": 0.3}])
def test_trainer_computes_what_the_cpu_does(options, transformers, tmp_path):
    ours, theirs = (
        train(transformers, tmp_path / str(cpu), use_cpu=cpu, save_strategy="no", **options)
        for cpu in (False, True)
    )
    for name, parameter in theirs.items():
        torch.testing.assert_close(ours[name], parameter, atol=2e-4, rtol=2e-4, msg=name)


def test_a_resumed_training_draws_the_numbers_of_one_that_went_on(transformers, tmp_path):
    whole = train(transformers, tmp_path, dropout=0.3, save_strategy="steps", save_steps=3)
    resumed = train(transformers, tmp_path, dropout=0.3, resume=str(tmp_path / "checkpoint-3"))
    assert (tmp_path / "checkpoint-3" / "random_states_ocl_0.pth").is_file()
    assert json.loads((tmp_path / "checkpoint-8" / "trainer_state.json").read_text())["global_step"] == 8
    for name, parameter in whole.items():
        assert torch.equal(parameter, resumed[name]), name


def test_checkpoints_of_accelerate_keep_random_states(accelerate, tmp_path, caplog):
    accelerator = accelerate.Accelerator()
    net = accelerator.prepare(torch.nn.Linear(3, 2))
    torch.rand(5, device="ocl")
    accelerator.save_state(str(tmp_path))
    first = torch.rand(5, device="ocl"), torch.rand(5)
    weight = net.weight.detach().clone()
    with torch.no_grad():
        net.weight.zero_()
    accelerator.load_state(str(tmp_path))
    assert torch.equal(torch.rand(5, device="ocl"), first[0]) and torch.equal(torch.rand(5), first[1])
    assert torch.equal(net.weight, weight)
    (tmp_path / "random_states_ocl_0.pth").unlink()
    with caplog.at_level(logging.WARNING):
        accelerator.load_state(str(tmp_path))
    assert "random_states_ocl_0.pth is not there" in caplog.text


def test_batch_sizes_shrink_until_they_fit(accelerate):
    seen = []

    @accelerate.utils.find_executable_batch_size(starting_batch_size=8)
    def run(batch_size):
        seen.append(batch_size)
        if batch_size > 7:
            torch.empty(1 << 45, device="ocl")
        return batch_size

    assert run() == seen[-1] < 8 == seen[0]


@pytest.fixture
def saved(transformers, tmp_path):
    net = tiny_llama(transformers).eval()
    net.save_pretrained(tmp_path)
    return net, tmp_path


@pytest.mark.parametrize("place", ["auto", "balanced", "sequential", "ocl:0", {"": "ocl:0"}, {"": 0}])
def test_device_maps_lead_to_ocl(place, saved, transformers, caplog):
    net, folder = saved
    words = torch.randint(0, 61, (2, 7))
    with caplog.at_level(logging.WARNING):
        loaded = transformers.LlamaForCausalLM.from_pretrained(folder, device_map=copy.copy(place))
    assert {p.device for p in loaded.parameters()} == {torch.device("ocl:0")}
    assert "is not available" not in caplog.text
    torch.testing.assert_close(loaded(words.to("ocl")).logits.cpu(), net(words).logits)


def test_a_model_larger_than_its_share_is_spread_over_ocl_and_the_cpu(saved, transformers):
    net, folder = saved
    words = torch.randint(0, 61, (2, 7))
    spread = transformers.LlamaForCausalLM.from_pretrained(
        folder, device_map="auto", max_memory={0: "40KB", "cpu": "1GB"}
    )
    assert set(spread.hf_device_map.values()) == {0, "cpu"}
    torch.testing.assert_close(spread(words.to("ocl")).logits.cpu(), net(words).logits)


GENERATION = {
    "greedy": {},
    "beams": {"num_beams": 3, "num_return_sequences": 2},
    "static cache": {"cache_implementation": "static"},
    "penalties": {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
}


@pytest.mark.parametrize("how", GENERATION)
def test_generated_words_are_the_cpus(how, transformers):
    net = tiny_llama(transformers).eval()
    words = torch.randint(0, 61, (2, 5))
    options = {"max_new_tokens": 9, "do_sample": False, "pad_token_id": 0, **GENERATION[how]}
    expected = net.generate(words, **options)
    found = copy.deepcopy(net).to("ocl").generate(words.to("ocl"), **options)
    assert found.device == torch.device("ocl:0") and torch.equal(found.cpu(), expected)


def test_sampled_words_follow_the_seed(transformers):
    net = tiny_llama(transformers).eval().to("ocl")
    words = torch.randint(0, 61, (2, 5), device="ocl")

    def sample(seed):
        torch.manual_seed(seed)
        return net.generate(words, max_new_tokens=20, do_sample=True, top_k=9, top_p=0.9, temperature=1.5)

    assert torch.equal(sample(0), sample(0)) and not torch.equal(sample(0), sample(1))


class Letters:
    """A tokenizer whose words are letters."""

    def __call__(self, text):
        return {"input_ids": torch.tensor([[ord(letter) % 61 for letter in text]])}


@pytest.mark.parametrize("device", [None, 0, "ocl", "ocl:0", torch.device("ocl:0"), "cpu", -1])
def test_pipelines_run_where_they_are_told(device, transformers):
    class Scores(transformers.Pipeline):
        def _sanitize_parameters(self, **options):
            return {}, {}, {}

        def preprocess(self, text):
            return Letters()(text)

        def _forward(self, inputs):
            assert inputs["input_ids"].device == self.model.device
            return {"logits": self.model(**inputs).logits}

        def postprocess(self, outputs):
            return outputs["logits"]

    net = tiny_llama(transformers).eval()
    expected = net(**Letters()("tape")).logits
    scores = Scores(net, device=device)
    assert scores.device.type == ("cpu" if device in ("cpu", -1) else "ocl")
    assert net.device.type == scores.device.type
    torch.testing.assert_close(scores("tape"), expected)


def test_sentence_transformers_take_the_device(transformers, monkeypatch):
    package = pytest.importorskip(
        "sentence_transformers", reason="NOT TESTED: sentence-transformers is not installed"
    )
    net = package.SentenceTransformer(modules=[package.models.Dense(3, 2)])
    assert net.device == torch.device("ocl:0")
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    assert package.SentenceTransformer(modules=[package.models.Dense(3, 2)]).device.type == "cpu"
