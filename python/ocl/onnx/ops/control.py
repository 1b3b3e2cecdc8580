"""Conditions and loops; conditions and counts are read on the host."""

import numpy as np

import ocl
from ocl.onnx.table import operator
from ocl.onnx.values import read, scalar


@operator("If", until=25, host=(0,), folds=False)
def if_(call, condition):
    return tuple(call.subgraph("then_branch" if scalar(condition) else "else_branch"))


def _stacked(call, parts: list, axis: int = 0):
    if all(isinstance(each, np.ndarray) for each in parts) and parts:
        return np.stack(parts, axis)
    if not parts:
        raise ValueError("a loop without a pass has no outputs to join, as their shape is not known")
    return ocl.stack([call.tensor(each) for each in parts], axis)


# A file of few bytes must not keep the process for ever.
MOST_PASSES = 100_000


@operator("Loop", until=25, host=(0, 1), either=range(2, 1000), folds=False)
def loop(call, trips=None, condition=None, *carried):
    trips, goes_on = scalar(trips), scalar(condition, True)
    scanned = [[] for _ in range(len(call["body"].outputs) - 1 - len(carried))]
    done = 0
    while goes_on and (trips is None or done < trips):
        if done == MOST_PASSES:
            raise ValueError(f"a loop may make {MOST_PASSES:,} passes, and this one goes on")
        goes_on, *results = call.subgraph("body", np.array(done, np.int64), np.array(True), *carried)
        goes_on = scalar(read(goes_on))
        carried = results[: len(carried)]
        for parts, each in zip(scanned, results[len(carried) :], strict=True):
            parts.append(each)
        done += 1
    return (*carried, *(_stacked(call, parts) for parts in scanned))


def _batched(attributes, version: int) -> str:
    return "" if version >= 9 else f"version 9 or later expected, got {version}"


@operator("Scan", until=25, refuses=_batched, folds=False)
def scan(call, *inputs):
    count = call["num_scan_inputs"]
    states, sequences = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes, backwards = call.get("scan_input_axes", [0] * count), call.get("scan_input_directions", [0] * count)
    results = len(call["body"].outputs) - len(states)
    out_axes = call.get("scan_output_axes", [0] * results)
    out_backwards = call.get("scan_output_directions", [0] * results)
    length = sequences[0].shape[axes[0]]
    scanned = [[] for _ in range(results)]
    for i in range(length):
        now = [
            each.select(axis, length - 1 - i if back else i)
            for each, axis, back in zip(sequences, axes, backwards, strict=True)
        ]
        outputs = call.subgraph("body", *states, *now)
        states = outputs[: len(states)]
        for parts, each in zip(scanned, outputs[len(states) :], strict=True):
            parts.append(each)
    joined = [
        _stacked(call, parts[::-1] if back else parts, axis)
        for parts, axis, back in zip(scanned, out_axes, out_backwards, strict=True)
    ]
    return (*states, *joined)
