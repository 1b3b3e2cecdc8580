"""The doctor finds an implementation that is wrong, and blames no other."""

import numpy as np
import pytest

import ocl
from ocl import implementations
from ocl.doctor import accuracy
from ocl.doctor.problems import FAMILIES, KINDS, Problem, problems, rounded
from ocl.doctor.report import Report, overview

NVIDIAS = {"tensor", "warpgroup"}
DTYPES = {"float32", "float16", "bfloat16", "float64"}
SMALL = [problem for problem in problems(True, DTYPES) if problem.kind in (KINDS["linear"], KINDS["conv2d"])]


def outcomes(device, some):
    return [outcome for family in accuracy.check(device, some) for outcome in family]


def named(outcome):
    return f"{outcome.family}={outcome.implementation}"


def spoil(monkeypatch, implementation, change):
    """Has `change(results)` change what is computed while that implementation is forced."""
    compute = Problem.compute

    def spoiled(self, device):
        results = compute(self, device)
        if implementation in implementations.get().split(","):
            change(results)
        return results

    monkeypatch.setattr(Problem, "compute", spoiled)


def runs_here(device, family):
    """Names of implementations of which the small problems make use."""
    return [o.implementation for o in outcomes(device, SMALL) if o.family == family and o.problems]


def test_every_family_is_checked():
    assert set(FAMILIES) == set(implementations.families())
    for quick in (True, False):
        assert set().union(*(p.kind.families for p in problems(quick, DTYPES))) == set(FAMILIES)


def test_every_result_of_a_family_is_known():
    for problem in problems(True, DTYPES):
        for family in problem.kind.families:
            prefix = FAMILIES[family]
            assert any(name.startswith(prefix) for name in problem.truth), (family, problem.name)


@pytest.mark.parametrize("quick", [True, False])
def test_every_implementation_that_can_run_here_has_a_problem(device, quick):
    properties = ocl.get_device_properties(device)
    dtypes = DTYPES if properties["fp64"] else DTYPES - {"float64"}
    reached = {}
    for problem in problems(quick, dtypes):
        for family, names in accuracy.takers(problem, device).items():
            reached.setdefault(family, set()).update(names)
    for family, names in implementations.families().items():
        # Which of NVIDIA's instructions a GPU lacks, its properties do not say.
        possible = [
            n for n in names if not accuracy.refuses(properties, n) and not NVIDIAS & set(n.split("_"))
        ]
        assert [n for n in possible if n not in reached[family]] == [], family


CPU = {"kernel_shape": "cpu", "vendor": "GenuineIntel"}
GPU = {"kernel_shape": "simt", "vendor": "Advanced Micro Devices, Inc."}
NVIDIA = {"kernel_shape": "simt", "vendor": "NVIDIA Corporation"}


@pytest.mark.parametrize(
    ("name", "expected"),  # on CPU, GPU and NVIDIA
    [
        ("cpu_columns", (False, True, True)),
        ("winograd_cpu_tiles", (False, True, True)),
        ("simt_vectors", (True, False, False)),
        ("group_per_row", (True, False, False)),
        ("packed_tensor_half_128x128", (True, True, False)),
        ("mapped_warpgroup_tf32_64x256", (True, True, False)),
        ("clblast", (False, False, False)),
        ("item_per_row", (False, False, False)),
    ],
)
def test_a_device_refuses_what_it_lacks(name, expected):
    assert tuple(accuracy.refuses(properties, name) for properties in (CPU, GPU, NVIDIA)) == expected


def test_what_no_problem_reached_is_not_tried(device):
    some = [problem for problem in problems(True, {"float32"}) if problem.kind is KINDS["batch_norm"]]
    pictures = [
        problem for problem in some if len(problem.inputs[0].shape) == 4 and not problem.channels_last
    ]
    checker = accuracy.Checker(device, pictures, lambda line: None)
    found = {o.implementation: o for o in checker.outcomes("batch_norm_statistics")}
    properties = ocl.get_device_properties(device)
    assert not found["cpu_columns"].problems
    for name, outcome in found.items():
        assert outcome.refused == (accuracy.refuses(properties, name) and not outcome.problems)
        assert len(outcome.runs) == outcome.problems
    (line,) = accuracy.findings(list(found.values()), set())
    assert ("not tried: cpu_columns" in line.text) == (properties["kernel_shape"] == "cpu")
    report = Report(None, is_quick=True)
    report.overview, report.outcomes = overview(False), list(found.values())
    said = {" ".join(line.split()) for line in report._lines()}
    refused_here = "cpu_columns" if properties["kernel_shape"] == "simt" else "simt_vectors"
    assert f"batch_norm_statistics={refused_here} cannot run here" in said
    if properties["kernel_shape"] == "cpu":
        assert "batch_norm_statistics=cpu_columns not tried" in said


def test_all_is_right_here(device):
    found = outcomes(device, SMALL)
    assert [o.fault for o in found if o.fault] == []
    for family in ("gemm", "conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight"):
        assert [o for o in found if o.family == family and o.problems], family
    assert max(o.worst for o in found) < 0.5


