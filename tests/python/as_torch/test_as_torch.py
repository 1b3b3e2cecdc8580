"""Programs that were written for PyTorch run on ocl as they are, and give PyTorch's losses."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ocl
from ocl import torch_modules

PROGRAMS = Path(__file__).parent / "programs"
CIFAR = (
    "VGG11 ResNet18 PreActResNet18 SENet18 densenet_cifar GoogLeNet MobileNetV2 DPN26 EfficientNetB0"
).split()
COMMANDS = [
    "mnist.py --batch-size 16",
    "vae.py",
    "dcgan.py",
    "word_language_model.py --model RNN_TANH",
    "word_language_model.py --model LSTM",
    "word_language_model.py --model GRU",
    "word_language_model.py --model Transformer",
    "time_sequence.py",
    "nerf.py",
    "maml.py",
    "super_resolution.py",
    "wgan_gp.py",
    "gcn.py",
    "gat.py",
    "word2vec.py",
    "matrix_factorization.py",
    "siamese.py",
    "reinforce.py",
    "actor_critic.py",
    "forward_forward.py",
    "neural_style.py",
    "mixture.py",
    "nanogpt.py",
    "mingpt.py",
    "ddpm.py",
    "pinn.py",
    "realnvp.py",
    "ctc_speech.py",
    "cifar.py --net ShuffleNetV2",
]
SLOW = [
    "word_language_model.py --model RNN_RELU",
    "word_language_model.py --model LSTM --tied",
    *(f"cifar.py --net {net}" for net in CIFAR),
]


def run(*command, check=True):
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=environment, timeout=300
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def losses(*command):
    lines = run(*command).stdout.splitlines()
    return [float(line.split()[1]) for line in lines if line.startswith("LOSS")]


@pytest.mark.parametrize("command", [*COMMANDS, *(pytest.param(c, marks=pytest.mark.slow) for c in SLOW)])
def test_programs_give_pytorchs_losses(command):
    program, *arguments = command.split()
    expected = losses(PROGRAMS / program, *arguments)
    assert len(expected) >= 4
    found = losses("-m", "ocl.as_torch", PROGRAMS / program, *arguments)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-5)


CHECKS = """
import ocl
torch = ocl.as_torch()
assert ocl.as_torch() is torch
import torch as again, torch.nn as nn, torch.nn.functional as F, torch.backends.cudnn as cudnn
from torch.cuda.amp import autocast, GradScaler
from torch.optim.lr_scheduler import StepLR
assert again is torch and nn is ocl.nn and F is ocl.nn.functional and torch.nn.Linear is ocl.nn.Linear
assert torch.__version__.startswith("2.") and nn.__name__ == "ocl.nn"
assert torch.cuda.is_available() and torch.cuda.device_count() == ocl.device_count()
device = torch.device("cuda:0")
assert isinstance(device, torch.device) and device == ocl.device("ocl:0") == torch.device("cuda", 0)
x = torch.ones(2, 3, device="cuda").cuda().to("cuda:0", torch.float16).float().cpu()
assert x.is_cuda and x.device == device
layer = nn.Linear(3, 2, device="cuda").cuda()
with torch.autocast("cuda", dtype=torch.bfloat16):
    assert layer(x.to(device, non_blocking=True)).dtype == torch.bfloat16
with autocast():
    assert layer(x).dtype == torch.float16
