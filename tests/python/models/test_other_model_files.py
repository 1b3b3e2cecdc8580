"""Ten model files of timm and vit-pytorch run over ocl as they are, and give PyTorch's numbers."""

import copy

import numpy as np
import pytest
import torch
from comparisons import not_compared
from settling import settled
from validation.model_files import Timm, VitPytorch

import ocl

timm, vit_pytorch = Timm(), VitPytorch()

# Small nets: the package, its file, what makes one of the file's module, and the side of the pictures.
NETS = {
    "timm vision_transformer": (
        timm,
        "vision_transformer",
        lambda file: file.VisionTransformer(
            img_size=32, patch_size=8, num_classes=10, embed_dim=48, depth=2, num_heads=3, qk_norm=True
        ),
        32,
    ),
    "timm resnet": (
        timm,
        "resnet",
        lambda file: file.ResNet(
            file.Bottleneck,
            (1, 1, 1, 1),
            num_classes=10,
            stem_type="deep",
            stem_width=16,
            avg_down=True,
            block_args={"attn_layer": "se"},
        ),
        64,
    ),
    "timm convnext": (
        timm,
        "convnext",
        lambda file: file.ConvNeXt(num_classes=10, depths=(1, 1, 2, 1), dims=(16, 32, 48, 64), use_grn=True),
        64,
    ),
    "timm mobilenetv3": (timm, "mobilenetv3", lambda file: file.mobilenetv3_small_050(num_classes=10), 64),
    "timm mlp_mixer": (
        timm,
        "mlp_mixer",
        lambda file: file.MlpMixer(num_classes=10, img_size=32, patch_size=8, num_blocks=2, embed_dim=48),
        32,
    ),
    "timm swin_transformer": (
        timm,
        "swin_transformer",
        lambda file: file.SwinTransformer(
            img_size=32,
            patch_size=4,
            num_classes=10,
            embed_dim=24,
            depths=(2, 2),
            num_heads=(2, 4),
            window_size=4,
        ),
        32,
    ),
    "vit_pytorch vit": (
        vit_pytorch,
        "vit",
        lambda file: file.ViT(
            image_size=32, patch_size=8, num_classes=10, dim=48, depth=2, heads=3, mlp_dim=64, dim_head=16
        ),
        32,
    ),
    "vit_pytorch cct": (
        vit_pytorch,
        "cct",
        lambda file: file.CCT(
            img_size=32,
            embedding_dim=48,
            n_conv_layers=2,
            kernel_size=3,
            stride=1,
            padding=1,
            num_layers=2,
            num_heads=3,
            mlp_ratio=2.0,
            num_classes=10,
            positional_embedding="learnable",
        ),
        32,
    ),
    "vit_pytorch levit": (
        vit_pytorch,
        "levit",
        lambda file: file.LeViT(
            image_size=64,
            num_classes=10,
            stages=2,
            dim=(32, 48),
            depth=2,
            heads=(2, 3),
            mlp_mult=2,
            dim_key=16,
        ),
        64,
    ),
    "vit_pytorch mobile_vit": (
        vit_pytorch,
        "mobile_vit",
        lambda file: file.MobileViT(
            (64, 64),
            (24, 32, 40),
            (8, 8, 16, 16, 24, 24, 32, 32, 40, 40, 64),
            num_classes=10,
            depths=(1, 1, 1),
        ),
        64,
    ),
}


def without_chance(net):
    for module in net.modules():
        if type(module).__name__ in ("Dropout", "DropPath"):
            module.p = module.drop_prob = 0.0
    return net


def pair_of(name):
    """(ours, theirs), of the same file and the same weights."""
    package, file, make, _ = NETS[name]
    if package.missing:
        missing = f"{' and '.join(package.missing)}, which ./setup.sh --tests installs"
        pytest.skip(not_compared("model files of timm and vit-pytorch", missing))
    torch.manual_seed(0)
    theirs, ours = settled(make(package.load(torch, file))), make(package.load(ocl, file))
    assert isinstance(ours, ocl.nn.Module)
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return without_chance(ours), without_chance(theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["eval", "train"])
@pytest.mark.parametrize("name", NETS)
def test_gives_the_numbers_of_pytorch(name, mode):
    """Outputs and all gradients together are at most 4 times as far from float64 as PyTorch's float32."""
    ours, theirs = pair_of(name)
    side = NETS[name][3]
    x = np.random.default_rng(1).standard_normal((4, 3, side, side)).astype(np.float32)
    truth = copy.deepcopy(theirs).double()
    outputs, gradients = [], []
    for net, given in (ours, ocl.tensor(x)), (theirs, torch.tensor(x)), (truth, torch.tensor(x).double()):
        output = net.train(mode == "train")(given)
        (output**2).mean().backward()
        outputs.append(output.detach().numpy())
        gradients.append([np.zeros(1) if p.grad is None else p.grad.numpy() for p in net.parameters()])
    flat = [np.concatenate([part.ravel() for part in gradient]) for gradient in gradients]
    for what, (actual, single, exact) in {"output": outputs, "gradients": flat}.items():
        own, distance = (
            np.linalg.norm(values - exact) / np.linalg.norm(exact) for values in (single, actual)
        )
        assert distance <= 4 * own + np.finfo(np.float32).eps, what
