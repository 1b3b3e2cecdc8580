#!/usr/bin/env python3
"""Times TapeCL from Python: against PyTorch, per operator, and from process start.

    tools/bench.py --against torch              # one training step of the MNIST net, on both
    tools/bench.py --against torch --profile    # and where its time goes, per kernel
    tools/bench.py --model lstm --against torch # of an LSTM language model
    tools/bench.py --model gpt2 --against torch --precision high  # of GPT-2 small, on a GPU
    tools/bench.py --model gpt2 --against torch --amp bfloat16    # under autocast on both sides
    tools/bench.py nets --against torch         # steps of whole nets of ocl.models, on both
    tools/bench.py nets --nets resnet50,vgg16 --precision high --inference
    tools/bench.py nets --precision high --against torch-best     # or torch-compile, or unfused
    tools/bench.py nets --nets resnet50 --dtype bfloat16 --inference
    tools/bench.py nets --operators --nets resnet50 --against torch  # its modules, each alone
    tools/bench.py operators --against torch    # every operator of the registry alone, on both
    tools/bench.py programs                     # exported programs, beside eager and onnxruntime
    tools/bench.py transfers                    # GB/s to and from the device, beside PyTorch's with CUDA
    tools/bench.py ops                          # host cost of a small operator
    tools/bench.py start                        # seconds from process start to the first step done

Each may write its figures with --json FILE.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bare_launch import bare_launch
from benchmarks import (
    PROGRAM_NETS,
    RIVALS,
    USUAL_NETS,
    add_amp_option,
    add_dtype_option,
    autocast,
    check_dtype,
    is_torch,
)
from benchmarks.gpt2 import Sizes, gpt2_batch, make_gpt2
from benchmarks.timing import CLOCKS, by_turns, in_milliseconds, seconds_of_steps, spread

import ocl

# PyTorch on its own devices: beside a back end from outside it refuses backward on CUDA (docs/pytorch.md).
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

BATCH = 128
TORCH_THREADS = 2


# --- the nets, in either library, and a batch for each that is the same every time


def make_mnist_net(library):
    """The net of examples/mnist.py, with the layers of `library` (ocl or torch)."""
    nn, F = library.nn, library.nn.functional

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3, bias=False)
            self.norm = nn.Sequential(nn.BatchNorm2d(32), nn.ReLU())
            self.conv2 = nn.Conv2d(32, 64, 3)
            self.fc1 = nn.Linear(64 * 5 * 5, 128)
            self.fc2 = nn.Linear(128, 10)

        def forward(self, x):
            x = F.max_pool2d(self.norm(self.conv1(x)), 2)
            x = F.relu(F.max_pool2d(self.conv2(x), 2))
            x = F.relu(self.fc1(library.flatten(x, 1)))
            return self.fc2(x)

    return Net()


def mnist_batch():
    generator = np.random.default_rng(0)
    images = generator.standard_normal((BATCH, 1, 28, 28)).astype(np.float32)
    return images, generator.integers(0, 10, BATCH)


WORDS, WIDTH, SEQUENCE, SENTENCES = 10000, 650, 35, 20


def make_language_model(library):
    """Two layers of LSTM between an embedding and a decoder; gives [steps * sentences, words]."""
    nn = library.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(WORDS, WIDTH)
            self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2)
            self.decoder = nn.Linear(WIDTH, WORDS)

        def forward(self, words):
            states, _ = self.lstm(self.embedding(words))
            return self.decoder(library.flatten(states, 0, 1))

    return Net()


def language_batch():
    generator = np.random.default_rng(0)
    words = generator.integers(0, WORDS, (SEQUENCE + 1, SENTENCES))
    return words[:-1], words[1:].reshape(-1)


@dataclass(frozen=True)
class Model:
    """A model whose training step is timed."""

    title: str
    make_net: Callable
    make_batch: Callable
    make_optimizer: Callable


def gpt2_model(sizes):
    return Model(
        sizes.title,
        lambda library: make_gpt2(library, sizes),
        lambda: gpt2_batch(sizes),
        lambda library, parameters: library.optim.AdamW(parameters, lr=3e-4),
    )


MODELS = {
    "gpt2": gpt2_model(Sizes()),
    "gpt2_tiny": gpt2_model(Sizes(layers=2, width=96, heads=3, words=1000, length=128, sentences=2)),
    "mnist": Model(
        f"MNIST net, batch {BATCH}, Adam",
        make_mnist_net,
        mnist_batch,
        lambda library, parameters: library.optim.Adam(parameters, lr=1e-3),
    ),
    "lstm": Model(
        f"LSTM language model, 2 x {WIDTH} units, {SEQUENCE} words of {SENTENCES} sentences, SGD",
        make_language_model,
        language_batch,
        lambda library, parameters: library.optim.SGD(parameters, lr=1.0),
    ),
}


class Trainer:
    """Training steps of one library; `wait` returns when the device has done what it was given."""

    def __init__(self, library, wait, model, device, amp=None):
        self.library, self.wait, self.device, self.amp = library, wait, device, amp
        self.net = model.make_net(library)
        self.inputs, self.target = map(library.tensor, model.make_batch())
        self.net.to(device)
        self.inputs, self.target = self.inputs.to(device), self.target.to(device)
        self.optimizer = model.make_optimizer(library, self.net.parameters())
        self.cross_entropy = library.nn.functional.cross_entropy

    def step(self):
        """Forward, loss, backward and optimizer."""
        self.optimizer.zero_grad()
        with autocast(self.library, self.device, self.amp):
            loss = self.cross_entropy(self.net(self.inputs), self.target)
        loss.backward()
        self.optimizer.step()
        return loss

    def seconds_of_block(self, options):
        return seconds_of_steps(self.step, self.wait, options.steps, options.clock)


def make_torch_trainer(model, threads=TORCH_THREADS, device="cpu", amp=None, compiles=False):
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    trainer = Trainer(torch, wait, model, device, amp)
    if compiles:
        trainer.net = torch.compile(trainer.net)
    return trainer


def torch_beside(model, options):
    """(a trainer on a GPU if ours is one and PyTorch has it, at our precision, what it runs on)"""
    import torch
    from benchmarks.nets import describe, torch_device

    device = torch_device(options)
    torch.set_float32_matmul_precision(options.precision)
    compiles = options.against == "torch-compile"
    trainer = make_torch_trainer(model, options.threads, device, options.amp, compiles)
    return trainer, describe(device, options)


# --- bench.py --against torch


def bench_step(options):
    """One training step, in blocks that alternate between the libraries so that both see the same machine."""
    ocl.manual_seed(0)
    if options.precision:
        ocl.set_float32_matmul_precision(options.precision)
    options.precision = ocl.get_float32_matmul_precision()
    model = MODELS[options.model]
    trainers = {"ocl": Trainer(ocl, ocl.synchronize, model, options.device, options.amp)}
    where = {"ocl": ocl.get_device_name()}
    if is_torch(options.against):
        trainers[options.against], where[options.against] = torch_beside(model, options)
    elif options.against == "unfused":
        raise SystemExit("bench.py: step: --against unfused is for nets")
    for trainer in trainers.values():
        trainer.seconds_of_block(options)  # builds, first touches
    times = by_turns(
        {name: lambda t=t: t.seconds_of_block(options) for name, t in trainers.items()}, options.blocks
    )

    results = {name: spread(values) for name, values in times.items()}
    amp = f", autocast to {options.amp}" if options.amp else ""
    print(
        f'training step, {model.title}, "{options.precision}"{amp}; '
        f"{options.blocks} blocks of {options.steps} steps, ms"
    )
    for name, figures in results.items():
        print(f"  {name:6} {in_milliseconds(figures)}  ({where[name]})")
    if options.against:
        ratios = [ours / theirs for ours, theirs in zip(times["ocl"], times[options.against], strict=True)]
        results["ratio"] = spread(ratios)
        print("  ratio  " + " ".join(f"{name} {value:.2f}" for name, value in results["ratio"].items()))
    if options.profile:
        results["kernels"] = profile_steps(trainers["ocl"], options)
    return results


def profile_steps(trainer, options):
    """Prints the time of each kernel over some steps; returns milliseconds a step by kernel."""
    steps = options.steps
    with ocl.profiler.profile() as profile:
        for _ in range(steps):
            trainer.step()
    for by in options.profile:
        print(f"\n{steps} steps by {by}\n{profile.table(by=by)}")
    totals = {}
    for _, kernel, start, end in profile.launches():
        totals[kernel] = totals.get(kernel, 0) + (end - start) * 1e-6 / steps
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


# --- bench.py ops


def microseconds_per_call(call, calls=500, rounds=7):
    """Host cost of `call` with its launch: the median of `rounds`, the device waited for between."""
    for _ in range(20):
        call()
    means = []
    for _ in range(rounds):
        ocl.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        means.append((time.perf_counter() - start) / calls * 1e6)
    ocl.synchronize()
    return statistics.median(means)


def small_operators(requires_grad):
    """The calls measured, by name."""
    vector = ocl.ones(8, requires_grad=requires_grad)
    matrix = ocl.ones(8, 8, requires_grad=requires_grad)
    return {
        "add of 8 elements": lambda: vector + vector,
        "relu of 8 elements": lambda: ocl.relu(vector),
        "matmul 8x8": lambda: matrix @ matrix,
    }


def bench_ops(options):
    """Small operators with and without recording, beside a bare launch and a call that enqueues nothing."""
    probe = ocl.ones(8)
    device_index = ocl.device(options.device).index
    results = {
        "OpenCL's bare launch": {"no tape": microseconds_per_call(bare_launch(device_index))},
        "bare call (Tensor.dim)": {"no tape": microseconds_per_call(probe.dim)},
        "detach of 8 elements": {"no tape": microseconds_per_call(probe.detach)},
    }
    for column, requires_grad in (("no tape", False), ("tape", True)):
        for name, call in small_operators(requires_grad).items():
            results.setdefault(name, {})[column] = microseconds_per_call(call)
    print(
        f"host cost of a small operator from Python, launch included, µs per call ({ocl.get_device_name()})"
    )
    for name, row in results.items():
        print(f"  {name:24}" + "".join(f"  {column} {value:6.2f}" for column, value in row.items()))
    return results


# --- bench.py start


def first_step():
    """The work of a fresh process of `bench.py start`: imports, one step; prints when it was done."""
    trainer = Trainer(ocl, ocl.synchronize, MODELS["mnist"], ocl.get_default_device())
    loss = trainer.step().item()
    trainer.wait()
    print(json.dumps({"done": time.time(), "loss": loss, "built": ocl.kernel_cache_info()["built"]}))


def seconds_to_first_step(device, cache):
    """(seconds from process start to the end of the first step, programs built)."""
    command = [sys.executable, __file__, "--device", device, "first-step"]
    start = time.time()
    result = subprocess.run(
        command,
        # PoCL keeps a cache of its own beside ours.
        env={**os.environ, "OCL_KERNEL_CACHE": cache, "POCL_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    if result.returncode:
        sys.exit(f"bench.py: the fresh process failed:\n{result.stderr}")
    answer = json.loads(result.stdout)
    return answer["done"] - start, answer["built"]


def bench_start(options):
    """Fresh processes: one on an empty kernel cache, which fills it, then five on the warm one."""
    with tempfile.TemporaryDirectory(prefix="tapecl-bench-") as cache:
        cold_seconds, cold_built = seconds_to_first_step(options.device, cache)
        warm = [seconds_to_first_step(options.device, cache) for _ in range(5)]
    seconds, built = spread([s for s, _ in warm]), max(b for _, b in warm)
    print(f"process start to the end of the first training step, imports included, s ({options.device})")
    print(f"  cold cache {cold_seconds:.2f}, {cold_built} programs built")
    print(
        "  warm cache "
        + " ".join(f"{name} {value:.2f}" for name, value in seconds.items())
        + f", {built} programs built"
    )
    return {"cold": cold_seconds, "cold_built": cold_built, "warm": seconds, "warm_built": built}


def bench_nets(options):
    """Steps of whole nets; what it takes is imported here, for other figures count imports."""
    from benchmarks.nets import bench_nets

    return bench_nets(options)


def bench_operators(options):
    """Every operator of the registry, alone, beside PyTorch's."""
    from benchmarks.registry import bench_registry

    return bench_registry(options)


