"""The doctor finds results that change from run to run."""

import numpy as np
import pytest

import ocl
from ocl import implementations
from ocl.doctor import repeats
from ocl.doctor.problems import Problem


def list_of(*given):
    return list(repeats.check(*given))


def levels(findings):
    return [finding.level for finding in findings]


def test_the_device_repeats_itself(device):
    found = list_of(device, 5, [], set())
    assert levels(found) == ["ok"] * 3
    assert "5 runs each" in found[0].text
    assert [f.text.split(":")[0] for f in found[1:]] == ["work groups of 8 x 8", "work groups of 4 x 16"]


def test_one_bit_in_one_of_many_runs_is_found(device, monkeypatch):
    """Drivers of phones go wrong like this: at random, and rarely."""
    compute, runs = Problem.compute, []

    def spoiled(self, device):
        results = compute(self, device)
        if "gemm=" in implementations.get():
            runs.append(self.name)
            if len(runs) == 17:
                results["result"].view(np.uint32)[0, 0] ^= 1
        return results

    monkeypatch.setattr(Problem, "compute", spoiled)
    found = list_of(device, 20, [], set())
    (line,) = [f for f in found if f.level == "fault"]
    assert line.implementation.startswith("gemm=")
    assert "other bits for the result" in line.text
    assert "in 1 of 20 runs" in line.text
    assert "--bar" in line.remedy
    runs.clear()
    assert "fault" not in levels(list_of(device, 20, [], {line.implementation}))
    runs.clear()
    list_of(device, 2, [line.implementation], set())
    others = list(runs)
    runs.clear()
    list_of(device, 2, [], set())
    assert len(others) < len(runs)


def test_a_work_group_that_changes_or_is_wrong_is_found(device, monkeypatch):
    product, runs = repeats.group_product, []

    def changing(device, a, b, group):
        runs.append(group)
        result = product(device, a, b, group)
        return result + (group == (4, 16) and len(runs) % 7 == 0)

    monkeypatch.setattr(repeats, "group_product", changing)
    found = list_of(device, 20, [], set())
    assert levels(found) == ["ok", "ok", "fault"]
    assert "has other bits in" in found[2].text
    assert "update the driver" in found[2].remedy

    monkeypatch.setattr(repeats, "group_product", lambda *given: product(*given) * np.float32(1.01))
    assert levels(list_of(device, 2, [], set())) == ["ok", "fault", "fault"]


def test_a_work_group_that_fails_is_found(device, monkeypatch):
    def fails(*given):
        raise ocl.DeviceError("CL_OUT_OF_RESOURCES (-5)")

    monkeypatch.setattr(repeats, "group_product", fails)
    found = list_of(device, 2, [], set())
    assert "DeviceError: CL_OUT_OF_RESOURCES (-5)" in found[1].text


def test_one_that_fails_is_found(device, monkeypatch):
    def fails(self, device):
        if "gemm=" in implementations.get():
            raise ocl.DeviceError("CL_OUT_OF_RESOURCES (-5)")
        return compute(self, device)

    compute = Problem.compute
    monkeypatch.setattr(Problem, "compute", fails)
    found = list_of(device, 2, [], set())
    assert set(levels(found[:-2])) == {"fault"}
    assert found[0].text.endswith("fails: DeviceError: CL_OUT_OF_RESOURCES (-5)")


def test_the_probe_refuses_what_it_cannot_do(device):
    a = ocl.ones(4, 4, device=device)
    with pytest.raises(ValueError, match="work groups of 1 to"):
        ocl._C._group_probe(a, a, a, 1 << 12, 1 << 12)
    with pytest.raises(ValueError, match="the shapes do not fit"):
        ocl._C._group_probe(a, ocl.ones(5, 4, device=device), a, 4, 4)
    with pytest.raises(ValueError, match="contiguous float32 matrices"):
        ocl._C._group_probe(a, a.double() if ocl.get_device_properties(device)["fp64"] else a.half(), a, 4, 4)
