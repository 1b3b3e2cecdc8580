"""A training stopped in the middle of a pass and resumed from its checkpoint repeats every bit."""

import numpy as np
import pytest

import ocl
from ocl.optim import lr_scheduler
from ocl.utils.data import DataLoader, TensorDataset

SCHEDULES = {
    "cosine": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 9),
    "one cycle": lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=40),
    "warm-up": lambda optimizer: lr_scheduler.SequentialLR(
        optimizer,
        [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=5), lr_scheduler.MultiStepLR(optimizer, [6, 8])],
        [5],
    ),
}
OPTIMIZERS = {
    "Adam": lambda parameters: ocl.optim.Adam(parameters, lr=0.05, amsgrad=True),
    "SGD": lambda parameters: ocl.optim.SGD(parameters, lr=0.05, momentum=0.9),
}
BATCHES = 7  # a pass


class Training:
    """Every object of it is new, and drawn from `seed`."""

    def __init__(self, seed, optimizer, schedule):
        ocl.manual_seed(seed)
        numbers = np.random.default_rng(0).standard_normal((3 * BATCHES - 1, 5)).astype(np.float32)
        nn = ocl.nn
        self.net = nn.Sequential(
            nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.4), nn.ReLU(), nn.Linear(6, 1)
        )
        self.optimizer = OPTIMIZERS[optimizer](self.net.parameters())
        self.schedule = SCHEDULES[schedule](self.optimizer)
        self.loader = DataLoader(TensorDataset(numbers[:, :4], numbers[:, 4:]), batch_size=3, shuffle=True)
        self.batches = iter(())

    def losses(self, count):
        """The losses of the next `count` steps, in bits."""
        return [self.step() for _ in range(count)]

    def step(self):
        while (batch := next(self.batches, None)) is None:
            self.batches = iter(self.loader)
        inputs, targets = batch
        self.optimizer.zero_grad()
        loss = ocl.nn.functional.mse_loss(self.net(inputs), targets)
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        return loss.item().hex()

    def parts(self):
        return {
            "net": self.net,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "loader": self.loader,
        }

    def save(self, path):
        state = {name: part.state_dict() for name, part in self.parts().items()}
        ocl.save({**state, "random": ocl.get_rng_state()}, path)

    def load(self, path):
        state = ocl.load(path)
        for name, part in self.parts().items():
            part.load_state_dict(state[name])
        ocl.set_rng_state(state["random"])


@pytest.mark.parametrize("stop", [3, BATCHES, BATCHES + 4])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_resumed_training_repeats_every_bit(tmp_path, optimizer, schedule, stop):
    whole = Training(1, optimizer, schedule).losses(3 * BATCHES)
    stopped = Training(1, optimizer, schedule)
    assert stopped.losses(stop) == whole[:stop]
    stopped.save(tmp_path / "checkpoint")
    resumed = Training(2, optimizer, schedule)
    resumed.load(tmp_path / "checkpoint")
    assert resumed.losses(3 * BATCHES - stop) == whole[stop:]


def test_a_checkpoint_of_a_resumed_training(tmp_path):
    whole = Training(1, "Adam", "cosine").losses(3 * BATCHES)
    stops = [0, 2, 3, BATCHES + 1, BATCHES + 2, 2 * BATCHES, 3 * BATCHES]
    Training(1, "Adam", "cosine").save(tmp_path / "checkpoint")
    for seed, (start, stop) in enumerate(zip(stops, stops[1:], strict=False)):
        training = Training(seed + 2, "Adam", "cosine")
        training.load(tmp_path / "checkpoint")
        assert training.losses(stop - start) == whole[start:stop]
        training.save(tmp_path / "checkpoint")
