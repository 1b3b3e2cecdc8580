"""torchvision's model files run over ocl as they are, and give PyTorch's numbers."""

import numpy as np
import pytest
import torch
from comparisons import needs_torchvision
from validation.torchvision_files import factories, find_torchvision, load_torchvision

import ocl

FOLDER = find_torchvision()
pytestmark = needs_torchvision("torchvision's own model files over ocl")

# One net of every file, the smallest, and the side of its pictures, small where the net takes that.
QUICK = {
    "alexnet": 64,
    "resnet18": 32,
    "mobilenet_v3_small": 32,
    "efficientnet_b0": 32,
    "regnet_x_400mf": 32,
    "convnext_tiny": 32,
    "vit_b_32": 224,
    "swin_t": 32,
}
OTHERS = {
    "vgg11_bn": 32,
    "squeezenet1_1": 32,
    "densenet121": 32,
    "googlenet": 32,
    "inception_v3": 80,
    "shufflenet_v2_x0_5": 32,
    "mobilenet_v2": 32,
    "mnasnet0_5": 32,
    "regnet_y_400mf": 32,
    "swin_v2_t": 32,
    "maxvit_t": 224,
}
NETS = QUICK | OTHERS
OPTIONS = {"googlenet": {"init_weights": False}, "inception_v3": {"init_weights": False}}


@pytest.fixture(scope="module")
def nets():
    return factories(FOLDER)


def test_every_file_registers_its_nets(nets):
    """Those that torchvision has itself: its nets of pictures' classes."""
    load_torchvision()
    from torchvision import models

    assert set(nets) == set(models.list_models(module=models))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in OTHERS)])
def test_gives_the_numbers_of_pytorch(nets, name):
    """Evaluation: the distance from float64 is at most 4 times PyTorch float32's own."""
    torchvision = load_torchvision()
    options = OPTIONS.get(name, {})
    torch.manual_seed(0)
    theirs = torchvision.models.get_model(name, **options).eval()
    for module in theirs.modules():  # statistics as after training, so that signals neither die nor explode
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    for parameter in theirs.parameters():  # heads that begin as zeros
        if not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    ours = nets[name](**options).eval()
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    side = NETS[name]
    x = np.random.default_rng(1).standard_normal((2, 3, side, side)).astype(np.float32)
    with torch.no_grad(), ocl.no_grad():
        single = theirs(torch.from_numpy(x)).numpy()
        truth = theirs.double()(torch.from_numpy(x).double()).numpy()
        actual = ours(ocl.tensor(x)).numpy()
    scale = np.abs(truth).max()
    own = np.abs(single - truth).max() / scale
    assert np.abs(actual - truth).max() / scale <= 4 * own + np.finfo(np.float32).eps
