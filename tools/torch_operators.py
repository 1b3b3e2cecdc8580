#!/usr/bin/env python3
"""Runs PyTorch's own samples of its operators on an ocl device and on the CPU, and compares.

    tools/torch_operators.py                          # float32: results, gradients, in-place and out= forms
    tools/torch_operators.py --only 'norm|^index'     # operators whose name the expression is found in
    tools/torch_operators.py --dtype int64 --samples 3
    tools/torch_operators.py --kinds forward vmap gradgrad
    tools/torch_operators.py --write                  # all kinds, and the table docs/pytorch_operators.md

The samples are those of torch.testing._internal (OpInfo): shapes, strides and options that PyTorch tests
its own devices with. Tensors go to the device with their strides and offsets. Only shapes and dtypes are
compared for operators whose result on the CPU differs from seed to seed. The operators run in a process of
their own, which is started again behind one that crashes or takes too long.

Three more kinds of calls are compared with the same call on the CPU, in float64 where the operator takes it.
`forward` is forward-mode AD, `vmap` maps over two examples, and `gradgrad` takes gradients of gradients.

An operator is said to be

    device    all samples agree, and every part of them ran on the device
    fallback  all agree, but the operators listed ran on the CPU
    refused   it needs what ocl devices say that they do not have: quantized dtypes
    wrong     a result, a gradient, a shape or a dtype differs
    error     it raises where the CPU does not
    crash, timeout
    skipped   the CPU raises, too, or gives no tensors: nothing was compared
"""

import argparse
import collections
import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import torch
import torch_derivatives
from torch_samples import Check, Disagreement, evenly

TABLE = Path(__file__).resolve().parent.parent / "docs" / "pytorch_operators.md"
BAD = ("crash", "timeout", "wrong", "error")
STATES = (*BAD, "refused", "skipped", "fallback", "device")
REFUSALS = re.compile("have no quantized dtype|have strided tensors only")
KINDS = ("calls", *torch_derivatives.KINDS)


# --- in the process that runs operators


def check_operator(op, dtype, device, samples, kind="calls"):
    """The result of the sweep for an operator."""
    before = torch.ocl.fallbacks()
    check = (
        Check(op, dtype, device)
        if kind == "calls"
        else torch_derivatives.DerivedCheck(op, dtype, device, kind)
    )
    problems, checked = [], 0
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        needs_gradient = op.supports_autograd and getattr(torch, dtype).is_floating_point and kind != "vmap"
        given = op.sample_inputs("cpu", getattr(torch, dtype), requires_grad=needs_gradient)
        for i, sample in enumerate(evenly(list(given), samples)):
            try:
                checked += check.sample(sample)
            except Disagreement as difference:
                problems.append(("wrong", f"sample {i}: {difference}"))
            except Exception as error:
                text = " ".join(f"{type(error).__name__}: {error}".split())
                problems.append(("refused" if REFUSALS.search(text) else "error", f"sample {i}: {text}"))
    after = torch.ocl.fallbacks()
    fallbacks = sorted(name for name, count in after.items() if count > before.get(name, 0))
    if not checked and not problems:
        problems.append(("skipped", check.reason or "no samples"))
    kinds, good = {kind for kind, _ in problems}, "fallback" if fallbacks else "device"
    state = next((s for s in ("wrong", "error", "refused", "skipped") if s in kinds), good)
    told = [text for kind, text in problems if kind == state]
    return {
        "state": state,
        "fallbacks": fallbacks,
        "samples": checked,
        "problems": len(told),
        "detail": told[0][:600] if told else "",
    }


def operators(dtype, only=""):
    """Names and OpInfos of the operators that have samples of that dtype on the CPU."""
    from torch.testing._internal.common_methods_invocations import op_db

    chosen = {}
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if getattr(torch, dtype) in op.supported_dtypes("cpu") and re.search(only, name):
            chosen[name] = op
    return chosen


def tasks(dtype, only="", kinds=("calls",)):
    """Operators, dtypes and kinds by the name of the task. Derivatives are of float64 where there is that."""
    chosen = {}
    for kind in kinds:
        dtypes = [dtype] if kind == "calls" else ["float32", "float64"]
        for of in dtypes:
            for name, op in operators(of, only).items():
                chosen[name if kind == "calls" else f"{kind} {name}"] = (op, of, kind)
    return chosen


def work(options):
    """Reads names of tasks from standard input, and answers each with a line."""
    os.environ["TORCH_OCL_FALLBACK"] = "silent"
    torch.set_num_threads(1)
    chosen = tasks(options.dtype, kinds=KINDS)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name = line.strip()
        started = time.monotonic()
        try:
            op, dtype, kind = chosen[name]
            result = check_operator(op, dtype, options.device, options.samples, kind)
        except Exception as error:
            result = {"state": "error", "fallbacks": [], "samples": 0, "problems": 1}
            result["detail"] = f"{type(error).__name__}: {error}"[:600]
        result["seconds"] = round(time.monotonic() - started, 1)
        print(json.dumps(result), file=answers, flush=True)
    answers.flush()
    os._exit(0)  # a device that failed may not come to rest


# --- in the process that is called


