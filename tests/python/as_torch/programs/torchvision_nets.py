"""Nets of torchvision, imported as its package: results and gradients.

python torchvision_nets.py NET SIDE OUT.npz --seed=N [--double]
Weights are drawn by their names and shapes, so that every library has the same.
"""

import sys
import zlib

import numpy as np
import torch
import torchvision_first  # noqa: F401  (before torchvision)

# isort: split
import torchvision
from results import drawn_picture, write_results

OPTIONS = {
    "googlenet": {"init_weights": False},
    "inception_v3": {"init_weights": False},
    **dict.fromkeys(("vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32"), {"image_size": 64}),
    "vit_h_14": {"image_size": 56},
}


def drawn(name, shape):
    """Weights as after a training: signals neither die nor explode."""
    numbers = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape).astype(np.float32)
    if name.endswith("running_var"):
        return 0.5 + np.abs(numbers)
    if name.endswith("layer_scale"):
        return 0.3 + 0.1 * numbers
    if len(shape) > 1:
        return numbers / np.sqrt(np.prod(shape[1:]))
    is_scale = name.endswith("weight")
    return (1.0 if is_scale else 0.0) + 0.1 * numbers


def main(name, side, path, *flags):
    net = torchvision.models.get_model(name, num_classes=10, **OPTIONS.get(name, {})).eval()
    with torch.no_grad():
        for key, value in net.state_dict().items():
            if value.is_floating_point() and "relative_coords_table" not in key:
                value.copy_(torch.from_numpy(drawn(key, tuple(value.shape))))
    write_results(net, drawn_picture(int(side), flags), path, flags)


if __name__ == "__main__":
    main(*sys.argv[1:])
