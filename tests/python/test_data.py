"""ocl.utils.data and ocl.datasets."""

import functools
import gzip
import hashlib
import http.server
import struct
import threading
import zlib

import numpy as np
import pytest

import ocl
from ocl import _C
from ocl.datasets import MNIST, Digits, DownloadError
from ocl.utils.data import DataLoader, Dataset, Subset, TensorDataset

X = np.arange(30, dtype=np.float32).reshape(10, 3)
Y = np.arange(10, dtype=np.int64)


class Squares(Dataset):
    """Has no arrays(), so that a loader asks for each item."""

    def __getitem__(self, index):
        return np.full((2,), index, np.float32), index * index

    def __len__(self):
        return 7


class Counting(TensorDataset):
    """Fails when a loader asks for a single item."""

    def __getitem__(self, index):
        raise AssertionError("asked for one item of an array-backed dataset")


def labels(loader):
    return [int(label) for _, label_batch in loader for label in label_batch.numpy()]


# --- datasets ---


def test_tensor_dataset_rows_and_length():
    data = TensorDataset(X, Y)
    assert len(data) == 10
    row, label = data[4]
    assert row.tolist() == [12, 13, 14]
    assert label == 4


def test_tensor_dataset_takes_ocl_tensors():
    data = TensorDataset(ocl.tensor(X), ocl.tensor(Y))
    assert data[4][0].tolist() == [12, 13, 14]
    assert data.arrays()[1].dtype == np.int64


@pytest.mark.parametrize("arguments", [(), (X, Y[:9]), (np.float32(1),)])
def test_tensor_dataset_refuses(arguments):
    with pytest.raises(ValueError, match="TensorDataset"):
        TensorDataset(*arguments)


def test_subset_items_and_arrays():
    subset = Subset(TensorDataset(X, Y), [7, 2, -1])
    assert len(subset) == 3
    assert subset[1][1] == 2
    assert subset.arrays()[1].tolist() == [7, 2, 9]
    assert Subset(Squares(), [3]).arrays() is None
    assert Subset(Squares(), [3])[0][1] == 9
    assert len(Subset(Squares(), [])) == 0


def test_subset_refuses_bad_indices():
    with pytest.raises(IndexError, match="10"):
        Subset(TensorDataset(X, Y), [0, 10])
    with pytest.raises(TypeError, match="integers"):
        Subset(TensorDataset(X, Y), [0.5])


# --- loader ---


def test_batches_hold_every_sample_in_order():
    batches = list(DataLoader(TensorDataset(X, Y), batch_size=4))
    assert [tuple(x.shape) for x, _ in batches] == [(4, 3), (4, 3), (2, 3)]
    assert all(isinstance(batch, tuple) for batch in batches)
    np.testing.assert_array_equal(np.concatenate([x.numpy() for x, _ in batches]), X)
    np.testing.assert_array_equal(np.concatenate([y.numpy() for _, y in batches]), Y)


def test_length_and_drop_last():
    data = TensorDataset(X, Y)
    assert len(DataLoader(data)) == 10
    assert len(DataLoader(data, 4)) == 3
    assert len(DataLoader(data, 5, drop_last=True)) == 2
    dropped = DataLoader(data, 4, drop_last=True)
    assert len(dropped) == 2
    assert labels(dropped) == list(range(8))
    assert list(DataLoader(TensorDataset(X[:0]), 4)) == []


def test_array_backed_batches_are_cut_whole():
    assert sorted(labels(DataLoader(Counting(X, Y), 3, shuffle=True))) == list(range(10))
    assert labels(DataLoader(Subset(Counting(X, Y), [5, 1]), 3)) == [5, 1]


def test_item_by_item_batches():
    batches = list(DataLoader(Squares(), 3))
    assert [y.numpy().tolist() for _, y in batches] == [[0, 1, 4], [9, 16, 25], [36]]
    assert tuple(batches[0][0].shape) == (3, 2)
    assert batches[0][1].numpy().dtype == np.int64


def test_both_paths_agree():
    data = TensorDataset(X, Y)
    items = DataLoader([data[i] for i in range(10)], 4, shuffle=True, generator=3)
    whole = DataLoader(data, 4, shuffle=True, generator=3)
    for (x, y), (x_whole, y_whole) in zip(items, whole, strict=True):
        np.testing.assert_array_equal(x.numpy(), x_whole.numpy())
        np.testing.assert_array_equal(y.numpy(), y_whole.numpy())


def test_samples_that_are_no_tuples():
    assert [b.numpy().tolist() for b in DataLoader([1, 2, 3], 2)] == [[1, 2], [3]]
    (batch,) = DataLoader([0.5, 1.5], 2)
    assert batch.numpy().dtype == np.float32


def test_unequal_samples_are_a_value_error():
    with pytest.raises(ValueError):
        list(DataLoader([np.zeros(2), np.zeros(3)], 2))


