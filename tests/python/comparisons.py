"""References that tests compare with where they are there. Where it is not, the end of a run says so: "NOT
COMPARED: …", or "NOT TESTED: …" of what needs another library.
"""

import warnings

import pytest
from validation.torchvision_files import find_torchvision, load_torchvision

_MARK = "NOT COMPARED: "
_TORCHVISION = "torchvision, which ./setup.sh --tests installs"


def not_compared(what, missing):
    """The reason of a skip that a run tells at its end."""
    return f"{_MARK}{what}, as there is no {missing}"


def lines_of_skips(reports):
    """A line for each of those reasons among the reports of skipped tests."""
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in reports]
    marked = [reason for reason in reasons if reason.startswith((_MARK, "NOT TESTED: "))]
    return [f"{reason} ({marked.count(reason)} skipped)" for reason in dict.fromkeys(marked)]


def needs_torchvision(what):
    """Marks a test that compares with torchvision."""
    return pytest.mark.skipif(find_torchvision() is None, reason=not_compared(what, _TORCHVISION))


def import_torchvision(what):
    """The package; skips the test or the module that asks where it is not installed."""
    if find_torchvision() is None:
        pytest.skip(not_compared(what, _TORCHVISION), allow_module_level=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_torchvision()


def evaluated_net(make):
    """A net of PyTorch's, drawn by seed 0, in eval mode, without parameters whose elements are all equal."""
    import torch

    torch.manual_seed(0)
    net = make().eval()
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.numel() > 1 and parameter.std() == 0:
                parameter += 0.1 * torch.randn_like(parameter)
    return net
