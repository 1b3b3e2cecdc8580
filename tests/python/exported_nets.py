"""Nets that PyTorch exports, by torch.export and as ONNX files: how each is made, and arguments for it."""

import copy

import numpy as np
import pytest
import torch
from comparisons import evaluated_net, import_torchvision, not_compared
from small_unet import make_unet
from torch import nn

import ocl

torchvision = import_torchvision("nets that PyTorch exports")
tv = torchvision.models


def pictures(size, count=2):
    return lambda: ((torch.randn(count, 3, size, size),), {})


def sequences():
    return (torch.randn(6, 2, 8),), {}


def tokens():
    return (torch.randint(0, 50, (2, 8)),), {}


def masked_tokens():
    mask = torch.ones(2, 8, dtype=torch.int64)
    mask[1, 5:] = 0
    return (), {"input_ids": torch.randint(0, 50, (2, 8)), "attention_mask": mask}


def kept_tokens():
    """Three tokens, and keys and values of the five before them, in two layers with two heads."""
    kept = [torch.randn(2, 2, 5, 16) for _ in range(4)]
    return (torch.randint(0, 50, (2, 3)), *kept), {}


def two_sentences():
    return (), {name: torch.randint(0, 50, (2, 8)) for name in ("input_ids", "decoder_input_ids")}


def speech():
    return (), {"input_features": torch.randn(2, 8, 40), "decoder_input_ids": torch.randint(0, 50, (2, 8))}


def noisy_pictures():
    return (torch.randn(2, 3, 16, 16), torch.tensor([3, 400])), {}


class Embedding(nn.Module):
    """Words and bags of words, summed and scored."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 16, padding_idx=0)
        self.bags = nn.EmbeddingBag(50, 16, mode="mean")
        self.scores = nn.Linear(16, 5)

    def forward(self, tokens):
        return self.scores(self.words(tokens).sum(1) + self.bags(tokens)).log_softmax(-1)


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x):
        hidden = torch.ones(6, 6, dtype=torch.bool).triu(1)
        return self.attention(x, x, x, attn_mask=hidden)


class SSDLite(nn.Module):
    """The net of the detector: boxes and scores of all anchors. How many boxes are left depends on data."""

    def __init__(self):
        super().__init__()
        net = tv.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)
        self.backbone, self.head = net.backbone, net.head

    def forward(self, x):
        return self.head([*self.backbone(x).values()])


class LastHidden(nn.Module):
    """A net of transformers for the older exporter, which takes arguments by position alone."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, tokens):
        return self.net(tokens).last_hidden_state


class GPT2WithCache(nn.Module):
    """A step of a language model: scores, and all keys and values with those of the new tokens."""

    def __init__(self):
        super().__init__()
        self.net = transformer(
            "GPT2LMHeadModel", "GPT2Config", vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=2
        )()

    def forward(self, tokens, keys_0, values_0, keys_1, values_1):
        from transformers import DynamicCache

        cache = DynamicCache([(keys_0, values_0), (keys_1, values_1)])
        result = self.net(tokens, past_key_values=cache, use_cache=True)
        kept = [part for layer in result.past_key_values.layers for part in (layer.keys, layer.values)]
        return result.logits, *kept


def encoder():
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu")
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def transformer(model, config, **options):
    def make():
        transformers = pytest.importorskip(
            "transformers", reason=not_compared(f"the program of {model}", "transformers")
        )
        return getattr(transformers, model)(getattr(transformers, config)(**options))

    return make


def eager_bert():
    return transformer(
        "BertModel", "BertConfig", max_position_embeddings=32, attn_implementation="eager", **TINY
    )()


def timm_net(name, **options):
    def make():
        timm = pytest.importorskip("timm", reason=not_compared(f"the program of {name}", "timm"))
        return timm.create_model(name, num_classes=10, **options)

    return make


def diffusion_net():
    diffusers = pytest.importorskip(
        "diffusers", reason=not_compared("the program of a diffusion U-Net", "diffusers")
    )
    return diffusers.UNet2DModel(
        sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        norm_num_groups=8, attention_head_dim=8,
    )  # fmt: skip


TINY = {
    "vocab_size": 50, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 64,
}  # fmt: skip
WHISPER = {
    "vocab_size": 60, "num_mel_bins": 8, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
    "max_source_positions": 20, "max_target_positions": 20, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 1, "use_cache": False,
}  # fmt: skip
T5 = {
    "vocab_size": 50, "d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2,
    "use_cache": False,
}  # fmt: skip
GPT2 = {"vocab_size": 50, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2, "use_cache": False}

