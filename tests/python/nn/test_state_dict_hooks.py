"""Hooks around state dicts, as PyTorch calls them."""

import copy

import pytest
import torch

import ocl

LIBRARIES = (ocl, torch)


def alike(play):
    ours, theirs = (play(library) for library in LIBRARIES)
    assert ours == theirs


def net_of(library):
    nn = library.nn
    return nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1, bias=False)))


def test_they_see_what_pytorchs_see():
    def play(library):
        net, seen = net_of(library), []
        for path, module in net.named_modules():
            module.register_state_dict_pre_hook(
                lambda m, prefix, keep_vars, path=path: seen.append(
                    ("before", path, type(m).__name__, prefix, keep_vars)
                )
            )
            module.register_state_dict_post_hook(
                lambda m, state, prefix, metadata, path=path: seen.append(
                    ("after", path, list(state), prefix, metadata["version"])
                )
            )
            module.register_load_state_dict_post_hook(
                lambda m, keys, path=path: seen.append(("loaded", path, keys.missing_keys))
            )
        state = net.state_dict()
        net.state_dict(prefix="p.", keep_vars=True)
        net.load_state_dict(state)
        return seen

    alike(play)


def test_a_post_hook_changes_the_state_dict():
    def play(library):
        net = net_of(library)

        def hook(module, state, prefix, metadata):
            state[prefix + "renamed"] = state.pop(prefix + "weight")
            state[prefix + "added"] = library.ones(1)

        handle = net[0].register_state_dict_post_hook(hook)
        changed = list(net.state_dict())
        handle.remove()
        return changed, list(net.state_dict())

    alike(play)


@pytest.mark.parametrize("values", ["tensors", "arrays"])
def test_a_pre_hook_renames_what_an_older_program_saved(values):
    def play(library):
        net = net_of(library)
        state = {k.replace("weight", "kernel"): v * 0 + 2 for k, v in net.state_dict().items()}
        if values == "arrays" and library is ocl:
            state = {k: v.numpy() for k, v in state.items()}

        def rename(module, given, prefix, metadata, strict, missing, unexpected, errors):
            for key in list(given):
                given[key.replace("kernel", "weight")] = given.pop(key)

        net.register_load_state_dict_pre_hook(rename)
        keys = net.load_state_dict(state)
        return [p.sum().item() for p in net.parameters()], str(keys)

    alike(play)


def test_a_pre_hook_without_the_module():
    def play(library):
        net, seen = net_of(library), []
        net[0]._register_load_state_dict_pre_hook(
            lambda state, prefix, metadata, strict, *lists: seen.append((list(state), prefix, strict, lists))
        )
        net[0]._register_load_state_dict_pre_hook(
            lambda module, state, prefix, *rest: seen.append(type(module).__name__), with_module=True
        )
        net.load_state_dict(net.state_dict(), strict=False)
        prefixes = [s if isinstance(s, str) else s[1:] for s in seen]
        return prefixes

    alike(play)


def test_errors_and_names_that_hooks_add():
    for library in LIBRARIES:
        net = net_of(library)
        state = net.state_dict()
        net[0].register_load_state_dict_pre_hook(lambda *args: args[-1].append("too old"))
        with pytest.raises(RuntimeError, match="too old"):
            net.load_state_dict(state)


def test_a_post_hook_excuses_missing_names():
    def play(library):
        net = net_of(library)
        state = net.state_dict()
        removed = state.pop("0.bias")
        net[0].register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        state["0.weight"] = state["0.weight"] * 0 + 5
        keys = net.load_state_dict(state)
        return str(keys), net[0].weight.sum().item(), removed.shape == (3,)

    alike(play)


def test_destination():
    def play(library):
        given = {"kept": 1}
        result = net_of(library).state_dict(destination=given, prefix="p.")
        return result is given, list(given)

    alike(play)


def test_keep_vars():
    for library in LIBRARIES:
        net = net_of(library)
        assert net.state_dict(keep_vars=True)["0.weight"] is net[0].weight
        assert not net.state_dict()["0.weight"].requires_grad


def test_what_is_no_tensor_is_refused():
    net = net_of(ocl)
    net.register_state_dict_post_hook(lambda module, state, *_: state.update(epoch=3))
    with pytest.raises(TypeError, match="a hook of a state dict left 3 under 'epoch'"):
        net.state_dict()


def test_copies_take_the_hooks_along():
    def play(library):
        net, seen = net_of(library), []
        net[0].register_state_dict_pre_hook(lambda *_: seen.append(1))
        twin = copy.deepcopy(net)
        twin.state_dict()
        return len(seen), len(twin[0]._state_dict_pre_hooks)

    alike(play)
