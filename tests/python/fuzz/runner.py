"""Runs cases in worker processes, counts what they find, and looks for the smallest case of each."""

import collections
import importlib
import importlib.util
import json
import queue
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import programs
from fuzz.found import CRASH, HANG, Found
from fuzz.known import reason_for

# How often each kind is drawn.
SHARES = {
    "operators": 6,
    "arguments": 3,
    "programs": 4,
    "files": 1,
    "program_files": 1,
    "onnx_files": 1,
    "doors": 4,
    "subsets": 2,
    "numbers": 3,
    "modules": 4,
    "training": 2,
}
KINDS = tuple(kind for kind in SHARES if kind != "onnx_files" or importlib.util.find_spec("onnx"))
# Kinds whose cases are named by what is called, and those that are programs, whose steps can be left out.
NAMED = ("operators", "arguments", "doors", "subsets", "numbers", "modules")
PROGRAMS = ("programs", "training")
SHRINKING_SECONDS = 45


@dataclass(frozen=True)
class CaseId:
    """A case to be run again: `operators:sum:12:400`; name and limit may be left to the seed (empty, 0)."""

    kind: str
    name: str
    seed: int
    limit: int = 0

    def subject(self):
        """The operator, or the kind where there is none."""
        if self.kind not in NAMED:
            return self.kind
        return self.name or self.module().subject_of(self.seed)

    def module(self):
        """The module that draws and judges the cases of its kind."""
        return importlib.import_module(f"fuzz.{self.kind}")

    def __str__(self):
        return f"{self.kind}:{self.name}:{self.seed}:{self.limit}"

    @staticmethod
    def parse(text):
        kind, name, seed, limit = text.split(":")
        return CaseId(kind, name, int(seed), int(limit))


class Worker:
    """A worker process; a new one takes the place of one that died."""

    def __init__(self, device, memory, timeout):
        self.device, self.memory, self.timeout, self.process = device, memory, timeout, None
        self.device_name = ""

    def start(self):
        command = [
            sys.executable,
            str(Path(__file__).parent),
            "--worker",
            self.device,
            str(self.memory),
            str(self.timeout),
        ]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self.answers, self.errors = queue.Queue(), collections.deque(maxlen=60)
        for stream, put in (
            (self.process.stdout, self.answers.put),
            (self.process.stderr, self.errors.append),
        ):
            threading.Thread(target=self._collect, args=(stream, put), daemon=True).start()
        answer = self._answer(300)
        if not answer or "device" not in answer:
            raise RuntimeError(f"the worker does not start: {''.join(self.errors)}")
        self.device_name = answer["device"]

    def _collect(self, stream, put):
        for line in stream:
            put(line)
        if stream is self.process.stdout:
            put("")

    def _answer(self, seconds):
        """The next answer; {} when the process ended, None when it gave none in time."""
        try:
            line = self.answers.get(timeout=seconds)
        except queue.Empty:
            return None
        return json.loads(line) if line else {}

    def run(self, case):
        """The finding of the case, or None."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        library, call = "ocl", ""
        try:
            print(case, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        while True:
            answer = self._answer(self.timeout)
            if answer and "call" in answer:
                library, call = answer["library"], answer["call"]
                continue
            if answer and "found" in answer:
                return Found(**answer["found"]) if answer["found"] else None
            subject = case.subject() if library == "ocl" else f"PyTorch's {case.subject()}"
            return self.ended(subject, call, hangs=answer is None)

    def ended(self, subject, call, hangs):
        """The finding where the worker gave no answer."""
        if hangs:
            self.close()
            where = "".join(self.errors)[-3000:]
            return Found(HANG, subject, call, f"no answer within {self.timeout} s: {where}")
        code = self.process.wait()
        return Found(CRASH, subject, call, f"exit code {code}: {''.join(self.errors)[-3000:]}")

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass
class Group:
    """All findings of one kind about one subject, with the smallest case."""

    found: Found
    case: CaseId
    count: int = 1


@dataclass
class Report:
    counts: collections.Counter = field(default_factory=collections.Counter)
    unknown: dict = field(default_factory=dict)
    known: dict = field(default_factory=dict)

    def add(self, case, found, reason):
        groups = self.known if reason else self.unknown
        key = reason or (case.kind, found.what, found.subject)
        if key in groups:
            groups[key].count += 1
            return None
        groups[key] = Group(found, case)
        return None if reason else groups[key]


def cases(seed, kinds):
    """An endless sequence, the same for the same seed."""
    source = random.Random(seed)
    for number in range(seed * 10_000_000, (seed + 1) * 10_000_000):
        kind = source.choices(kinds, [SHARES[k] for k in kinds])[0]
        yield CaseId(kind, "", number)


def shrink(worker, group):
    """Puts the smallest case that shows the same into the group; stops after a while."""
    deadline = time.monotonic() + SHRINKING_SECONDS
    case, found = group.case, group.found

    def again(other):
        if time.monotonic() > deadline:
            return None
        result = worker.run(other)
        same = result is not None and (result.what, result.subject) == (found.what, found.subject)
        return result if same and not reason_for(result, worker.device_name) else None

    if case.kind in NAMED:
        for seed, limit in case.module().smaller(case.seed):
            other = CaseId(case.kind, case.subject(), seed, limit)
            if result := again(other):
                group.case, group.found = other, result
                return
            if time.monotonic() > deadline:
                return
    elif case.kind in PROGRAMS:
        steps = len(case.module().program_of(case.seed))
        name = programs.shrunk(steps, lambda name: again(CaseId(case.kind, name, case.seed)) is not None)
        other = CaseId(case.kind, name, case.seed)
        deadline += 10
        if result := again(other):
            group.case, group.found = other, result


def run(seed, kinds, device, memory, workers, timeout, most_cases=None, minutes=None):
    """Runs `most_cases` cases, or for some minutes, and prints every new disagreement as it is found."""
    source, report, lock = cases(seed, kinds), Report(), threading.Lock()
    deadline = time.monotonic() + 60 * (minutes or 0)
    ended, names, failures = threading.Event(), set(), []

    def next_case():
        with lock:
            total = sum(report.counts.values())
            enough = total >= most_cases if most_cases else time.monotonic() > deadline
            if ended.is_set() or enough:
                return None
            case = next(source)
            report.counts[case.kind] += 1
            return case

    def work():
        worker = Worker(device, memory, timeout)
        try:
            worker.start()
            names.add(worker.device_name)
            while case := next_case():
                if found := worker.run(case):
                    with lock:
                        group = report.add(case, found, reason_for(found, worker.device_name))
                    if group:
                        shrink(worker, group)
                        show(group)
        except Exception as error:
            failures.append(error)
        finally:
            worker.close()

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        ended.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    summarise(report, ", ".join(names), seed)
    return report


def show(group):
    found = group.found
    print(f"\n{found.what}: {found.subject}   --replay '{group.case}'")
    print(f"  {found.call[:1200]}\n  {found.detail[:4000]}", flush=True)


def summarise(report, device_name, seed):
    counts = ", ".join(f"{n} {kind}" for kind, n in sorted(report.counts.items()))
    print(f"\n{device_name}, seed {seed}: {counts}")
    for reason, group in report.known.items():
        print(f"  known, {group.count} times: {reason}")
    for (kind, what, subject), group in sorted(report.unknown.items()):
        print(f"  {what}, {group.count} times: {kind}, {subject}   --replay '{group.case}'")
    print(f"{len(report.unknown)} disagreements that nothing explains")
