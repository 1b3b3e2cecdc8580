"""Every name that the library must have is there: those of required_names.txt, in PyTorch's places."""

from pathlib import Path

import ocl

PLACES = (
    ocl,
    ocl.Tensor,
    ocl.autograd,
    ocl.autograd.functional,
    ocl.func,
    ocl.nn,
    ocl.nn.Module,
    ocl.nn.functional,
    ocl.nn.init,
    ocl.nn.utils,
    ocl.optim,
    ocl.optim.lr_scheduler,
    ocl.profiler,
)
REQUIRED = (Path(__file__).parent / "required_names.txt").read_text().split()

# Left out on purpose: nothing of the kind is there by accident.
LEFT_OUT = ("orthogonal",)


def is_there(name):
    return any(hasattr(place, name) for place in PLACES)


def test_every_name_is_there():
    operators = {row["name"] for row in ocl._C.operator_table()}
    assert len(REQUIRED) > 300
    assert [name for name in REQUIRED if name not in operators and not is_there(name)] == []


def test_what_is_left_out_is_not_there():
    assert [name for name in LEFT_OUT if is_there(name)] == []
