"""Lists which operators a model or a program runs on an ocl device, and which fall back to the CPU.

    python -m torch_ocl.fallbacks --model torchvision.models:resnet18 --input 2,3,64,64
    python -m torch_ocl.fallbacks examples/torch_mnist.py --data DIR --epochs 1 --dry-run

A model is what a function without arguments gives: it is moved to the device and runs once forward and
backward on random input. A program is run as it is, with the arguments that follow it, and is to use the
device by itself. Operators are those that reach the device's kernels: PyTorch makes the others of them. The
exit status is 1 where one fell back.
"""

import argparse
import collections
import importlib
import os
import runpy
import sys
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


def counting_mode():
    """A mode that counts the operators that are called with tensors of ocl devices, or make such."""

    def is_on_device(value):
        return isinstance(value, torch.Tensor) and value.device.type == "ocl"

    class Counting(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.calls = collections.Counter()

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if any(map(is_on_device, tree_flatten((args, kwargs, result))[0])):
                overload = function._schema.overload_name
                self.calls[function._schema.name + (f".{overload}" if overload else "")] += 1
            return result

    return Counting()


def observe(work):
    """Calls by operator of what `work()` does: all that it calls, and those that ran on the CPU."""
    before = torch.ocl.fallbacks()
    with counting_mode() as counting:
        work()
    fallbacks = {name: n - before.get(name, 0) for name, n in torch.ocl.fallbacks().items()}
    return dict(counting.calls), {name: n for name, n in fallbacks.items() if n > 0}


def run_model(options):
    torch.manual_seed(0)
    module, _, function = options.model.partition(":")
    sys.path.insert(0, os.getcwd())
    # torchvision as setup.sh --tests installs it has no build of its operators, and needs none.
    sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("none"))
    net = getattr(importlib.import_module(module), function)().to(options.device)
    dtype = getattr(torch, options.dtype)
    make = torch.randn if dtype.is_floating_point else lambda size: torch.randint(0, options.below, size)
    given = [make([int(n) for n in size.split(",")]).to(options.device, dtype) for size in options.input]

    def work():
        result = net(*given)
        tensors = tree_flatten(result)[0]
        if hasattr(result, "values") and not isinstance(result, torch.Tensor):
            tensors = list(result.values())  # as of transformers' models
        losses = [
            t.float().square().mean() for t in tensors if isinstance(t, torch.Tensor) and t.requires_grad
        ]
        if losses:
            sum(losses).backward()

    return observe(work)


def run_program(program, arguments):
    sys.argv = [program, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))

    def work():
        try:
            runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raise

    return observe(work)


def tell(calls, fallbacks):
    """The text of the list."""
    lines = []
    if fallbacks:
        lines.append("On the CPU, for want of a kernel (calls):")
        lines += [
            f"  {n:8}  {name}" for name, n in sorted(fallbacks.items(), key=lambda row: (-row[1], row[0]))
        ]
    on_device = {name: n - fallbacks.get(name, 0) for name, n in calls.items()}
    on_device = {name: n for name, n in on_device.items() if n > 0}
    lines.append("On the device (calls):")
    lines += [f"  {n:8}  {name}" for name, n in sorted(on_device.items(), key=lambda row: (-row[1], row[0]))]
    lines.append(f"{len(on_device)} operators on the device, {len(fallbacks)} on the CPU")
    return "\n".join(lines)


def parser():
    parser = argparse.ArgumentParser(
        prog="python -m torch_ocl.fallbacks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", metavar="MODULE:FUNCTION", help="gives a torch.nn.Module")
    parser.add_argument(
        "--input", action="append", default=[], metavar="SIZES", help="of a tensor: 2,3,64,64; once for each"
    )
    parser.add_argument("--dtype", default="float32", help="of the tensors")
    parser.add_argument("--below", type=int, default=10, help="whole numbers are drawn from 0 up to this one")
    parser.add_argument("--device", default="ocl:0", help="for a model")
    parser.add_argument("program", nargs="?", help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the program")
    return parser


def main():
    options = parser().parse_args()
    if bool(options.model) == bool(options.program):
        parser().error("expected either --model or a program")
    os.environ["TORCH_OCL_FALLBACK"] = "silent"
    calls, fallbacks = (
        run_model(options) if options.model else run_program(options.program, options.arguments)
    )
    print(tell(calls, fallbacks))
    return int(bool(fallbacks))


if __name__ == "__main__":
    sys.exit(main())
