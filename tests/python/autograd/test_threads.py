"""Threads that share a tensor: a race gives either value, never a crash. Each case is a process."""

import pytest
from processes import run

COMMON = """
import gc, sys, threading, time
import ocl
sys.setswitchinterval(1e-4)
errors = []
def together(*actions, seconds=1.5):
    end = time.monotonic() + seconds
    def loop(action):
        while time.monotonic() < end:
            try:
                action()
            except RuntimeError:
                pass  # a graph that another thread has freed, a tensor that it has written
            except BaseException as error:
                errors.append(repr(error))
    threads = [threading.Thread(target=loop, args=(a,)) for a in actions]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors, errors[:3]
    print("done")
"""

CASES = {
    "in-place writes to one tensor with history": """
x = ocl.ones(64, requires_grad=True)
y = x * 1
views = [y[:32], y[32:], y.reshape(8, 8)]
together(lambda: y.mul_(1.5), lambda: y.add_(x), lambda: views[0].mul_(2.0), lambda: views[1].add_(1.0),
         lambda: (views[2] * 2).sum(), lambda: y.sum().backward(retain_graph=True),
         lambda: (y.is_leaf, y.grad_fn, views[0].grad_fn, y.requires_grad))
""",
    "backward to one leaf": """
x = ocl.ones(64, requires_grad=True)
def zero():
    x.grad = None
def read():
    g = x.grad
    if g is not None:
        g.tolist()
def step():
    if x.grad is not None:
        x.grad.zero_()
together(*[lambda: (x * 2).sum().backward()] * 4, zero, read, step)
""",
    "backward through one graph": """
x = ocl.ones(64, requires_grad=True)
graphs = [((x * 2).exp() * x).sum()]
def renew():
    graphs[0] = ((x * 2).exp() * x).sum()
together(*[lambda: graphs[0].backward()] * 3, lambda: graphs[0].backward(retain_graph=True), renew,
         lambda: ocl.autograd.grad(graphs[0], x, retain_graph=True))
""",
    "hooks of one tensor": """
x = ocl.ones(64, requires_grad=True)
y = x.exp()
def hook(t):
    handle = t.register_hook(lambda g: g * 1)
    handle.remove()
def keep():
    y.register_hook(lambda g: y and None).remove()
together(lambda: hook(x), lambda: hook(y), keep, lambda: hook(x), gc.collect,
         *[lambda: y.sum().backward(retain_graph=True)] * 3)
""",
    "one optimizer": """
parameters = [ocl.ones(64, requires_grad=True) for _ in range(4)]
optimizer = ocl.optim.Adam(parameters, lr=1e-3)
state = optimizer.state_dict()
def rates():
    group = optimizer.param_groups[0]
    group["lr"] = 1e-3
    group["initial_lr"] = 1e-3
    dict(group.items())
def backward():
    sum((p * 2).sum() for p in parameters).backward()
together(optimizer.step, optimizer.step, optimizer.zero_grad, backward, backward, rates,
         optimizer.state_dict, lambda: optimizer.load_state_dict(optimizer.state_dict()),
         lambda: repr(optimizer),
         lambda: ocl.optim.lr_scheduler.StepLR(optimizer, 2).step())
""",
    "the collector while tensors change": """
x = ocl.ones(64, requires_grad=True)
y = x * 1
def tie():
    class Keeps(ocl.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x * 2
            return ctx.y
        @staticmethod
        def backward(ctx, grad):
            return grad
    z = Keeps.apply(x)
    z.register_hook(lambda g: z and None)
    z.sum().backward()
together(tie, tie, gc.collect, lambda: y.mul_(1.5), lambda: y.add_(x),
         lambda: y.sum().backward(retain_graph=True))
""",
}


@pytest.mark.parametrize("case", CASES)
def test_threads_share(case):
    output, _ = run(COMMON + CASES[case])
    assert output.split() == ["done"]


def test_gradients_of_threads_add_up():
    output, _ = run(
        COMMON
        + """
x = ocl.ones(4, requires_grad=True)
def work():
    for _ in range(100):
        (x * 2).sum().backward()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(x.grad.tolist())
"""
    )
    assert output.strip() == "[800.0, 800.0, 800.0, 800.0]"
