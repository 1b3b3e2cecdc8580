"""The seam: every operator of the table reaches listeners when it is called, with its arguments."""

import pytest
from comparison import as_list, drawn

import ocl

TABLE = {row["name"]: row for row in ocl._C.operator_table()}
# Second names of an operator, which it has in Python alone.
ALIASES = {
    "swapaxes": "transpose",
    "expand_as": "expand",
    "view_as": "view",
    "vector_norm": "norm",
    "rand_like": "rand",
    "randn_like": "randn",
    "randint_like": "randint",
}
RANDOM = {
    "rand": lambda: ocl.rand(3),
    "randn": lambda: ocl.randn(3),
    "randint": lambda: ocl.randint(5, (3,)),
    "rand_like": lambda: ocl.rand_like(ocl.ones(3)),
    "randn_like": lambda: ocl.randn_like(ocl.ones(3)),
    "randint_like": lambda: ocl.randint_like(ocl.ones(3), 5),
    "randperm": lambda: ocl.randperm(5),
    "normal": lambda: ocl.normal(ocl.zeros(3), 1.0),
    "bernoulli": lambda: ocl.bernoulli(ocl.zeros(3)),
    "multinomial": lambda: ocl.multinomial(ocl.ones(3), 2),
    "uniform_": lambda: ocl.zeros(3).uniform_(),
    "normal_": lambda: ocl.zeros(3).normal_(),
    "bernoulli_": lambda: ocl.zeros(3).bernoulli_(),
    "exponential_": lambda: ocl.zeros(3).exponential_(),
    "random_": lambda: ocl.zeros(3).random_(),
    "gumbel_softmax": lambda: ocl.nn.functional.gumbel_softmax(ocl.zeros(3)),
}


def calls_of(run):
    with ocl.profiler.record_calls() as recorded:
        run()
    return recorded.calls


def run_case(name, seed):
    case = drawn(name, seed)
    built = [i.build(lambda a: ocl.tensor(a)) for i in case.inputs]
    leaves = [leaf.requires_grad_() for i, (leaf, _) in zip(case.inputs, built, strict=True) if i.is_floating]
    results = as_list(case.function(ocl, *[given for _, given in built]))
    if case.backward and leaves:
        loss = [r.sum() for r in results if r.requires_grad]
        if loss:
            sum(loss).backward()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_operator_is_heard_of(name):
    if name in RANDOM:
        calls = calls_of(RANDOM[name])
    else:
        calls = [call for seed in range(3) for call in calls_of(lambda s=seed: run_case(name, s))]
    heard = [c for c in calls if c.kind == "operator" and c.name == ALIASES.get(name, name)]
    assert heard, sorted({c.name for c in calls})
    assert all(heard[0].arguments)
    assert any(isinstance(v, (ocl.Tensor, list, int, float)) for c in heard for v in c.arguments.values())


def test_arguments_are_values():
    x, w = ocl.rand(2, 3, 8, 8), ocl.rand(6, 3, 3, 3)
    conv = calls_of(lambda: ocl.nn.functional.conv2d(x, w, stride=(2, 1), padding="valid"))[0]
    assert (conv.name, conv.kind, conv.depth) == ("conv2d", "operator", 0)
    assert conv.arguments["input"].shape == x.shape and conv.arguments["bias"] is None
    assert conv.arguments["stride"] == [2, 1] and conv.arguments["padding"] == "valid"
    assert conv.arguments["groups"] == 1


def test_backward_modules_and_optimizers_are_heard_of():
    net = ocl.nn.Sequential(ocl.nn.Linear(3, 4), ocl.nn.ReLU())
    optimizer = ocl.optim.Adam(net.parameters())

    def step():
        net(ocl.ones(2, 3)).sum().backward()
        optimizer.step()

    calls = calls_of(step)
    names = {(c.kind, c.name) for c in calls}
    assert {("module", "Sequential"), ("module", "Linear"), ("module", "ReLU")} <= names
    assert {("operator", "relu"), ("operator", "Adam"), ("primitive", "fused_step")} <= names
    assert ("backward", "AccumulateGrad") in names
    assert sum(kind == "backward" for kind, _ in names) > 3
    linear = next(c for c in calls if c.name == "Linear")
    assert linear.depth == 1
    assert linear.arguments["input"][0].shape == (2, 3)


def test_only_this_thread_and_only_inside():
    import threading

    with ocl.profiler.record_calls() as recorded:
        thread = threading.Thread(target=lambda: ocl.ones(2).exp())
        thread.start()
        thread.join()
    ocl.ones(2).exp()
    assert recorded.calls == []


def test_profiles_by_operator_and_module():
    net = ocl.nn.Sequential(ocl.nn.Linear(3, 4), ocl.nn.ReLU())
    net(ocl.ones(2, 3))
    with ocl.profiler.profile() as p:
        net(ocl.ones(2, 3)).sum().backward()
    assert "relu" in p.table("operator") and "gemm" in p.table()
    assert "Backward" in p.table("operator")
    modules = p.table("module")
    assert "Linear" in modules and "ReLU" in modules and "(none)" in modules
    with pytest.raises(ValueError, match="'kernel', 'operator', 'module' or 'implementation', got 'x'"):
        p.table("x")


def test_errors_name_the_operator():
    with pytest.raises(ValueError, match="^conv2d: "):
        ocl.nn.functional.conv2d(ocl.ones(1, 2, 3, 3), ocl.ones(1, 3, 3, 3))
    with pytest.raises(ocl.OutOfMemoryError, match="^full: out of memory"):
        ocl.full((2**45,), 1.0)
