"""Nets on graphs and tables with sparse gradients, trained in float64 step by step beside PyTorch."""

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)
NODES = 12


def graph(rng):
    """Indices [2, nnz] with duplicates and loops, and values."""
    edges = rng.integers(0, NODES, (2, 40))
    indices = np.concatenate([edges, edges[::-1], np.tile(np.arange(NODES), (2, 1))], 1)
    return indices, rng.random(indices.shape[1]) + 0.1


def trained(lib, params, optimizer, loss_of, steps=5):
    """The losses, and all weights after every step."""
    losses, weights = [], []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
        weights.append([p.detach().numpy().copy() for p in params])
    return losses, weights


def compare(found):
    (losses, weights), (expected, expected_weights) = found
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    assert len(set(losses)) == len(losses)  # it trains
    for ours, theirs in zip(weights, expected_weights, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10)


def leaves(lib, *arrays):
    return [lib.tensor(array, requires_grad=True) for array in arrays]


@pytest.mark.parametrize("learns_edges", [False, True])
def test_graph_convolutions(rng, learns_edges):
    indices, values = graph(rng)
    x, first, second = (rng.standard_normal(shape) for shape in ((NODES, 5), (5, 8), (8, 3)))
    labels = rng.integers(0, 3, NODES)
    found = []
    for lib in LIBRARIES:
        edges = lib.tensor(values, requires_grad=learns_edges)
        params = [*leaves(lib, first, second), *([edges] if learns_edges else [])]
        features, classes, places = lib.tensor(x), lib.tensor(labels), lib.tensor(indices)

        def loss_of(
            step, lib=lib, params=params, edges=edges, features=features, classes=classes, places=places
        ):
            adjacency = lib.sparse_coo_tensor(places, edges, (NODES, NODES))
            hidden = lib.relu(lib.sparse.mm(adjacency, features @ params[0]))
            out = lib.log_softmax(adjacency @ (hidden @ params[1]), 1)
            return lib.nn.functional.nll_loss(out, classes)

        found.append(trained(lib, params, lib.optim.Adam(params, lr=0.05), loss_of))
    compare(found)


def test_attention_over_edges(rng):
    indices, _ = graph(rng)
    x, weight, a, b = (rng.standard_normal(shape) for shape in ((NODES, 5), (5, 4), (4, 1), (4, 1)))
    target = rng.standard_normal((NODES, 4))
    found = []
    for lib in LIBRARIES:
        params = leaves(lib, weight, a, b)
        features, places, goal = lib.tensor(x), lib.tensor(indices), lib.tensor(target)

        def loss_of(step, lib=lib, params=params, features=features, places=places, goal=goal):
            h = features @ params[0]
            scores = (h @ params[1])[places[0], 0] + (h @ params[2])[places[1], 0]
            scores = lib.nn.functional.leaky_relu(scores, 0.2)
            attention = lib.sparse.softmax(lib.sparse_coo_tensor(places, scores, (NODES, NODES)), 1)
            return ((lib.sparse.mm(attention, h) - goal) ** 2).mean()

        found.append(trained(lib, params, lib.optim.SGD(params, lr=0.1, momentum=0.9), loss_of))
    compare(found)


@pytest.mark.parametrize("name", ["SparseAdam", "SGD", "Adagrad"])
def test_tables_of_words(rng, name):
    words, contexts = rng.standard_normal((20, 6)), rng.standard_normal((20, 6))
    batches = rng.integers(0, 20, (5, 3, 8))
    found = []
    for lib in LIBRARIES:
        tables = [
            lib.nn.Embedding.from_pretrained(lib.tensor(rows), freeze=False, sparse=True)
            for rows in (words, contexts)
        ]
        params = [table.weight for table in tables]

        def loss_of(step, lib=lib, tables=tables):
            center, near, far = (lib.tensor(batch) for batch in batches[step])
            u = tables[0](center)
            near_score = (u * tables[1](near)).sum(1)
            far_score = (u * tables[1](far)).sum(1)
            F = lib.nn.functional
            return -(F.logsigmoid(near_score) + F.logsigmoid(-far_score)).mean()

        found.append(trained(lib, params, getattr(lib.optim, name)(params, lr=0.1), loss_of))
    compare(found)


def test_one_table_for_both_sides_and_a_dense_output(rng):
    """A weight is looked up twice and multiplied by: sparse and dense gradients in one pass."""
    rows, batches = rng.standard_normal((10, 4)), rng.integers(0, 10, (5, 2, 6))
    found = []
    for lib in LIBRARIES:
        (weight,) = leaves(lib, rows)

        def loss_of(step, lib=lib, weight=weight):
            F = lib.nn.functional
            a, b = (F.embedding(lib.tensor(batch), weight, sparse=True) for batch in batches[step])
            return F.cross_entropy((a * b) @ weight.t(), lib.tensor(batches[step][0]))

        found.append(trained(lib, [weight], lib.optim.Adam([weight], lr=0.1), loss_of))
    compare(found)


def test_steps_do_not_wait(rng):
    """Under shapes_only whatever reads elements raises."""
    with ocl.shapes_only():
        values = ocl.ones(20, requires_grad=True)
        weight = ocl.ones(NODES, 4, requires_grad=True)
        adjacency = ocl.sparse_coo_tensor(ocl.zeros(2, 20, dtype=ocl.int64), values, (NODES, NODES))
        loss = (adjacency @ weight).sum() + (adjacency * ocl.ones(NODES)).to_dense().sum()
        (loss + ocl.sparse.sum(adjacency)).backward()
        assert values.grad is not None and weight.grad is not None
        table = ocl.nn.Embedding(10, 4, sparse=True, max_norm=1.0)
        optimizer = ocl.optim.SGD(table.parameters(), lr=0.1, momentum=0.9)
        for _ in range(2):
            optimizer.zero_grad()
            table(ocl.zeros(5, dtype=ocl.int64)).sum().backward()
            optimizer.step()
        with pytest.raises(RuntimeError, match="shapes only"):
            adjacency.coalesce()
