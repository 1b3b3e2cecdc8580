"""Holds what the programs of nets write: the output for a picture, and the gradients of all parameters."""

import numpy as np
import torch


def drawn_picture(side, flags):
    """Two pictures, drawn by the number behind "--seed=" among the flags."""
    (seed,) = [int(flag.removeprefix("--seed=")) for flag in flags if flag.startswith("--seed=")]
    return np.random.default_rng(seed).standard_normal((2, 3, side, side)).astype(np.float32)


def write_results(net, x, path, flags):
    """Writes them in float32, with "--double" among the flags in float64 too, and says that it is done."""
    found = {}
    for kind, dtype in (("single", torch.float32), ("exact", torch.float64)):
        if kind == "single" or "--double" in flags:
            net = net.to(dtype)
            net.zero_grad()
            output = net(torch.tensor(x).to(dtype))
            (output**2).mean().backward()
            found[f"{kind} output"] = output.detach().numpy()
            gradients = [p.grad for p in net.parameters() if p.grad is not None]
            found[f"{kind} gradients"] = np.concatenate([g.numpy().ravel() for g in gradients])
    np.savez(path, **found)
    print("DONE")
