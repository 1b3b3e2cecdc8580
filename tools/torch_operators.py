#!/usr/bin/env python3
"""Runs PyTorch's own samples of its operators on an ocl device and on the CPU, and compares.

    tools/torch_operators.py                          # float32: results, gradients, in-place and out= forms
    tools/torch_operators.py --only 'norm|^index'     # operators whose name the expression is found in
    tools/torch_operators.py --dtype int64 --samples 3
    tools/torch_operators.py --write                  # and the table docs/pytorch_operators.md

The samples are those of torch.testing._internal (OpInfo): shapes, strides and options that PyTorch tests
its own devices with. Tensors go to the device with their strides and offsets. Only shapes and dtypes are
compared for operators whose result on the CPU differs from seed to seed. The operators run in a process of
their own, which is started again behind one that crashes or takes too long.

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
from unittest import mock

TABLE = Path(__file__).resolve().parent.parent / "docs" / "pytorch_operators.md"
BAD = ("crash", "timeout", "wrong", "error")
STATES = (*BAD, "refused", "skipped", "fallback", "device")
# (rtol, atol): PyTorch computes on the CPU in other orders, and float16 in float32 only in parts.
TOLERANCES = {
    "float64": (1e-7, 1e-7),
    "float32": (2e-4, 2e-5),
    "float16": (5e-3, 5e-3),
    "bfloat16": (4e-2, 4e-2),
    "complex128": (1e-7, 1e-7),
    "complex64": (2e-4, 2e-5),
    "complex32": (5e-3, 5e-3),
}
WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64"}
REFUSALS = re.compile("have no quantized dtype|have strided tensors only")
# The contents of these are whatever was there before.
UNDEFINED = re.compile(r"empty|resize_")
# Functions of shapes alone.
OF_NO_DEVICE = ("broadcast_shapes",)
# PyTorch 2.13's own kernels of these write beyond the memory of an `out` that has gaps.
SPOILERS = ("tril", "triu", "lu_unpack", "linalg.lu")


# A gradient that is a difference of like terms times 1 / sqrt(eps): rounding counts so much more.
NOISY = {"nn.functional.layer_norm": 2e-3, "native_layer_norm": 2e-3}
# For half types alone: dlprim's attention rounds scores to them, and the samples' scores are in the hundreds.
NOISY_HALF = {"nn.functional.scaled_dot_product_attention": 0.6}
# Their second result, or only one, says where elements stood; PyTorch's order of equal ones is any.
PLACES = {
    "sort": (0, "dim"),
    "argsort": (0, "dim"),
    "mode": (0, "dim"),
    "topk": (1, "dim"),
    "kthvalue": (1, "dim"),
}
# Where elements are equal, any of them has the gradient.
ANY_OF_EQUALS = ("mode",)
# On the CPU statistics of float16 and bfloat16 have that dtype, on other devices float32.
STATISTICS = re.compile("native_.*norm")


class Disagreement(Exception):
    """A result that is not the CPU's."""


# --- in the process that runs operators


def on_device(tensor, device="ocl"):
    """The tensor with its strides and offset, as a leaf of its own."""
    import torch

    if tensor.layout != torch.strided or tensor.is_quantized or type(tensor) is not torch.Tensor:
        return tensor.to(device)
    source = tensor.detach()
    whole = torch.empty(0, dtype=source.dtype).set_(source.untyped_storage())
    there = whole.to(device, copy=True).as_strided(source.size(), source.stride(), source.storage_offset())
    return there.requires_grad_(tensor.requires_grad)


class Sample:
    """One call of an operator: its arguments on one device, fresh each time."""

    def __init__(self, sample, device, name=""):
        import torch
        from torch.utils._pytree import tree_map_only

        def move(tensor):
            return on_device(tensor, device)

        self.arguments = tree_map_only(torch.Tensor, move, [sample.input, sample.args, sample.kwargs])
        # A device among the arguments is the device that it runs on.
        words = {"cpu": device, torch.device("cpu"): torch.device(device)}
        for kind in (str, torch.device):
            self.arguments = tree_map_only(kind, lambda given: words.get(given, given), self.arguments)
        takes_device = not tensors_of(self.arguments) and name not in OF_NO_DEVICE
        if "device" in self.arguments[2] or takes_device:
            self.arguments[2]["device"] = device
        self.leaves = [t for t in tensors_of(self.arguments) if t.requires_grad]
        self.process = sample.output_process_fn_grad

    def call(self, function, **more):
        import torch

        torch.manual_seed(0)
        given, args, kwargs = self.arguments
        return function(given, *args, **kwargs, **more)


