"""tools/bench.py programs, run as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="NOT TESTED: tools/bench.py programs, as there is no package onnx")
pytest.importorskip(
    "onnxruntime", reason="NOT TESTED: tools/bench.py programs, as there is no package onnxruntime"
)

import ocl  # noqa: E402

BENCH = Path(__file__).parents[2] / "tools" / "bench.py"


def bench(tmp_path, *arguments):
    """(what it prints, its figures)."""
    figures = tmp_path / "figures.json"
    command = [sys.executable, BENCH, "programs", "--device", ocl.get_default_device(), "--steps", "1"]
    command += ["--blocks", "2", "--json", figures, *arguments]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr
    return result.stdout, json.loads(figures.read_text())["programs"]


def test_programs_beside_eager_and_onnxruntime(tmp_path):
    printed, figures = bench(tmp_path, "--nets", "squeezenet1_1,mobilenet_v3_small", "--side", "64")
    assert "geometric mean" in printed
    assert [(each["net"], each["batch"]) for each in figures] == [
        (net, batch) for net in ("squeezenet1_1", "mobilenet_v3_small") for batch in (1, 8)
    ]
    for each in figures:
        assert 0 < each["difference"] < 1e-4
        assert {name: len(blocks) for name, blocks in each["blocks"].items()} == {
            "program": 2,
            "eager": 2,
            "onnxruntime": 2,
        }
        for rival in ("eager", "onnxruntime"):
            quotients = [
                mine / other
                for mine, other in zip(each["blocks"]["program"], each["blocks"][rival], strict=True)
            ]
            assert min(quotients) <= each["ratios"][rival] <= max(quotients)


def test_bert_is_the_same_in_both_libraries(monkeypatch):
    torch = pytest.importorskip("torch", reason="NOT COMPARED: the bench's BERT, as there is no PyTorch")
    monkeypatch.syspath_prepend(str(BENCH.parent))
    bert = pytest.importorskip("benchmarks.bert")
    sizes = bert.Sizes(layers=2, width=48, heads=4, words=60, longest=16)
    theirs, ours = bert.make_bert(torch, sizes).eval(), bert.make_bert(ocl, sizes).eval()
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    words = bert.bert_batch(sizes, 3, 9)
    with torch.no_grad(), ocl.no_grad():
        expected, result = theirs(torch.tensor(words)).numpy(), ours(ocl.tensor(words)).numpy()
    assert result.shape == (3, 48) and abs(result - expected).max() < 1e-5
