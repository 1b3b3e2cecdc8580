"""PEFT, quantized weights and mixtures of experts: a few steps on ocl are those on the CPU."""

import copy

import pytest

torch = pytest.importorskip("torch")
from comparisons import find_torchvision, load_torchvision  # noqa: E402

if find_torchvision():
    load_torchvision()  # before transformers, which reads it

pytestmark = pytest.mark.filterwarnings("ignore")

SIZES = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "max_position_embeddings": 64}
SIZES |= {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}


@pytest.fixture
def transformers():
    return pytest.importorskip("transformers", reason="NOT TESTED: transformers is not installed")


@pytest.fixture
def peft(transformers):
    return pytest.importorskip("peft", reason="NOT TESTED: peft is not installed")


def tiny_llama(transformers, **sizes):
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES | sizes))


def tiny_gpt2(transformers):
    torch.manual_seed(0)
    drop = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    config = transformers.GPT2Config(vocab_size=61, n_embd=32, n_layer=2, n_head=4, n_positions=64, **drop)
    return transformers.GPT2LMHeadModel(config)


def words():
    return torch.randint(0, 61, (3, 9), generator=torch.Generator().manual_seed(2))


def train(net, device, steps=4, each_step=lambda step: None):
    ids = words().to(device)
    trained = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = net(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        each_step(step)
        losses.append(loss.item())
    return losses


ATTENTION = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj", "v_proj"]}
QUERIES = {"task_type": "CAUSAL_LM", "target_modules": ["q_proj"]}
VIRTUAL = {"task_type": "CAUSAL_LM", "num_virtual_tokens": 4}
METHODS = {
    "LoRA": ("LoraConfig", {"r": 4, **ATTENTION}),
    "LoRA of all layers": (
        "LoraConfig",
        {"r": 3, "task_type": "CAUSAL_LM", "target_modules": "all-linear", "use_rslora": True},
    ),
    "LoRA of an embedding": (
        "LoraConfig",
        {"r": 4, "task_type": "CAUSAL_LM", "target_modules": ["q_proj", "embed_tokens"]},
    ),
    "DoRA": ("LoraConfig", {"r": 4, "use_dora": True, **ATTENTION}),
    "PiSSA": ("LoraConfig", {"r": 4, "init_lora_weights": "pissa", **ATTENTION}),
    "IA3": (
        "IA3Config",
        {
            "task_type": "CAUSAL_LM",
            "target_modules": ["k_proj", "v_proj", "down_proj"],
            "feedforward_modules": ["down_proj"],
        },
    ),
    "AdaLoRA": ("AdaLoraConfig", {"init_r": 6, "target_r": 4, "total_step": 20, **ATTENTION}),
    "LoHa": ("LoHaConfig", {"r": 4, **ATTENTION}),
    "LoKr": ("LoKrConfig", {"r": 4, **ATTENTION}),
    "OFT": ("OFTConfig", {"r": 0, "oft_block_size": 8, **ATTENTION}),
    "VeRA": ("VeraConfig", {"r": 8, **QUERIES}),
    "HRA": ("HRAConfig", {"r": 4, **ATTENTION}),
    "layer norms": ("LNTuningConfig", {"task_type": "CAUSAL_LM", "target_modules": ["input_layernorm"]}),
    "prompts": ("PromptTuningConfig", VIRTUAL),
    "prefixes": ("PrefixTuningConfig", VIRTUAL),
    "an encoder of prompts": ("PromptEncoderConfig", {"encoder_hidden_size": 16, **VIRTUAL}),
}


@pytest.mark.parametrize("method", METHODS)
def test_peft_trains_as_on_the_cpu(method, peft, transformers):
    kind, options = METHODS[method]
    torch.manual_seed(1)
    theirs = peft.get_peft_model(tiny_llama(transformers), getattr(peft, kind)(**copy.deepcopy(options)))
    ours = copy.deepcopy(theirs).to("ocl")
    before = {name: p.detach().clone() for name, p in theirs.named_parameters() if p.requires_grad}
    losses = []
    for net, device in ((theirs, "cpu"), (ours, "ocl")):
        update = net.base_model.update_and_allocate if method == "AdaLoRA" else lambda step: None
        losses.append(train(net, device, each_step=update))
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-5, atol=1e-5)
    found, expected = dict(ours.named_parameters()), dict(theirs.named_parameters())
    assert any(not torch.equal(expected[name], old) for name, old in before.items())
    for name, parameter in expected.items():
        torch.testing.assert_close(found[name].cpu(), parameter, rtol=1e-3, atol=1e-4, msg=name)
    if "Prompt" not in kind and "Prefix" not in kind:
        merged = ours.merge_and_unload()(input_ids=words().to("ocl")).logits.cpu()
        torch.testing.assert_close(merged, theirs(input_ids=words()).logits, rtol=1e-4, atol=1e-4)


def test_lora_of_gpt2_is_saved_and_loaded(peft, transformers, tmp_path):
    options = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["c_attn"], fan_in_fan_out=True)
    net = peft.get_peft_model(tiny_gpt2(transformers).to("ocl"), options)
    losses = train(net, "ocl")
    assert losses[-1] < losses[0]
    net.save_pretrained(tmp_path)
    for device in ("cpu", "ocl"):
        again = peft.PeftModel.from_pretrained(tiny_gpt2(transformers).to(device), tmp_path)
        logits = again(input_ids=words().to(device)).logits
        assert logits.device.type == device
        expected = net.eval()(input_ids=words().to("ocl")).logits
        torch.testing.assert_close(logits.cpu(), expected.cpu(), rtol=1e-4, atol=1e-5)


@pytest.fixture
def saved(transformers, tmp_path):
    net = tiny_llama(transformers, hidden_size=64, intermediate_size=128).eval()
    net.save_pretrained(tmp_path)
    return net, tmp_path


