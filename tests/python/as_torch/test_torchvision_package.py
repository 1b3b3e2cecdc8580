"""torchvision is imported as a package over ocl: its nets give PyTorch's numbers, its other parts work."""

import numpy as np
import pytest
from comparisons import import_torchvision, needs_torchvision
from other_libraries import require_numbers_of_pytorch, run

pytestmark = needs_torchvision("torchvision as a package over ocl")

QUICK = "resnet18 mobilenet_v3_small swin_t".split()
NETS = (
    "alexnet convnext_base convnext_large convnext_small convnext_tiny densenet121 densenet161 "
    "densenet169 densenet201 efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_b3 "
    "efficientnet_b4 efficientnet_b5 efficientnet_b6 efficientnet_b7 efficientnet_v2_l efficientnet_v2_m "
    "efficientnet_v2_s googlenet inception_v3 maxvit_t mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3 "
    "mobilenet_v2 mobilenet_v3_large mobilenet_v3_small regnet_x_16gf regnet_x_1_6gf regnet_x_32gf "
    "regnet_x_3_2gf regnet_x_400mf regnet_x_800mf regnet_x_8gf regnet_y_128gf regnet_y_16gf "
    "regnet_y_1_6gf regnet_y_32gf regnet_y_3_2gf regnet_y_400mf regnet_y_800mf regnet_y_8gf resnet101 "
    "resnet152 resnet18 resnet34 resnet50 resnext101_32x8d resnext101_64x4d resnext50_32x4d "
    "shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0 squeezenet1_0 "
    "squeezenet1_1 swin_b swin_s swin_t swin_v2_b swin_v2_s swin_v2_t vgg11 vgg11_bn vgg13 vgg13_bn vgg16 "
    "vgg16_bn vgg19 vgg19_bn vit_b_16 vit_b_32 vit_h_14 vit_l_16 vit_l_32 wide_resnet101_2 "
    "wide_resnet50_2"
).split()
SIDES = {"inception_v3": 80, "maxvit_t": 224, "vit_h_14": 56}


def test_all_nets_of_classification_are_listed():
    torchvision = import_torchvision("the list of torchvision's nets")
    assert NETS == torchvision.models.list_models(module=torchvision.models)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in NETS]
)
def test_nets_give_the_numbers_of_pytorch(name, tmp_path):
    """Outputs and gradients are at most 4 times as far from float64 as PyTorch's float32."""
    side = str(SIDES.get(name, 64))
    require_numbers_of_pytorch("torchvision_nets.py", name, side, folder=tmp_path)


def test_transforms_data_sets_and_operators(tmp_path):
    """Parts that draw nothing give PyTorch's numbers, and the others shapes and dtypes."""
    for over_ocl in (False, True):
        run("torchvision_parts.py", tmp_path / f"{over_ocl}.npz", over_ocl=over_ocl)
    theirs, ours = np.load(tmp_path / "False.npz"), np.load(tmp_path / "True.npz")
    assert len(theirs.files) > 10 and theirs.files == ours.files
    for name in theirs.files:
        if theirs[name].dtype.kind == "U":
            assert ours[name].tolist() == theirs[name].tolist(), name
            continue
        scale = np.abs(theirs[name].astype(np.float64)).max()
        assert ours[name].dtype == theirs[name].dtype, name
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-5 * scale, err_msg=name)
