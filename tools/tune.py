#!/usr/bin/env python3
"""Measures which kernels are the fastest on a device over the shapes of nets, and keeps the winners.

    tools/tune.py                            # training steps of the usual nets, at the default precision
    tools/tune.py --nets resnet50,vgg16 --precision high --batch 32 --inference
    tools/tune.py --script my_training.py    # over whatever a program of yours computes
    tools/tune.py --export choices.def       # rows for dlprim/runtime/shipped_choices.def

For each matrix product, convolution, attention, norm, softmax and pooling it runs every implementation that
can take it, where there is more than one; the fastest runs from then on, in every process on this machine, as
the kernel cache's database keeps it. `ocl.implementations` tells more.
"""

import argparse
import runpy
import sys
from pathlib import Path

from benchmarks import USUAL_NETS, add_dtype_option, check_dtype
from benchmarks.nets import Ours, work_of

import ocl
import ocl.models
from ocl import implementations

WORTH_SHIPPING = 0.9  # of the time of what is expected to be the fastest


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--device", default="ocl:0", help="default %(default)s")
    option("--nets", default=",".join(USUAL_NETS), help="names with commas, default %(default)s")
    option(
        "--script", metavar="FILE", help="run this program in place of nets; its arguments follow after --"
    )
    option("--batch", type=int, metavar="N", help="pictures, default 64, on CPUs 4")
    option("--side", type=int, default=224, metavar="PIXELS", help="of the pictures, default %(default)s")
    option("--inference", action="store_true", help="forward alone, in evaluation")
    option(
        "--precision",
        default="highest",
        metavar="P[,P]",
        help="of products: highest, high or medium, several with commas; default %(default)s",
    )
    add_dtype_option(option)
    option("--again", action="store_true", help="forget what was measured for this device before")
    option("--export", metavar="FILE", help="write what is worth shipping as rows of shipped_choices.def")
    option("arguments", nargs="*", metavar="-- ARGUMENTS", help="for the program")
    options = parser.parse_args()
    check_dtype(parser, options)
    return options


def run_script(options):
    sys.argv = [options.script, *options.arguments]
    runpy.run_path(options.script, run_name="__main__")


def run_net(name, options):
    """One step: what it computes is measured when it first comes."""
    work = work_of(options)
    contender = Ours(ocl.models.get_model(name), options, work)
    contender.net.train(work.training)
    contender.step()
    contender.wait()


def line_of(choice):
    """One measured problem, as a table's line."""
    gain = choice.expected_seconds / choice.seconds if choice.expected_seconds else 1
    return (
        f"{choice.family:22} {choice.implementation:26} {1e3 * choice.seconds:9.3f} "
        f"{choice.expected:26} {1e3 * choice.expected_seconds:9.3f} {gain:6.2f}  {choice.problem}"
    )


def export(path, choices, device):
    """Rows of what is clearly faster than what expected costs choose."""
    worth = [
        choice
        for choice in choices
        if choice.implementation != choice.expected
        and choice.seconds < WORTH_SHIPPING * choice.expected_seconds
    ]
    rows = [
        f'SHIPPED("{device}", "{choice.family}", "{choice.problem}", "{choice.implementation}")\n'
        for choice in worth
    ]
    Path(path).write_text("".join(rows))
    print(f"{len(rows)} of {len(choices)} choices written to {path}")


def main():
    options = parse_arguments()
    ocl.set_default_device(options.device)
    if options.again:
        implementations.forget_measured(options.device)
    before = set(implementations.measured(options.device))
    for precision in options.precision.split(","):
        ocl.set_float32_matmul_precision(precision)
        with implementations.measuring():
            if options.script:
                run_script(options)
                continue
            for name in options.nets.split(","):
                run_net(name, options)
                print(f"{name}, {precision}: {len(implementations.measured(options.device))} problems so far")
    measured = implementations.measured(options.device)
    print(f"{'family':22} {'fastest':26} {'ms':>9} {'expected':26} {'ms':>9} {'gain':>6}  problem")
    for choice in measured:
        if choice not in before:
            print(line_of(choice))
    if options.export:
        export(options.export, measured, ocl.get_device_name(options.device))


if __name__ == "__main__":
    main()
