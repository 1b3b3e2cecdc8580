"""tools/bench.py operators, run as a user runs it, and what it times."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.registry import CALLS, ELSEWHERE, PARTS, Draw, rows

import ocl

BENCH = Path(__file__).parents[2] / "tools" / "bench.py"


def test_every_row_is_timed_or_said_not_to_be():
    table = {row["name"] for row in ocl._C.operator_table()}
    timed = {row.name.partition(",")[0] for row in rows()}
    said = {name for names in ELSEWHERE.values() for name in names.split()}
    assert table - timed - said - PARTS == set()
    assert said & timed == set()
    assert (said | PARTS) - table - {"gelu_tanh"} == set()


def test_inputs_have_about_as_many_elements_as_asked_for():
    for elements in (1000, 1 << 16, 1 << 20):
        for row in rows():
            largest = max(array.size for array in row.inputs(Draw(elements)))
            assert elements / 20 <= largest <= 1.1 * elements, (row.name, elements, largest)


def test_figures_and_table(tmp_path):
    names = "neg;sum;pow, 2;scatter_add;bitwise_and"
    command = [
        sys.executable,
        BENCH,
        "operators",
        "--against",
        "torch",
        "--rows",
        names,
        "--elements",
        "1000",
    ]
    command += ["--blocks", "2", "--permuted", "--json", tmp_path / "figures.json"]
    device = ["--device", str(ocl.get_default_device())]
    result = subprocess.run(list(map(str, command + device)), capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    assert "geometric mean" in result.stdout
    figures = json.loads((tmp_path / "figures.json").read_text())["operators"]
    assert {figure["row"] for figure in figures} == set(names.split(";"))
    # whole numbers have no gradient
    assert len(figures) == 2 * (2 * 4 + 1)
    assert all(figure["seconds"][library] > 0 for figure in figures for library in ("ocl", "torch"))
    assert set(CALLS) >= {"sum", "scatter_add"}


def test_without_a_rival_it_is_refused():
    result = subprocess.run(
        [sys.executable, str(BENCH), "operators"], capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 2
    assert "--against torch is wanted" in result.stderr