def tensors_of(result):
    import torch
    from torch.utils._pytree import tree_flatten

    return [t for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor)]


class Check:
    """Compares calls of one operator on the device with calls on the CPU, and raises Disagreement."""

    def __init__(self, op, dtype, device):
        self.op, self.dtype, self.device = op, dtype, device
        self.is_half = dtype in ("float16", "bfloat16")
        self.in_wider = False  # the CPU computes in a wider dtype than the device
        self.on_cpu = {}  # the CPU's results in the device's dtype
        self.only_shapes = False
        self.reason = ""  # why a sample could not be compared

    def sample(self, sample):
        """Whether there was something to compare with."""
        self.on_cpu = {}
        try:
            return self._sample(sample)
        except Disagreement:
            if self.dtype not in WIDER:
                raise
        # Half types: steps in between are rounded on the one and not on the other. float32: both may be far
        # from the numbers that the operator stands for, and then those count.
        self.in_wider = True
        try:
            return self._sample(sample)
        finally:
            self.in_wider = False

    def theirs(self, sample):
        import torch

        def widened(t):
            if not isinstance(t, torch.Tensor) or t.dtype != getattr(torch, self.dtype):
                return t
            return t.detach().to(getattr(torch, WIDER[self.dtype])).requires_grad_(t.requires_grad)

        return Sample(sample.transform(widened) if self.in_wider else sample, "cpu", self.op.name)

    def _sample(self, sample):
        theirs = self.theirs(sample)
        try:
            expected = theirs.call(self.op)
            self.only_shapes = bool(UNDEFINED.search(self.op.name)) or is_random(self.op, sample)
        except Exception as error:
            self.reason = " ".join(f"{type(error).__name__}: {error}".split())
            return False
        has_layouts = not all(is_plain(t) for t in tensors_of(expected))
        ours = Sample(sample, self.device, self.op.name)
        actual = ours.call(self.op)
        self.compare("result", self.without_places(ours, actual), self.without_places(theirs, expected))
        if not tensors_of(expected) and not self.only_shapes and actual != expected and expected == expected:
            raise Disagreement(f"{actual} for {expected}")
        if self.op.supports_autograd and theirs.leaves and self.op.name not in ANY_OF_EQUALS:
            with contextlib.suppress(NoGradient):
                wanted = gradients(theirs, expected, NoGradient)
                self.compare("gradient", gradients(ours, actual), wanted)
        detached = sample.transform(lambda t: t.detach() if hasattr(t, "detach") else t)
        if self.op.get_inplace() and not sample.broadcasts_input:
            self.in_place(detached)
        if self.op.supports_out and not has_layouts and self.op.name not in PLACES:
            for make in (empty_outs, strided_outs):
                if make is empty_outs or self.op.name not in SPOILERS:
                    self.out(detached, make)
        return True

    def in_place(self, sample):
        function = self.op.get_inplace()
        try:
            expected = tensors_of(self.theirs(sample).call(function))
        except (RuntimeError, TypeError):
            return
        self.compare(
            "in place", tensors_of(Sample(sample, self.device, self.op.name).call(function)), expected
        )

    def out(self, sample, make):
        import torch

        result = self.theirs(sample).call(self.op)

        def call(sample, outs):
            sample.call(self.op, out=outs[0] if isinstance(result, torch.Tensor) else tuple(outs))
            return outs

        try:
            expected = call(self.theirs(sample), make(tensors_of(result), "cpu"))
            self.compare("out", expected, tensors_of(result), "cpu")
        except (RuntimeError, TypeError, Disagreement):
            return  # some operators write to a strided `out` as if it were contiguous
        dtypes = [t.dtype for t in tensors_of(Sample(sample, "cpu", self.op.name).call(self.op))]
        outs = make(tensors_of(result), self.device, dtypes)
        self.compare(make.__name__, call(Sample(sample, self.device, self.op.name), outs), expected)

    def without_places(self, sample, result):
        """Places where elements stood become the elements that stand there."""
        import torch

        tensors = tensors_of(result)
        if self.op.name not in PLACES or sample.arguments[2].get("stable"):
            return tensors
        given, args, kwargs = sample.arguments
        position, word = PLACES[self.op.name]
        dim = args[position] if len(args) > position else kwargs.get(word, -1)
        places = tensors[-1]
        if places.dim() < given.dim():
            places = places.unsqueeze(dim)
        return [*tensors[:-1], torch.gather(given.detach().cpu(), dim, places.cpu()).to(places.device)]

    def compare(self, what, ours, theirs, device=None):
        if len(ours) != len(theirs):
            raise Disagreement(f"{what}: {len(ours)} results for {len(theirs)}")
        names = [what] if len(theirs) == 1 else [f"{what} {i}" for i in range(len(theirs))]
        if not self.in_wider:
            self.on_cpu.update(zip(names, theirs, strict=True))
        for name, a, e in zip(names, ours, theirs, strict=True):
            self.compare_one(name, a, e, device or self.device)

    def is_as_exact(self, name, a, e):
        """Whether it is at most four times as far from `e` as the CPU's result of the same dtype is."""
        own = self.on_cpu.get(name)
        if self.is_half or own is None or not a.is_floating_point() or a.shape != e.shape or not a.numel():
            return False
        ours, theirs = ((t.detach().cpu().double() - e.detach().double()).abs().max() for t in (a, own))
        return bool(ours <= 4 * theirs)

    def compare_one(self, name, a, e, device):
        import torch

        if a is None or e is None:
            if a is not e:
                raise Disagreement(f"{name}: none" if a is None else f"{name}: one where the CPU has none")
            return
        if a.device.type != device.partition(":")[0]:
            raise Disagreement(f"{name}: on {a.device}")
        if self.in_wider and self.is_as_exact(name, a, e):
            return
        has_other_dtype = self.in_wider or (self.is_half and STATISTICS.search(self.op.name))
        if has_other_dtype and a.is_floating_point() and e.is_floating_point():
            e = e.to(a.dtype)
        if a.shape != e.shape or a.dtype != e.dtype:
            text = f"{name}: {a.dtype} {list(a.shape)} for {e.dtype} {list(e.shape)}"
            raise Disagreement(text.replace("torch.", ""))
        if a.layout != e.layout:
            raise Disagreement(f"{name}: {a.layout} for {e.layout}".replace("torch.", ""))
        here, e = comparable(a.detach().cpu()), comparable(e.detach())  # errors that only the device sees
        if self.only_shapes:
            return
        rtol, atol = self.tolerance(e.dtype)
        try:
            torch.testing.assert_close(here, e, rtol=rtol, atol=atol, equal_nan=True, check_stride=False)
        except AssertionError as error:
            raise Disagreement(f"{name}: " + " ".join(str(error).split())) from None

    def tolerance(self, dtype):
        pairs = [TOLERANCES.get(str(dtype).removeprefix("torch."), (0, 0))]
        if pairs[0][1]:
            pairs.append((0, NOISY.get(self.op.name, 0)))
            if self.is_half:
                pairs += [TOLERANCES[self.dtype], (0, NOISY_HALF.get(self.op.name, 0))]
        return [max(of) for of in zip(*pairs, strict=True)]


