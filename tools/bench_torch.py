#!/usr/bin/env python3
"""Times PyTorch on an ocl device beside this project's own library there: same nets, weights and pictures.

    tools/bench_torch.py                                  # `a + b` of 8 elements, steps of the MNIST net
    tools/bench_torch.py --nets resnet18,mobilenet_v2     # steps of torchvision's nets too
    tools/bench_torch.py --clock cpu                      # by the process's time on all cores

Times of a step are medians of blocks, taken by turns, of PyTorch's as they are, captured and replayed
("graph", torch.ocl.OCLGraph), and of our own. That of `a + b` is the host's, of the calling thread.
"""

import argparse
import copy
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch
from bare_launch import bare_launch
from benchmarks.timing import by_turns, seconds_of_steps
from validation.torchvision_files import load_torchvision

import ocl
import ocl.models
import torch_ocl  # noqa: F401


def mnist_net(library):
    nn = library.nn
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64 * 5 * 5, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


class Steps:
    """Training steps of a net in one of the libraries."""

    def __init__(self, library, net, wait, options, shape):
        self.wait, self.options = wait, options
        generator = np.random.default_rng(0)
        self.net = net.to(options.device)
        self.images = library.tensor(generator.standard_normal(shape).astype(np.float32)).to(options.device)
        self.labels = library.tensor(generator.integers(0, 10, shape[0])).to(options.device)
        self.loss = library.nn.functional.cross_entropy
        self.optimizer = library.optim.SGD(
            self.net.parameters(), lr=1e-3, momentum=0.9, **({"fused": True} if library is torch else {})
        )

    def step(self):
        self.optimizer.zero_grad()
        loss = self.loss(self.net(self.images), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def block(self):
        return seconds_of_steps(self.step, self.wait, self.options.steps, self.options.clock)


class GraphedSteps(Steps):
    """That step, captured after the first steps and replayed (torch.ocl.OCLGraph)."""

    eager = 2
    graph = None

    def step(self):
        if self.eager > 0:
            self.eager -= 1
            return super().step()
        if self.graph is None:
            self.graph = torch.ocl.OCLGraph()
            with torch.ocl.graph(self.graph):
                self.result = super().step()
        self.graph.replay()
        return self.result


def contenders_of(name, options):
    if name == "mnist":
        theirs, ours, side, channels = mnist_net(torch), mnist_net(ocl), 28, 1
    else:
        theirs = load_torchvision().models.get_model(name, weights=None)
        ours, side, channels = getattr(ocl.models, name)(), options.side, 3
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    shape = (options.batch, channels, side, side)
    return {
        "PyTorch": Steps(torch, theirs, torch.ocl.synchronize, options, shape),
        "graph": GraphedSteps(torch, copy.deepcopy(theirs), torch.ocl.synchronize, options, shape),
        "own": Steps(ocl, ours, lambda: ocl.synchronize(options.device), options, shape),
    }


def time_nets(options):
    figures = {}
    for name in options.nets.split(","):
        contenders = contenders_of(name, options)
        losses = {}
        for who, one in contenders.items():
            torch.manual_seed(0)
            losses[who] = [one.step().item() for _ in range(3)]
        assert np.allclose(losses["PyTorch"], losses["own"], rtol=2e-2), losses
        assert losses["PyTorch"] == losses["graph"], losses
        times = by_turns({who: one.block for who, one in contenders.items()}, options.blocks)
        medians = {who: 1e3 * statistics.median(t) for who, t in times.items()}
        # The ratio of blocks side by side, so that other work of the machine counts for both.
        ratios = {
            who: statistics.median(a / b for a, b in zip(times[who], times["own"], strict=True))
            for who in ("PyTorch", "graph")
        }
        figures[name] = {**medians, "ratios": ratios}
        shown = "  ".join(f"{who} {medians[who]:8.2f} ms {ratio:.2f}" for who, ratio in ratios.items())
        print(f"{name:16} {shown}  own {medians['own']:8.2f} ms", flush=True)
        del contenders
    return figures


def time_operator(options):
    """Host microseconds of `a + b`."""
    index = int(options.device.partition(":")[2])
    launch = bare_launch(index)
    pairs = {"PyTorch": (torch, torch.ocl.synchronize), "own": (ocl, lambda: ocl.synchronize(options.device))}
    works = {"bare launch": (launch, None)}
    for who, (library, wait) in pairs.items():
        a, b = (library.tensor(np.ones(8, np.float32)).to(options.device) for _ in range(2))
        works[who] = (lambda a=a, b=b: a + b, wait)

    def block_of(work, wait):
        def block():
            now = time.thread_time
            if wait:
                wait()
            start = now()
            for _ in range(200):
                work()
            seconds = now() - start
            if wait:
                wait()
            return seconds / 200

        return block

    with torch.no_grad():
        for work, _ in works.values():
            for _ in range(50):
                work()
        times = by_turns({who: block_of(*one) for who, one in works.items()}, 10 * options.blocks)
    figures = {who: 1e6 * statistics.median(t) for who, t in times.items()}
    print("a + b of 8 elements, host: " + ", ".join(f"{who} {us:.1f} us" for who, us in figures.items()))
    return figures


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", default="mnist", help="names, separated by commas")
    parser.add_argument("--device", default="ocl:0")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--side", type=int, default=224, help="of pictures, but for mnist")
    parser.add_argument("--steps", type=int, default=20, help="in a block")
    parser.add_argument("--blocks", type=int, default=9)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="for steps")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args()
    ocl.set_default_device(options.device)
    torch.ocl.set_device(options.device)
    figures = {"device": ocl.get_device_name(options.device), "a + b": time_operator(options)}
    figures["nets"] = time_nets(options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
