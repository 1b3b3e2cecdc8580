"""Nets of vit-pytorch, imported as its package: python vit_pytorch_nets.py NET OUT.npz --seed=N [--double]"""

import sys
import zlib

import numpy as np
import torch
import torchvision_first  # noqa: F401  (before torchvision, which vit_pytorch imports)
from results import drawn_picture, write_results
from vit_pytorch import ViT
from vit_pytorch.cct import CCT

NETS = {
    "vit": lambda: ViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64),
    "cct": lambda: CCT(
        img_size=32,
        embedding_dim=32,
        n_conv_layers=1,
        num_layers=2,
        num_heads=4,
        mlp_ratio=2.0,
        num_classes=5,
    ),
}


def main(name, path, *flags):
    net = NETS[name]().eval()
    with torch.no_grad():
        for key, value in net.state_dict().items():
            numbers = np.random.default_rng(zlib.crc32(key.encode())).standard_normal(tuple(value.shape))
            is_matrix = value.dim() > 1
            shift = 1.0 if key.endswith("norm.weight") else 0.0
            made = numbers / np.sqrt(np.prod(value.shape[1:])) if is_matrix else shift + 0.1 * numbers
            value.copy_(torch.from_numpy(made.astype(np.float32)))
    write_results(net, drawn_picture(32, flags), path, flags)


if __name__ == "__main__":
    main(*sys.argv[1:])
