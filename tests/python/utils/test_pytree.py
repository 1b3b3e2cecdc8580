"""Nests of classes that programs register, as torch.utils._pytree takes them."""

import pytest
import torch.utils._pytree as theirs

from ocl.utils import _pytree as ours


class Pair:
    def __init__(self, first, second, label):
        self.first, self.second, self.label = first, second, label


@pytest.mark.parametrize("lib", [ours, theirs], ids=["ocl", "torch"])
def test_registered_classes_are_nests(lib):
    class Own(Pair):
        pass

    lib.register_pytree_node(
        Own, lambda p: ([p.first, p.second], p.label), lambda entries, label: Own(*entries, label)
    )
    assert Own in lib.SUPPORTED_NODES
    leaves, spec = lib.tree_flatten({"a": Own(1, [2, 3], "x"), "b": 4})
    assert leaves == [1, 2, 3, 4]
    made = lib.tree_unflatten([10, 20, 30, 40], spec)
    assert made["a"].first == 10 and made["a"].second == [20, 30] and made["a"].label == "x"
    assert lib.tree_map(lambda leaf: -leaf, Own(1, 2, "y")).second == -2
    with pytest.raises(ValueError, match="already registered"):
        lib.register_pytree_node(Own, None, None)
    assert lib._dict_flatten_with_keys({"k": 1})[0][0][1] == 1
    assert lib._dict_unflatten([1, 2], lib._dict_flatten({"p": 0, "q": 0})[1]) == {"p": 1, "q": 2}
