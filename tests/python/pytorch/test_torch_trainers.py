"""The training loops of libraries on top of PyTorch, on ocl devices."""

import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
from comparisons import find_torchvision, load_torchvision  # noqa: E402

if find_torchvision():
    load_torchvision()  # before transformers, which reads it


class Rows(torch.utils.data.Dataset):
    """Rows of words whose first one is their class."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        words = torch.randint(2, 50, (12,), generator=torch.Generator().manual_seed(index))
        words[0] = index % 2
        return {"input_ids": words, "attention_mask": torch.ones(12, dtype=torch.long), "labels": index % 2}


@pytest.mark.parametrize("named", ["ocl:0", None])
@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_transformers_trainer_fine_tunes(precision, named, tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers", reason="NOT TESTED: transformers is not installed")
    pytest.importorskip("accelerate", reason="NOT TESTED: accelerate is not installed")
    if torch.cuda.is_available():
        pytest.skip("NOT TESTED: transformers takes CUDA's device where there is one")
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE", raising=False)
    if named is not None:
        monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", named)
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=50, max_position_embeddings=32, num_labels=2, **size)
    net = transformers.BertForSequenceClassification(config)
    net.classifier = Watched(32, 2)
    arguments = transformers.TrainingArguments(
        str(tmp_path),
        per_device_train_batch_size=16,
        num_train_epochs=8,
        learning_rate=3e-3,
        report_to=[],
        save_strategy="epoch",
        save_total_limit=1,
        disable_tqdm=True,
        bf16=precision == "bfloat16",
        fp16=precision == "float16",
    )
    trainer = transformers.Trainer(net, arguments, train_dataset=Rows(), eval_dataset=Rows())
    assert arguments.device == torch.device("ocl:0") == next(net.parameters()).device
    trainer.train()
    assert trainer.evaluate()["eval_loss"] < 0.3
    assert dtypes_of(net.classifier) == getattr(torch, precision)
    scaler = trainer.accelerator.scaler
    assert (scaler is not None and scaler.is_enabled()) == (precision == "float16")


class Watched(torch.nn.Linear):
    """Keeps the dtypes of its products, forward and backward, and the devices that autocast is on for."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.seen = []

    def forward(self, x):
        y = super().forward(x)
        self.seen.append((y.dtype, y.device.type))
        if y.requires_grad:
            y.register_hook(lambda gradient: self.seen.append((gradient.dtype, gradient.device.type)))
        return y


def dtypes_of(layer):
    assert layer.seen and {device for _, device in layer.seen} == {"ocl"}
    (dtype,) = {dtype for dtype, _ in layer.seen}
    return dtype


PRECISIONS = {
    "32-true": torch.float32,
    "bf16-mixed": torch.bfloat16,
    "16-mixed": torch.float16,
    "bf16-true": torch.bfloat16,
    "16-true": torch.float16,
}


