"""Every name that the library must have is there: those of the list OPERATORS.md beside the project."""

import re
from pathlib import Path

import pytest

import ocl

LIST = Path(__file__).resolve().parents[3] / "shared" / "OPERATORS.md"

PLACES = (
    ocl,
    ocl.Tensor,
    ocl.autograd,
    ocl.nn,
    ocl.nn.Module,
    ocl.nn.functional,
    ocl.nn.init,
    ocl.nn.utils,
    ocl.optim,
    ocl.optim.lr_scheduler,
    ocl.profiler,
)

# Names in the list that the library leaves out, and why.
LEFT_OUT = {
    "lp_pool": "the list itself says that it is not needed",
    "alpha_dropout": "the list itself says that it is not needed",
    "Bilinear": "the list itself says that it is not needed",
    "orthogonal": "the list itself says that it is not needed",
}

# Parts of names: of logical_and/or/xor, *_like, named_*, MaxPool for 1d and 2d, uniform for uniform_.
PARTS = """or xor _like named_ MaxPool AvgPool Copies constant uniform xavier kaiming trunc_normal d i
nearest exact bilinear""".split()

# Arguments and options, which the cases of their operators try.
ARGUMENTS = """None allow_unused amsgrad bias ceil_mode count_include_pad dampening dilation groups indices
is_causal mask maximize momentum nesterov none padding padding_idx reflect replicate
retain_graph return_indices rounding_mode same strict valid values weight_decay""".split()

WORDS = set(
    """a above accumulation activation Activations affine align_corners and are arithmetic as Binary
    broadcasting bwd can cases cast chains check Chrome class clear comparisons copies copy Creation
    CSV deep depth depthwise dict down dtypes each either enough error errors evaluation every
    everywhere fine for freed fwd Graphs groups H has hooks host in In incl indexing inputs integer
    is it kernel keys last like loss masks messages missing needed neither nested no nodes nor not
    numbers ocl of omitted on operands optimizer or outputs overflow param per place prints
    probabilities Python PyTorch quadratically Reading repr running s safetensors saved scalars
    scale second several side slicing slow state statistics stochastic storage table tensors that
    the them too trace two Unary unexpected unique version Views W walks with without written x y""".split()
)


def names():
    """The words of the list, without its head and its headings."""
    body = LIST.read_text().split("\n## ", 1)[1].split("\n", 1)[1]
    lines = [line for line in body.splitlines() if not line.startswith("## ")]
    return sorted(set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines))))


@pytest.mark.skipif(not LIST.exists(), reason=f"the list of names, {LIST}, is not here")
def test_every_name_is_there_or_left_out_with_a_reason():
    known = (
        {row["name"] for row in ocl._C.operator_table()} | set(LEFT_OUT) | set(PARTS) | set(ARGUMENTS) | WORDS
    )
    missing = [n for n in names() if n not in known and not any(hasattr(place, n) for place in PLACES)]
    assert not missing


def test_what_is_left_out_is_not_there():
    assert not [n for n in LEFT_OUT if any(hasattr(place, n) for place in PLACES)]