for name in ("torch.masked", "torch.nested"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        assert "ocl, which stands for torch here, has no" in str(error), error
    else:
        raise AssertionError(name)
try:
    torch.no_such_name
except AttributeError as error:
    assert "no_such_name" in str(error) and "ocl" in str(error)
print("ALL HELD")
"""


def test_names_and_devices():
    assert run("-c", CHECKS).stdout.endswith("ALL HELD\n")


MODULES = """
import importlib, ocl
ocl.as_torch()
import torch
for name, inner in {names!r}.items():
    module = importlib.import_module("torch." + name)
    assert all(hasattr(module, value) for value in inner), (name, inner)
import torch.optim.sgd, torch.functional
from torch.distributions.normal import Normal
assert torch.optim.sgd.SGD is torch.optim.SGD and Normal is torch.distributions.Normal
assert torch.functional.einsum is torch.einsum and ocl.distributions.Normal is Normal
print("ALL HELD")
"""


def test_modules_of_one_class_lead_to_their_package():
    """Those of distributions and optimizers have the classes that PyTorch's have."""
    found = {}
    for name in torch_modules.names():
        module = importlib.import_module(f"torch.{name}")
        found[name] = []
        if name.split(".")[0] not in ("distributions", "optim"):
            continue
        package = importlib.import_module(f"torch.{name.rpartition('.')[0]}".rstrip("."))
        found[name] = [
            key
            for key, value in vars(package).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
    assert sum(map(len, found.values())) > 40
    assert run("-c", MODULES.format(names=found)).stdout.endswith("ALL HELD\n")


COMPILER = """
import torch, torch._dynamo
torch._dynamo.config.suppress_errors = True
torch._dynamo.config.cache_size_limit = 64
torch._dynamo.reset()
assert torch._dynamo.config.suppress_errors and torch._dynamo.config.cache_size_limit == 64
@torch.compiler.disable
def three(): return 3
@torch.compiler.disable(recursive=False)
def four(): return 4
with torch.compiler.set_stance("force_eager"):
    assert (three(), four()) == (3, 4) and not torch.compiler.is_compiling()
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
assert Tensor(2, 3).shape == (2, 3) and isinstance(Tensor([1.0]), torch.FloatTensor)
x = torch.ones(2, 3).pin_memory()
assert x.to("cuda", non_blocking=True).shape == (2, 3)
print("ALL HELD")
"""


def test_switches_of_the_compiler_and_types_of_cuda():
    assert run("-c", "import ocl; ocl.as_torch()" + COMPILER).stdout.endswith("ALL HELD\n")


FOR_TRANSFORMERS = """
import io, pickle, torch, torch._dynamo
from torch import nn
assert not isinstance(nn.ReLU(), torch._dynamo.eval_frame.OptimizedModule)
meta = torch.device("meta")
with meta:
    made = nn.Linear(3, 2, device=meta)
    assert torch.tensor([]).device == meta and made.weight.device.type == "meta"
    assert [x.item() for x in torch.linspace(0, 1, 3, device="cpu")] == [0.0, 0.5, 1.0]
assert made.weight.device == torch.device("cuda") and torch.ones(1).device != meta
for refused in (lambda: torch.ones(2, device="meta"), lambda: torch.ones(2).to(meta)):
    try:
        refused()
    except NotImplementedError as error:
        assert "there are no tensors on the device 'meta'" in str(error)
    else:
        raise AssertionError("meta")
for dtype in (torch.bfloat16, torch.float16):
    torch.set_default_dtype(dtype)
    made = [torch.zeros(2), torch.tensor([1.5]), torch.full((2,), 0.5), torch.linspace(0, 1, 3)]
    layers = nn.Linear(2, 2), nn.Embedding(3, 2), nn.MultiheadAttention(4, 2)
    made += [p for layer in layers for p in layer.parameters()]
    assert {x.dtype for x in made} == {dtype} and torch.get_default_dtype() == dtype
    assert torch.tensor([1]).dtype == torch.arange(3).dtype == torch.int64
    assert torch.ones_like(torch.ones(1, dtype=torch.float32)).dtype == torch.float32
    assert torch.zeros(1, dtype=torch.float32).dtype == torch.float32
    torch.set_default_dtype(torch.float32)
assert torch.zeros(1).dtype == torch.float32
try:
    torch.set_default_dtype(torch.float64)
except NotImplementedError:
    pass
else:
    raise AssertionError("float64")
assert nn.Embedding(3, 2, device="cuda").weight.is_cuda
assert torch.cuda.random.get_rng_state is torch.cuda.get_rng_state
file = io.BytesIO()
torch.save(range(3), file)
assert pickle.loads(file.getvalue()) == range(3)
try:
    torch.load(io.BytesIO(file.getvalue()), weights_only=False)
except OSError as error:
    assert "bare pickle" in str(error)
else:
    raise AssertionError("pickle")
print("ALL HELD")
"""


def test_names_and_settings_that_transformers_needs():
    """The device "meta", 16-bit default dtypes, and files of any object."""
    assert run("-c", "import ocl; ocl.as_torch()" + FOR_TRANSFORMERS).stdout.endswith("ALL HELD\n")


def test_refuses_where_pytorch_is_imported():
    with pytest.raises(RuntimeError, match="imported already"):
        ocl.as_torch()
    assert not ocl.cuda.is_available() and ocl.cuda.device_count() == 0


def test_command_without_a_program():
    done = run("-m", "ocl.as_torch", check=False)
    assert done.returncode == 1 and "usage" in done.stderr


def test_workers_have_the_same_torch():
    done = run("-m", "ocl.as_torch", PROGRAMS / "workers.py")
    batches = ["0 1 4 9", "16 25 36 49", "64 81 100 121"]
    assert done.stdout.splitlines() == 2 * [f"{batch} 2.13.0+ocl" for batch in batches]
