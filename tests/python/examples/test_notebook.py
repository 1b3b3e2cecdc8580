"""examples/first_net.ipynb runs from its first cell to its last, and learns."""

import json
from pathlib import Path

import pytest

import ocl

NOTEBOOK = Path(__file__).resolve().parents[3] / "examples" / "first_net.ipynb"


def cells(kind):
    return [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == kind]


def source(cell):
    return "".join(cell["source"])


def test_the_cells_run_and_the_net_learns(tmp_path, monkeypatch):
    """The code of a notebook is plain Python, which needs no kernel of Jupyter's."""
    pytest.importorskip("sklearn", reason="NOT TESTED: the notebook's data are scikit-learn's")
    matplotlib = pytest.importorskip("matplotlib", reason="NOT TESTED: the notebook draws by matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells("code")):
        code = source(cell).replace("ocl:0", str(ocl.get_default_device()))
        exec(compile(code, f"{NOTEBOOK.name}#{number}", "exec"), names)
    assert names["hits"] > 250
    assert (tmp_path / "digits.safetensors").stat().st_size > 100_000


def test_jupyter_runs_it(tmp_path):
    nbclient = pytest.importorskip(
        "nbclient", reason="NOT TESTED: there is no nbclient (pip install nbclient)"
    )
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel", reason="NOT TESTED: there is no kernel (pip install ipykernel)")
    pytest.importorskip("sklearn", reason="NOT TESTED: the notebook's data are scikit-learn's")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "of 297 are right" in printed


def test_a_reader_sees_its_results():
    outputs = [output for cell in cells("code") for output in cell["outputs"]]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    assert not [output for output in outputs if output["output_type"] == "error"]