def test_collate_fn_sees_the_list_of_samples():
    def pad(samples):
        size = max(map(len, samples))
        return np.array([s + [0] * (size - len(s)) for s in samples], np.int64)

    (batch,) = DataLoader([[1], [2, 3]], 2, collate_fn=pad)
    assert batch.numpy().tolist() == [[1, 0], [2, 3]]


def test_batch_size_must_be_positive():
    with pytest.raises(ValueError, match="batch_size"):
        DataLoader(Squares(), 0)


# --- shuffling ---


def shuffled(seed=None, passes=2, generator=None):
    if seed is not None:
        ocl.manual_seed(seed)
    loader = DataLoader(TensorDataset(np.arange(100), np.arange(100)), 7, shuffle=True, generator=generator)
    return [labels(loader) for _ in range(passes)]


def test_shuffle_is_a_permutation_and_passes_differ():
    first, second = shuffled(1)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    assert first != list(range(100))


def test_shuffle_follows_manual_seed():
    assert shuffled(1) == shuffled(1)
    assert shuffled(1) != shuffled(2)


def test_a_new_seed_reaches_a_loader_in_use():
    loader = DataLoader(TensorDataset(X, Y), 3, shuffle=True)
    ocl.manual_seed(5)
    labels(loader)
    ocl.manual_seed(6)
    used = labels(loader)
    assert used == labels(DataLoader(TensorDataset(X, Y), 3, shuffle=True))


def test_generator_seed_overrules_manual_seed():
    assert shuffled(1, generator=9) == shuffled(2, generator=9)
    assert shuffled(1, generator=9) != shuffled(1)
    assert shuffled(generator=-1) == shuffled(generator=-1)


# --- MNIST ---


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


IMAGES = np.arange(5 * 28 * 28, dtype=np.int64).astype(np.uint8).reshape(5, 28, 28)
LABELS = np.array([3, 1, 4, 1, 9], np.uint8)


def write_mnist(folder, part="train", images=IMAGES, targets=LABELS):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}-images-idx3-ubyte").write_bytes(idx(images))
    (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(targets)))


def test_mnist_reads_plain_and_gzip_in_both_layouts(tmp_path):
    write_mnist(tmp_path)
    write_mnist(tmp_path / "MNIST" / "raw", "t10k", IMAGES[:2], LABELS[:2])
    train, test = (MNIST(tmp_path, train=train, download=False) for train in (True, False))
    assert (len(train), len(test)) == (5, 2)
    np.testing.assert_array_equal(train.data, IMAGES)
    assert train.data.dtype == np.uint8
    assert train.targets.tolist() == LABELS.tolist()
    assert train.targets.dtype == np.int64


def test_mnist_arrays_are_normalised_as_pytorch_does(tmp_path):
    write_mnist(tmp_path)
    data = MNIST(tmp_path)
    images, targets = data.arrays()
    assert images.shape == (5, 1, 28, 28)
    assert images.dtype == np.float32
    expected = (IMAGES[:, None].astype(np.float64) / 255 - 0.1307) / 0.3081
    np.testing.assert_allclose(images, expected, atol=1e-6)
    np.testing.assert_array_equal(data[3][0], images[3])
    assert data[3][1] == targets[3] == 1


def test_mnist_transform_sees_bytes(tmp_path):
    write_mnist(tmp_path)
    data = MNIST(tmp_path, transform=lambda image: image[:1].astype(np.float32))
    assert data.arrays() is None
    x, y = next(iter(DataLoader(data, 5)))
    np.testing.assert_array_equal(x.numpy(), IMAGES[:, :1])
    assert y.numpy().tolist() == LABELS.tolist()


def test_mnist_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte.gz") as error:
        MNIST(tmp_path, download=False)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    ("images", "targets", "reason"),
    [
        (IMAGES[:4], LABELS, "train-labels.*4 images"),
        (IMAGES[:, :27], LABELS, "train-images.*28"),
        (IMAGES, LABELS + 1, "label 10"),
    ],
)
def test_mnist_files_must_agree(tmp_path, images, targets, reason):
    write_mnist(tmp_path, images=np.ascontiguousarray(images), targets=targets)
    with pytest.raises(OSError, match=reason):
        MNIST(tmp_path)


def test_mnist_damaged_file_is_named(tmp_path):
    write_mnist(tmp_path)
    path = tmp_path / "train-labels-idx1-ubyte.gz"
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(OSError, match="train-labels-idx1-ubyte.gz"):
        MNIST(tmp_path)