class NoGradient(Exception):
    """An operator that has none on the CPU either."""


def gradients(sample, result, otherwise=None):
    """Gradients of the leaves for fixed, uneven gradients of the results."""
    import torch

    outputs = [t for t in tensors_of(sample.process(result)) if t.requires_grad and t.grad_fn is not None]
    outputs = [t for t in outputs if is_plain(t)]
    weights = []
    for t in outputs:
        ramp = torch.linspace(-1, 1, max(t.numel(), 1), dtype=torch.float64).cos()[: t.numel()]
        # Numbers that every floating dtype has.
        weights.append(ramp.reshape(t.shape).to(torch.bfloat16).to(t.dtype).to(t.device))
    try:
        return torch.autograd.grad(outputs, sample.leaves, weights, allow_unused=True) if outputs else []
    except (RuntimeError, NotImplementedError) as error:
        raise (otherwise(str(error)) if otherwise else error) from None


def is_plain(tensor):
    import torch

    return isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided


def comparable(tensor):
    """The tensor as PyTorch's CPU can compare it."""
    import torch

    tensor = tensor if tensor.layout == torch.strided else tensor.to_dense()
    return tensor.to(torch.complex64) if tensor.dtype == torch.complex32 else tensor


def known(tensor):
    """The tensor without NaN, which is equal to nothing."""
    tensor = comparable(tensor)
    return tensor.nan_to_num() if tensor.is_floating_point() else tensor


