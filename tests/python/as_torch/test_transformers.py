"""Small nets of transformers run over ocl as they are: results, gradients, training and generation."""

import importlib.util

import numpy as np
import pytest
from comparisons import not_compared
from other_libraries import is_as_near, run

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason=not_compared("transformers over ocl", "transformers"),
)
QUICK = ("gpt2", "bert", "t5")
OTHERS = ("llama", "whisper", "vit", "clip")
GENERATE, TRAIN = ("gpt2", "llama", "t5"), ("gpt2", "bert")


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in OTHERS)])
def test_nets_give_the_numbers_of_pytorch(name, tmp_path):
    """Results and gradients are at most 4 times as far from float64 as PyTorch's float32. Generated tokens
    are the same, and so are the losses of five steps of AdamW."""
    weights = ("--weights", tmp_path / "weights.npz")
    run("transformers_nets.py", name, *weights, "--write", tmp_path / "theirs.npz", "--draw", over_ocl=False)
    run("transformers_nets.py", name, *weights, "--write", tmp_path / "ours.npz", over_ocl=True)
    theirs, ours = np.load(tmp_path / "theirs.npz"), np.load(tmp_path / "ours.npz")
    kinds = [key.removeprefix("exact ") for key in theirs.files if key.startswith("exact ")]
    assert [key for key in theirs.files if not key.startswith("exact ")] == ours.files
    gradients = [kind for kind in kinds if kind.startswith("grad ")]
    results = [kind for kind in kinds if kind not in gradients and kind != "loss"]
    assert len(gradients) > 20 and results

    def joined(file, kind):
        return np.concatenate([file[f"{kind} {key}"].ravel() for key in gradients])

    for key in results:
        assert is_as_near(ours[f"single {key}"], theirs[f"single {key}"], theirs[f"exact {key}"]), key
    assert is_as_near(joined(ours, "single"), joined(theirs, "single"), joined(theirs, "exact"))
    np.testing.assert_allclose(ours["single loss"], theirs["exact loss"], rtol=1e-6)
    if name in GENERATE:
        np.testing.assert_array_equal(ours["tokens"], theirs["tokens"])
        assert len(np.unique(theirs["tokens"])) > 6
    if name in TRAIN:
        assert theirs["losses"][-1] < theirs["losses"][0]
        np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-5)


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("accelerate", "safetensors")),
    reason=not_compared("the Trainer of transformers over ocl", "accelerate and safetensors"),
)
def test_nets_are_saved_loaded_and_trained_by_the_trainer(tmp_path):
    """Folders that one library saved give the other the same net. Losses of the Trainer are PyTorch's, and
    those after a checkpoint are those of the run that went on."""
    from safetensors.numpy import load_file

    for over_ocl in (False, True):
        options = ["--write", tmp_path / f"{over_ocl}.npz", *([] if over_ocl else ["--draw"])]
        run("transformers_files.py", tmp_path, *options, over_ocl=over_ocl)
    theirs, ours = np.load(tmp_path / "False.npz"), np.load(tmp_path / "True.npz")
    assert theirs.files == ours.files
    for name in ("losses", "eval loss", "predictions", "hidden"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-5, err_msg=name)
    assert len(ours["losses"]) == 6
    for file in (theirs, ours):
        np.testing.assert_allclose(file["resumed losses"][-3:], file["losses"][-3:], rtol=1e-5)
        assert file["is drawn"] and list(file["dtypes"]) == ["bfloat16"]
    for name in ("missing", "unexpected", "half"):
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert list(ours["missing"]) == ["classifier.bias", "classifier.weight"]
    written = [load_file(tmp_path / str(over_ocl) / "model.safetensors") for over_ocl in (False, True)]
    assert list(written[0]) == list(written[1])
    for name, value in written[0].items():
        np.testing.assert_allclose(written[1][name], value, rtol=1e-4, atol=1e-5, err_msg=name)
