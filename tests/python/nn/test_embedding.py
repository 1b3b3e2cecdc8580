"""nn.Embedding against PyTorch's."""

import numpy as np
import pytest
import torch

import ocl

TOKENS = np.array([[1, 0, 3], [3, 3, 2]])


@pytest.mark.parametrize("padding_idx", [None, 0, 3, -1])
def test_like_torch(padding_idx):
    theirs = torch.nn.Embedding(5, 7, padding_idx=padding_idx)
    ours = ocl.nn.Embedding(5, 7, padding_idx=padding_idx)
    assert list(ours.state_dict()) == list(theirs.state_dict()) == ["weight"]
    ours.load_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    assert repr(ours) == repr(theirs)
    a, b = ours(ocl.tensor(TOKENS)), theirs(torch.tensor(TOKENS))
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    a.sum().backward()
    b.sum().backward()
    np.testing.assert_array_equal(ours.weight.grad.numpy(), theirs.weight.grad.numpy())


def test_new_rows_are_normal_and_the_padding_row_is_zero():
    weight = ocl.nn.Embedding(300, 50, padding_idx=-2).weight.detach().numpy()
    assert not weight[298].any()
    assert abs(weight.mean()) < 0.05
    assert abs(weight.std() - 1) < 0.05


@pytest.mark.parametrize("freeze", [True, False])
def test_from_pretrained(freeze):
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    module = ocl.nn.Embedding.from_pretrained(ocl.tensor(rows), freeze=freeze, padding_idx=1)
    assert module.weight.requires_grad is not freeze
    assert module.padding_idx == 1
    assert (module.num_embeddings, module.embedding_dim) == (3, 2)
    np.testing.assert_array_equal(module(ocl.tensor([2, 0])).detach().numpy(), rows[[2, 0]])


def test_errors():
    with pytest.raises(ValueError, match="padding_idx must be within"):
        ocl.nn.Embedding(3, 2, padding_idx=3)
    with pytest.raises(ValueError, match="2-dimensional"):
        ocl.nn.Embedding.from_pretrained(ocl.zeros(3))
