"""SummaryWriter writes what TensorBoard reads, and says what to install where tensorboardX is missing."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import ocl


def test_without_the_package(monkeypatch):
    monkeypatch.delitem(sys.modules, "ocl.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match="pip install tensorboardX"):
        importlib.import_module("ocl.utils.tensorboard")


@pytest.fixture
def writer(tmp_path):
    pytest.importorskip("tensorboardX")
    from ocl.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path / "run", filename_suffix=".mine") as writer:
        yield writer


def written(writer):
    """The values of the file by tag."""
    from tensorboardX.proto.event_pb2 import Event

    writer.close()
    (path,) = (p for p in Path(writer.get_logdir()).iterdir() if p.is_file())
    assert path.name.endswith(".mine")
    data, place, values = path.read_bytes(), 0, {}
    while place < len(data):
        length = int.from_bytes(data[place : place + 8], "little")
        event = Event.FromString(data[place + 12 : place + 12 + length])
        values.update({(value.tag, event.step): value for value in event.summary.value})
        place += length + 16
    return values


def test_tensors_are_written(writer):
    writer.add_scalar("loss", ocl.tensor(2.5, requires_grad=True) * 2, 3)
    writer.add_scalar("loss", 4.0, global_step=4)
    writer.add_histogram("weights", ocl.arange(100).float(), 1)
    writer.add_image("image", ocl.rand(3, 4, 5), 1)
    writer.add_text("note", "all is well", 1)
    values = written(writer)
    assert values["loss", 3].simple_value == 5.0 and values["loss", 4].simple_value == 4.0
    histogram = values["weights", 1].histo
    assert (histogram.min, histogram.max, histogram.num) == (0, 99, 100)
    image = values["image", 1].image
    assert (image.height, image.width) == (4, 5)


def test_tensors_in_dicts(writer):
    import ocl.utils.tensorboard

    nested = {"a": ocl.ones(2), "b": [ocl.tensor(1), "c"], "d": (1, None)}
    found = ocl.utils.tensorboard._arrays(nested)
    assert isinstance(found["a"], np.ndarray) and found["b"][0] == 1 and found["b"][1] == "c"
    assert found["d"] == (1, None)
    writer.add_scalars("several", {"train": ocl.tensor(1.0), "test": 2.0}, 1)
    writer.flush()


def test_there_is_no_graph(writer):
    with pytest.raises(NotImplementedError, match=r"ocl\.utils\.summary"):
        writer.add_graph(ocl.nn.Linear(1, 1), ocl.ones(1, 1))
    with pytest.raises(AttributeError):
        writer.add_nothing  # noqa: B018
