"""A training in Python and one in C++ give the same bits, for the same weights on the same device.

The C++ program is tests/cpp/programs/three_steps.cpp, as ./test.sh or ``cmake --build --preset …`` built it;
OCL_TEST_PROGRAMS names the folder of another one.
"""

import subprocess

import numpy as np
import pytest
from comparisons import not_compared
from processes import find_program

import ocl
from ocl import models

STEPS, BATCH, CLASSES = 3, 4, 10
SIDES = {"resnet18": 64, "mobilenet_v3_small": 64, "vit_b_16": 32}


PROGRAM = find_program("three_steps")
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason=not_compared("Python's bits with C++'s", "build of the C++ program three_steps")
)


def make_net(name):
    options = {"image_size": SIDES[name]} if name.startswith("vit") else {}
    return models.get_model(name, num_classes=CLASSES, **options)


def inputs_of(name, rng):
    ocl.manual_seed(3)
    weights = {f"net.{key}": value for key, value in make_net(name).state_dict().items()}
    shape = (BATCH, 3, SIDES[name], SIDES[name])
    pictures = {f"pictures.{i}": rng.standard_normal(shape).astype(np.float32) for i in range(STEPS)}
    labels = {f"labels.{i}": rng.integers(0, CLASSES, BATCH) for i in range(STEPS)}
    others = {key: ocl.tensor(value) for key, value in (pictures | labels).items()}
    return weights | others | {"classes": ocl.zeros(CLASSES)}


def in_python(name, inputs):
    """The steps of the program in C++."""
    ocl.manual_seed(7)
    net = make_net(name)
    net.load_state_dict({key[4:]: value for key, value in inputs.items() if key.startswith("net.")})
    optimizer = ocl.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    found = {}
    for i in range(STEPS):
        output = net(inputs[f"pictures.{i}"])
        loss = ocl.nn.functional.cross_entropy(output, inputs[f"labels.{i}"])
        optimizer.zero_grad()
        loss.backward()
        found |= {f"output.{i}": output, f"loss.{i}": loss}
        if i == 0:
            found |= {f"gradient.{key}": parameter.grad for key, parameter in net.named_parameters()}
        optimizer.step()
    found["evaluated"] = net.eval()(inputs["pictures.0"])
    found |= {f"net.{key}": value for key, value in net.state_dict().items()}
    return {key: value.detach().numpy() for key, value in found.items()}


@pytest.mark.parametrize(
    "name", [n if n != "vit_b_16" else pytest.param(n, marks=pytest.mark.slow) for n in SIDES]
)
def test_outputs_gradients_and_weights_have_the_bits_of_cpp(name, rng, tmp_path):
    inputs = inputs_of(name, rng)
    ocl.save(inputs, tmp_path / "input.safetensors")
    actual = in_python(name, inputs)
    command = [PROGRAM, name, tmp_path / "input.safetensors", tmp_path / "output.safetensors"]
    result = subprocess.run(
        [*map(str, command), str(ocl.get_default_device())], capture_output=True, text=True, timeout=900
    )
    assert result.returncode == 0, result.stderr
    expected = {key: value.numpy() for key, value in ocl.load(tmp_path / "output.safetensors").items()}
    assert actual.keys() == expected.keys()
    different = [key for key in expected if actual[key].tobytes() != expected[key].tobytes()]
    assert not different, f"{len(different)} of {len(expected)} differ"
    moved = [key for key in inputs if key.startswith("net.") and (actual[key] != inputs[key].numpy()).any()]
    assert len(moved) == sum(key.startswith("net.") for key in inputs)