def rows_and_sums():
    x = torch.randn(16, 4, generator=torch.Generator().manual_seed(0))
    return torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_lightning_computes_in_the_precision_asked_for(precision, tmp_path):
    lightning = pytest.importorskip("lightning.pytorch", reason="NOT TESTED: lightning is not installed")

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = Watched(4, 1)

        def training_step(self, batch, _):
            return torch.nn.functional.mse_loss(self.layer(batch[0]).float(), batch[1].float())

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 1e-2)

    trainer = lightning.Trainer(
        accelerator="ocl",
        precision=precision,
        max_steps=3,
        default_root_dir=tmp_path,
        logger=False,
        enable_progress_bar=False,
        enable_checkpointing=False,
    )
    net = Net()
    before = net.layer.weight.detach().clone()
    trainer.fit(net, torch.utils.data.DataLoader(rows_and_sums(), 4))
    assert dtypes_of(net.layer) == PRECISIONS[precision]
    scaler = getattr(trainer.precision_plugin, "scaler", None)
    assert (scaler is not None and scaler.is_enabled()) == (precision == "16-mixed")
    assert not torch.equal(net.layer.weight.detach().cpu().float(), before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_fabric_computes_in_the_precision_asked_for(precision):
    fabric = pytest.importorskip("lightning.fabric", reason="NOT TESTED: lightning is not installed")
    run = fabric.Fabric(accelerator="ocl", precision=precision)
    layer = Watched(4, 1)
    net, optimizer = run.setup(layer, torch.optim.SGD(layer.parameters(), 1e-2))
    (loader,) = [run.setup_dataloaders(torch.utils.data.DataLoader(rows_and_sums(), 4))]
    for x, y in loader:
        optimizer.zero_grad()
        run.backward(torch.nn.functional.mse_loss(net(x).float(), y.float()))
        optimizer.step()
    assert dtypes_of(layer) == PRECISIONS[precision]


@pytest.fixture
def accelerate(monkeypatch):
    accelerate = pytest.importorskip("accelerate", reason="NOT TESTED: accelerate is not installed")
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "ocl:0")
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    yield accelerate
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.parametrize(
    "precision, dtype", [("no", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)]
)
def test_accelerate_computes_in_the_precision_asked_for(precision, dtype, accelerate):
    accelerator = accelerate.Accelerator(mixed_precision=precision)
    layer = Watched(4, 1)
    net, optimizer = accelerator.prepare(layer, torch.optim.SGD(layer.parameters(), 1e-2))
    before = layer.weight.detach().clone()
    for _ in range(4):  # the scaler's first scales are too large for a step
        optimizer.zero_grad()
        loss = net(torch.ones(2, 4, device=accelerator.device)).sum()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    assert dtypes_of(layer) == dtype
    assert not torch.equal(layer.weight, before)
    assert (accelerator.scaler is not None and accelerator.scaler.is_enabled()) == (precision == "fp16")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_pytorchs_own_mixed_precision(dtype):
    layer = Watched(4, 1).to("ocl")
    scaler = torch.amp.GradScaler("ocl", enabled=dtype == torch.float16)
    optimizer = torch.optim.SGD(layer.parameters(), 1e-2)
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("ocl", dtype=dtype):
            loss = layer(torch.ones(2, 4, device="ocl")).float().square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert dtypes_of(layer) == dtype
    assert layer.weight.grad.dtype == torch.float32


@pytest.mark.filterwarnings("ignore")
def test_lightning_trains(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch", reason="NOT TESTED: lightning is not installed")

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(4, 32), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(32, 1)
            )

        def training_step(self, batch, _):
            x, y = batch
            assert x.device == torch.device("ocl:0")
            loss = torch.nn.functional.mse_loss(self.layers(x), y)
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), 1e-2)

    torch.manual_seed(0)
    x = torch.randn(128, 4)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), 32)
    trainer = lightning.Trainer(
        accelerator="ocl",
        max_epochs=25,
        default_root_dir=tmp_path,
        logger=False,
        enable_progress_bar=False,
    )
    net = Net()
    trainer.fit(net, loader)
    assert trainer.callback_metrics["loss"].item() < 0.5
    assert trainer.checkpoint_callback.best_model_path


# The program of each of two processes; `net` begins otherwise in each, and `rows` are shared out among them.
PROLOGUE = """
import json, os, pathlib, sys, types, torch
sys.modules["torchvision._meta_registrations"] = types.ModuleType("none")  # as in load_torchvision
torch.manual_seed(int(os.environ["RANK"]))
net = torch.nn.Linear(4, 1)
x = torch.randn(16, 4, generator=torch.Generator().manual_seed(0))
rows = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))

def tell(**known):
    parameters = [p.detach().flatten().tolist() for p in net.parameters()]
    text = json.dumps({"parameters": parameters, **known})
    pathlib.Path(f"{os.environ['FOLDER']}/{os.environ['RANK']}.json").write_text(text)
"""

