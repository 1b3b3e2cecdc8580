"""ZeroRedundancyOptimizer, by the optimizer that it shares out."""

from ranks import run_ranks

PROGRAM = """
from ocl.distributed.optim import ZeroRedundancyOptimizer
from ocl.optim import AdamW
from ocl.optim.lr_scheduler import StepLR

def parameters():
    drawn = np.random.default_rng(0)
    sizes = [(3, 4), (50,), (2,), (7, 7), (1,)]
    return [ocl.tensor(drawn.standard_normal(s).astype("float32"), requires_grad=True) for s in sizes]

def groups(params):
    return [{"params": params[:2], "weight_decay": 0.5}, {"params": params[2:], "lr": 0.3}]

def train(params, optimizer, steps, first=0):
    schedule = StepLR(optimizer, 2, 0.5)
    for step in range(first, first + steps):
        for i, p in enumerate(params):
            p.grad = ocl.tensor(np.random.default_rng((step, i)).standard_normal(p.shape).astype("float32"))
        optimizer.step()
        schedule.step()

def same(a, b):
    for p, q in zip(a, b):
        np.testing.assert_array_equal(p.detach().numpy(), q.detach().numpy())
"""


def test_steps_states_and_resuming():
    run_ranks(
        PROGRAM
        + """
whole, shared = parameters(), parameters()
one = AdamW(groups(whole), lr=0.1)
zero = ZeroRedundancyOptimizer(groups(shared), AdamW, lr=0.1)
train(whole, one, 5)
train(shared, zero, 5)
same(whole, shared)
own = sum(p.numel() for g in zero.optim.param_groups for p in g["params"]) if zero.optim else 0
assert 0 < own < 114 or size > 2
try:
    zero.state_dict()
    raise SystemExit("accepted")
except RuntimeError as error:
    assert "consolidate_state_dict" in str(error)
zero.consolidate_state_dict(to=1)
if rank == 1:
    state, expected = zero.state_dict(), one.state_dict()
    assert state["param_groups"] == expected["param_groups"]
    assert state["state"].keys() == expected["state"].keys()
    for i, entries in expected["state"].items():
        for key, value in entries.items():
            np.testing.assert_array_equal(np.asarray(state["state"][i][key]), np.asarray(value))
# The state of one optimizer, and so that of any number of processes, goes on here.
again = parameters()
for p, q in zip(again, whole):
    with ocl.no_grad():
        p.copy_(q)
resumed = ZeroRedundancyOptimizer(groups(again), AdamW, lr=0.1)
resumed.load_state_dict(one.state_dict())
for step in range(2):
    for params, optimizer in ((whole, one), (again, resumed)):
        for i, p in enumerate(params):
            p.grad = ocl.full(p.shape, float(i + step))
        optimizer.step()
same(whole, again)
""",
        3,
    )


def test_more_ranks_than_parameters():
    run_ranks(
        PROGRAM
        + """
whole, shared = parameters()[:1], parameters()[:1]
train(whole, AdamW(whole, lr=0.1), 3)
train(shared, ZeroRedundancyOptimizer(shared, AdamW, lr=0.1), 3)
same(whole, shared)
""",
        2,
    )
