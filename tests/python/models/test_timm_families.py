"""A small net of each of timm's families runs over ocl as it is, and gives PyTorch's numbers."""

import copy

import numpy as np
import pytest
import torch
from comparisons import not_compared
from settling import settled
from validation.model_files import Timm

import ocl

timm = Timm()

# The file, its smallest net, and the side of the pictures: 64 or 128 where the net takes it.
FAMILIES = [
    ("byoanet", "halonet_h1", 256),
    ("byobnet", "mobileone_s1", 64),
    ("cait", "cait_xxs24_224", 224),
    ("coat", "coat_tiny", 224),
    ("convit", "convit_tiny", 224),
    ("convmixer", "convmixer_768_32", 64),
    ("convnext", "test_convnext", 64),
    ("cpubone", "cpubone_nano", 64),
    ("crossvit", "crossvit_tiny_240", 64),
    ("csatv2", "csatv2", 64),
    ("cspnet", "cs3darknet_focus_s", 64),
    ("cspnext", "cspnext_tiny", 64),
    ("deit", "deit_tiny_patch16_224", 224),
    ("densenet", "densenet121", 64),
    ("dla", "dla46x_c", 64),
    ("edgenext", "edgenext_xx_small", 64),
    ("efficientformer", "efficientformer_l1", 224),
    ("efficientformer_v2", "efficientformerv2_s0", 224),
    ("efficientnet", "mobilenetv2_050", 64),
    ("efficientvim", "efficientvim_m1", 64),
    ("efficientvit_mit", "efficientvit_b0", 64),
    ("efficientvit_msra", "efficientvit_m0", 64),
    ("eva", "eva02_tiny_patch14_224", 224),
    ("fasternet", "fasternet_t0", 64),
    ("fastvit", "fastvit_t8", 64),
    ("gcvit", "gcvit_xxtiny", 224),
    ("ghostnet", "ghostnet_050", 64),
    ("hardcorenas", "hardcorenas_b", 64),
    ("hgnet", "hgnetv2_b0", 64),
    ("hrnet", "hrnet_w18_small", 64),
    ("iformer", "iformer_t", 64),
    ("inception_next", "inception_next_atto", 64),
    ("lcnetv2", "lcnetv2_small", 64),
    ("levit", "levit_128s", 224),
    ("lowformer", "lowformer_b0", 64),
    ("mambaout", "mambaout_femto", 64),
    ("maxxvit", "test_coatnet", 160),
    ("metaformer", "poolformerv2_s12", 64),
    ("mlp_mixer", "gmlp_ti16_224", 224),
    ("mobilenetv3", "mobilenetv3_small_050", 64),
    ("mobilevit", "mobilevit_xxs", 64),
    ("nest", "nest_tiny", 224),
    ("nfnet", "nf_regnet_b0", 64),
    ("pit", "pit_ti_224", 224),
    ("pvt_v2", "pvt_v2_b0", 64),
    ("regnet", "regnetx_004_tv", 64),
    ("repghost", "repghostnet_050", 64),
    ("repvit", "repvit_m1", 64),
    ("resnest", "resnest14d", 64),
    ("resnet", "resnet10t", 64),
    ("resnetv2", "resnetv2_18", 64),
    ("rexnet", "rexnet_100", 64),
    ("senet", "legacy_seresnet18", 64),
    ("shvit", "shvit_s1", 64),
    ("sknet", "skresnet18", 64),
    ("starnet", "starnet_s050", 64),
    ("swiftformer", "swiftformer_xs", 64),
    ("tiny_vit", "tiny_vit_5m_224", 64),
    ("visformer", "visformer_tiny", 224),
    ("vision_transformer", "vit_tiny_patch16_224", 224),
    ("vision_transformer_hybrid", "vit_tiny_r_s16_p8_224", 224),
    ("vision_transformer_relpos", "vit_srelpos_small_patch16_224", 224),
    ("vitamin", "vitamin_small_224", 224),
    ("vovnet", "ese_vovnet19b_slim_dw", 64),
    ("xception", "xception", 64),
    ("xcit", "xcit_nano_12_p8_224", 64),
]
# Where the usual one puts a number beside a ReLU's kink: of -1e-8 either side is right in float32.
SEEDS = {"swiftformer": 2}

QUICK = "efficientvit_msra ghostnet pvt_v2 regnet".split()


def distance(values, truth):
    return np.linalg.norm(values - truth) / np.linalg.norm(truth)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "file, name, side",
    [pytest.param(*row, id=row[0], marks=[] if row[0] in QUICK else pytest.mark.slow) for row in FAMILIES],
)
def test_gives_the_numbers_of_pytorch(file, name, side):
    """Evaluation: outputs and gradients are at most 4 times as far from float64 as PyTorch's float32."""
    if timm.missing:
        pytest.skip(not_compared("model files of timm", f"{' and '.join(timm.missing)}"))
    torch.manual_seed(0)
    theirs = settled(getattr(timm.load(torch, file), name)(num_classes=10)).eval()
    ours = getattr(timm.load(ocl, file), name)(num_classes=10).eval()
    assert [key for key, _ in ours.named_parameters()] == [key for key, _ in theirs.named_parameters()]
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    x = np.random.default_rng(SEEDS.get(file, 1)).standard_normal((2, 3, side, side)).astype(np.float32)
    truth = copy.deepcopy(theirs).double()
    outputs, gradients = [], []
    for net, given in (ours, ocl.tensor(x)), (theirs, torch.tensor(x)), (truth, torch.tensor(x).double()):
        output = net(given)
        (output**2).mean().backward()
        outputs.append(output.detach().numpy())
        parts = [np.zeros(1) if p.grad is None else p.grad.numpy().ravel() for p in net.parameters()]
        gradients.append(np.concatenate(parts))
    for what, (actual, single, exact) in {"output": outputs, "gradients": gradients}.items():
        assert distance(actual, exact) <= 4 * distance(single, exact) + 2 * np.finfo(np.float32).eps, what
