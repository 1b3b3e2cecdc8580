"""A finding of the fuzzer: one disagreement with PyTorch."""

from dataclasses import dataclass

# Kinds of disagreement, worst first.
CRASH = "crash"  # the process died
HANG = "hang"  # no answer within the time limit
WRONG = "wrong"  # another result, shape, dtype or gradient
UNTYPED = "untyped"  # an error that is none of the library's types
REFUSES = "refuses"  # an error where PyTorch gives a result
ACCEPTS = "accepts"  # a result where PyTorch gives an error


@dataclass
class Found:
    """`subject` is the operator (or kind of program), `call` the case as text, `detail` what differed."""

    what: str
    subject: str
    call: str
    detail: str
