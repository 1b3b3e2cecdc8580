"""The code in README.md, docs/ and docstrings runs as it stands there.

The names that a block takes for given (``loader``, ``net``) come from SETTINGS; a new block wants a row
there.
"""

import inspect
import re
import shutil
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import ocl
import ocl.nn.functional
from ocl import models, nn, optim
from ocl.utils.data import DataLoader, DistributedSampler, TensorDataset

ROOT = Path(__file__).resolve().parents[3]
DEVICE = str(ocl.get_default_device())


def blocks_of(page):
    """The Python blocks of a page, each under the page's name and its number there."""
    found = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return {f"{page}#{number}": code for number, code in enumerate(found)}


PAGES = ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")))]
SEVERAL_DEVICES = "docs/tutorials/several-devices.md"
TUTORIALS = [page for page in PAGES if page.startswith("docs/tutorials/")]
BLOCKS = {name: code for page in PAGES if page not in TUTORIALS for name, code in blocks_of(page).items()}


def picture_folder():
    for label in ("cat", "dog"):
        Path("train", label).mkdir(parents=True)
        for number in range(3):
            Image.new("RGB", (256, 240), (40 * number, 90, 10)).save(f"train/{label}/{number}.png")


def make_picture_folders():
    """Dark and bright pictures, so that a net can learn to tell them apart."""
    generator = np.random.default_rng(0)
    for part, count in (("train", 24), ("val", 6)):
        for label, brightness in (("dark", 60), ("bright", 190)):
            folder = Path("pictures", part, label)
            folder.mkdir(parents=True)
            for number in range(count):
                pixels = generator.integers(brightness - 60, brightness + 60, (90, 110, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.png")


def readme():
    return {"loader": [(ocl.randn(16, 784), ocl.randint(0, 10, (16,))) for _ in range(3)]}


def torch_in_three_lines():
    pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
    return {}


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
    names = {"vocab_size": 20, "n_positions": 256, "n_embd": 16, "n_layer": 1, "n_head": 2}
    ocl.save(models.gpt2(**names).state_dict(), "model.safetensors")
    gpt2 = models.gpt2

    class Models:  # of the sizes above: the real file has 500 MB
        GenerationStep = models.GenerationStep

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


def net_of_pictures():
    return {"ocl": ocl, "net": models.resnet18().eval()}


def saved_program():
    ocl.export(nn.Linear(3, 2), (ocl.zeros(1, 3),)).save("resnet18.ocl")
    return {"ocl": ocl, "picture": ocl.zeros(1, 3)}


def step_to_export():
    net = nn.Linear(3, 2)
    optimizer = optim.SGD(net.parameters(), momentum=0.9)
    names = {"ocl": ocl, "F": ocl.nn.functional, "net": net, "optimizer": optimizer}
    return names | {"x": ocl.randn(4, 3), "y": ocl.tensor([0, 1, 1, 0])}


def be_the_only_process(monkeypatch):
    """Sets the launcher's variables for a single process."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    settings = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 0, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    for name, value in settings.items():
        monkeypatch.setenv(name, str(value))


def data_parallel():
    net = nn.Linear(3, 2)
    dataset = TensorDataset(ocl.randn(8, 3).numpy(), ocl.randn(8, 2).numpy())
    return {
        "Net": lambda: net,
        "dataset": dataset,
        "optimizer": optim.SGD(net.parameters()),
        "loss_of": ocl.nn.functional.mse_loss,
    }


def parts_of_a_batch():
    batch = [ocl.randn(2, 3) for _ in range(4)]
    return {"net": nn.Linear(3, 2), "loss_of": lambda y: y.pow(2).mean(), "batch": batch}


def net_with_batch_norm():
    return {"ocl": ocl, "net": nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))}


def unequal_devices():
    ocl.distributed.init_process_group()
    x, y = ocl.randn(256, 3), ocl.randn(256, 2)
    return {
        "ocl": ocl,
        "dist": ocl.distributed,
        "net": nn.Linear(3, 2),
        "loss_of": ocl.nn.functional.mse_loss,
        "DistributedSampler": DistributedSampler,
        "DataLoader": DataLoader,
        "dataset": TensorDataset(x.numpy(), y.numpy()),
        "device": DEVICE,
        "x": x,
        "y": y,
    }


def sharded_optimizer():
    ocl.distributed.init_process_group()
    return {"ocl": ocl, "net": nn.Linear(3, 2)}


def training_to_save():
    net = nn.Sequential(nn.Linear(3, 2))
    net.module = net[0]
    optimizer = optim.AdamW(net.module.parameters())
    return {"dist": ocl.distributed, "net": net, "optimizer": optimizer, "epoch": 3}


def onnx_file():
    pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx, as there is no package onnx")
    torch.onnx.export(torch.nn.Linear(3, 2), torch.zeros(1, 3), "net.onnx", dynamo=False)
    return {"picture": ocl.zeros(1, 3)}


def onnx_at_hand():
    pytest.importorskip("onnx.checker", reason="NOT TESTED: ocl.onnx.save, as there is no package onnx")


def quantization_names():
    from ocl.quantization import Int4WeightOnlyConfig, quantize_

    return {"ocl": ocl, "quantize_": quantize_, "Int4WeightOnlyConfig": Int4WeightOnlyConfig}


def statically_quantized():
    return {"ocl": ocl, "models": models}


def quantized_net():
    names = quantization_names()
    net = ocl.nn.Sequential(ocl.nn.Linear(64, 256), ocl.nn.ReLU(), ocl.nn.Linear(256, 10))
    names["quantize_"](net, names["Int4WeightOnlyConfig"](group_size=64))
    return {"ocl": ocl, "net": net}


SETTINGS = {
    "README.md#0": torch_in_three_lines,
    "README.md#1": readme,
    "docs/api/ocl.linalg.md#0": dict,
    "docs/api/ocl.sparse.md#0": dict,
    "docs/api/ocl.sparse.md#1": lambda: {"ocl": ocl},
    "docs/autograd.md#0": dict,
    "docs/autograd.md#1": two_tasks,
    "docs/autograd.md#2": lambda: {"ocl": ocl},
    "docs/autograd.md#3": lambda: {"ocl": ocl},
    "docs/autograd.md#4": dict,
    "docs/data.md#0": picture_folder,
    "docs/data.md#1": pinned_batch,
    "docs/data.md#2": resumed_training,
    "docs/quantization.md#0": dict,
    "docs/quantization.md#1": quantization_names,
    "docs/quantization.md#2": quantized_net,
    "docs/quantization.md#3": statically_quantized,
    "docs/deploy.md#0": weights_of_resnet,
    "docs/deploy.md#1": net_of_pictures,
    "docs/deploy.md#2": saved_program,
    "docs/deploy.md#3": small_gpt2,
    "docs/deploy.md#4": step_to_export,
    "docs/deploy.md#5": dict,
    "docs/deploy.md#6": dict,
    "docs/distributed.md#0": data_parallel,
    "docs/distributed.md#1": parts_of_a_batch,
    "docs/distributed.md#2": net_with_batch_norm,
    "docs/distributed.md#3": unequal_devices,
    "docs/distributed.md#4": sharded_optimizer,
    "docs/distributed.md#5": training_to_save,
    "docs/models.md#0": weights_of_resnet,
    "docs/models.md#1": pictures,
    "docs/models.md#2": small_gpt2,
    "docs/onnx.md#0": onnx_file,
    "docs/onnx.md#1": onnx_at_hand,
    "docs/performance.md#0": profiled_step,
    "docs/pytorch.md#0": torch_net,
    "docs/pytorch.md#1": torch_graph,
    "docs/troubleshooting.md#0": profiled_step,
}


def test_every_block_has_a_setting():
    assert set(SETTINGS) == set(BLOCKS)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "docs/data.md#0"])
def test_block(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.startswith("docs/distributed.md"):
        be_the_only_process(monkeypatch)
    names = SETTINGS[name]() or {}
    ocl.manual_seed(0)
    try:
        exec(compile(BLOCKS[name].replace("ocl:0", DEVICE), name, "exec"), names)
    finally:
        if ocl.distributed.is_initialized():
            ocl.distributed.destroy_process_group()
    if "loss" in names:
        assert names["loss"].isfinite().all()


@pytest.mark.parametrize("page", TUTORIALS)
def test_tutorial(page, tmp_path, monkeypatch):
    """The blocks of a tutorial are one program."""
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of(page)
    if page in ("docs/tutorials/first-net.md", SEVERAL_DEVICES):
        pytest.importorskip("sklearn")
    if page == SEVERAL_DEVICES:
        be_the_only_process(monkeypatch)
    if page == "docs/tutorials/own-pictures.md":
        make_picture_folders()
        weights_of_resnet()
        *program, predict = blocks.values()
        blocks = dict(enumerate(program))
    if page == "docs/tutorials/from-pytorch.md":
        pytest.importorskip("torch_ocl._C", reason="NOT TESTED: torch_ocl is not installed (docs/pytorch.md)")
    if page == "docs/tutorials/own-kernel.md":
        pytest.importorskip("pyopencl", reason="NOT TESTED: pyopencl is not installed (pip install .[test])")
    names = {"__name__": "__main__"}
    for name, code in blocks.items():
        exec(compile(code.replace("ocl:0", DEVICE), str(name), "exec"), names)
    if page == "docs/tutorials/first-net.md":
        assert names["hits"] > 250
    if page == "docs/tutorials/own-pictures.md":
        assert names["hits"] >= 10  # of 12
        assert sorted([*names["train_part"].indices, *names["val_part"].indices]) == list(range(60))
        expect_predictions(predict)


def expect_predictions(program):
    """The second program, alone: it names dark and bright pictures."""
    Path("predict.py").write_text(program.replace("ocl:0", DEVICE))
    files = [f"pictures/val/{label}/{number}.png" for label in ("dark", "bright") for number in range(6)]
    done = subprocess.run([sys.executable, "predict.py", *files], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 12
    assert sum(f": {file.split('/')[2]}, " in line for file, line in zip(files, lines, strict=True)) >= 10


def test_two_processes_run_the_tutorial_on_several_devices(tmp_path):
    pytest.importorskip("sklearn")
    (tmp_path / "digits.py").write_text("\n".join(blocks_of(SEVERAL_DEVICES).values()))
    command = [sys.executable, "-m", "ocl.distributed.run", "--nproc-per-node", "2", "digits.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert "process 0 of 2" in done.stdout and "process 1 of 2" in done.stdout
    losses = [float(loss) for loss in re.findall(r"epoch \d: loss (\S+)", done.stdout)]
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert (tmp_path / "digits.safetensors").is_file()


@pytest.mark.parametrize(
    ("name", "folder", "program"),
    [("cpp-program", ".", "package_user.cpp"), ("own-kernel", "own_kernel", "own_kernel.cpp")],
)
def test_the_cpp_tutorials_show_the_programs_that_are_tested(name, folder, program):
    page, package = (ROOT / f"docs/tutorials/{name}.md").read_text(), ROOT / "tests/package" / folder
    assert (package / program).read_text() in page
    project = "".join((package / "CMakeLists.txt").read_text().splitlines(keepends=True)[1:])
    assert project.replace(" ${TAPECL_VERSION}", "") in page  # the test asks for this version alone


def test_the_c_program_of_the_tutorial_on_deployment_compiles(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("NOT TESTED: there is no C compiler")
    page = (ROOT / "docs/tutorials/deploy.md").read_text()
    [program] = re.findall(r"^```c\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "app.c").write_text(program)
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}", "app.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_program_with_workers(tmp_path, monkeypatch):
    """The loader's workers import the file, which exec() has not."""
    monkeypatch.chdir(tmp_path)
    picture_folder()
    Path("program.py").write_text(BLOCKS["docs/data.md#0"].replace("ocl:0", DEVICE))
    done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def anchors_of(page):
    """The anchors that ``page#anchor`` can name: headings as GitHub turns them into anchors, and anchors
    made by hand.
    """
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = (heading.replace("`", "") for heading in re.findall(r"^#+ (.*)", text, re.MULTILINE))
    made = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return made | set(re.findall(r'<a name="(.*?)">', text))


LINKED_PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", LINKED_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def objects_with_docstrings():
    autograd = (ocl.autograd, ocl.autograd.functional, ocl.func, ocl.amp)
    for module in (ocl, ocl.nn, ocl.nn.functional, *autograd, ocl.optim, ocl.utils.data):
        for name in dir(module):
            value = getattr(module, name)
            if not name.startswith("_") and (inspect.isclass(value) or callable(value)):
                yield f"{module.__name__}.{name}", inspect.getdoc(value) or ""


def examples_in_docstrings():
    """The blocks that stand indented after ``::`` at a line's end, under the name of the object."""
    for name, text in objects_with_docstrings():
        for number, found in enumerate(re.findall(r"::\n\n((?:    .*\n|\n)+)", text + "\n")):
            yield f"{name}#{number}", textwrap.dedent(found)


EXAMPLES = dict(examples_in_docstrings())


def test_docstrings_have_examples():
    assert {"ocl.autograd.Function#0", "ocl.func.grad#0", "ocl.nn.MultiheadAttention#0"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"ocl": ocl, "nn": nn, "F": ocl.nn.functional, "x": ocl.randn(3, requires_grad=True)}
    if name.startswith("ocl.export"):
        names["x"] = ocl.randn(2, 3)
    exec(compile(EXAMPLES[name].replace("ocl:0", DEVICE), name, "exec"), names)
