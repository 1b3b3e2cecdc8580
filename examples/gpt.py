"""Trains a small GPT on the characters of a text, and lets it write.

python examples/gpt.py                                 # on the manual that Python ships
python examples/gpt.py --text FILE --steps 5000 --width 256 --layers 6 --heads 8
"""

import math
import sys
import time
from pathlib import Path

import numpy as np
from tqdm import trange
from training.program import make_parser, run_program

import ocl
import ocl.nn.functional as F
from ocl import models
from ocl.examples.precision import Precision, add_amp_option
from ocl.examples.program import not_negative, number, positive
from ocl.optim.lr_scheduler import LambdaLR


def make_net(characters, options):
    """A GPT-2 of characters, smaller than the published ones."""
    return models.gpt2(
        vocab_size=characters,
        n_positions=options.context,
        n_embd=options.width,
        n_layer=options.layers,
        n_head=options.heads,
        resid_pdrop=options.dropout,
        embd_pdrop=options.dropout,
        attn_pdrop=options.dropout,
    )


class Text:
    """The characters of a text as numbers; the last tenth is kept back to test on."""

    def __init__(self, text):
        self.characters = sorted(set(text))
        number_of = {character: number for number, character in enumerate(self.characters)}
        numbers = np.array([number_of[character] for character in text], np.int64)
        self.train, self.test = np.split(numbers, [len(numbers) * 9 // 10])

    def written(self, numbers):
        return "".join(self.characters[number] for number in numbers)


def pythons_manual():
    """Half a million characters that every Python brings along for `help()`."""
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


def random_batch(numbers, count, length, rng, device):
    """Inputs and targets, the same moved on by one: int64 [count, length]."""
    starts = rng.integers(0, len(numbers) - length, count)
    rows = numbers[starts[:, None] + np.arange(length + 1)]
    return ocl.tensor(rows[:, :-1].copy(), device=device), ocl.tensor(rows[:, 1:].copy(), device=device)


def loss_of(net, inputs, targets):
    return F.cross_entropy(net(inputs).flatten(0, 1), targets.flatten())


def tested(net, text, precision, options):
    """Bits per character of the text kept back."""
    net.eval()
    rng = np.random.default_rng(0)
    with ocl.no_grad(), precision.autocast():
        batches = (
            random_batch(text.test, options.batch_size, options.context, rng, options.device)
            for _ in range(1 if options.dry_run else 8)
        )
        loss = np.mean([loss_of(net, *batch).item() for batch in batches])
    net.train()
    return loss / math.log(2)


def write(net, start, count, temperature):
    """The numbers of `count` more characters; at the end of what the net sees, half of it is left behind."""
    net.eval()
    tokens = ocl.tensor(start[None])
    written = []
    while len(written) < count:
        tokens = tokens[:, -(net.n_positions // 2) :]
        known = tokens.shape[1]
        more = min(count - len(written), net.n_positions - known)
        tokens = net.generate(tokens, more, temperature=temperature, do_sample=True)
        written += tokens[0, known:].tolist()
    net.train()
    return written


def warm_up_and_cosine(steps):
    warm_up = max(1, steps // 20)
    return lambda step: min((step + 1) / warm_up, 0.55 + 0.45 * math.cos(math.pi * min(1, step / steps)))


def run(options):
    text = Text(Path(options.text).read_text(errors="replace") if options.text else pythons_manual())
    if len(text.test) <= options.context + 1:
        raise ValueError(f"the text is too short for --context {options.context}")
    rng = np.random.default_rng(options.seed)
    net = make_net(len(text.characters), options)
    print(f"{len(text.train) + len(text.test):,} characters, {len(text.characters)} different ones")
    optimizer = ocl.optim.AdamW(net.parameters(), lr=options.lr, betas=(0.9, 0.95), weight_decay=0.05)
    schedule = LambdaLR(optimizer, warm_up_and_cosine(options.steps))
    precision = Precision(options.amp)
    start = time.perf_counter()
    for step in trange(1, options.steps + 1, unit=" steps", disable=not sys.stderr.isatty(), leave=False):
        batch = random_batch(text.train, options.batch_size, options.context, rng, options.device)
        optimizer.zero_grad()
        with precision.autocast():
            loss = loss_of(net, *batch)
        precision.backward(loss)
        precision.step(optimizer, net, clip=1.0)
        schedule.step()
        if step % options.test_interval == 0 or step == options.steps:
            seconds = time.perf_counter() - start
            print(
                f"step {step}: training loss {loss.item():.3f}, "
                f"test {tested(net, text, precision, options):.3f} bits per character, "
                f"{step / seconds:.1f} steps/s",
                flush=True,
            )
    ocl.save({"characters": text.characters, "weights": net.state_dict()}, options.output)
    print(text.written(write(net, text.test[: options.context], options.sample, options.temperature)))


def parse_arguments(arguments=None):
    parser = make_parser(__doc__, "gpt.safetensors")
    option = parser.add_argument
    option("--text", metavar="FILE", help="default: Python's manual, as help() shows it")
    option("--steps", type=positive, default=500, help="default %(default)s")
    option("--batch-size", type=positive, default=32, help="default %(default)s")
    option("--context", type=number(int, 2), default=64, help="characters it sees, default %(default)s")
    option("--width", type=positive, default=96, help="default %(default)s")
    option("--layers", type=positive, default=2, help="default %(default)s")
    option("--heads", type=positive, default=4, help="default %(default)s")
    option("--dropout", type=number(float, 0, 1), default=0.0, help="default %(default)s")
    option("--lr", type=not_negative, default=4e-3, help="highest learning rate, default %(default)s")
    add_amp_option(parser)
    option("--test-interval", type=positive, default=100, metavar="STEPS", help="default %(default)s")
    option(
        "--sample",
        type=number(int, 0),
        default=300,
        metavar="N",
        help="characters to write, default %(default)s",
    )
    option("--temperature", type=not_negative, default=0.8, help="default %(default)s")
    options = parser.parse_args(arguments)
    if options.dry_run:
        options.steps, options.sample = min(options.steps, 3), 20
    return options


def main(arguments=None):
    run_program("gpt.py", run, parse_arguments(arguments))


if __name__ == "__main__":
    main()