class Worker:
    def __init__(self, options):
        self.options, self.process = options, None

    def _start(self):
        words = [sys.executable, str(Path(__file__).resolve()), "--work", "--dtype", self.options.dtype]
        words += ["--device", self.options.device, "--samples", str(self.options.samples)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.answers, self.said = queue.Queue(), collections.deque(maxlen=20)
        threading.Thread(target=self._listen, args=(self.process, self.answers), daemon=True).start()
        threading.Thread(target=self._overhear, args=(self.process, self.said), daemon=True).start()
        if self._answer(600) != "ready":
            raise SystemExit("the operators cannot be run:\n" + "".join(self.said))

    @staticmethod
    def _listen(process, answers):
        for line in process.stdout:
            answers.put(line.strip())
        answers.put(None)

    @staticmethod
    def _overhear(process, said):
        said.extend(process.stderr)

    def _answer(self, limit):
        with contextlib.suppress(queue.Empty):
            return self.answers.get(timeout=limit)
        return "timeout"

    def check(self, name):
        if self.process is None:
            self._start()
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = self._answer(self.options.timeout)
        if answer not in (None, "timeout"):
            return json.loads(answer)
        self.stop()
        detail = f"after {self.options.timeout} s" if answer else "".join(list(self.said)[-3:]).strip()
        result = {"state": "timeout" if answer else "crash", "fallbacks": [], "samples": 0, "problems": 1}
        return {**result, "detail": detail[-600:], "seconds": 0}

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        self.process = None


def sweep(names, options, tell):
    """Results by name."""
    results, waiting = {}, queue.Queue()
    for name in names:
        waiting.put(name)

    def run():
        worker = Worker(options)
        with contextlib.suppress(queue.Empty):
            while True:
                name = waiting.get_nowait()
                results[name] = worker.check(name)
                tell(name, results[name])
        worker.stop()

    threads = [threading.Thread(target=run) for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: results[name] for name in names}


def count_states(results):
    counts = collections.Counter(r["state"] for r in results.values())
    return ", ".join(f"{counts[state]} {state}" for state in STATES[::-1] if counts[state])


def in_kind(results, kind):
    """The results of a kind of call, by operator."""
    if kind == "calls":
        return {task: r for task, r in results.items() if " " not in task}
    return {task.partition(" ")[2]: r for task, r in results.items() if task.startswith(f"{kind} ")}


def table_of_kinds(results):
    """Derivatives and batches: how many operators and samples of each kind agree."""
    lines = [
        "",
        "## Forward mode, vmap and second gradients",
        "",
        "Samples run in float64 where the operator takes it, and the results are those of the CPU.",
        "An operator is skipped where the CPU raises too, or where there is nothing to compare.",
        "",
        "| | operators | samples that agree | states |",
        "|---|---|---|---|",
    ]
    for kind in KINDS[1:]:
        of = in_kind(results, kind)
        agreed = sum(r["samples"] for r in of.values())
        lines.append(f"| {kind} | {len(of)} | {agreed} | {count_states(of)} |")
    return lines


def as_table(results, dtype):
    """The Markdown of docs/pytorch_operators.md."""
    calls = in_kind(results, "calls")
    lines = [
        "# Which operators of PyTorch run on ocl devices",
        "",
        f"Written by `tools/torch_operators.py --write`: PyTorch's own samples of {len(calls)} operators,",
        f"{dtype}, forward and backward, in place and with `out=`, against the CPU.",
        "",
        f"{count_states(calls)}.",
        *table_of_kinds(results),
        "",
    ]
    told = {n: r for n, r in results.items() if n in calls or r["state"] != "skipped"}
    bad = {name: r for name, r in told.items() if r["state"] in (*BAD, "refused", "skipped")}
    if bad:
        lines += ["## Not as on the CPU, or not compared", "", "| operator | | |", "|---|---|---|"]
        lines += [f"| `{n}` | {r['state']} | {r['detail'][:160].replace('|', ' ')} |" for n, r in bad.items()]
        lines.append("")
    missing = collections.defaultdict(dict)
    for name, r in results.items():
        for fallback in r["fallbacks"]:
            missing[fallback][name.rpartition(" ")[2]] = True
    lines += ["## What runs on the CPU", "", "| no kernel for | which these need |", "|---|---|"]
    for fallback, users in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = ", ".join(f"`{n}`" for n in list(users)[:8]) + (", …" if len(users) > 8 else "")
        lines.append(f"| `{fallback.removeprefix('aten::')}` | {shown} |")
    good = [f"`{n}`" for n, r in calls.items() if r["state"] == "device"]
    lines += ["", "## On the device alone", "", *textwrap.wrap(", ".join(good) + ".", 118), ""]
    return "\n".join(lines)


def parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="operators whose name it is found in")
    parser.add_argument("--dtype", default="float32", help="of the samples (float16, int64, bool, …)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=["calls"], help="kinds of calls to compare"
    )
    parser.add_argument("--device", default="ocl:0")
    parser.add_argument("--samples", type=int, default=8, help="at most so many an operator; 0: all")
    parser.add_argument("--timeout", type=float, default=180, help="seconds an operator")
    parser.add_argument("--jobs", type=int, default=1, help="operators at a time")
    parser.add_argument("--json", type=Path, help="a file for the results; those in it are not run again")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    return parser


def main():
    options = parser().parse_args()
    if options.work:
        return work(options)

    names = list(tasks(options.dtype, options.only, KINDS if options.write else options.kinds))
    known = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}

    def tell(name, result):
        known[name] = result
        text = f"{result['state']:9}{name:44}{result['seconds']:6.1f} s  "
        print(text + (result["detail"] or " ".join(result["fallbacks"])), flush=True)
        if options.json:
            options.json.write_text(json.dumps(known, indent=1))

    fresh = sweep([n for n in names if n not in known], options, tell)
    results = {n: fresh.get(n) or known[n] for n in names}
    print(f"{len(results)} operators: {count_states(results)}")
    if options.write:
        TABLE.write_text(as_table(results, options.dtype))
    return int(any(r["state"] in BAD for r in results.values()))


if __name__ == "__main__":
    sys.exit(main())