def gzipped(shape, zeros):
    """A gzip file of zeros under a header, made without holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    chunk = bytes(1 << 20)
    parts = [packer.compress(struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape))]
    parts += [packer.compress(chunk[: min(len(chunk), zeros - at)]) for at in range(0, zeros, len(chunk))]
    return b"".join(parts) + packer.flush()


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("images", (2**22, 28, 28), "labels of shape"),
        ("images", (5, 2**16, 2**16), "28, 28"),
        ("labels", (2**28,), "labels of shape"),
    ],
)
def test_a_bomb_is_refused_by_its_header(tmp_path, name, shape, reason):
    write_mnist(tmp_path)
    for file in tmp_path.glob(f"train-{name}*"):
        file.unlink()
    (tmp_path / f"train-{name}-idx{len(shape)}-ubyte.gz").write_bytes(gzipped(shape, 2**22))
    with pytest.raises(OSError, match=reason):
        MNIST(tmp_path, download=False)


def test_a_header_that_tells_the_truth_is_limited_too(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(gzipped((2**30,), 2**22) + bytes(2**20))  # as large as one that unpacks to 2^30 bytes
    with pytest.raises(OSError, match="file: dimensions 1073741824 promise .* over the limit"):
        _C._data.read_idx(path)


def test_bytes_after_a_gzip_stream_are_refused(tmp_path):
    path = tmp_path / "file"
    whole = gzip.compress(idx(LABELS))
    path.write_bytes(whole + b"more")
    with pytest.raises(OSError, match="file: trailing bytes"):
        _C._data.read_idx(path)
    halves = idx(LABELS)[:6], idx(LABELS)[6:]
    path.write_bytes(b"".join(map(gzip.compress, halves)))  # but members may follow each other
    assert _C._data.read_idx(path).tolist() == LABELS.tolist()


def test_downloads_have_the_mode_that_umask_leaves(mirror, tmp_path):
    MNIST(tmp_path / "cache")
    (tmp_path / "plain").touch()
    for file in (tmp_path / "cache").iterdir():
        assert file.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_default_root_follows_xdg(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_mnist(tmp_path / "tapecl" / "datasets" / "mnist")
    assert len(MNIST(download=False)) == 5


# --- download ---


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A local mirror that serves a folder; the checksums are those of what write_mnist puts there."""
    folder = tmp_path / "mirror"
    write_mnist(folder)
    images = folder / "train-images-idx3-ubyte"
    images.with_name(images.name + ".gz").write_bytes(gzip.compress(images.read_bytes()))
    images.unlink()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    monkeypatch.setattr(http.server.SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    sums = [(file.name, hashlib.md5(file.read_bytes()).hexdigest()) for file in folder.iterdir()]
    monkeypatch.setattr(MNIST, "resources", sums)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        nowhere = "http://127.0.0.1:1/"
        monkeypatch.setattr(MNIST, "mirrors", [nowhere, f"http://127.0.0.1:{server.server_port}/"])
        yield folder
        server.shutdown()


def test_download_falls_through_to_the_next_mirror(mirror, tmp_path):
    root = tmp_path / "cache"
    assert MNIST(root).targets.tolist() == LABELS.tolist()
    names = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"]
    assert sorted(path.name for path in root.iterdir()) == names
    assert len(MNIST(root, download=False)) == 5


def test_download_with_a_wrong_checksum_leaves_nothing(mirror, tmp_path):
    (mirror / "train-images-idx3-ubyte.gz").write_bytes(b"something else")
    root = tmp_path / "cache"
    with pytest.raises(DownloadError, match="train-images-idx3-ubyte.gz.*wrong MD5"):
        MNIST(root)
    assert not root.exists()


def test_no_network_says_where_to_put_the_files(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(MNIST, "mirrors", ["http://127.0.0.1:1/"])
    root = tmp_path / "cache"
    with pytest.raises(DownloadError) as error:
        MNIST(root)
    assert str(root) in str(error.value)
    assert isinstance(error.value, OSError)


# --- digits ---


def test_digits_look_like_mnist():
    train, test = Digits(), Digits(train=False)
    assert (len(train), len(test)) == (1500, 297)
    assert train.data.shape == (1500, 28, 28)
    assert train.data.dtype == np.uint8
    assert train.data.max() == 255
    assert not train.data[:, :4].any() and not train.data[:, :, -4:].any()
    assert set(train.targets.tolist()) == set(range(10))
    images, targets = train.arrays()
    assert images.shape == (1500, 1, 28, 28)
    assert images.dtype == np.float32
    assert targets.dtype == np.int64


def test_digits_keep_their_shape_when_enlarged():
    from sklearn.datasets import load_digits

    small = load_digits().images[:100]
    large = Digits().data[:100, 4:24, 4:24].astype(float)
    centre, enlarged = (
        (image * np.arange(image.shape[-1])).sum((1, 2)) / image.sum((1, 2)) for image in (small, large)
    )
    np.testing.assert_allclose(enlarged, (centre + 0.5) * 20 / 8 - 0.5, atol=0.6)
