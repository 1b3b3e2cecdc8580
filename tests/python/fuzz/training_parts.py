"""The parts of training programs: nets, losses, optimizers and schedules, the same in both libraries."""

import numpy as np
from optim.test_optimizers import OPTIMIZERS

CLASSES = 5
OPTIMIZER_NAMES = sorted(OPTIMIZERS)
ACTIVATIONS = (
    "ReLU",
    "GELU",
    "Tanh",
    "Hardsigmoid",
    "Hardswish",
    "SiLU",
    "ELU",
    "Softplus",
    "Sigmoid",
    "Mish",
)


def recurrent_class(nn):
    class Recurrent(nn.Module):
        """The last output alone: the states are not used."""

        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(4, 4, batch_first=True)

        def forward(self, x):
            return self.lstm(x)[0][:, -1]

    return Recurrent


def attention_class(nn):
    class Attention(nn.Module):
        """The default call: the weights are computed too, and not used."""

        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x)[0].mean(1)

    return Attention


def first_and_middle(nn, kind, activation):
    act = getattr(nn, activation)
    if kind == "linear":
        return nn.Linear(4, 4), nn.Sequential(act(), nn.Linear(4, 4), act())
    if kind == "convolution":
        rest = (nn.BatchNorm2d(4), act(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.Sequential(*rest)
    if kind == "embedding":
        return nn.Embedding(CLASSES, 4), nn.Sequential(nn.LayerNorm(4), act())
    if kind == "recurrent":
        return recurrent_class(nn)(), nn.Sequential(act(), nn.Linear(4, 4))
    return attention_class(nn)(), nn.Sequential(nn.LayerNorm(4), act(), nn.Linear(4, 4))


# The shape of an input, after the batch; of an embedding nothing, its inputs are integers.
NETS = {"linear": (4,), "convolution": (2, 5, 4), "embedding": (), "recurrent": (3, 4), "attention": (3, 4)}


def make_net(lib, kind, activation):
    nn = lib.nn

    class Net(nn.Module):
        """Gives the prediction and the features that it is made of."""

        def __init__(self):
            super().__init__()
            self.first, self.middle = first_and_middle(nn, kind, activation)
            self.last = nn.Linear(4, CLASSES)

        def forward(self, x):
            features = self.middle(self.first(x))
            return self.last(features), features

    return Net()


def input_of(lib, kind, dtype, seed, items=4):
    rng = np.random.default_rng([seed, 1])
    if kind == "embedding":
        return lib.tensor(rng.integers(0, CLASSES, items))
    return lib.tensor(rng.uniform(-2, 2, (items, *NETS[kind])).astype(np.float32)).to(dtype)


def squares_by_hand(functional, y, target):
    return ((y - target) ** 2).mean()


LOSSES = {
    "mse": lambda f, y, t: f.mse_loss(y, t),
    "by hand": squares_by_hand,
    "huber": lambda f, y, t: f.huber_loss(y, t, delta=0.5),
    "smooth l1": lambda f, y, t: f.smooth_l1_loss(y, t),
    "probabilities": lambda f, y, t: f.binary_cross_entropy(y.sigmoid(), t.sigmoid()),
    "logits": lambda f, y, t: f.binary_cross_entropy_with_logits(y, t.sigmoid()),
    "classes": lambda f, y, t: f.cross_entropy(y, t.argmax(1), label_smoothing=0.1),
    "likelihood": lambda f, y, t: f.nll_loss(y.log_softmax(1), t.argmax(1)),
}


def loss_of(lib, name, prediction, seed):
    rng = np.random.default_rng([seed, 2])
    target = lib.tensor(rng.uniform(-1, 1, tuple(prediction.shape)).astype(np.float32)).to(prediction.dtype)
    return LOSSES[name](lib.nn.functional, prediction, target)


# --- optimizers


def make_optimizer(lib, number, parameters, groups):
    """One of tests/python/optim's, with `groups` groups of which each has a rate of its own."""
    name, options = OPTIMIZERS[OPTIMIZER_NAMES[number % len(OPTIMIZER_NAMES)]]
    options = {"lr": 0.05, **options}
    if groups > 1 and len(parameters) > 1:
        parts = [parameters[i::groups] for i in range(min(groups, len(parameters)))]
        parameters = [{"params": part, "lr": options["lr"] / (i + 1)} for i, part in enumerate(parts)]
    return getattr(lib.optim, name)(parameters, **options)


# --- schedules

LEAVES = {
    "ConstantLR": {"factor": 0.5, "total_iters": 2},
    "LinearLR": {"start_factor": 0.25, "total_iters": 3},
    "StepLR": {"step_size": 2, "gamma": 0.5},
    "MultiStepLR": {"milestones": [1, 3], "gamma": 0.5},
    "ExponentialLR": {"gamma": 0.8},
    "PolynomialLR": {"total_iters": 4, "power": 2.0},
    "CosineAnnealingLR": {"T_max": 3, "eta_min": 0.01},
    "LambdaLR": {"lr_lambda": lambda epoch: 0.9**epoch},
}
WHOLE = {
    "CosineAnnealingWarmRestarts": {"T_0": 2, "T_mult": 2},
    "OneCycleLR": {"max_lr": 0.1, "total_steps": 20},
    "MultiplicativeLR": {"lr_lambda": lambda epoch: 0.9},
    "ReduceLROnPlateau": {"patience": 0, "factor": 0.5},
}


def sequence_of(rng, depth=0):
    """A leaf's name, or a list of parts with the epochs at which they take over."""
    if depth == 2 or (depth and rng.random() < 0.5):
        return str(rng.choice(tuple(LEAVES)))
    parts = [sequence_of(rng, depth + 1) for _ in range(rng.integers(2, 4))]
    milestones = np.sort(rng.choice(np.arange(1, 5), len(parts) - 1, replace=False))
    return parts, [int(m) for m in milestones]


def flat(sequence, start=0, end=float("inf")):
    """The leaves and when each begins. PyTorch runs a sequence within a sequence by rates that no schedule
    has; this one has the same meaning."""
    if isinstance(sequence, str):
        return [(sequence, start)] if start < end else []
    parts, milestones = sequence
    begins = [start, *(start + m for m in milestones)]
    ends = [*begins[1:], end]
    return [leaf for p, b, e in zip(parts, begins, ends, strict=True) for leaf in flat(p, b, min(e, end))]


def nested(lib, optimizer, sequence):
    schedules = lib.optim.lr_scheduler
    if isinstance(sequence, str):
        return getattr(schedules, sequence)(optimizer, **LEAVES[sequence])
    parts, milestones = sequence
    return schedules.SequentialLR(optimizer, [nested(lib, optimizer, p) for p in parts], list(milestones))


def make_schedule(lib, optimizer, seed):
    """A sequence of sequences, two schedules at once, or one of WHOLE."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["sequence", "sequence", "chain", "whole"])
    if kind == "sequence":
        sequence = sequence_of(rng)
        if lib.__name__ == "torch":
            leaves = flat(sequence)
            sequence = [name for name, _ in leaves], [begin for _, begin in leaves[1:]]
        return nested(lib, optimizer, sequence)
    if kind == "chain":
        chosen = rng.choice(tuple(LEAVES), 2, replace=False)
        return lib.optim.lr_scheduler.ChainedScheduler([nested(lib, optimizer, str(name)) for name in chosen])
    name = str(rng.choice(tuple(WHOLE)))
    options = WHOLE[name]
    if name == "OneCycleLR":
        has_momentum = any(k in optimizer.param_groups[0] for k in ("momentum", "betas"))
        options = {**options, "cycle_momentum": has_momentum and rng.random() < 0.5}
    return getattr(lib.optim.lr_scheduler, name)(optimizer, **options)
