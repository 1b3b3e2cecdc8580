"""Constructors of the classes whose options are rows of a table."""

import inspect

Parameter = inspect.Parameter


def _parameters(required, rows, last):
    for name in required:
        yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)
    for name, kind, initial, is_required, keyword_only in rows:
        if kind != "fixed":
            yield Parameter(
                name,
                Parameter.KEYWORD_ONLY if keyword_only else Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if is_required else False if kind == "refused" else initial,
            )
    for name, initial in last.items():
        yield Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=initial)


def constructor(cls, required, rows, begin, last=()):
    """`__init__` of `cls`, with the `required` arguments, those of `rows` and those of `last`: checks that
    they fit and
    calls `begin(self, given)` with all of them by name."""
    signature = inspect.Signature(list(_parameters(required, rows, dict(last))))
    fixed = {name: initial for name, kind, initial, *_ in rows if kind == "fixed"}

    def __init__(self, *args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}(): {error}") from None
        given.apply_defaults()
        begin(self, {**given.arguments, **fixed})

    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__doc__ = None
    return __init__