def is_random(function, sample):
    import torch

    results, set_seed = [], torch.manual_seed
    for run in (0, 1):
        given, args, kwargs = Sample(sample, "cpu", function.name).arguments
        # PyTorch's samples set a seed of their own, which is to be another each time, too.
        with mock.patch.object(torch, "manual_seed", lambda seed, run=run: set_seed(seed + run)):
            torch.manual_seed(0)
            results.append(tensors_of(function(given, *args, **kwargs)))
    pairs = [pair for pair in zip(*results, strict=False) if is_plain(pair[0])]
    return any(a.shape == b.shape and not torch.equal(known(a), known(b)) for a, b in pairs)


def empty_outs(results, device, dtypes=None):
    import torch

    dtypes = dtypes or [t.dtype for t in results]
    return [torch.empty(0, dtype=dtype, device=device) for dtype in dtypes]


def strided_outs(results, device, dtypes=None):
    """Transposed, and every other element of a dimension."""
    import torch

    outs = []
    for t, dtype in zip(results, dtypes or [t.dtype for t in results], strict=True):
        whole = torch.zeros([2 * n for n in t.shape[::-1]], dtype=dtype, device=device)
        parts = whole[tuple(slice(None, None, 2) for _ in t.shape)]
        outs.append(parts.permute(tuple(range(t.dim() - 1, -1, -1))))
    return outs


def evenly(samples, count):
    if not count or len(samples) <= count:
        return samples
    step = (len(samples) - 1) / max(count - 1, 1)
    return [samples[round(i * step)] for i in range(count)]


def check_operator(op, dtype, device, samples):
    """The result of the sweep for an operator."""
    import torch

    before = torch.ocl.fallbacks()
    check, problems, checked = Check(op, dtype, device), [], 0
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        needs_gradient = op.supports_autograd and getattr(torch, dtype).is_floating_point
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
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    chosen = {}
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        if getattr(torch, dtype) in op.supported_dtypes("cpu") and re.search(only, name):
            chosen[name] = op
    return chosen


def work(options):
    """Reads names from standard input, and answers each with a line."""
    os.environ["TORCH_OCL_FALLBACK"] = "silent"
    import torch

    torch.set_num_threads(1)
    chosen = operators(options.dtype)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name = line.strip()
        started = time.monotonic()
        try:
            result = check_operator(chosen[name], options.dtype, options.device, options.samples)
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


def as_table(results, dtype):
    """The Markdown of docs/pytorch_operators.md."""
    lines = [
        "# Which operators of PyTorch run on ocl devices",
        "",
        f"Written by `tools/torch_operators.py --write`: PyTorch's own samples of {len(results)} operators,",
        f"{dtype}, forward and backward, in place and with `out=`, against the CPU.",
        "",
        f"{count_states(results)}.",
        "",
    ]
    bad = {name: r for name, r in results.items() if r["state"] in (*BAD, "refused", "skipped")}
    if bad:
        lines += ["## Not as on the CPU, or not compared", "", "| operator | | |", "|---|---|---|"]
        lines += [f"| `{n}` | {r['state']} | {r['detail'][:160].replace('|', ' ')} |" for n, r in bad.items()]
        lines.append("")
    missing = collections.defaultdict(list)
    for name, r in results.items():
        for fallback in r["fallbacks"]:
            missing[fallback].append(name)
    lines += ["## What runs on the CPU", "", "| no kernel for | which these need |", "|---|---|"]
    for fallback, users in sorted(missing.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = ", ".join(f"`{n}`" for n in users[:8]) + (", …" if len(users) > 8 else "")
        lines.append(f"| `{fallback.removeprefix('aten::')}` | {shown} |")
    good = [f"`{n}`" for n, r in results.items() if r["state"] == "device"]
    lines += ["", "## On the device alone", "", *textwrap.wrap(", ".join(good) + ".", 118), ""]
    return "\n".join(lines)


def parser():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="operators whose name it is found in")
    parser.add_argument("--dtype", default="float32", help="of the samples (float16, int64, bool, …)")
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

    names = list(operators(options.dtype, options.only))
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
