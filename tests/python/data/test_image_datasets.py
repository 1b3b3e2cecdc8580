"""ocl.datasets: readers of published formats, folders, noise. Files are made here."""

import gzip
import hashlib
import pickle
import struct
import tarfile

import numpy as np
import pytest
from comparisons import import_torchvision
from PIL import Image

from ocl.datasets import (
    CIFAR10,
    CIFAR100,
    MNIST,
    DatasetFolder,
    DatasetNotFoundError,
    DownloadError,
    FakeData,
    FashionMNIST,
    ImageFolder,
)
from ocl.transforms import PILToTensor, ToTensor
from ocl.utils.data import DataLoader

RNG = np.random.default_rng(0)


def md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


# --- CIFAR ---


class SmallCIFAR10(CIFAR10):
    train_list = [["data_batch_1", None], ["data_batch_2", None]]
    meta = {**CIFAR10.meta, "md5": None}
    test_list = [["test_batch", None]]


class SmallCIFAR100(CIFAR100):
    train_list = [["train", None]]
    test_list = [["test", None]]
    meta = {**CIFAR100.meta, "md5": None}


def write_cifar(root, kind):
    """Files in the form of the published ones; the pixels of all, by name."""
    folder = root / kind.base_folder
    folder.mkdir(parents=True)
    label_key = "labels" if issubclass(kind, SmallCIFAR10) else "fine_labels"
    pixels = {}
    for name, _ in kind.train_list + kind.test_list:
        pixels[name] = RNG.integers(0, 256, (4, 3072), np.uint8)
        content = {"data": pixels[name], label_key: [3, 1, 0, 2], "batch_label": name}
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    (folder / kind.meta["filename"]).write_bytes(pickle.dumps({kind.meta["key"]: ["a", "b", "c", "d"]}, 2))
    return pixels


@pytest.mark.parametrize("kind", [SmallCIFAR10, SmallCIFAR100])
def test_cifar_reads_its_files(tmp_path, kind):
    pixels = write_cifar(tmp_path, kind)
    train, test = kind(str(tmp_path)), kind(tmp_path, train=False, transform=PILToTensor())
    assert (len(train), len(test)) == (4 * len(kind.train_list), 4)
    image, target = train[1]
    assert isinstance(image, Image.Image) and target == 1
    expected = pixels[kind.train_list[0][0]][1].reshape(3, 32, 32)
    np.testing.assert_array_equal(np.asarray(image), expected.transpose(1, 2, 0))
    np.testing.assert_array_equal(test[0][0], pixels[kind.test_list[0][0]][0].reshape(3, 32, 32))
    assert train.class_to_idx == {"a": 0, "b": 1, "c": 2, "d": 3}
    assert "Split: Train" in repr(train) and "Transform: PILToTensor()" in repr(test)


def test_cifar_refuses_missing_and_damaged_files(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="data_batch_1.*download=True"):
        CIFAR10(tmp_path)
    write_cifar(tmp_path, SmallCIFAR10)
    with pytest.raises(RuntimeError, match="corrupted"):
        CIFAR10(tmp_path)


def test_cifar_runs_no_code_of_a_file(tmp_path):
    write_cifar(tmp_path, SmallCIFAR10)
    (tmp_path / SmallCIFAR10.base_folder / "test_batch").write_bytes(pickle.dumps(print))
    with pytest.raises(pickle.UnpicklingError, match="print"):
        SmallCIFAR10(tmp_path, train=False)


def test_cifar_downloads_with_a_checksum(tmp_path, monkeypatch):
    write_cifar(tmp_path / "made", SmallCIFAR10)
    archive = tmp_path / "cifar.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "made" / SmallCIFAR10.base_folder, SmallCIFAR10.base_folder)
    monkeypatch.setattr(SmallCIFAR10, "url", archive.as_uri())
    with pytest.raises(DownloadError, match="wrong MD5"):
        SmallCIFAR10(tmp_path / "data", download=True)
    monkeypatch.setattr(SmallCIFAR10, "tgz_md5", md5(archive))
    assert len(SmallCIFAR10(tmp_path / "data", download=True)) == 8
    archive.unlink()
    assert len(SmallCIFAR10(tmp_path / "data", train=False, download=True)) == 4


