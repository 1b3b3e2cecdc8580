"""DistributedSampler, by the indices of PyTorch's."""

import numpy as np
import pytest
import torch
from torch.utils.data.distributed import DistributedSampler as OfTorch

from ocl.utils.data import DataLoader, TensorDataset
from ocl.utils.data.distributed import DistributedSampler


@pytest.mark.parametrize("count", [1, 2, 7, 100, 1001])
@pytest.mark.parametrize("replicas", [1, 2, 3, 8])
@pytest.mark.parametrize("drop_last", [False, True])
def test_indices_are_pytorch_s(count, replicas, drop_last):
    for shuffle in (False, True):
        for rank in range(replicas):
            for seed, epoch in ((0, 0), (5, 1), (2**40 + 3, 2)):
                arguments = (range(count), replicas, rank, shuffle, seed, drop_last)
                ours, torchs = DistributedSampler(*arguments), OfTorch(*arguments)
                ours.set_epoch(epoch)
                torchs.set_epoch(epoch)
                assert len(ours) == len(torchs)
                assert list(ours) == list(torchs)


def test_seeds_of_64_bits_are_torch_s():
    assert torch.randperm(5, generator=torch.Generator().manual_seed(2**40 + 3)).tolist() == list(
        DistributedSampler(range(5), 1, 0, seed=2**40 + 3)
    )


def test_refuses_ranks_that_there_are_not():
    for rank in (-1, 2):
        with pytest.raises(ValueError, match=f"Invalid rank {rank}"):
            DistributedSampler(range(4), 2, rank)
    with pytest.raises(ValueError, match="there is no group"):
        DistributedSampler(range(4))


def test_a_loader_goes_on_within_a_pass():
    data = TensorDataset(np.arange(20))

    def loader():
        return DataLoader(data, 2, sampler=DistributedSampler(data, 2, 1))

    first = loader()
    first.sampler.set_epoch(3)
    batches = iter(first)
    seen = [next(batches)[0].tolist() for _ in range(2)]
    state = first.state_dict()
    rest = [batch[0].tolist() for batch in batches]
    second = loader()
    second.load_state_dict(state)
    second.sampler.set_epoch(3)
    assert [batch[0].tolist() for batch in second] == rest
    assert sorted(sum(seen + rest, [])) == sorted(second.sampler)


@pytest.mark.parametrize("count", [0, 3, 12, 37])
@pytest.mark.parametrize("shares", [[3, 1], [1, 4, 2], [1, 1], [5]])
@pytest.mark.parametrize("drop_last", [False, True])
def test_shares_of_every_batch(count, shares, drop_last):
    together, ranks = sum(shares), range(len(shares))
    samplers = [DistributedSampler(range(count), len(shares), r, True, 3, drop_last, shares) for r in ranks]
    order = list(DistributedSampler(range(count), 1, 0, True, 3))
    loaders = [
        DataLoader(np.arange(count), share, sampler=s) for s, share in zip(samplers, shares, strict=True)
    ]
    batches = [[batch.tolist() for batch in loader] for loader in loaders]
    steps = count // together if drop_last else -(-count // together)
    assert [len(one) for one in batches] == [steps] * len(shares)
    joined = [index for step in zip(*batches, strict=True) for batch in step for index in batch]
    assert joined == [order[i % count] for i in range(steps * together)]
    for sampler, own, share in zip(samplers, batches, shares, strict=True):
        assert len(sampler) == len(list(sampler)) == steps * share
        assert all(len(batch) == share for batch in own)
        assert sampler.weight == share / (together / len(shares))


def test_refuses_shares_that_do_not_fit():
    for shares in ([1], [1, 0], [1, 2, 3]):
        with pytest.raises(ValueError, match="expected 2 positive shares"):
            DistributedSampler(range(4), 2, 0, shares=shares)
    with pytest.raises(TypeError):
        DistributedSampler(range(4), 2, 0, shares=[1.5, 1])
