"""ocl.transforms against torchvision's Pillow backend: pixel for pixel, with parameters that ours draw."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from comparisons import import_torchvision
from PIL import Image

from ocl import host_random, transforms
from ocl.transforms import functional as F

torchvision = import_torchvision("transforms with torchvision's")
theirs = torchvision.transforms
FT = theirs.functional
apply_operation = theirs.autoaugment._apply_op
MODES = ("RGB", "L", "RGBA")
FILTERS = [mode.name for mode in transforms.InterpolationMode]


def picture(mode="RGB", size=(37, 29), seed=0):
    """A smooth pattern with noise: what rounds, what saturates and what is flat."""
    rng = np.random.default_rng(seed)
    width, height = size
    y, x = np.mgrid[:height, :width]
    channels = [
        128 + 120 * np.sin(x / 5 + k) * np.cos(y / 7 - k) + rng.normal(0, 9, y.shape) for k in range(4)
    ]
    pixels = np.clip(np.stack(channels, -1), 0, 255).astype(np.uint8)
    return Image.fromarray(pixels, "RGBA").convert(mode)


def as_array(value):
    if isinstance(value, (tuple, list)):
        return [as_array(part) for part in value]
    return value.numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


def assert_same(ours, expected):
    if isinstance(expected, (tuple, list)):
        assert len(ours) == len(expected)
        for one, other in zip(ours, expected, strict=True):
            assert_same(one, other)
        return
    if isinstance(expected, Image.Image):
        assert isinstance(ours, Image.Image)
        assert (ours.mode, ours.size) == (expected.mode, expected.size)
    ours, expected = as_array(ours), as_array(expected)
    assert ours.dtype == expected.dtype
    if ours.dtype.kind == "f":
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(ours, expected)


def both(name, *arguments, **options):
    """The transform of that name, ours and torchvision's; modes of interpolation by their names."""

    def made(library):
        values = {
            key: getattr(library.InterpolationMode, value)
            if key == "interpolation" and isinstance(value, str)
            else value
            for key, value in options.items()
        }
        return getattr(library, name)(*arguments, **values)

    return made(transforms), made(theirs)


DETERMINISTIC = [
    ("Resize", (16,), {}),
    ("Resize", (64,), {"max_size": 70}),
    ("Resize", ((11, 50),), {}),
    ("Resize", ([20],), {}),
    ("Resize", (29,), {}),
    *[("Resize", ((17, 23),), {"interpolation": name}) for name in FILTERS],
    ("Resize", (40,), {"interpolation": Image.Resampling.BICUBIC}),
    ("CenterCrop", (16,), {}),
    ("CenterCrop", ((50, 20),), {}),
    ("CenterCrop", ([64],), {}),
    ("FiveCrop", (12,), {}),
    ("TenCrop", ((10, 14),), {"vertical_flip": True}),
    ("TenCrop", (8,), {}),
    ("Pad", (3,), {}),
    ("Pad", ((1, 2),), {"fill": 7}),
    ("Pad", ((1, 2, 3, 4),), {"padding_mode": "reflect"}),
    ("Pad", ([5],), {"padding_mode": "edge"}),
    ("Pad", ((4, 1),), {"padding_mode": "symmetric"}),
    ("Pad", ((-2, 3, 4, -5),), {"padding_mode": "edge"}),
    ("Pad", ((-2, 3, 4, -5),), {}),
    ("Grayscale", (), {}),
    ("Grayscale", (3,), {}),
    ("ToTensor", (), {}),
    ("PILToTensor", (), {}),
    ("RandomHorizontalFlip", (), {"p": 1.0}),
    ("RandomVerticalFlip", (), {"p": 1.0}),
    ("RandomHorizontalFlip", (), {"p": 0.0}),
    ("RandomCrop", ((29, 37),), {}),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "arguments", "options"), DETERMINISTIC)
def test_deterministic(name, arguments, options, mode):
    ours, reference = both(name, *arguments, **options)
    assert_same(ours(picture(mode)), reference(picture(mode)))
    assert repr(ours) == repr(reference)


