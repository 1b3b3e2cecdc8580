"""The library as a case sees it, with an eye on its calls: to write them down, and to change an argument."""

import types


def is_tensor(value):
    return hasattr(value, "retain_grad")


def as_text(value):
    if is_tensor(value):
        dtype = str(value.dtype).split(".")[-1]
        return f"<{dtype}{list(value.shape)} strides {list(value.stride())}>"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(as_text, value)) + ")"
    return str(value) if type(value).__name__ == "dtype" else repr(value)


class Spy:
    """A library whose functions report their calls to `watch(path, arguments, keywords)`, which gives the
    arguments and keywords to call with; so do its classes where `classes` is set."""

    def __init__(self, target, watch, path="", classes=False):
        self._target, self._watch, self._path, self._classes = target, watch, path, classes

    def __getattr__(self, name):
        value = getattr(self._target, name)
        path = f"{self._path}.{name}" if self._path else name
        if isinstance(value, types.ModuleType):
            return Spy(value, self._watch, path, self._classes)
        is_plain_class = isinstance(value, type) and not self._classes
        if not callable(value) or is_plain_class or type(value).__name__ == "dtype":
            return value

        def call(*arguments, **keywords):
            arguments, keywords = self._watch(path, arguments, keywords)
            return value(*arguments, **keywords)

        return call


class Log:
    """Writes the calls down."""

    def __init__(self):
        self.calls = []

    def __call__(self, path, arguments, keywords):
        texts = [as_text(a) for a in arguments] + [f"{k}={as_text(v)}" for k, v in keywords.items()]
        self.calls.append(f"{path}({', '.join(texts)})")
        return arguments, keywords

    def text(self):
        return "; ".join(self.calls)
