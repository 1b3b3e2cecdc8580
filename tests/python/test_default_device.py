"""The device of tensors that name none: set_default_device, and `with device:`."""

import processes
import pytest

import ocl

TWO_DEVICES = """
import threading
import ocl

def made():
    return str(ocl.zeros(2).device), str(ocl.get_default_device()), str(ocl.nn.Linear(2, 2).weight.device)

def all_on(name):
    assert made() == (name, name, name), made()

zero, one = ocl.device("ocl:0"), ocl.device("ocl:1")
all_on("ocl:0")
with one as given:
    assert given is one
    all_on("ocl:1")
    with zero:
        all_on("ocl:0")
        with one, one:
            all_on("ocl:1")
        all_on("ocl:0")
    all_on("ocl:1")
    assert str(ocl.ones(2, device=zero).device) == "ocl:0"
    seen = []
    thread = threading.Thread(target=lambda: seen.append(made()))
    thread.start()
    thread.join()
    assert seen == [("ocl:0",) * 3], seen  # each thread has its own
all_on("ocl:0")

try:
    with one:
        raise KeyError
except KeyError:
    pass
all_on("ocl:0")

with one:
    ocl.set_default_device("ocl:0")  # says so for all, this thread as well
    all_on("ocl:0")
all_on("ocl:0")
ocl.set_default_device("ocl:1")
with zero:
    all_on("ocl:0")
all_on("ocl:1")
print("done")
"""


def test_two_devices():
    if not ocl.get_device_properties()["platform_name"].startswith("Portable"):
        pytest.skip("two devices of one machine are PoCL's to make")
    assert processes.run(TWO_DEVICES, POCL_DEVICES="pthread pthread")[0] == "done\n"


def test_the_default_device_as_context(device):
    before = ocl.get_default_device()
    with device as given:
        assert given is device and ocl.get_default_device() == device == ocl.empty(1).device
    assert ocl.get_default_device() == before


def test_left_without_being_entered(device):
    with pytest.raises(ValueError, match="left, but not entered"):
        device.__exit__(None, None, None)