TOGETHER = {
    "accelerate": """
from accelerate import Accelerator
accelerator = Accelerator()
model, optimizer, loader = accelerator.prepare(
    net, torch.optim.SGD(net.parameters(), 0.1), torch.utils.data.DataLoader(rows, 4))
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
assert len(accelerator.gather(loss.detach())) == 2
tell(processes=accelerator.num_processes, steps=len(loader), device=str(accelerator.device))
accelerator.end_training()
""",
    "transformers": """
import transformers
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net
    def forward(self, x, labels):
        y = self.net(x)
        return {"loss": torch.nn.functional.mse_loss(y, labels), "logits": y}
arguments = transformers.TrainingArguments(
    os.environ["FOLDER"], per_device_train_batch_size=4, num_train_epochs=1, report_to=[],
    save_strategy="no", disable_tqdm=True)
trainer = transformers.Trainer(
    Net(), arguments, train_dataset=[{"x": a, "labels": b} for a, b in rows])
trainer.train()
tell(processes=arguments.world_size, steps=trainer.state.global_step, device=str(arguments.device))
torch.distributed.destroy_process_group()
""",
    "lightning": """
import lightning.pytorch as lightning
class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = net
    def training_step(self, batch, _):
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
trainer = lightning.Trainer(
    accelerator="ocl", devices=[0, 0], strategy="ddp", max_epochs=1, logger=False,
    enable_progress_bar=False, enable_checkpointing=False)
model = Net()
trainer.fit(model, torch.utils.data.DataLoader(rows, 4))
tell(processes=trainer.world_size, steps=trainer.global_step, device="ocl:0")
""",
    "fabric": """
import lightning
fabric = lightning.Fabric(accelerator="ocl", devices=[0, 0], strategy="ocl_ddp", precision="bf16-mixed")
fabric.launch()
model, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), 0.1))
loader = fabric.setup_dataloaders(torch.utils.data.DataLoader(rows, 4))
for x, y in loader:
    optimizer.zero_grad()
    fabric.backward(torch.nn.functional.mse_loss(model(x), y))
    optimizer.step()
tell(processes=fabric.world_size, steps=len(loader), device=str(fabric.device))
""",
}

ALONE = """
import lightning.pytorch as lightning
lightning.Trainer(
    accelerator="ocl", strategy=lightning.strategies.SingleDeviceStrategy(torch.device("ocl:0")))
"""


def run_by_torchrun(program, folder):
    script = folder / "program.py"
    script.write_text(PROLOGUE + program)
    own = {"FOLDER": str(folder), "ACCELERATE_TORCH_DEVICE": "ocl:0", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command.append(str(script))
    return subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, timeout=500)


@pytest.mark.parametrize("library", TOGETHER)
def test_processes_of_torchrun_train_together(library, tmp_path):
    name = library.replace("fabric", "lightning")
    pytest.importorskip(name, reason=f"NOT TESTED: {name} is not installed")
    done = run_by_torchrun(TOGETHER[library], tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert first == second
    assert (first["processes"], first["steps"], first["device"]) == (2, 2, "ocl:0")


def test_processes_that_would_train_alone_are_refused(tmp_path):
    pytest.importorskip("lightning", reason="NOT TESTED: lightning is not installed")
    done = run_by_torchrun(ALONE, tmp_path)
    assert done.returncode != 0 and 'pass strategy="ddp"' in done.stderr


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", ["lightning", "pytorch_lightning", "lightning_fabric"])
def test_lightning_chooses_ocl(package, monkeypatch):
    package = pytest.importorskip(package, reason=f"NOT TESTED: {package} is not installed")
    if torch.cuda.is_available():
        pytest.skip("NOT TESTED: Lightning takes CUDA's device where there is one")
    monkeypatch.delenv("ACCELERATE_TORCH_DEVICE", raising=False)
    kinds = [getattr(package, name) for name in ("Trainer", "Fabric") if hasattr(package, name)]
    assert kinds
    for kind in kinds:
        quiet = {} if kind.__name__ == "Fabric" else {"logger": False, "enable_checkpointing": False}
        for options in (
            {"accelerator": "ocl"},
            {"accelerator": "ocl", "devices": 1},
            {"accelerator": "ocl", "devices": [0], "strategy": "auto"},
            {"accelerator": "gpu"},
            {},
        ):
            strategy = kind(**options, **quiet).strategy
            assert strategy.root_device == torch.device("ocl:0"), options
            assert type(strategy).__name__ == "SingleDeviceStrategy"
        assert kind(accelerator="cpu", **quiet).strategy.root_device.type == "cpu"
        two = kind(accelerator="ocl", devices=[0, 0], **quiet).strategy
        assert type(two).__name__ == "DDPStrategy" and two.num_processes == 2
        with pytest.raises(ValueError, match="there is no device ocl:77"):
            kind(accelerator="ocl", devices=[77], **quiet)
        monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
        assert kind(**quiet).strategy.root_device.type == "cpu"
        monkeypatch.delenv("ACCELERATE_TORCH_DEVICE")