def test_a_failed_download_is_one_short_line(tmp_path):
    class Unreachable(MNIST):
        mirrors = ["http://127.0.0.1:1/", "http://127.0.0.1:2/"]

    with pytest.raises(DownloadError) as caught:
        Unreachable(tmp_path)
    assert str(caught.value) == (
        "cannot download train-images-idx3-ubyte.gz (unreachable); "
        f"put the 4 files of Unreachable into {tmp_path}, or name their folder as `root`"
    )
    assert "refused" in str(caught.value.__cause__)


def test_a_folder_that_is_not_there_is_named_in_full(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(MNIST, "mirrors", ["http://127.0.0.1:1/"])
    with pytest.raises(DownloadError, match=rf"{tmp_path}/nowhere, a folder that does not exist yet, or "):
        MNIST("nowhere")
    with pytest.raises(DatasetNotFoundError, match=rf"MNIST: there is no folder {tmp_path}/nowhere$"):
        MNIST("nowhere", download=False)
    with pytest.raises(FileNotFoundError) as caught:
        ImageFolder("nowhere")
    assert str(caught.value).endswith(
        f"No such folder; expected FOLDER/CLASS/picture.png: '{tmp_path}/nowhere'"
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=rf"{tmp_path}/empty; expected FOLDER/CLASS/picture.png"):
        ImageFolder("empty")


# --- FashionMNIST ---


def write_idx(folder):
    folder.mkdir(parents=True)
    images, labels = RNG.integers(0, 256, (3, 28, 28), np.uint8), np.array([9, 0, 4], np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        (folder / f"train-{name}-ubyte.gz").write_bytes(gzip.compress(header + array.tobytes()))
    return images


def test_fashion_mnist_lies_beside_mnist(tmp_path):
    write_idx(tmp_path / "MNIST" / "raw")
    images = write_idx(tmp_path / "FashionMNIST" / "raw")
    data = FashionMNIST(tmp_path, transform=ToTensor(), target_transform=float)
    np.testing.assert_array_equal(data[0][0], images[0][None] / np.float32(255))
    assert data[0][1] == 9.0
    assert data.class_to_idx["Ankle boot"] == 9
    assert (MNIST(tmp_path, download=False).data != images).any()
    with pytest.raises(DatasetNotFoundError, match="FashionMNIST.*t10k"):
        FashionMNIST(tmp_path, train=False)


def test_fashion_mnist_downloads_from_a_folder(tmp_path, monkeypatch):
    write_idx(tmp_path / "mirror")
    sums = [(path.name, md5(path)) for path in (tmp_path / "mirror").iterdir()]
    monkeypatch.setattr(FashionMNIST, "resources", sums)
    monkeypatch.setattr(FashionMNIST, "mirrors", [(tmp_path / "mirror").as_uri() + "/"])
    assert len(FashionMNIST(tmp_path / "data", download=True)) == 3
    images, labels = next(iter(DataLoader(FashionMNIST(tmp_path / "data"), 3)))
    assert tuple(images.shape) == (3, 1, 28, 28) and labels.tolist() == [9, 0, 4]


# --- folders ---


@pytest.fixture
def pictures(tmp_path):
    for name in ("dog/a.png", "dog/deep/b.JPG", "cat/c.bmp", "cat/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".txt":
            path.write_text("no picture")
        else:
            Image.fromarray(RNG.integers(0, 256, (6, 5), np.uint8)).save(path)
    return tmp_path


def test_image_folder(pictures):
    data = ImageFolder(str(pictures))
    assert data.classes == ["cat", "dog"] and data.class_to_idx == {"cat": 0, "dog": 1}
    assert [path[len(str(pictures)) + 1 :] for path, _ in data.samples] == [
        "cat/c.bmp",
        "dog/a.png",
        "dog/deep/b.JPG",
    ]
    assert data.imgs is data.samples and data.targets == [0, 1, 1]
    image, target = data[0]
    assert image.mode == "RGB" and image.size == (5, 6) and target == 0


def test_image_folder_in_a_loader_with_workers(pictures):
    (batch,) = DataLoader(ImageFolder(pictures, ToTensor()), 3, num_workers=1)
    assert tuple(batch[0].shape) == (3, 3, 6, 5) and batch[1].tolist() == [0, 1, 1]
    with pytest.raises(TypeError, match="ToTensor"):
        next(iter(DataLoader(ImageFolder(pictures), 3)))


def test_folders_without_files(pictures):
    (pictures / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="classes empty.*Supported extensions"):
        ImageFolder(pictures)
    assert ImageFolder(pictures, allow_empty=True).classes == ["cat", "dog", "empty"]
    with pytest.raises(FileNotFoundError, match="any class folder"):
        ImageFolder(pictures / "empty")


@pytest.mark.parametrize("ending", ["jpg", "png"])
@pytest.mark.parametrize("kept", [0.0, 0.1, 0.6])
def test_a_picture_that_cannot_be_read_is_named(tmp_path, ending, kept):
    path = tmp_path / "class" / f"broken.{ending}"
    path.parent.mkdir()
    Image.fromarray(RNG.integers(0, 256, (40, 40, 3), np.uint8)).save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(OSError, match=f"^{path}: "):
        ImageFolder(tmp_path)[0]
    with pytest.raises(OSError, match=f"OSError: {path}: "):
        next(iter(DataLoader(ImageFolder(tmp_path), num_workers=1)))


def test_dataset_folder(pictures):
    data = DatasetFolder(pictures, str, is_valid_file=lambda path: path.endswith((".txt", "a.png")))
    assert [data[i][0].rsplit("/", 1)[1] for i in range(2)] == ["notes.txt", "a.png"]
    with pytest.raises(ValueError, match="extensions and is_valid_file"):
        DatasetFolder(pictures, str)


# --- noise ---


def test_fake_data():
    data = FakeData(5, (3, 8, 9), num_classes=4, transform=PILToTensor())
    assert len(data) == 5 and data[2][0].shape == (3, 8, 9)
    np.testing.assert_array_equal(data[2][0], data[2][0])
    assert (data[2][0] != data[3][0]).any()
    assert (data[2][0] != FakeData(5, (3, 8, 9), transform=PILToTensor(), random_offset=1)[2][0]).any()
    assert {data[i][1] for i in range(5)} <= set(range(4))
    with pytest.raises(IndexError):
        data[5]


# --- against torchvision ---


def test_readers_like_torchvision(tmp_path, pictures, monkeypatch):
    theirs = import_torchvision("datasets with torchvision's").datasets
    write_cifar(tmp_path, SmallCIFAR10)
    monkeypatch.setattr(theirs.CIFAR10, "train_list", SmallCIFAR10.train_list)
    monkeypatch.setattr(theirs.CIFAR10, "test_list", SmallCIFAR10.test_list)
    monkeypatch.setattr(theirs.CIFAR10, "meta", SmallCIFAR10.meta)
    ours, reference = SmallCIFAR10(tmp_path), theirs.CIFAR10(tmp_path)
    np.testing.assert_array_equal(ours.data, reference.data)
    assert ours.targets == reference.targets and ours.class_to_idx == reference.class_to_idx
    assert repr(ours).replace("SmallCIFAR10", "CIFAR10") == repr(reference)
    folders = ImageFolder(pictures, allow_empty=True), theirs.ImageFolder(pictures, allow_empty=True)
    assert folders[0].samples == folders[1].samples and repr(folders[0]) == repr(folders[1])
    np.testing.assert_array_equal(np.asarray(folders[0][0][0]), np.asarray(folders[1][0][0]))
