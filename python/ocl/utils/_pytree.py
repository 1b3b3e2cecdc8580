"""Nests of tuples, lists and dicts under the names of torch.utils._pytree."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

__all__ = [
    "MappingKey",
    "SUPPORTED_NODES",
    "NodeDef",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
_BUILTINS = (tuple, list, dict, OrderedDict, defaultdict, deque)


class TreeSpec(namedtuple("TreeSpec", ["type", "context", "children_specs"])):
    """The form of a nest: its type, what it takes to make it again, and the forms of its entries."""

    __slots__ = ()

    @property
    def num_leaves(self) -> int:
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        return tree_unflatten(leaves, self)


_LEAF = TreeSpec(None, None, ())


class NodeDef(NamedTuple):
    """How a class that was registered comes apart, and together again."""

    type: type
    flatten_fn: Callable[[Any], tuple[list, Any]]
    unflatten_fn: Callable[[Iterable, Any], Any]
    flatten_with_keys_fn: Callable | None = None


# The classes that programs registered.
SUPPORTED_NODES: dict[type, NodeDef] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list, Any]],
    unflatten_fn: Callable[[Iterable, Any], Any],
    *,
    flatten_with_keys_fn: Callable | None = None,
    **serialization: Any,
) -> None:
    """Has objects of a class be nests: ``flatten_fn`` gives their entries and a context, of which
    ``unflatten_fn`` makes them again. ValueError for a class that is a nest already.

    (torch.utils._pytree.register_pytree_node; forms are not written to files, so that ``serialization`` is
    not read)
    """
    if cls in SUPPORTED_NODES or cls in _BUILTINS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


class MappingKey(NamedTuple):
    """The place of a dict's entry."""

    key: Any


def _dict_flatten(d: dict) -> tuple[list, list]:
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict) -> tuple[list[tuple[MappingKey, Any]], list]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable, context: list) -> dict:
    return dict(zip(context, values, strict=True))


def _is_namedtuple(tree: Any) -> bool:
    return isinstance(tree, tuple) and hasattr(tree, "_fields")


def _entries(tree: Any) -> tuple[Iterable[Any], Any]:
    """The entries of one level, and what it takes to make it again."""
    if type(tree) in SUPPORTED_NODES:
        return SUPPORTED_NODES[type(tree)].flatten_fn(tree)
    if isinstance(tree, dict):
        factory = tree.default_factory if isinstance(tree, defaultdict) else None
        return tree.values(), (factory, tuple(tree))
    return tree, tree.maxlen if isinstance(tree, deque) else None


def _made(kind: type, context: Any, entries: list) -> Any:
    if kind in SUPPORTED_NODES:
        return SUPPORTED_NODES[kind].unflatten_fn(entries, context)
    if issubclass(kind, dict):
        factory, keys = context
        pairs = zip(keys, entries, strict=True)
        return kind(factory, pairs) if issubclass(kind, defaultdict) else kind(pairs)
    if issubclass(kind, deque):
        return kind(entries, context)
    return kind(*entries) if hasattr(kind, "_fields") else kind(entries)


def tree_flatten(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves from left to right, and the form. Nests are of tuples, lists, dicts, deques,
    namedtuples and classes that were registered; everything else is a leaf, None and subclasses of these too.
    """
    is_nest = type(tree) in _BUILTINS or type(tree) in SUPPORTED_NODES or _is_namedtuple(tree)
    if not is_nest or (is_leaf is not None and is_leaf(tree)):
        return [tree], _LEAF
    entries, context = _entries(tree)
    leaves: list = []
    specs = []
    for entry in entries:
        below, spec = tree_flatten(entry, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(type(tree), context, tuple(specs))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The nest of that form. TypeError where ``treespec`` is none, ValueError for a wrong count of leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten: expected a TreeSpec, got {type(treespec).__name__}")
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten: expected {treespec.num_leaves} leaves, got {len(given)}")
    return _filled(iter(given), treespec)


def _filled(leaves: Any, spec: TreeSpec) -> PyTree:
    if spec.type is None:
        return next(leaves)
    return _made(spec.type, spec.context, [_filled(leaves, child) for child in spec.children_specs])


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list:
    """The leaves from left to right."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The form alone."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable, tree: PyTree, *rests: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> PyTree:
    """The nest with ``func(leaf, …)`` for every leaf and those at its place in ``rests``.

    ValueError where the form of one of these differs.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = []
    for rest in rests:
        its_leaves, its_spec = tree_flatten(rest, is_leaf)
        if its_spec != spec:
            raise ValueError(f"tree_map: expected nests of one form, got {spec} and {its_spec}")
        others.append(its_leaves)
    return tree_unflatten([func(*leaf) for leaf in zip(leaves, *others, strict=True)], spec)


def tree_map_(
    func: Callable, tree: PyTree, *rests: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> PyTree:
    """Calls ``func`` as tree_map does, and gives the nest itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    kind: Any, func: Callable, tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> PyTree:
    """tree_map for leaves of that type, or those types; the others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` holds for one leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))