# Both sides use the random numbers that ours draws.
RANDOM = [
    ("RandomCrop", (16,), {"padding": 4}),
    ("RandomCrop", ((60, 20),), {"pad_if_needed": True, "padding_mode": "reflect"}),
    ("RandomCrop", ((40, 50),), {"pad_if_needed": True, "fill": 9}),
    ("RandomResizedCrop", (24,), {}),
    ("RandomResizedCrop", ((12, 30),), {"scale": (0.2, 0.5), "interpolation": "BICUBIC"}),
    ("RandomResizedCrop", (9,), {"ratio": (9.0, 10.0)}),
    ("ColorJitter", (0.4, 0.3, 0.8, 0.2), {}),
    ("ColorJitter", (), {"hue": (-0.5, 0.5)}),
    ("RandomRotation", (30,), {}),
    ("RandomRotation", ((80, 100),), {"expand": True, "interpolation": "BILINEAR", "fill": 5}),
    ("RandomRotation", (45,), {"center": (3, 4)}),
    ("RandomAffine", (20,), {"translate": (0.2, 0.1), "scale": (0.5, 1.5), "shear": 10}),
    (
        "RandomAffine",
        (0,),
        {"shear": (-5, 5, -9, 9), "interpolation": "BICUBIC", "fill": 100, "center": (2, 9)},
    ),
    ("RandomPerspective", (), {"p": 1.0}),
    ("RandomPerspective", (0.3, 1.0, "NEAREST"), {"fill": 3}),
]


@pytest.mark.parametrize("mode", ("RGB", "L"))
@pytest.mark.parametrize(("name", "arguments", "options"), RANDOM)
def test_random_with_the_same_draws(name, arguments, options, mode):
    arguments = tuple(
        getattr(transforms.InterpolationMode, value) if isinstance(value, str) else value
        for value in arguments
    )
    ours = getattr(transforms, name)
    reference_arguments = tuple(
        theirs.InterpolationMode[value.name] if isinstance(value, transforms.InterpolationMode) else value
        for value in arguments
    )
    _, reference = both(name, *reference_arguments, **options)
    options = {
        key: transforms.InterpolationMode[value] if key == "interpolation" else value
        for key, value in options.items()
    }
    ours = ours(*arguments, **options)
    assert repr(ours) == repr(reference)
    draw = type(ours).get_params
    for seed in range(5):
        drawn = []

        def recorded(*values, drawn=drawn):
            drawn.append(draw(*values))
            return drawn[-1]

        ours.get_params = recorded
        image = picture(mode, seed=seed)
        result = ours(image)
        reference.get_params = lambda *_, drawn=drawn: drawn[0]
        assert_same(result, reference(image))


@pytest.mark.parametrize("value", [0, (1.0, 2.0, 3.0), "random"])
def test_random_erasing(value):
    ours, reference = both("RandomErasing", p=1.0, value=value)
    assert repr(ours) == repr(reference)
    image = F.to_tensor(picture())
    drawn = ours.get_params(image, ours.scale, ours.ratio, None if value == "random" else [7.0])
    ours.get_params = lambda *_: drawn
    reference.get_params = lambda *_, **__: (*drawn[:4], torch.from_numpy(drawn[4]))
    assert_same(ours(image), reference(torch.from_numpy(image)))


SPECIAL = [
    ("RandomInvert", ()),
    ("RandomPosterize", (3,)),
    ("RandomSolarize", (100,)),
    ("RandomAdjustSharpness", (2,)),
    ("RandomAdjustSharpness", (0.3,)),
    ("RandomAutocontrast", ()),
    ("RandomEqualize", ()),
    ("RandomGrayscale", ()),
]


@pytest.mark.parametrize("mode", ("RGB", "L"))
@pytest.mark.parametrize(("name", "arguments"), SPECIAL)
def test_with_certainty_and_never(name, arguments, mode):
    for p in (1.0, 0.0):
        ours, reference = both(name, *arguments, p=p)
        assert_same(ours(picture(mode)), reference(picture(mode)))
        assert repr(ours) == repr(reference)


def applied_by_torchvision(image, name, magnitude, interpolation):
    """One of its augmentations' operations on an image; Pillow does not take no bits, tensors do."""
    if name == "Posterize":
        return FT.to_pil_image(FT.posterize(FT.pil_to_tensor(image), int(magnitude)))
    return apply_operation(image, name, magnitude, interpolation, None)


def assert_same_up_to_ties(ours, expected):
    off = np.abs(np.asarray(ours).astype(int) - np.asarray(expected))
    assert off.max() <= 1 and (off > 0).mean() < 1e-3


