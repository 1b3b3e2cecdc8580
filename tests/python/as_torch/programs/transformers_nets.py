"""A small net of transformers: results and gradients, from given weights.

python transformers_nets.py NET --weights W.npz --write OUT.npz
PyTorch draws the weights first and computes in float64, too (--draw).
"""

import argparse

import numpy as np
import torch
import torchvision_first  # noqa: F401

# isort: split
import transformers as hf

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
NUMBERS = np.random.default_rng(1)


def tokens(batch, length, vocabulary=96):
    return NUMBERS.integers(3, vocabulary, (batch, length))


def pictures(side):
    return NUMBERS.standard_normal((2, 3, side, side))


def mask(batch, length):
    kept = np.ones((batch, length), np.int64)
    kept[-1, length - 3 :] = 0
    return kept


def gpt2():
    config = hf.GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4)
    ids = tokens(2, 12)
    return hf.GPT2LMHeadModel(config), {"input_ids": ids, "labels": ids}


def bert():
    net = hf.BertForSequenceClassification(hf.BertConfig(vocab_size=96, num_labels=3, **SMALL))
    inputs = {"input_ids": tokens(2, 12), "attention_mask": mask(2, 12), "labels": np.array([0, 2])}
    return net, inputs


def t5():
    config = hf.T5Config(
        vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, initializer_factor=1.5
    )
    config.decoder_start_token_id = 0
    inputs = {"input_ids": tokens(2, 12), "attention_mask": mask(2, 12), "labels": tokens(2, 7)}
    return hf.T5ForConditionalGeneration(config), inputs


def llama():
    config = hf.LlamaConfig(vocab_size=96, num_key_value_heads=2, max_position_embeddings=64, **SMALL)
    ids = tokens(2, 12)
    return hf.LlamaForCausalLM(config), {"input_ids": ids, "attention_mask": mask(2, 12), "labels": ids}


def whisper():
    config = hf.WhisperConfig(
        vocab_size=96,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=16,
        max_target_positions=16,
        **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
    )
    inputs = {"input_features": NUMBERS.standard_normal((2, 8, 32)), "labels": tokens(2, 7)}
    return hf.WhisperForConditionalGeneration(config), inputs


def vit():
    config = hf.ViTConfig(image_size=32, patch_size=8, num_labels=5, **SMALL)
    return hf.ViTForImageClassification(config), {"pixel_values": pictures(32), "labels": np.array([0, 4])}


def clip():
    config = hf.CLIPConfig(
        text_config={**SMALL, "vocab_size": 96, "max_position_embeddings": 16, "eos_token_id": 95},
        vision_config={**SMALL, "image_size": 32, "patch_size": 8},
        projection_dim=24,
    )
    ids = tokens(2, 10, 95)
    ids[:, -1] = 95
    return hf.CLIPModel(config), {"input_ids": ids, "pixel_values": pictures(32), "return_loss": True}


def to_tensor(value, dtype):
    if not isinstance(value, np.ndarray):
        return value
    made = torch.tensor(value.astype(np.float32) if value.dtype.kind == "f" else value)
    return made.to(dtype) if value.dtype.kind == "f" else made


def array(tensor):
    return tensor.detach().to(torch.float64).cpu().numpy()


def compared(net, inputs, dtype):
    """{name: array}: what the net says, the loss, and the gradients of all parameters."""
    net = net.to(dtype)
    net.zero_grad()
    output = net(**{key: to_tensor(value, dtype) for key, value in inputs.items()})
    output.loss.backward()
    found = {"loss": array(output.loss)}
    for key in ("logits", "logits_per_image"):
        if key in output:
            found[key] = array(output[key])
    for name, parameter in net.named_parameters():
        if parameter.grad is not None:
            found[f"grad {name}"] = array(parameter.grad)
    return found


def trained(net, inputs):
    """{"losses": array}: of a few steps with AdamW."""
    net.train()
    for module in net.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.1)
    given = {key: to_tensor(value, torch.float32) for key, value in inputs.items()}
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = net(**given).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": np.array(losses)}


def generated(net, inputs):
    """{"tokens": array}: greedily generated."""
    given = {key: to_tensor(value, torch.float32) for key, value in inputs.items() if key != "labels"}
    made = net.generate(**given, max_new_tokens=12, do_sample=False, pad_token_id=0)
    return {"tokens": made.cpu().numpy()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("net", choices=NETS)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--write", required=True)
    parser.add_argument("--draw", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    net, inputs = NETS[arguments.net]()
    net.eval()
    if arguments.draw:
        for parameter in net.parameters():
            if parameter.dim() == 1 or not parameter.any():
                parameter.data.add_(0.05 * torch.randn_like(parameter))
        np.savez(arguments.weights, **{k: v.numpy() for k, v in net.state_dict().items()})
    weights = np.load(arguments.weights)

    def fresh():
        net.to(torch.float32).eval()
        net.load_state_dict({key: torch.tensor(weights[key]) for key in weights.files})

    fresh()
    found = {f"single {key}": value for key, value in compared(net, inputs, torch.float32).items()}
    if arguments.draw:
        exact = compared(net, inputs, torch.float64)
        found |= {f"exact {key}": value for key, value in exact.items()}
    fresh()
    if arguments.net in ("gpt2", "llama", "t5"):
        found |= generated(net, inputs)
    if arguments.net in ("gpt2", "bert"):
        found |= trained(net, inputs)
    np.savez(arguments.write, **found)
    print("DONE")


NETS = {net.__name__: net for net in (gpt2, bert, t5, llama, whisper, vit, clip)}

if __name__ == "__main__":
    main()
