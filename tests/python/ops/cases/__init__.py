"""Random cases of every operator, one file a family; what runs them is test_operators.py.

    @cases("gather")
    def gather(draw):                       # called once for each of 20 seeds
        x = draw.floats(draw.shape(1, 4))
        dim = draw.dim(x)
        ...
        return Case(lambda lib, x, index: lib.gather(x, dim, index), x, index)

`lib` is torch or ocl. See harness.py for what a case may say and what can be drawn.
"""

from cases.harness import CASES, ERRORS, Case, Draw, Input, cases, errors

__all__ = ["CASES", "ERRORS", "Case", "Draw", "Input", "cases", "errors"]
