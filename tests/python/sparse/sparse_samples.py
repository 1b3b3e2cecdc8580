"""Random sparse tensors of both libraries, and how results are compared."""

import numpy as np
import torch

import ocl

ocl_of = {torch.strided: ocl.strided, torch.sparse_coo: ocl.sparse_coo}

# (sparse sizes, dense sizes, number of elements): duplicates, hybrids, no elements, sizes of 0.
SHAPES = [
    ((4, 5), (), 9),
    ((4, 5), (), 0),
    ((7,), (3,), 12),
    ((3, 4, 2), (), 15),
    ((3, 2), (2, 3), 8),
    ((1, 1), (), 5),
    ((5, 0), (), 0),
    ((3, 4), (0,), 4),
    ((40, 3), (), 1),
]
MATRICES = [((4, 5), (), 9), ((4, 5), (), 0), ((1, 7), (), 20), ((6, 1), (), 3), ((0, 3), (), 0)]


def parts(rng, sparse, dense, count, dtype=np.float64):
    indices = (
        np.stack([rng.integers(0, size, count) for size in sparse]) if count else np.zeros((len(sparse), 0))
    )
    values = rng.standard_normal((count, *dense))
    if np.issubdtype(dtype, np.integer):
        values = np.round(values * 4)
    return indices.astype(np.int64), values.astype(dtype)


def pair(rng, case, dtype=np.float64, is_coalesced=False, requires_grad=False):
    """A sparse tensor of ocl and its like of PyTorch, each with the values that it was made of."""
    sparse, dense, count = case
    indices, values = parts(rng, sparse, dense, count, dtype)
    result = []
    for library in (ocl, torch):
        own = library.tensor(values, requires_grad=requires_grad)
        tensor = library.sparse_coo_tensor(library.tensor(indices), own, (*sparse, *dense))
        result.append((tensor.coalesce() if is_coalesced else tensor, own))
    return result


def dense_pair(rng, shape, dtype=np.float64, requires_grad=False):
    array = rng.standard_normal(shape).astype(dtype)
    return [library.tensor(array, requires_grad=requires_grad) for library in (ocl, torch)]


def array_of(tensor):
    return (
        tensor.to_dense().detach().numpy(force=True)
        if isinstance(tensor, (ocl.Tensor, torch.Tensor))
        else tensor
    )


def check(ours, theirs, rtol=1e-12, is_pattern_same=True):
    """Same layout, shape, dtype and elements; of sparse tensors the same numbers of dimensions and places."""
    assert ours.layout is ocl_of[theirs.layout]
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    if theirs.is_sparse:
        assert (ours.sparse_dim(), ours.dense_dim()) == (theirs.sparse_dim(), theirs.dense_dim())
        if is_pattern_same and theirs.numel():
            assert ours.coalesce().indices().tolist() == theirs.coalesce().indices().tolist()
    np.testing.assert_allclose(array_of(ours), array_of(theirs), rtol=rtol, atol=rtol)