@pytest.mark.parametrize("mode", ("RGB", "L"))
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill", [0, 90, (10, 200, 30)])
def test_elastic_transform_with_the_same_draws(mode, interpolation, fill):
    fill = fill if mode == "RGB" or isinstance(fill, int) else fill[:1]
    ours, reference = both("ElasticTransform", (60.0, 90.0), interpolation=interpolation, fill=fill)
    assert repr(ours) == repr(reference)
    displacement = ours.get_params(ours.alpha, ours.sigma, [29, 37])
    ours.get_params, reference.get_params = lambda *_: displacement, lambda *_: torch.from_numpy(displacement)
    assert_same_up_to_ties(ours(picture(mode)), reference(picture(mode)))
    for none in (None, 3.0):
        values = (
            f(picture(mode), d, fill=none)
            for f, d in (
                (F.elastic_transform, displacement),
                (FT.elastic_transform, torch.from_numpy(displacement)),
            )
        )
        assert_same_up_to_ties(*values)


@pytest.mark.parametrize("sigma", [5.0, (2.0, 3.5), 0.0])
def test_elastic_displacements(sigma, monkeypatch):
    ours, reference = both("ElasticTransform", (20.0, 50.0), sigma)
    numbers = np.random.default_rng(0).random((2, 29, 37), np.float32)
    in_turn = iter(numbers), iter(numbers)
    monkeypatch.setattr(host_random, "stream", lambda: SimpleNamespace(random=lambda *_: next(in_turn[0])))
    monkeypatch.setattr(torch, "rand", lambda size: torch.from_numpy(next(in_turn[1])).reshape(size))
    actual, expected = (one.get_params(one.alpha, one.sigma, [29, 37]) for one in (ours, reference))
    np.testing.assert_allclose(actual, expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ("RGB", "L"))
@pytest.mark.parametrize(
    "options", [{}, {"severity": 10, "mixture_width": 2, "chain_depth": 2, "all_ops": False}]
)
def test_aug_mix_with_the_same_draws(mode, options, monkeypatch):
    """torchvision's transform with the operations on images in place of those on tensors."""
    from torchvision.transforms import autoaugment

    monkeypatch.setattr(
        autoaugment,
        "_apply_op",
        lambda tensor, name, magnitude, interpolation, fill: FT.pil_to_tensor(
            applied_by_torchvision(FT.to_pil_image(tensor[0]), name, magnitude, interpolation)
        )[None],
    )
    ours, reference = both("AugMix", **options)
    assert repr(ours).replace("ocl.", "") == repr(reference)
    integer, dirichlet, drawn = host_random.integer, ours._sample_dirichlet, []

    def noted(value):
        drawn.append(value)
        return value

    monkeypatch.setattr(host_random, "integer", lambda *bounds: noted(integer(*bounds)))
    monkeypatch.setattr(ours, "_sample_dirichlet", lambda params: noted(dirichlet(params)))
    monkeypatch.setattr(torch, "randint", lambda *_, **__: torch.tensor([drawn.pop(0)]))
    monkeypatch.setattr(reference, "_sample_dirichlet", lambda _: torch.from_numpy(drawn.pop(0))[None])
    for seed in range(10):
        image = picture(mode, seed=seed)
        result = ours(image)
        assert_same(result, reference(image))
        assert not drawn


@pytest.mark.parametrize("name", ["RandAugment", "TrivialAugmentWide", "AutoAugment", "AugMix"])
def test_augmentation_spaces_and_operations(name):
    ours, reference = getattr(transforms, name)(), getattr(theirs, name)()
    assert repr(ours).replace("ocl.", "") == repr(reference)
    reference_mode = theirs.InterpolationMode[ours.interpolation.name]
    sizes = () if name == "TrivialAugmentWide" else ((29, 37),)
    bins = 10 if name in ("AutoAugment", "AugMix") else 31
    space, expected = (one._augmentation_space(bins, *sizes) for one in (ours, reference))
    assert list(space) == list(expected)
    image = picture()
    for operation, (magnitudes, is_signed) in space.items():
        np.testing.assert_array_equal(magnitudes, expected[operation][0].numpy(), err_msg=operation)
        assert is_signed == expected[operation][1]
        for magnitude in np.atleast_1d(magnitudes)[::4]:
            for signed in {float(magnitude), -float(magnitude) if is_signed else float(magnitude)}:
                assert_same(
                    ours._apply(image, operation, signed),
                    applied_by_torchvision(image, operation, signed, reference_mode),
                )


