#!/usr/bin/env python3
"""Compares whole nets with torchvision's, forward and backward, in training and in evaluation.

    tools/validate_network.py                                  # one net of each family
    tools/validate_network.py --nets resnet18,vit_b_16 --modes eval --verbose
    tools/validate_network.py --nets all --device ocl:1 --json figures.json

Exits with 1 if a net fails. docs/validated-nets.md says what is compared.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

import torch
from validation import nets, report
from validation.comparison import FAIL, validate

import ocl


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--device", default="ocl:0", help="default %(default)s")
    option(
        "--nets", default="families", help="names with commas, `all`, or `families`, one of each: the default"
    )
    option("--modes", default="train,eval", help="default %(default)s")
    option(
        "--source",
        choices=["models", "torchvision"],
        default="models",
        help="where our nets are from: ocl.models, the default, or torchvision's own files over ocl",
    )
    option("--side", type=int, metavar="PIXELS", help="of the pictures, where the net's own is not wanted")
    option("--batch", type=int, metavar="N", help="pictures, likewise")
    option("--threads", type=int, default=1, metavar="N", help="of PyTorch, default %(default)s")
    option("--verbose", action="store_true", help="show every tensor")
    option("--json", metavar="FILE", help="write all figures")
    option("--markdown", metavar="FILE", help="write the table as a page")
    options = parser.parse_args(arguments)
    options.nets = named_nets(parser, options.nets)
    options.modes = options.modes.split(",")
    if not set(options.modes) <= {"train", "eval"}:
        parser.error(f"--modes are train and eval, not {','.join(options.modes)}")
    return options


def named_nets(parser, text):
    known = nets.names_of_all()
    names = {"all": known, "families": nets.FAMILIES}.get(text) or text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"torchvision has no net {name!r}")
    return names


SOURCES = {"models": "the nets of ocl.models", "torchvision": "torchvision's own files over ocl"}


def write_files(options, outcomes, about):
    """After every net: all of them may take hours."""
    if options.json:
        Path(options.json).write_text(json.dumps(report.as_json(outcomes, *about), indent=1) + "\n")
    if options.markdown:
        Path(options.markdown).write_text(report.markdown(outcomes, *about))


def main(arguments=None):
    options = parse_arguments(arguments)
    torch.set_num_threads(options.threads)
    ocl.set_default_device(options.device)
    source = options.source
    make_ours, make_twin = nets.our_factory(source), nets.our_factory("torchvision")
    command = shlex.join(["tools/validate_network.py", *(sys.argv[1:] if arguments is None else arguments)])
    about = (command, ocl.get_device_name(), SOURCES[source])
    table, outcomes = report.Table(), []
    print(table.heading(), flush=True)
    for name in options.nets:
        setting = nets.setting(name, options.side, options.batch)
        theirs = nets.torchvision_net(name, setting.options)
        for mode in options.modes:
            ours = make_ours(name, **setting.options)
            twin = make_twin(name, **setting.options) if source == "models" else None
            outcome = validate(name, theirs, ours, nets.pictures(setting), mode, twin)
            outcomes.append(outcome)
            write_files(options, outcomes, about)
            print(table.line(outcome), flush=True)
            if options.verbose:
                print(report.tensors(outcome), flush=True)
    failed = [f"{outcome.net} ({outcome.mode})" for outcome in outcomes if outcome.verdict == FAIL]
    print(
        f"{len(outcomes) - len(failed)} of {len(outcomes)} pass"
        + (f"; FAIL: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
