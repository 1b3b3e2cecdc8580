"""Learning-rate schedules against torch's."""

import pytest
import torch

import ocl

SCHEDULES = {
    "StepLR": {"step_size": 3, "gamma": 0.5},
    "StepLR every epoch": {"step_size": 1},
    "ExponentialLR": {"gamma": 0.9},
}


def make(library, schedule, rates=(0.1, 0.02)):
    groups = [{"params": [library.ones(1, requires_grad=True)], "lr": rate} for rate in rates]
    optimizer = library.optim.SGD(groups, lr=1.0)
    return optimizer, getattr(library.optim.lr_scheduler, schedule.split()[0])(
        optimizer, **SCHEDULES[schedule]
    )


def rates(library, schedule, epochs):
    optimizer, scheduler = make(library, schedule)
    history = []
    for _ in range(epochs):
        assert scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        history.append(scheduler.get_last_lr())
        optimizer.step()
        scheduler.step()
    return history


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rates_are_torchs(schedule):
    for ours, theirs in zip(rates(ocl, schedule, 10), rates(torch, schedule, 10), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_resumes(schedule):
    _, scheduler = make(ocl, schedule)
    for _ in range(4):
        scheduler.step()
    optimizer, resumed = make(ocl, schedule)
    resumed.load_state_dict(scheduler.state_dict())
    assert resumed.last_epoch == 4
    assert (
        resumed.get_last_lr() == scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
    )


def test_a_scheduler_keeps_its_optimizer():
    _, scheduler = make(ocl, "ExponentialLR")
    scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.09, 0.018])


def test_the_rate_counts_in_the_next_step():
    p = ocl.zeros(1, requires_grad=True)
    optimizer = ocl.optim.SGD([p], lr=1.0)
    scheduler = ocl.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    p.grad = ocl.ones(1)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    assert p.item() == -1.75


def test_a_step_size_of_zero_is_refused():
    optimizer = ocl.optim.SGD([ocl.ones(1, requires_grad=True)])
    with pytest.raises(ValueError, match="step_size must be positive, got 0"):
        ocl.optim.lr_scheduler.StepLR(optimizer, step_size=0)
