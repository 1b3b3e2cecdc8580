"""Nets of transformers, diffusers and timm, with random weights, on ocl beside PyTorch's CPU."""

import pytest

torch = pytest.importorskip("torch")
import net_comparisons  # noqa: E402
from comparisons import find_torchvision, load_torchvision  # noqa: E402

if find_torchvision():
    load_torchvision()  # before the others, which read it

TIMM = {
    "vit_tiny_patch16_224": 224,
    "convnextv2_atto": 64,
    "mobilenetv4_conv_small": 64,
    "ghostnet_100": 64,
    "mixer_s32_224": 224,
}


def library(name):
    return pytest.importorskip(name, reason=f"NOT TESTED: {name} is not installed")


def numbers(seed, below, *size):
    return torch.randint(0, below, size, generator=torch.Generator().manual_seed(seed))


class Gpt2:
    """Language modelling; `size` in place of GPT-2's 124M parameters."""

    def __init__(self, **size):
        self.size = size

    def net(self):
        transformers = library("transformers")
        torch.manual_seed(0)
        config = transformers.GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, **self.size)
        return transformers.GPT2LMHeadModel(config).train()

    def batch(self, seed):
        return [numbers(seed, self.size.get("vocab_size", 50257), 2, 24)]

    def run(self, net, batch):
        result = net(input_ids=batch[0], labels=batch[0])
        return result.logits, result.loss


class Bert:
    """Classification of padded rows; `size` in place of bert-base's."""

    def __init__(self, **size):
        self.size = size

    def net(self):
        transformers = library("transformers")
        torch.manual_seed(0)
        config = transformers.BertConfig(
            hidden_dropout_prob=0, attention_probs_dropout_prob=0, num_labels=3, **self.size
        )
        return transformers.BertForSequenceClassification(config).train()

    def batch(self, seed):
        mask = torch.ones(3, 20, dtype=torch.long)
        mask[1, 12:] = 0
        return [numbers(seed, self.size.get("vocab_size", 30522), 3, 20), mask, torch.tensor([0, 2, 1])]

    def run(self, net, batch):
        ids, mask, labels = batch
        result = net(input_ids=ids, attention_mask=mask, labels=labels)
        return result.logits, result.loss


class UNet:
    """A step of denoising."""

    def net(self):
        diffusers = library("diffusers")
        torch.manual_seed(0)
        return diffusers.UNet2DModel(
            sample_size=16,
            block_out_channels=(32, 64),
            layers_per_block=1,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
            norm_num_groups=8,
        ).train()

    def batch(self, seed):
        generator = torch.Generator().manual_seed(seed)
        images, noise = torch.randn(2, 2, 3, 16, 16, generator=generator)
        return images, noise, torch.tensor([3, 700])

    def run(self, net, batch):
        noisy, noise, times = batch
        output = net(noisy, times).sample
        return output, torch.nn.functional.mse_loss(output, noise)


class Timm:
    """Classification of pictures."""

    def __init__(self, name):
        self.name = name

    def net(self):
        timm = library("timm")
        torch.manual_seed(0)
        net = timm.create_model(self.name, num_classes=10, drop_rate=0.0)
        return net_comparisons.without_zeros(net_comparisons.without_chance(net)).train()

    def batch(self, seed):
        side = TIMM[self.name]
        generator = torch.Generator().manual_seed(seed)
        return torch.randn(4, 3, side, side, generator=generator), torch.tensor([1, 7, 3, 0])

    def run(self, net, batch):
        output = net(batch[0])
        return output, torch.nn.functional.cross_entropy(output, batch[1])


SMALL_GPT2 = {
    "n_layer": 2,
    "n_embd": 64,
    "n_head": 4,
    "vocab_size": 100,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
SMALL_BERT = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128}
CASES = {
    "gpt2": Gpt2(),
    "bert-base": Bert(),
    "small gpt2": Gpt2(**SMALL_GPT2),
    "small bert": Bert(vocab_size=100, **SMALL_BERT),
    "unet": UNet(),
    **{name: Timm(name) for name in TIMM},
}
QUICK = ("small gpt2", "small bert")
names = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize("name", names)
def test_results_and_gradients(name):
    net_comparisons.assert_as_near_as_theirs(CASES[name])


@pytest.mark.parametrize("name", names)
def test_five_steps(name):
    net_comparisons.assert_steps_agree(CASES[name], lr=1e-4, most_norm=1.0)
