"""The memory behind tensors as an object, beside PyTorch's."""

import gc

import numpy as np
import pytest

import ocl

torch = pytest.importorskip("torch")
LIBRARIES = [pytest.param(ocl, id="ocl"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("lib", LIBRARIES)
def test_views_have_one_storage(lib):
    x = lib.arange(12, dtype=lib.int32).reshape(3, 4)
    for view in (x[1:], x.T, x.view(-1)[5:7], x.detach()):
        assert view.untyped_storage() == x.untyped_storage()
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        assert view.storage().tolist() == list(range(12))
    assert x.clone().untyped_storage() != x.untyped_storage()
    assert (x.storage().size(), x.untyped_storage().nbytes(), x.storage().element_size()) == (12, 48, 4)


@pytest.mark.parametrize("lib", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_bytes_are_those_of_the_elements(lib, dtype):
    x = lib.tensor([1, 0, 3]).to(getattr(lib, dtype))
    expected = torch.tensor([1, 0, 3]).to(getattr(torch, dtype)).view(torch.uint8)
    assert x.untyped_storage().tolist() == expected.tolist()
    assert list(x.storage()) == x.tolist()


@pytest.mark.parametrize("lib", LIBRARIES)
def test_a_storage_outlives_its_tensors(lib):
    storage = lib.arange(6.0)[2:].storage()
    gc.collect()
    lib.ones(6)  # which would take the memory if it were free
    assert storage.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("lib", LIBRARIES)
def test_set_takes_a_storage(lib):
    x = lib.arange(6.0)
    y = lib.zeros(3)
    y.set_(x.untyped_storage(), 1, (2, 2), (2, 1))
    np.testing.assert_array_equal(y.numpy(), [[1, 2], [3, 4]])
    y.zero_()
    np.testing.assert_array_equal(x.numpy(), [0, 0, 0, 0, 0, 5])
    z = lib.zeros(0)
    z.set_(x.storage())
    np.testing.assert_array_equal(z.numpy(), x.numpy())


def test_what_a_storage_does_not_hold_is_refused():
    x = ocl.arange(6.0)
    with pytest.raises((ValueError, RuntimeError), match="set_"):
        ocl.zeros(3).set_(x.untyped_storage(), 4, (3,), (1,))
    with pytest.raises(TypeError, match=r"expected a storage of ocl\.int64, got one of ocl\.float32"):
        ocl.zeros(3, dtype=ocl.int64).set_(x.storage())
    with pytest.raises(TypeError, match="UntypedStorage: expected a Tensor, whose memory it is, got int"):
        ocl.UntypedStorage(3)


@pytest.mark.parametrize("lib", LIBRARIES)
def test_storages_of_files(lib, tmp_path):
    """A file's bytes become a tensor where one is made of them, as readers of safetensors files do."""
    numbers = np.array([1.5, -2.0, 0.25], np.float32)
    path = tmp_path / "numbers"
    path.write_bytes(b"head" + numbers.tobytes())
    storage = lib.UntypedStorage.from_file(str(path), shared=False, nbytes=16)
    assert storage.untyped() is storage and storage.nbytes() == len(storage) == 16 and storage[0] == ord("h")
    part = storage[4:16]
    assert type(part).__name__ in ("UntypedStorage", "_FileStorage") and part.nbytes() == 12
    whole = lib.asarray(part, dtype=lib.uint8)
    assert whole.dtype == lib.uint8 and whole.numpy().tobytes() == numbers.tobytes()
    np.testing.assert_array_equal(whole.view(dtype=lib.float32).numpy(), numbers)
    np.testing.assert_array_equal(whole.view(3, 4).numpy(), numbers.view(np.uint8).reshape(3, 4))
    assert storage[4:4].nbytes() == 0 and list(storage[:2]) == [ord("h"), ord("e")]
    with pytest.raises((RuntimeError, ValueError)):
        lib.UntypedStorage.from_file(str(path), shared=False, nbytes=17)


def test_storages_of_files_are_not_shared(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(4))
    with pytest.raises(ValueError, match="not shared with a file"):
        ocl.UntypedStorage.from_file(path, shared=True, nbytes=4)
    with pytest.raises(ValueError, match="expected nbytes from 0 to 4, got 5"):
        ocl.UntypedStorage.from_file(path, nbytes=5)
    assert ocl.asarray(ocl.ones(2).untyped_storage(), dtype=ocl.float32).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("lib", LIBRARIES)
def test_bytes_are_written(lib):
    x = lib.arange(6, dtype=lib.int32)
    storage = x.untyped_storage()
    storage[4], storage[8:12] = 7, 1
    assert x.tolist() == [0, 7, 0x01010101, 3, 4, 5]
    part = storage[12:20]
    assert (part.nbytes(), part.element_size(), part[0], list(part)) == (8, 1, 3, [3, 0, 0, 0, 4, 0, 0, 0])
    part.fill_(0)
    assert x.tolist() == [0, 7, 0x01010101, 0, 0, 5]
    storage.copy_(lib.ones(6, dtype=lib.int32).untyped_storage())
    copy = storage.clone()
    x.zero_()
    assert copy.tolist() == [1, 0, 0, 0] * 6 and x.storage().tolist() == [0] * 6
    x.storage()[2] = 9
    assert x.tolist() == [0, 0, 9, 0, 0, 0]


@pytest.mark.parametrize("lib", LIBRARIES)
def test_a_storage_as_elements_of_another_size(lib):
    x = lib.arange(5, dtype=lib.int32)
    assert lib.zeros(1, dtype=lib.int64).set_(x.untyped_storage()).tolist() == [1 << 32, 2 + (3 << 32)]
    assert lib.zeros(1, dtype=lib.int16).set_(x.untyped_storage(), 2, (2,), (2,)).tolist() == [1, 2]


def test_what_a_storage_does_not_take_is_refused():
    storage = ocl.zeros(3).untyped_storage()
    with pytest.raises(ValueError, match="expected slices of step 1, got 2"):
        storage[::2]
    with pytest.raises(ValueError, match="copy_: expected a storage of size 12, got 8"):
        storage.copy_(ocl.zeros(2).untyped_storage())
    with pytest.raises(IndexError):
        storage[12]
