"""Averages of weights over training, as torch.optim.swa_utils."""

import copy
import itertools
import math

import ocl
from ocl import nn
from ocl.autograd import no_grad
from ocl.optim.lr_scheduler import LRScheduler
from ocl.optim.schedule_values import per_group

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _require_decay(decay):
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay=0.999):
    """decay * average + (1 - decay) * current, of one parameter."""
    _require_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The mean of all that came so far, of one parameter."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _in_place(average):
    """A function of lists of parameters, which changes the first."""

    @no_grad()
    def update(averaged, current, num_averaged):
        for one, new in zip(averaged, current, strict=True):
            one.copy_(average(one, new, num_averaged))

    return update


def get_ema_multi_avg_fn(decay=0.999):
    """Like get_ema_avg_fn, for lists of parameters, in place."""
    return _in_place(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """Like get_swa_avg_fn, for lists of parameters, in place."""
    return _in_place(get_swa_avg_fn())


class AveragedModel(nn.Module):
    """A copy of a model that holds the average of its weights: the mean of all states that
    `update_parameters` was given, or what avg_fn or multi_avg_fn make of them.

    With ``use_buffers`` buffers are averaged too; otherwise they are those of the last state.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ocl.tensor(0, dtype=ocl.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        return itertools.chain(model.parameters(), model.buffers() if self.use_buffers else ())

    @no_grad()
    def update_parameters(self, model):
        """Takes the model's state of now into the average."""
        own = [p.detach() for p in self._averaged(self.module)]
        current = [
            p.detach().to(average.device) for average, p in zip(own, self._averaged(model), strict=False)
        ]
        if self.n_averaged.item() == 0:
            for average, p in zip(own, current, strict=False):
                average.copy_(p)
        else:
            update = self.multi_avg_fn or _in_place(self.avg_fn or get_swa_avg_fn())
            update(own, current, self.n_averaged)
        if not self.use_buffers:
            for own_buffer, buffer in zip(self.module.buffers(), model.buffers(), strict=True):
                own_buffer.copy_(buffer.to(own_buffer.device))
        self.n_averaged += 1


@no_grad()
def update_bn(loader, model, device=None):
    """Estimates the statistics of the model's batch norms anew, in one pass over the batches of a loader:
    tensors, or lists and tuples whose first element is one."""
    norms = [m for m in model.modules() if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d))]
    if not norms:
        return
    momenta, was_training = [norm.momentum for norm in norms], model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        batch = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(batch if device is None else batch.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Takes the rate of each group to swa_lr within anneal_epochs, along a line or half a cosine."""

    _ANNEALINGS = {"cos": lambda t: (1 - math.cos(math.pi * t)) / 2, "linear": lambda t: t}

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = per_group("swa_lr", optimizer, swa_lr)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in self._ANNEALINGS:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        epochs = max(1, self.anneal_epochs)
        return self._ANNEALINGS[self._anneal_strategy](max(0, min(1, step / epochs)))

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            first = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + first * (1 - now))
        return rates
