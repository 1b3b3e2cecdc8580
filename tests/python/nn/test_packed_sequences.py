"""nn.utils.rnn against PyTorch's."""

import numpy as np
import pytest
import torch

import ocl

LIBRARIES = (torch, ocl)


def arrays(value):
    """A result as lists of arrays, whatever it is made of."""
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [arrays(v) for v in value]
    return value.detach().numpy()


def check(call):
    theirs, ours = (call(lib, lib.nn.utils.rnn) for lib in LIBRARIES)
    np.testing.assert_equal(arrays(ours), arrays(theirs))
    return ours


def padded(lib, *shape):
    return lib.tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("rest", [(), (3,), (2, 3)])
@pytest.mark.parametrize("lengths", [[4, 4, 4], [4, 2, 1], [1, 3, 4], [2, 4, 2], [3, 1, 1]])
def test_packing_and_padding(lengths, rest, batch_first):
    is_sorted = lengths == sorted(lengths, reverse=True)
    for enforce_sorted in {False, is_sorted}:

        def pack(lib, rnn, enforce_sorted=enforce_sorted):
            shape = (3, 4) if batch_first else (4, 3)
            x = padded(lib, *shape, *rest)
            return rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted)

        packed = check(pack)
        assert isinstance(packed, tuple)
        assert packed.batch_sizes.dtype == ocl.int64
        for options in ({}, {"batch_first": True}, {"padding_value": -7}, {"total_length": 6}):
            check(
                lambda lib, rnn, pack=pack, options=options: rnn.pad_packed_sequence(
                    pack(lib, rnn), **options
                )
            )
        check(lambda lib, rnn, pack=pack: rnn.unpack_sequence(pack(lib, rnn)))


def sequences(lib, lengths, *rest):
    return [padded(lib, n, *rest) for n in lengths]


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["right", "left"])
def test_pad_and_unpad_sequence(batch_first, side):
    lengths = [2, 5, 1]

    def pad(lib, rnn):
        return rnn.pad_sequence(sequences(lib, lengths, 2), batch_first, 0.5, side)

    check(pad)
    padded_ours = ocl.nn.utils.rnn.pad_sequence(sequences(ocl, lengths, 2), batch_first)
    for form in (lengths, ocl.tensor(lengths)):
        parts = ocl.nn.utils.rnn.unpad_sequence(padded_ours, form, batch_first)
        np.testing.assert_equal(arrays(parts), arrays(sequences(ocl, lengths, 2)))


def test_pack_sequence():
    check(lambda lib, rnn: rnn.pack_sequence(sequences(lib, [3, 2, 2], 2)))
    check(lambda lib, rnn: rnn.pack_sequence(sequences(lib, [1, 3, 2]), enforce_sorted=False))
    check(lambda lib, rnn: rnn.invert_permutation(lib.tensor([2, 0, 1])))
    assert ocl.nn.utils.rnn.invert_permutation(None) is None


def test_gradients_go_through():
    results = []
    for lib in LIBRARIES:
        rnn = lib.nn.utils.rnn
        x = padded(lib, 4, 3, 2).requires_grad_()
        packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        output, lengths = rnn.pad_packed_sequence(packed._replace(data=packed.data * packed.data))
        (output * output).sum().backward()
        parts = [padded(lib, n).requires_grad_() for n in (2, 3)]
        (rnn.pad_sequence(parts) ** 2).sum().backward()
        results.append(arrays([x.grad, lengths, *(p.grad for p in parts)]))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-6)
    np.testing.assert_equal(results[1][1:], results[0][1:])


def test_sequences_packed_by_hand():
    """Their sizes are read from the tensor."""
    rnn = ocl.nn.utils.rnn
    layer = ocl.nn.GRU(2, 3)
    packed = rnn.pack_sequence(sequences(ocl, [3, 1], 2))
    by_hand = rnn.PackedSequence(packed.data, packed.batch_sizes)
    np.testing.assert_equal(arrays(layer(by_hand)), arrays(layer(packed)))
    data, sizes, sorted_indices, unsorted_indices = packed
    assert sorted_indices is None
    assert unsorted_indices is None
    assert rnn.PackedSequence((data, sizes)).data is data


def test_moving_a_packed_sequence():
    packed = ocl.nn.utils.rnn.pack_sequence(sequences(ocl, [1, 3], 2), enforce_sorted=False)
    assert packed.to(ocl.float16).data.dtype == ocl.float16
    assert packed.half().float().data.dtype == ocl.float32
    assert packed.to("ocl:0").sorted_indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, rnn: rnn.pack_padded_sequence(padded(lib, 4, 2, 1), [1, 3]),
        lambda lib, rnn: rnn.pack_padded_sequence(padded(lib, 4, 2, 1), [3, 0]),
        lambda lib, rnn: rnn.pack_padded_sequence(padded(lib, 4, 2, 1), [3, 2, 1]),
        lambda lib, rnn: rnn.pack_padded_sequence(lib.zeros(0, 2, 1), [1, 1]),
        lambda lib, rnn: rnn.pad_packed_sequence(rnn.pack_sequence(sequences(lib, [3])), total_length=2),
        lambda lib, rnn: rnn.pad_sequence([]),
        lambda lib, rnn: rnn.pad_sequence(sequences(lib, [2]), padding_side="top"),
        lambda lib, rnn: rnn.pack_sequence([]),
    ],
)
def test_errors_like_torch(call):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        call(torch, torch.nn.utils.rnn)
    with pytest.raises(raised.type):
        call(ocl, ocl.nn.utils.rnn)


def test_a_length_beyond_the_input_is_refused():
    with pytest.raises(ValueError, match="exceeds the 4 steps"):
        ocl.nn.utils.rnn.pack_padded_sequence(padded(ocl, 4, 2, 1), [5, 3])
