"""Ensembles: the parameters and buffers of several modules as one batch."""

from __future__ import annotations

from collections.abc import Sequence

from ocl import _C, nn
from ocl._C import Tensor

__all__ = ["stack_module_state"]


def stack_module_state(models: Sequence[nn.Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of modules of one class, each stacked along a new first dimension
    (torch.func.stack_module_state)::

        nets = [nn.Linear(3, 2) for _ in range(5)]
        parameters, buffers = ocl.func.stack_module_state(nets)
        call = lambda p, b, x: ocl.func.functional_call(nets[0], (p, b), (x,))
        ocl.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers, ocl.rand(4, 3))  # (5, 4, 2)

    Stacked parameters are leaves, which require gradients as the modules' own do. RuntimeError for no
    modules, for modules of several classes, and where some are training and others not, or some parameters of
    a name require gradients and others not.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: _stacked([dict(m.named_parameters())[name] for m in models])
        for name, _ in models[0].named_parameters()
    }
    buffers = {
        name: _stacked([dict(m.named_buffers())[name] for m in models])
        for name, _ in models[0].named_buffers()
    }
    return parameters, buffers


def _stacked(tensors: list[Tensor]) -> Tensor:
    if any(t.requires_grad != tensors[0].requires_grad for t in tensors):
        raise RuntimeError("Expected tensors from each model to have the same .requires_grad")
    return _C.stack([t.detach() for t in tensors]).requires_grad_(tensors[0].requires_grad)