def test_a_wrong_element_is_found_and_told_of(device, monkeypatch):
    name = runs_here(device, "conv2d_forward")[0]

    def change(results):
        results["result"].flat[5] += 1

    spoil(monkeypatch, f"conv2d_forward={name}", change)
    faulty = [o for o in outcomes(device, SMALL) if o.fault]
    assert [named(o) for o in faulty] == [f"conv2d_forward={name}"]
    assert "1 of " in faulty[0].fault
    assert "elements of the result wrong" in faulty[0].fault
    (line,) = [f for f in accuracy.findings(faulty, set()) if f.level == "fault"]
    assert "--bar" in line.remedy
    assert line.implementation == f"conv2d_forward={name}"


@pytest.mark.parametrize("family", ["conv2d_backward_data", "conv2d_backward_weight"])
def test_a_wrong_gradient_is_blamed_on_its_family(device, monkeypatch, family):
    name = runs_here(device, family)[0]
    which = FAMILIES[family]

    def change(results):
        results[which] *= 1.001

    spoil(monkeypatch, f"{family}={name}", change)
    assert [named(o) for o in outcomes(device, SMALL) if o.fault] == [f"{family}={name}"]


def test_numbers_that_are_none_are_wrong(device, monkeypatch):
    name = runs_here(device, "gemm")[0]

    def change(results):
        results["gradient of bias"][0] = np.nan

    spoil(monkeypatch, f"gemm={name}", change)
    assert [named(o) for o in outcomes(device, SMALL) if o.fault] == [f"gemm={name}"]


def test_one_that_fails_is_faulty(device, monkeypatch):
    name = runs_here(device, "gemm")[0]

    def change(results):
        raise ocl.KernelBuildError("no such builtin\nand more")

    spoil(monkeypatch, f"gemm={name}", change)
    faulty = [o for o in outcomes(device, SMALL) if o.fault]
    assert [named(o) for o in faulty] == [f"gemm={name}"]
    assert faulty[0].fault.endswith("KernelBuildError: no such builtin")


def test_a_faulty_one_does_not_run_beside_others(device, monkeypatch):
    names = runs_here(device, "gemm")
    if len(names) < 2:
        pytest.skip("one implementation of gemm takes all")
    set_while_others_ran = []
    spoil(monkeypatch, f"gemm={names[0]}", lambda results: results["result"].fill(0))
    compute = Problem.compute

    def watched(self, device):
        set_while_others_ran.append(implementations.get())
        return compute(self, device)

    monkeypatch.setattr(Problem, "compute", watched)
    outcomes(device, SMALL)
    forced = [text for text in set_while_others_ran if "conv2d_forward=" in text]
    assert forced
    assert all(f"gemm=-{names[0]}" in text for text in forced)
    assert implementations.get() == ""


def test_a_barred_one_is_no_fault():
    wrong = accuracy.Outcome("gemm", "clblast", 1, 9.0, "linear: 3 elements wrong")
    right = accuracy.Outcome("gemm", "cpu_tiles", 1, 0.1, "")
    levels = [f.level for f in accuracy.findings([wrong, right], {"gemm=clblast"})]
    assert levels == ["ok", "note"]
    (_, line) = accuracy.findings([right, right._replace(implementation="clblast")], {"gemm=clblast"})
    assert "right today" in line.text
    assert "--unbar" in line.remedy


def test_a_family_that_nothing_computes_is_a_fault():
    (line,) = accuracy.findings([accuracy.Outcome("gemm", "clblast", 0, 0.0, "")], set())
    assert (line.level, line.implementation) == ("fault", "")


def test_candidates_are_read_from_reasons():
    reasons = "a 12, b cannot, c barred 3, d refused 4, e barred for this device 5, f measured best 1e+06"
    assert accuracy.candidates(reasons) == ["a", "e", "f"]


@pytest.mark.parametrize("problem", problems(False, DTYPES), ids=lambda p: p.name)
def test_what_is_allowed_finds_one_wrong_product(problem):
    """The truth itself is right, and without one of its products it is wrong."""
    assert accuracy.deviation(problem, problem.truth, "") == (0.0, "")
    if not problem.kind.is_multilinear:
        return
    at = np.unravel_index(np.argmax(np.abs(problem.inputs[0])), problem.inputs[0].shape)
    changed = [array.copy() for array in problem.inputs]
    changed[0][at] = 0
    results = problem.kind.truth(*changed, problem.upstream, **problem.options)
    assert accuracy.deviation(problem, results, "result")[0] > 1, problem.inputs[0][at]


def test_numbers_are_rounded_as_the_device_rounds(device, rng):
    array = rng.uniform(-1, 1, 1000)
    for dtype in ("bfloat16", "float16"):
        there = ocl.tensor(array.astype(np.float32), device=device).to(getattr(ocl, dtype)).float().numpy()
        np.testing.assert_array_equal(rounded(array.astype(np.float32), dtype), there)
