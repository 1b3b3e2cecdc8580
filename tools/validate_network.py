#!/usr/bin/env python3
"""Compares whole nets with torchvision's, forward and backward, in training and in evaluation.

    tools/validate_network.py                                  # one net of each family
    tools/validate_network.py --nets resnet18,vit_b_16 --modes eval --verbose
    tools/validate_network.py --nets all --device ocl:1 --json figures.json
    tools/validate_network.py --nets all --json figures.json --resume figures.json  # less what it has

Exits with 1 if a net fails. docs/validated-nets.md says what is compared.
"""

import argparse
import json
import os
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
    option("--without", default="", metavar="NETS", help="those to leave out, with commas")
    option("--modes", default="train,eval", help="default %(default)s")
    option(
        "--source",
        choices=["models", "torchvision"],
        default="models",
        help="where our nets are from: ocl.models, the default, or torchvision's own files over ocl",
    )
    option("--side", type=int, metavar="PIXELS", help="of the pictures, where the net's own is not wanted")
    option("--batch", type=int, metavar="N", help="pictures, likewise")
    option(
        "--truth",
        choices=["cpu", "cuda"],
        default="cpu",
        help="where PyTorch computes in float64, default %(default)s; its float32 is the CPU's in any case",
    )
    option("--threads", type=int, default=1, metavar="N", help="of PyTorch, default %(default)s")
    option("--verbose", action="store_true", help="show every tensor")
    option("--json", metavar="FILE", help="write all figures")
    option(
        "--resume",
        nargs="+",
        default=[],
        metavar="FILE",
        help="take what these files of --json have already, as far as they exist: goes on, and joins",
    )
    option("--markdown", metavar="FILE", help="write the table as a page")
    options = parser.parse_args(arguments)
    left_out = named_nets(parser, options.without) if options.without else []
    options.nets = [name for name in named_nets(parser, options.nets) if name not in left_out]
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
        write_whole(options.json, json.dumps(report.as_json(outcomes, *about), indent=1) + "\n")
    if options.markdown:
        write_whole(options.markdown, report.markdown(outcomes, *about))


def write_whole(path, text):
    """A kill leaves the file as it was."""
    unfinished = Path(f"{path}.unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)


def earlier_outcomes(options, *about):
    """Those in the files of --resume, to go on from."""
    outcomes = {}
    for file in filter(os.path.exists, options.resume):
        figures = json.loads(Path(file).read_text())
        is_of = tuple(figures[key] for key in ("device", "source", "reference"))
        if is_of != about:
            sys.exit(f"{file} is of {' with '.join(is_of)}, not of {' with '.join(about)}: not gone on with")
        outcomes |= {(outcome.net, outcome.mode): outcome for outcome in report.from_json(figures)}
    return in_order(outcomes.values())


def reference_of(truth_device):
    """The reference of the nets, in words."""
    where = "the CPU" if truth_device == "cpu" else torch.cuda.get_device_name()
    return f"PyTorch {torch.__version__}, float64 on {where}"


def in_order(outcomes):
    """By name, and training before evaluation."""
    return sorted(outcomes, key=lambda outcome: (outcome.net, outcome.mode != "train"))


def main(arguments=None):
    options = parse_arguments(arguments)
    torch.set_num_threads(options.threads)
    ocl.set_default_device(options.device)
    source = options.source
    make_ours, make_twin = nets.our_factory(source), nets.our_factory("torchvision")
    command = shlex.join(["tools/validate_network.py", *(sys.argv[1:] if arguments is None else arguments)])
    about = (command, ocl.get_device_name(), SOURCES[source], reference_of(options.truth))
    table, outcomes = report.Table(), earlier_outcomes(options, *about[1:])
    done = {(outcome.net, outcome.mode) for outcome in outcomes}
    print(table.heading(), *map(table.line, outcomes), sep="\n", flush=True)
    for name in options.nets:
        modes = [mode for mode in options.modes if (name, mode) not in done]
        if not modes:
            continue
        setting = nets.setting(name, options.side, options.batch)
        theirs = nets.torchvision_net(name, setting.options)
        for mode in modes:
            ours = make_ours(name, **setting.options)
            twin = make_twin(name, **setting.options) if source == "models" else None
            outcome = validate(name, theirs, ours, nets.pictures(setting), mode, twin, options.truth)
            outcomes = in_order([*outcomes, outcome])
            write_files(options, outcomes, about)
            print(table.line(outcome), flush=True)
            if options.verbose:
                print(report.tensors(outcome), flush=True)
    write_files(options, outcomes, about)
    failed = [f"{outcome.net} ({outcome.mode})" for outcome in outcomes if outcome.verdict == FAIL]
    print(
        f"{len(outcomes) - len(failed)} of {len(outcomes)} pass"
        + (f"; FAIL: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