@pytest.mark.slow  # bitsandbytes compiles for the CPU
@pytest.mark.parametrize("kind, double", [("nf4", False), ("nf4", True), ("fp4", True)])
def test_qlora_with_weights_of_four_bits(kind, double, saved, peft, transformers):
    pytest.importorskip("bitsandbytes", reason="NOT TESTED: bitsandbytes is not installed")
    net, folder = saved
    losses, logits = [], []
    for device in ("cpu", "auto"):
        config = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type=kind, bnb_4bit_use_double_quant=double
        )
        load = transformers.LlamaForCausalLM.from_pretrained
        quantized = load(folder, quantization_config=config, device_map=device)
        assert quantized.device.type == ("cpu" if device == "cpu" else "ocl")
        assert quantized.model.layers[0].mlp.up_proj.weight.dtype == torch.uint8
        logits.append(quantized(words().to(quantized.device)).logits.cpu())
        quantized = peft.prepare_model_for_kbit_training(quantized)
        torch.manual_seed(1)
        adapted = peft.get_peft_model(
            quantized, peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules="all-linear")
        )
        losses.append(train(adapted, quantized.device))
    torch.testing.assert_close(logits[1], logits[0], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(losses[1], losses[0], rtol=1e-4, atol=1e-4)
    assert losses[1][-1] < losses[1][0]


def fallbacks_allowed(monkeypatch):
    """int8 tensors live on the device; what computes with them runs on the CPU (docs/pytorch.md)."""
    monkeypatch.setenv("TORCH_OCL_FALLBACK", "silent")


def test_weights_of_eight_bits_of_bitsandbytes(monkeypatch):
    bitsandbytes = pytest.importorskip("bitsandbytes", reason="NOT TESTED: bitsandbytes is not installed")
    fallbacks_allowed(monkeypatch)
    plain = torch.nn.Linear(64, 48)
    layer = bitsandbytes.nn.Linear8bitLt(64, 48, has_fp16_weights=False, threshold=6.0)
    layer.load_state_dict(plain.state_dict())
    layer.eval()  # in training bitsandbytes has another way on the CPU, without int8 activations
    x = torch.randn(5, 64)
    ours, theirs = copy.deepcopy(layer).to("ocl"), layer.to("cpu")
    with torch.no_grad():
        found, expected = ours(x.to("ocl")), theirs(x)
    assert ours.weight.dtype == torch.int8 and ours.weight.device.type == "ocl"
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-3, atol=1e-3)
    inputs = [x.clone().requires_grad_(), x.to("ocl").requires_grad_()]
    for net, given in zip((plain, ours), inputs, strict=True):
        net(given).sum().backward()
    torch.testing.assert_close(inputs[1].grad.cpu(), inputs[0].grad, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", ["AdamW8bit", "PagedAdamW8bit", "Lion8bit", "AdamW32bit"])
def test_optimizers_of_bitsandbytes(name, monkeypatch):
    bitsandbytes = pytest.importorskip("bitsandbytes", reason="NOT TESTED: bitsandbytes is not installed")
    fallbacks_allowed(monkeypatch)
    begin = torch.randn(96, 64)
    ended = []
    for device in ("cpu", "ocl"):
        parameter = torch.nn.Parameter(begin.clone().to(device))
        optimizer = getattr(bitsandbytes.optim, name)([parameter], lr=1e-2)
        for _ in range(3):
            optimizer.zero_grad()
            parameter.square().sum().backward()
            optimizer.step()
        ended.append(parameter.detach().cpu())
    assert not torch.equal(ended[0], begin)
    torch.testing.assert_close(ended[1], ended[0], rtol=1e-4, atol=2e-4)


TORCHAO = [
    "Int8WeightOnlyConfig",
    "Int8DynamicActivationInt8WeightConfig",
    "Int8DynamicActivationIntxWeightConfig",
    "IntxWeightOnlyConfig",
    "Float8WeightOnlyConfig",
]


@pytest.mark.parametrize("where", ["cpu", "ocl"])
@pytest.mark.parametrize("name", TORCHAO)
def test_torchao_quantizes(name, where, monkeypatch):
    quantization = pytest.importorskip("torchao.quantization", reason="NOT TESTED: torchao is not installed")
    fallbacks_allowed(monkeypatch)
    net = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.ReLU(), torch.nn.Linear(96, 32))
    theirs, ours = copy.deepcopy(net), copy.deepcopy(net).to(where)
    for quantized in (theirs, ours):
        quantization.quantize_(quantized, getattr(quantization, name)())
    ours = ours.to("ocl")
    assert ours[0].weight.device.type == "ocl"
    x = torch.randn(5, 64)
    with torch.no_grad():
        torch.testing.assert_close(ours(x.to("ocl")).cpu(), theirs(x), rtol=1e-5, atol=1e-5)


MIXTURES = {
    "Mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "Qwen3Moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "head_dim": 8},
}


@pytest.mark.parametrize("experts", ["eager", "batched_mm", "grouped_mm"])
@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_of_experts(name, experts, transformers):
    config = getattr(transformers, f"{name}Config")(**SIZES, **MIXTURES[name])
    config._experts_implementation = experts
    torch.manual_seed(0)
    theirs = getattr(transformers, f"{name}ForCausalLM")(config)
    ours = copy.deepcopy(theirs).to("ocl")
    losses = []
    for net, device in ((theirs, "cpu"), (ours, "ocl")):
        ids = words().to(device)
        loss = net(input_ids=ids, labels=ids, output_router_logits=True).loss
        loss.backward()
        losses.append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    for (label, found), expected in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(found.grad.cpu(), expected.grad, rtol=1e-4, atol=1e-6, msg=label)
