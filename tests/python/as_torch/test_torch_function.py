"""Classes and modes that define `__torch_function__` are asked as PyTorch asks them.

Each part runs in a process of its own: once something has been asked, functions ask until the process ends.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

PROGRAM = Path(__file__).parent / "programs" / "torch_function.py"


def seen(*command):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith("SEEN")]


def test_classes_and_modes_see_what_they_see_in_pytorch():
    expected = seen(PROGRAM)
    assert len(expected) > 200
    assert seen("-m", "ocl.as_torch", PROGRAM) == expected


UNTOUCHED = """
import ocl

members, functions = dict(vars(ocl.Tensor)), dict(vars(ocl))
class Plain(ocl.Tensor):
    pass
class Duck:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return "asked"
assert isinstance(ocl.ones(2).as_subclass(Plain) + 1, Plain)
try:
    ocl.add(Duck(), 1)
except TypeError:
    pass
else:
    raise AssertionError
assert all(vars(ocl.Tensor)[name] is member for name, member in members.items())
assert all(vars(ocl)[name] is function for name, function in functions.items())
import ocl.overrides
assert all(vars(ocl.Tensor)[name] is member for name, member in members.items())
assert ocl.mean(Duck()) == "asked" and ocl.ones(2) + Duck() == "asked"
assert ocl.add in ocl.overrides.get_overridable_functions()[ocl]
"""

ALONE = """
import pickle, threading
import numpy as np
import ocl
from ocl import overrides

heard = []
class Heard(ocl.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        heard.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)
class Counting(overrides.TorchFunctionMode):
    count = 0
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))

x = ocl.ones(3).as_subclass(Heard)
assert isinstance(ocl.exp(x), Heard) and isinstance(x @ x, Heard) and heard == ["exp", "matmul"]
plain = ocl.ones(3)
assert type(plain + 1) is ocl.Tensor and len(heard) == 2

# The layers of Tensor's members are put on and taken off in any order.
exp = ocl.Tensor.exp
rows = ocl.tensor(np.arange(6, dtype=np.float32).reshape(3, 2))
doubled = ocl.func.vmap(lambda row: (row * 2).add_(row)[0])(rows)
np.testing.assert_array_equal(doubled.numpy(), [0, 6, 12])
assert ocl.Tensor.exp is exp
try:
    ocl.func.vmap(lambda row: row.item())(rows)
except RuntimeError as error:
    assert "vmap" in str(error)
else:
    raise AssertionError

with Counting() as mode:
    other = threading.Thread(target=lambda: ocl.zeros(2) + 1)
    other.start()
    other.join()
    assert mode.count == 0
    ocl.func.vmap(lambda row: row.exp())(rows)
    assert mode.count > 0
try:
    with Counting():
        raise KeyError
except KeyError:
    pass
assert overrides._get_current_function_mode_stack() == []

for function in (ocl.add, ocl.Tensor.exp, ocl.linalg.inv):
    assert pickle.loads(pickle.dumps(function)) is function
tensors = [ocl.ones(2, requires_grad=True), ocl.nn.Parameter(ocl.ones(2))]
assert not any(map(overrides.has_torch_function_unary, tensors))
loss = (ocl.nn.Linear(3, 2)(x) * 2).sum()
loss.backward()
assert type(loss) is Heard
few = ocl.sparse_coo_tensor(ocl.tensor([[0, 2]]), ocl.tensor([1.0, 2.0]), (3,))
assert few.to_dense().tolist() == [1, 0, 2] and few.mul(few).to_dense().tolist() == [1, 0, 4]
"""

NAMES = """
from ocl import overrides
import ocl
asked = overrides.get_overridable_functions()
ignored = {f.__name__ for f in overrides.get_ignored_functions()}
for module, functions in asked.items():
    for function in functions:
        print("SEEN", overrides.resolve_name(function).removeprefix("ocl."))
"""


@pytest.mark.parametrize("text", [UNTOUCHED, ALONE], ids=["nothing is touched before", "ocl alone"])
def test_in_ocl(text):
    seen("-c", text)


def test_all_functions_ask_that_ask_in_pytorch():
    from torch.overrides import get_overridable_functions, resolve_name

    import ocl

    ours = {line.removeprefix("SEEN ") for line in seen("-c", NAMES)}
    assert len(ours) > 1000
    missing = []
    for functions in get_overridable_functions().values():
        for function in functions:
            name = (resolve_name(function) or "").removeprefix("torch.").removeprefix("functional.")
            place, _, last = name.replace(".__get__", "").rpartition(".")
            owner = ocl
            for part in filter(None, place.split(".")):
                owner = getattr(owner, part, None)
            found = vars(owner or object).get(last)  # a class, as autocast is here, is no function
            if found is not None and not isinstance(found, type) and last[0] != "_" and name not in ours:
                missing.append(name)
    assert missing == []
    assert resolve_name(torch.add).removeprefix("torch.") in ours


ASKING = """
import sys
import pytest
from ocl.overriding import arming

arming.arm()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


@pytest.mark.parametrize(
    "tests",
    ["sparse/test_sparse_hooks.py", "test_doors_of_arrays.py", "export/test_from_torch.py -k pickled"],
)
def test_other_tests_hold_once_functions_ask(tests):
    """Parts that replace members of Tensor, take PyTorch's tensors, or keep functions in files."""
    file, *options = tests.split()
    command = [sys.executable, "-c", ASKING, Path(__file__).parents[1] / file, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
