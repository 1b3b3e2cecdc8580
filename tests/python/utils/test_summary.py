"""ocl.utils.summary: numbers that are known, and the model as it was."""

import numpy as np
import pytest
from comparisons import needs_torchvision
from validation.torchvision_files import factories, find_torchvision

import ocl
from ocl import nn
from ocl.utils import summary


def layer(found, name):
    (one,) = [layer for layer in found.layers if layer.name == name]
    return one


@needs_torchvision("summaries of nets")
@pytest.mark.parametrize(
    ("name", "parameters", "mult_adds"),
    # torchvision's own figures, weights.meta["num_params"] and ["_ops"], which is in units of 10^9
    [
        ("resnet18", 11_689_512, 1.814),
        ("mobilenet_v3_small", 2_542_856, 0.057),
        pytest.param("vit_b_32", 88_224_232, 4.409, marks=pytest.mark.slow),
    ],
)
def test_nets_whose_numbers_are_known(name, parameters, mult_adds):
    found = summary(factories(find_torchvision())[name](), (1, 3, 224, 224))
    assert found.total_params == found.trainable_params == parameters
    assert round(found.total_mult_adds / 1e9, 3) == mult_adds
    assert found.total_input == 3 * 224 * 224 * 4
    assert found.input_shapes == ((1, 3, 224, 224),)


def test_each_kind_of_product():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(4, 8, 3, groups=2, padding=1)
            self.up = nn.ConvTranspose2d(8, 6, 2, stride=2)
            self.norm = nn.BatchNorm2d(6)
            self.rnn = nn.LSTM(6, 5, proj_size=3)
            self.attention = nn.MultiheadAttention(3, 1)
            self.head = nn.Linear(3, 7)

        def forward(self, x):
            x = self.norm(self.up(self.conv(x)))  # [2, 6, 8, 8]
            x, _ = self.rnn(x.flatten(2).permute(2, 0, 1))  # [64, 2, 3]
            x, _ = self.attention(x, x, x, need_weights=False)
            return self.head(x) @ ocl.ones(7, 9)

    found = summary(Net(), (2, 4, 4, 4))
    work = {name: layer(found, name).mult_adds for name in ("conv", "up", "norm", "rnn", "head", "")}
    assert work == {
        "conv": 2 * 8 * 16 * (2 * 9),
        "up": 2 * 8 * 16 * (6 * 4),
        "norm": 0,
        "rnn": 128 * (20 * 6 + 20 * 3 + 3 * 5),
        "head": 128 * 3 * 7,
        "": 128 * 7 * 9,
    }
    attention = sum(one.mult_adds for one in found.layers if one.name.startswith("attention"))
    assert attention == 4 * 128 * 3 * 3 + 2 * 2 * 64 * 64 * 3
    assert layer(found, "up").output_shapes == ((2, 6, 8, 8),)
    assert layer(found, "rnn").output_shapes == ((64, 2, 3), (1, 2, 3), (1, 2, 5))
    assert layer(found, "conv").params == 8 * 2 * 9 + 8


def test_shared_modules_and_parameters_count_once():
    shared = nn.Linear(4, 4)
    tied = nn.Linear(4, 4, bias=False)
    tied.weight = shared.weight
    found = summary(nn.Sequential(shared, nn.ReLU(), shared, tied), (3, 4))
    assert found.total_params == 20
    assert [one.params for one in found.layers] == [0, 20, 0, 0, 0]
    assert [one.is_shared for one in found.layers] == [False, False, False, True, False]
    assert found.total_mult_adds == 3 * 3 * 16  # computed each time
    assert layer(found, "0").calls == 2
    assert found.total_param_bytes == 80


def test_memory():
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).requires_grad_(False)
    found = summary(net, (5, 4))
    buffers = 8 * 4 * 2 + 8
    assert found.total_param_bytes == (40 + 16) * 4 + buffers
    assert found.total_output_bytes == 2 * 5 * 8 * 4
    assert [part.memory_bytes for part in found.layers] == [0, 40 * 4 + 160, 16 * 4 + buffers + 160]
    assert found.trainable_params == 0
    assert found.training_bytes == 80 + 2 * (found.total_output_bytes + found.total_param_bytes)


def test_memory_of_layers_adds_up():
    found = summary(ocl.models.resnet18(), (2, 3, 64, 64))
    assert (
        sum(part.memory_bytes for part in found.layers) == found.total_param_bytes + found.total_output_bytes
    )
    assert layer(found, "conv1").param_bytes == 64 * 3 * 7 * 7 * 4


def test_a_size_without_the_batch():
    with pytest.raises(ValueError, match=r"size \(3, 32, 32\); a size includes the batch.*BatchNorm2d"):
        summary(ocl.models.resnet18(), (3, 32, 32))


def test_several_inputs_and_their_dtypes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(9, 4)

        def forward(self, words, scale):
            return {"a": self.embedding(words) * scale, "b": [scale]}

    net = Net()
    found = summary(net, [(2, 3), (4,)], dtypes=[ocl.int64, ocl.float32])
    assert layer(found, "").output_shapes == ((2, 3, 4), (4,))
    assert found.total_input == 6 * 8 + 16
    words, scale = ocl.ones(5, dtype=ocl.int64), ocl.ones(4)
    for data in ((words, scale), {"words": words, "scale": scale}):
        assert layer(summary(net, input_data=data), "embedding").output_shapes == ((5, 4),)


def test_the_model_is_left_as_it_was():
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
    net[2].eval()
    before = {key: value.numpy() for key, value in net.state_dict().items()}
    random = ocl.get_rng_state()
    summary(net, (3, 4))
    assert [module.training for module in net.modules()] == [True, True, True, False]
    for key, value in net.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[key])
    np.testing.assert_array_equal(ocl.get_rng_state().numpy(), random.numpy())
    with ocl.profiler.record_calls() as recorded:
        net(ocl.ones(3, 4))
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in net.modules())
    assert recorded.calls


def test_a_failing_model_is_left_as_it_was():
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(5, 4))
    with pytest.raises(ValueError, match="linear"):
        summary(net, (3, 4))
    assert net.training
    assert summary(nn.Sequential(net[0]), (3, 4)).total_mult_adds == 48


def test_the_table():
    inner = nn.Sequential(nn.Linear(4, 300), nn.ReLU())
    found = summary(nn.Sequential(inner, nn.Linear(300, 2)), (7, 4), depth=1)
    text = str(found).splitlines()
    assert text[0].split() == ["layer", "output", "parameters", "multiply-adds", "memory"]
    assert [line.split() for line in text[2:5]] == [
        ["Sequential", "[7,", "2]", "-", "-", "-"],
        ["0:", "Sequential", "[7,", "300]", "1,500", "8,400", "22.27", "KiB"],
        ["1:", "Linear", "[7,", "2]", "602", "4,200", "2.41", "KiB"],
    ]
    assert "parameters: 2,102, trainable 2,102" in text
    assert "multiply-adds: 12.60 k" in text
    assert len(str(summary(nn.Sequential(inner), (7, 4), depth=2)).splitlines()) == len(text) + 1


def test_input_size_or_data():
    net = nn.Linear(4, 4)
    for given in ({}, {"input_size": (3, 4), "input_data": ocl.ones(3, 4)}):
        with pytest.raises(ValueError, match="one of them"):
            summary(net, **given)
    with pytest.raises(ValueError, match="2 dtypes for 1 inputs"):
        summary(net, (3, 4), dtypes=[ocl.float32] * 2)
