"""The code in README.md, docs/ and docstrings runs as it stands there.

What a block takes for given (``loader``, ``net``) comes from SETTINGS; a new block wants a row there.
"""

import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from PIL import Image

import ocl
import ocl.nn.functional
from ocl import models, nn, optim
from ocl.utils.data import DataLoader, TensorDataset

ROOT = Path(__file__).resolve().parents[3]
DEVICE = str(ocl.get_default_device())


def blocks_of(page):
    """The Python blocks of a page, each under the page's name and its number there."""
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return {f"{page}#{number}": code for number, code in enumerate(found)}


PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]
BLOCKS = {name: code for page in PAGES for name, code in blocks_of(page).items()}


def picture_folder():
    for label in ("cat", "dog"):
        Path("train", label).mkdir(parents=True)
        for number in range(3):
            Image.new("RGB", (256, 240), (40 * number, 90, 10)).save(f"train/{label}/{number}.png")


def readme():
    return {"loader": [(ocl.randn(16, 784), ocl.randint(0, 10, (16,))) for _ in range(3)]}


def two_tasks():
    shapes = (8, 3), (8, 2), (8, 3), (8, 2)
    return {"ocl": ocl, "nn": nn, "tasks": [[ocl.randn(shape) for shape in shapes] for _ in range(2)]}


def pinned_batch():
    array = ocl.randn(4, 3).numpy()
    return {"ocl": ocl, "array": array, "x": ocl.empty(4, 3)}


def resumed_training():
    model = nn.Linear(3, 2)
    data = TensorDataset(ocl.randn(8, 3).numpy(), ocl.randn(8, 2).numpy())
    return {
        "model": model,
        "optimizer": optim.Adam(model.parameters()),
        "loader": DataLoader(data, batch_size=2, shuffle=True),
    }


def weights_of_resnet():
    state = {
        name: torch.from_numpy(tensor.numpy()) for name, tensor in models.resnet18().state_dict().items()
    }
    torch.save(state, "resnet18-f37072fd.pth")
    return {}


def pictures():
    return {
        "pictures": ocl.rand(2, 3, 64, 64),
        "picture": ocl.rand(3, 64, 64),
        "boxes": ocl.tensor([[4.0, 4.0, 40.0, 50.0]]),
        "labels": ocl.tensor([1]),
    }


def small_gpt2():
    names = {"vocab_size": 20, "n_positions": 64, "n_embd": 16, "n_layer": 1, "n_head": 2}
    ocl.save(models.gpt2(**names).state_dict(), "model.safetensors")
    gpt2 = models.gpt2

    class Models:  # of the sizes above: the real file has 500 MB
        @staticmethod
        def gpt2(weights):
            return gpt2(weights=weights, **names)

    return {"models": Models, "nn": nn, "tokens": ocl.randint(0, 20, (2, 8))}


def profiled_step():
    net = nn.Linear(3, 2)
    return {"ocl": ocl, "step": lambda: net(ocl.randn(4, 3)).sum().backward()}


def torch_net():
    pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
    return {"MyNet": lambda: torch.nn.Linear(3, 2), "images": torch.randn(4, 3)}


def torch_graph():
    pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
    net = torch.nn.Linear(3, 2).to("ocl")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(images, labels):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    batches = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(3)]
    return {"torch": torch, "step": step, "first_batches": batches, "loader": batches}


SETTINGS = {
    "README.md#0": readme,
    "docs/autograd.md#0": dict,
    "docs/autograd.md#1": two_tasks,
    "docs/autograd.md#2": lambda: {"ocl": ocl},
    "docs/autograd.md#3": dict,
    "docs/data.md#0": picture_folder,
    "docs/data.md#1": pinned_batch,
    "docs/data.md#2": resumed_training,
    "docs/models.md#0": weights_of_resnet,
    "docs/models.md#1": pictures,
    "docs/models.md#2": small_gpt2,
    "docs/performance.md#0": profiled_step,
    "docs/pytorch.md#0": torch_net,
    "docs/pytorch.md#1": torch_graph,
}


def test_every_block_has_a_setting():
    assert set(SETTINGS) == set(BLOCKS)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "docs/data.md#0"])
def test_block(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = SETTINGS[name]() or {}
    ocl.manual_seed(0)
    exec(compile(BLOCKS[name].replace("ocl:0", DEVICE), name, "exec"), names)
    if "loss" in names:
        assert names["loss"].isfinite().all()


def test_program_with_workers(tmp_path, monkeypatch):
    """The loader's workers import the file, which exec() has not."""
    monkeypatch.chdir(tmp_path)
    picture_folder()
    Path("program.py").write_text(BLOCKS["docs/data.md#0"].replace("ocl:0", DEVICE))
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def objects_with_docstrings():
    autograd = (ocl.autograd, ocl.autograd.functional, ocl.func, ocl.amp)
    for module in (ocl, ocl.nn, ocl.nn.functional, *autograd, ocl.optim, ocl.utils.data):
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and (inspect.isclass(value) or callable(value)):
                yield f"{module.__name__}.{name}", inspect.getdoc(value) or ""


def examples_in_docstrings():
    """What stands indented after ``::`` at a line's end, under the name of its class or function."""
    for name, text in objects_with_docstrings():
        for number, found in enumerate(re.findall(r"::\n\n((?:    .*\n|\n)+)", text + "\n")):
            yield f"{name}#{number}", textwrap.dedent(found)


EXAMPLES = dict(examples_in_docstrings())


def test_docstrings_have_examples():
    assert {"ocl.autograd.Function#0", "ocl.func.grad#0", "ocl.nn.MultiheadAttention#0"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name):
    names = {"ocl": ocl, "nn": nn, "F": ocl.nn.functional, "x": ocl.randn(3, requires_grad=True)}
    exec(compile(EXAMPLES[name].replace("ocl:0", DEVICE), name, "exec"), names)