@pytest.mark.parametrize("policy", ["IMAGENET", "CIFAR10", "SVHN"])
def test_auto_augment(policy):
    ours = transforms.AutoAugment(transforms.AutoAugmentPolicy[policy])
    reference = theirs.AutoAugment(theirs.AutoAugmentPolicy[policy])
    assert ours.policies == reference.policies
    for seed in range(20):
        drawn = ours.get_params(len(ours.policies))
        ours.get_params = reference.get_params = lambda _, drawn=drawn: drawn
        image = picture(seed=seed)
        assert_same(ours(image), reference(image))
        del ours.get_params


@pytest.mark.parametrize(
    "mode", ["1", "L", "I", "F", "I;16", "P", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "HSV"]
)
def test_conversions_of_every_mode(mode):
    image = (
        picture("L") if mode == "I;16" else picture("RGB").convert("L" if mode in ("I", "F", "LA") else "RGB")
    )
    if mode == "I;16":
        image = Image.fromarray(np.asarray(image).astype(np.uint16) * 100)
    elif mode not in ("L",):
        image = image.convert(mode)
    assert_same(F.to_tensor(image), FT.to_tensor(image))
    if mode not in ("I;16",):
        assert_same(F.pil_to_tensor(image), FT.pil_to_tensor(image))


@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 1), (5, 6, 3), (5, 6, 4), (5, 6, 2)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32", "int16", "float64"])
def test_arrays_to_tensors_and_images(shape, dtype):
    values = np.random.default_rng(1).random(shape)
    array = (values * 255).astype(dtype) if dtype.startswith(("u", "i")) else values.astype(dtype)
    assert_same(F.to_tensor(array), FT.to_tensor(array))
    try:
        expected = FT.to_pil_image(array)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            F.to_pil_image(array)
    else:
        assert_same(F.to_pil_image(array), expected)


@pytest.mark.parametrize("source", ["uint8", "int16", "int32", "float32", "float64"])
@pytest.mark.parametrize("target", ["uint8", "int16", "int32", "int64", "float32", "float64"])
def test_convert_image_dtype(source, target):
    values = np.random.default_rng(2).random((3, 4, 5))
    array = values.astype(source) if source[0] == "f" else (values * np.iinfo(source).max).astype(source)
    try:
        expected = FT.convert_image_dtype(torch.from_numpy(array), getattr(torch, target))
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match="cannot be performed safely"):
            F.convert_image_dtype(array, target)
        assert "safely" in str(error)
    else:
        assert_same(F.convert_image_dtype(array, target), expected)


def test_normalize_and_linear_transformation():
    image = F.to_tensor(picture())
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    ours, reference = both("Normalize", mean, std)
    assert_same(ours(image), reference(torch.from_numpy(image)))
    assert repr(ours) == repr(reference)
    inplace = transforms.Normalize(mean, std, inplace=True)
    copied = image.copy()
    assert inplace(copied) is copied
    small = np.random.default_rng(0).random((2, 3, 2, 2), np.float32)
    matrix, vector = np.random.default_rng(1).random((12, 12), np.float32), np.ones(12, np.float32)
    reference = theirs.LinearTransformation(torch.from_numpy(matrix), torch.from_numpy(vector))
    assert_same(transforms.LinearTransformation(matrix, vector)(small), reference(torch.from_numpy(small)))


@pytest.mark.parametrize("mode", ("RGB", "L"))
def test_other_functions(mode):
    image = picture(mode)
    for factor in (0.0, 0.5, 1.0, 1.7):
        for name in ("brightness", "contrast", "saturation", "sharpness", "gamma"):
            assert_same(
                getattr(F, f"adjust_{name}")(image, factor), getattr(FT, f"adjust_{name}")(image, factor)
            )
    for factor in (-0.5, -0.2, 0.0, 0.31, 0.5):
        assert_same(F.adjust_hue(image, factor), FT.adjust_hue(image, factor))
    assert F.get_dimensions(image) == FT.get_dimensions(image)
    assert F.get_image_size(image) == FT.get_image_size(image)
    for box in ((-3, -4, 10, 12), (25, 30, 10, 12), (5, 6, 7, 8)):
        assert_same(F.crop(image, *box), FT.crop(image, *box))


@pytest.mark.parametrize("mode", ("RGB", "L"))
@pytest.mark.parametrize(("kernel", "sigma"), [(3, None), ((5, 7), 1.3), ([9, 1], [0.4, 2.0])])
def test_gaussian_blur_up_to_ties(kernel, sigma, mode):
    ours, expected = (f(picture(mode), kernel, sigma) for f in (F.gaussian_blur, FT.gaussian_blur))
    assert_same_up_to_ties(ours, expected)