def bench_programs(options):
    """Exported programs of whole nets, beside onnxruntime's."""
    from benchmarks.programs import bench_programs

    return bench_programs(options)


def bench_transfers(options):
    """Arrays to and from the device."""
    from benchmarks.transfers import bench_transfers

    return bench_transfers(options)


GROUPINGS = ("kernel", "operator", "module", "implementation")


def groupings(text):
    wanted = text.split(",")
    if unknown := [name for name in wanted if name not in GROUPINGS]:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(GROUPINGS)}, got {unknown[0]!r}")
    return wanted


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option(
        "what",
        nargs="?",
        default="step",
        choices=["step", "nets", "operators", "programs", "transfers", "ops", "start", "first-step"],
        metavar="step|nets|operators|programs|transfers|ops|start",
        help="what to time, default %(default)s",
    )
    option("--device", default="ocl:0", help="default %(default)s")
    option(
        "--against",
        choices=list(RIVALS),
        help="time this too: PyTorch (on a GPU if ours is one and its build can), for step and nets also "
        "with its best settings or compiled, or ours with fusion off",
    )
    option(
        "--threads",
        type=int,
        default=TORCH_THREADS,
        metavar="N",
        help="of PyTorch's CPU build and of onnxruntime, default %(default)s",
    )
    option(
        "--profile",
        nargs="?",
        const=["kernel"],
        type=groupings,
        metavar="BY",
        help="show where the time goes: by kernel (default), operator, module, implementation, or several",
    )
    option("--steps", type=int, default=10, metavar="N", help="steps of a block, default %(default)s")
    option("--blocks", type=int, default=7, metavar="N", help="blocks of each library, default %(default)s")
    option(
        "--clock",
        default="wall",
        choices=list(CLOCKS),
        help="of step and nets: the world's, or the processors' time of all threads",
    )
    option("--json", metavar="FILE", help="write the figures")
    option("--model", default="mnist", choices=list(MODELS), help="of `step`, default %(default)s")
    nets = parser.add_argument_group("nets").add_argument
    usual = f"default {','.join(USUAL_NETS)}; of programs {','.join(PROGRAM_NETS)}"
    nets("--nets", help=f"names with commas, {usual}")
    nets("--batch", type=int, metavar="N", help="pictures, default 64, on CPUs 4; of programs 1 and 8")
    nets("--side", type=int, default=224, metavar="PIXELS", help="of the pictures, default %(default)s")
    nets("--channels-last", action="store_true", help="nets and pictures in that format, on both sides")
    nets("--operators", action="store_true", help="their modules, each alone, beside PyTorch's")
    nets("--inference", action="store_true", help="forward alone, in evaluation, in place of training steps")
    add_dtype_option(nets)
    add_amp_option(option)
    option(
        "--precision",
        choices=["highest", "high", "medium"],
        help="of products and convolutions, of step and nets, on both sides",
    )
    rows = parser.add_argument_group("operators").add_argument
    rows("--elements", default="1048576", metavar="N,N", help="of an input, default %(default)s")
    rows("--rows", default="", metavar="NAME;NAME", help="those alone")
    rows("--permuted", action="store_true", help="on permuted inputs too")
    option("--megabytes", type=int, default=256, metavar="N", help="of `transfers`, default %(default)s")
    options = parser.parse_args()
    if (options.operators or options.what == "operators") and options.against != "torch":
        parser.error("operators: --against torch is wanted")
    check_dtype(parser, options)
    options.nets = options.nets or ",".join(PROGRAM_NETS if options.what == "programs" else USUAL_NETS)
    return options


def main():
    options = parse_arguments()
    # PyTorch's threads are not to spin while ours work. OpenMP reads it when PyTorch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    ocl.set_default_device(options.device)
    bench = {
        "step": bench_step,
        "nets": bench_nets,
        "operators": bench_operators,
        "programs": bench_programs,
        "transfers": bench_transfers,
        "ops": bench_ops,
        "start": bench_start,
    }
    if options.what == "first-step":
        return first_step()
    results = {"device": ocl.get_device_name(), options.what: bench[options.what](options)}
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