TORCHVISION = {
    "resnet18": (lambda: tv.resnet18(num_classes=10), pictures(32)),
    "mobilenet_v2": (lambda: tv.mobilenet_v2(num_classes=10), pictures(32)),
    "mobilenet_v3_small": (lambda: tv.mobilenet_v3_small(num_classes=10), pictures(32)),
    "efficientnet_b0": (lambda: tv.efficientnet_b0(num_classes=10), pictures(32)),
    "vit_b_16": (lambda: tv.vit_b_16(image_size=32, num_classes=10), pictures(32)),
    "swin_t": (lambda: tv.swin_t(num_classes=10), pictures(32)),
    "convnext_tiny": (lambda: tv.convnext_tiny(num_classes=10), pictures(32)),
    "densenet121": (lambda: tv.densenet121(num_classes=10), pictures(32)),
    "shufflenet_v2_x0_5": (lambda: tv.shufflenet_v2_x0_5(num_classes=10), pictures(32)),
    "googlenet": (lambda: tv.googlenet(num_classes=10, aux_logits=False, init_weights=False), pictures(64)),
    "squeezenet1_1": (lambda: tv.squeezenet1_1(num_classes=10), pictures(64)),
    "vgg11": (lambda: tv.vgg11(num_classes=10), pictures(32)),
}
TIMM = {
    "resnet18d": (timm_net("resnet18d"), pictures(32)),
    "regnetx_002": (timm_net("regnetx_002"), pictures(32)),
    "mixer": (timm_net("gmixer_12_224"), pictures(224, 1)),
    "ghostnet_050": (timm_net("ghostnet_050"), pictures(64)),
    "convnextv2_atto": (timm_net("convnextv2_atto"), pictures(32)),
    "levit_128s": (timm_net("levit_128s"), pictures(224, 1)),
    "mobilevit_xxs": (timm_net("mobilevit_xxs"), pictures(64)),
    "efficientvit_b0": (timm_net("efficientvit_b0"), pictures(64)),
    "poolformer_s12": (timm_net("poolformer_s12"), pictures(64)),
    "deit_tiny": (timm_net("deit_tiny_patch16_224", img_size=64), pictures(64)),
}
TRANSFORMERS = {
    "bert": (transformer("BertModel", "BertConfig", max_position_embeddings=32, **TINY), masked_tokens),
    "gpt2_with_cache": (GPT2WithCache, kept_tokens),
    "whisper": (transformer("WhisperModel", "WhisperConfig", **WHISPER), speech),
    "llama": (
        transformer("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=1, use_cache=False, **TINY),
        masked_tokens,
    ),
    "distilbert": (
        transformer(
            "DistilBertModel",
            "DistilBertConfig",
            vocab_size=50,
            dim=32,
            n_layers=2,
            n_heads=2,
            hidden_dim=64,
            max_position_embeddings=32,
        ),
        masked_tokens,
    ),
}
OTHERS = {
    "diffusion_unet": (diffusion_net, noisy_pictures),
    "deeplabv3_mobilenet_v3_large": (
        lambda: tv.segmentation.deeplabv3_mobilenet_v3_large(
            weights=None, weights_backbone=None, num_classes=5
        ),
        pictures(32),
    ),
    "ssdlite": (SSDLite, pictures(64)),
}
# The nets that both ways of PyTorch's bring here.
THIRTY = TORCHVISION | TIMM | TRANSFORMERS | OTHERS

LAYERS = {
    "bert_of_tokens": (lambda: LastHidden(eager_bert()), tokens),
    "t5": (transformer("T5Model", "T5Config", **T5), two_sentences),
    "gpt2": (transformer("GPT2LMHeadModel", "GPT2Config", **GPT2), masked_tokens),
    "encoder": (encoder, sequences),
    "attention": (SelfAttention, sequences),
    "lstm": (lambda: nn.LSTM(8, 7, 2, bidirectional=True), sequences),
    "gru": (lambda: nn.GRU(8, 7), sequences),
    "rnn": (lambda: nn.RNN(8, 7, nonlinearity="relu"), sequences),
    "embedding": (Embedding, tokens),
    "unet": (lambda: make_unet(torch), pictures(16)),
}
NETS = THIRTY | LAYERS


def marked(names, quick, *rest):
    """Parameters, slow but for those of the quick nets."""
    return [pytest.param(name, *rest, marks=() if name in quick else pytest.mark.slow) for name in names]


def drawn_net(name):
    """A net in eval mode without parameters whose elements are all equal, and its arguments."""
    make, draw = NETS[name]
    return evaluated_net(make), *draw()


def widened(value):
    return value.double() if value.is_floating_point() else value


def flat(result):
    """The tensors of a result, those of PyTorch's and ours."""
    if hasattr(result, "numpy"):
        return [result]
    parts = result.values() if isinstance(result, dict) else result
    return [tensor for part in parts for tensor in flat(part)]


def up(value):
    return ocl.tensor(value.numpy())


def agrees(module, net, args, kwargs, path):
    """Asserts that a module gives what its net gives, and the program at the path the module's bits.

    Every result lies within 4 times the distance of PyTorch's float32 from its float64. Returns the greatest
    quotient of the two distances.
    """
    given = [up(each) for each in args], {key: up(each) for key, each in kwargs.items()}
    with ocl.no_grad():
        results = flat(module(*given[0], **given[1]))
    with torch.no_grad():
        near = flat(net(*args, **kwargs))
        exact = flat(
            copy.deepcopy(net).double()(
                *map(widened, args), **{key: widened(each) for key, each in kwargs.items()}
            )
        )
    quotients = []
    for ours, theirs, truth in zip(results, near, exact, strict=True):
        distance = (theirs - truth).abs().max().item()
        assert distance > 0
        quotients.append(np.abs(ours.numpy() - truth.numpy()).max() / distance)
    assert max(quotients) <= 4

    ocl.export(module, *given).save(path)
    replayed = flat(ocl.runtime.load(path)(*given[0], *given[1].values()))
    for ours, again in zip(results, replayed, strict=True):
        assert ours.numpy().tobytes() == again.numpy().tobytes()
    return max(quotients)