@pytest.mark.parametrize("shape", [(3, 20, 24), (2, 1, 20, 24)])
def test_arrays_as_torchvisions_tensors(shape):
    array = np.random.default_rng(3).random(shape, np.float32)
    tensor = torch.from_numpy(array)
    for name, arguments in [
        ("hflip", ()),
        ("vflip", ()),
        ("crop", (2, 3, 5, 7)),
        ("crop", (-2, -3, 9, 9)),
        ("crop", (15, 20, 9, 9)),
        ("center_crop", ([8, 30],)),
        ("five_crop", ([7, 9],)),
        ("pad", ([1, 2, 3, 4], 0.5)),
        ("pad", ([1, 2], 0, "reflect")),
        ("pad", ([3], 0, "edge")),
        ("get_dimensions", ()),
    ]:
        ours, expected = getattr(F, name)(array, *arguments), getattr(FT, name)(tensor, *arguments)
        if name == "get_dimensions":
            assert ours == expected
        else:
            assert_same(ours, expected)


def test_signatures():
    names = [name for name in theirs.__dict__ if inspect.isclass(getattr(theirs, name))]
    assert len(names) > 30
    for name in names:
        reference = inspect.signature(getattr(theirs, name).__init__).parameters
        ours = inspect.signature(getattr(transforms, name).__init__).parameters
        plain = {key: value for key, value in ours.items() if key not in ("args", "kwargs")}
        expected = {key: value for key, value in reference.items() if key not in ("args", "kwargs")}
        if name in ("InterpolationMode", "AutoAugmentPolicy"):
            continue
        assert list(plain) == list(expected), name
        for key in plain:
            ours_default, default = plain[key].default, expected[key].default
            assert getattr(ours_default, "name", ours_default) == getattr(default, "name", default), (
                name,
                key,
            )


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("Resize", ((1, 2, 3),), {}),
        ("Resize", (5.5,), {}),
        ("CenterCrop", ((1, 2, 3),), {}),
        ("Pad", ("a",), {}),
        ("Pad", (1,), {"fill": "a"}),
        ("Pad", (1,), {"padding_mode": "wrap"}),
        ("Pad", ((1, 2, 3),), {}),
        ("Lambda", (3,), {}),
        ("RandomChoice", (3,), {}),
        ("RandomChoice", ([],), {"p": 3}),
        ("RandomOrder", (3,), {}),
        ("RandomResizedCrop", (3,), {"scale": 1}),
        ("RandomResizedCrop", (3,), {"ratio": 1}),
        ("ColorJitter", (-1,), {}),
        ("ColorJitter", ("a",), {}),
        ("ColorJitter", (), {"hue": 0.6}),
        ("ColorJitter", ((2, 1),), {}),
        ("RandomRotation", (-1,), {}),
        ("RandomRotation", ((1, 2, 3),), {}),
        ("RandomRotation", (1,), {"center": 3}),
        ("RandomRotation", (1,), {"fill": object()}),
        ("RandomAffine", (1,), {"translate": (2, 0)}),
        ("RandomAffine", (1,), {"scale": (0, 1)}),
        ("RandomAffine", (1,), {"shear": (1, 2, 3)}),
        ("RandomErasing", (), {"value": "noise"}),
        ("RandomErasing", (), {"value": None}),
        ("RandomErasing", (), {"p": 2}),
        ("RandomErasing", (), {"scale": (-1, 1)}),
        ("GaussianBlur", (2,), {}),
        ("GaussianBlur", (3,), {"sigma": 0}),
        ("GaussianBlur", (3,), {"sigma": (2, 1)}),
        ("AutoAugment", ("imagenet",), {}),
        ("AugMix", (11,), {}),
        ("ElasticTransform", (3,), {}),
        ("ElasticTransform", ((1.0, 2.0, 3.0),), {}),
        ("ElasticTransform", ((1.0, 2),), {}),
        ("ElasticTransform", (), {"sigma": "a"}),
        ("ElasticTransform", (), {"fill": "a"}),
    ],
)
def test_arguments_refused_alike(name, arguments, options):
    with pytest.raises((TypeError, ValueError)) as reference:
        getattr(theirs, name)(*arguments, **options)
    with pytest.raises(reference.type) as ours:
        getattr(transforms, name)(*arguments, **options)
    assert str(ours.value) == str(reference.value)
