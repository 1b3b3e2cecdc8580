"""A training that can be stopped at any update and goes on from there bit for bit."""

import copy
import math
import time
from dataclasses import dataclass, field

import ocl
import ocl.nn.functional as F
from ocl.examples.precision import Precision
from ocl.optim import swa_utils
from ocl.optim.lr_scheduler import LambdaLR

from .checkpoint import save_checkpoint
from .display import Bar, TimeLeft
from .mixing import Mixing
from .processes import Processes

__all__ = ["Trainer", "evaluate", "make_optimizer"]

# The weight of a second head, as Inception's, in the loss (Szegedy et al. 2016).
AUXILIARY_SHARE = 0.3


def make_optimizer(net, options):
    """Weight decay is for matrices and kernels: norms and biases, all vectors, have none."""
    decayed = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if options.optimizer == "adamw":
        return ocl.optim.AdamW(groups, lr=options.lr)
    return ocl.optim.SGD(groups, lr=options.lr, momentum=options.momentum, nesterov=options.momentum > 0)


def warm_up_and_constant(warm_up):
    """The rate's factor before update i: along a line to 1, and 1 from there on."""
    return lambda update: min(1, (update + 1) / (warm_up + 1))


def warm_up_and_cosine(warm_up, total):
    """The rate's factor before update i: along a line to 1, then half a cosine to 0."""
    rising = warm_up_and_constant(warm_up)

    def factor(update):
        if update < warm_up:
            return rising(update)
        progress = min(1, (update - warm_up) / max(1, total - warm_up))
        return (1 + math.cos(math.pi * progress)) / 2

    return factor


@dataclass
class Progress:
    """Where a training stands, and the sums of the pass under way; batches counted from its beginning."""

    epoch: int = 1
    batch: int = 0
    update: int = 0
    loss: float = 0.0
    images: int = 0
    rows: list = field(default_factory=list)


class Trainer:
    """Everything a training changes, and the loop that changes it."""

    def __init__(self, net, loader, test_loader, options, processes=None):
        self.net, self.loader, self.test_loader, self.options = net, loader, test_loader, options
        self.processes = processes or Processes()
        self.parallel = self.processes.parallel(net)
        self.optimizer = make_optimizer(net, options)
        # The images of this process; all counts on the way are its own too.
        self.images_of_epoch = min(len(loader.sampler), len(loader) * loader.batch_size)
        self.schedule = LambdaLR(self.optimizer, self._factor_of_rate())
        self.average = None
        if options.ema:
            self.average = swa_utils.AveragedModel(
                net, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(options.ema)
            )
        self.mixing = Mixing(options.mixup, options.cutmix, options.seed)
        self.precision = Precision(options.amp)
        self._go_on_from(Progress())

    def _factor_of_rate(self):
        updates_of_epoch = math.ceil(len(self.loader) / self.options.accumulate)
        warm_up = round(updates_of_epoch * self.options.warm_up)
        if self.options.schedule == "constant":
            return warm_up_and_constant(warm_up)
        return warm_up_and_cosine(warm_up, updates_of_epoch * self.options.epochs)

    @property
    def best_net(self):
        """The one to test and to keep: the averaged one where there is an average."""
        return self.average.module if self.average else self.net

    # --- stopping and going on

    def _parts(self):
        parts = {
            "net": self.net,
            "optimizer": self.optimizer,
            "schedule": self.schedule,
            "average": self.average,
            "scaler": self.precision.scaler if self.precision.scaler.is_enabled() else None,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def state_dict(self):
        state = {name: part.state_dict() for name, part in self._parts().items()}
        progress = copy.deepcopy(vars(self.progress))
        own = {
            "loader": self.loader.state_dict(),
            "random": ocl.get_rng_state(self.options.device),
            "loss": self.progress.loss,
        }
        return {**state, "progress": progress, "processes": self.processes.gathered(own)}

    def load_state_dict(self, state):
        """Raises ValueError for a state of another number of processes."""
        if len(state["processes"]) != self.processes.size:
            raise ValueError(
                f"the checkpoint is of {len(state['processes'])} processes, these are {self.processes.size}"
            )
        for name, part in self._parts().items():
            part.load_state_dict(state[name])
        own = state["processes"][self.processes.rank]
        self.loader.load_state_dict(own["loader"])
        self._go_on_from(Progress(**{**state["progress"], "loss": own["loss"]}))
        ocl.set_rng_state(own["random"], self.options.device)

    def _go_on_from(self, progress):
        self.progress = progress
        self._time_left = TimeLeft(self._images_done(), self.options.epochs * self.images_of_epoch)

    def save(self):
        state = {"options": self.options.fixed(), **self.state_dict()}
        if self.processes.is_first:
            save_checkpoint(state, self.options.output)

    # --- the loop

    def run(self, after_epoch):
        """Trains to the end; `after_epoch` is called with the rows of all epochs so far and the time left."""
        while self.progress.epoch <= self.options.epochs:
            row = self._train_epoch()
            if self.processes.is_first:
                row |= self._tested()
            self.progress.rows.append(row)
            self.progress.epoch += 1
            self.progress.batch, self.progress.loss, self.progress.images = 0, 0.0, 0
            self.save()
            if not self.processes.is_first:
                continue
            after_epoch(self.progress.rows, self._time_left.after(self._images_done()))

    def _images_done(self):
        return (self.progress.epoch - 1) * self.images_of_epoch + self.progress.images

    def _train_epoch(self):
        self.parallel.train()
        progress, options = self.progress, self.options
        if self.processes.size > 1:
            self.loader.sampler.set_epoch(progress.epoch)
        start, images_before = time.perf_counter(), progress.images
        loss_sum = ocl.tensor(progress.loss, dtype=ocl.float32, device=options.device)
        with Bar(self) as bar:
            for images, labels in self.loader:
                loss_sum += self._backward(images, labels) * len(labels)
                progress.batch += 1
                progress.images += len(labels)
                bar.advance(len(labels))
                if progress.batch % options.accumulate and progress.batch < len(self.loader):
                    continue
                self._update()
                is_last = progress.batch == len(self.loader)
                if progress.update % options.log_interval == 0 or is_last:
                    # Waits for the device, so only here.
                    bar.show(loss_sum.item() / progress.images, self._time_left.after(self._images_done()))
                if self._wants_checkpoint() and not is_last:  # after the last comes that of the epoch
                    progress.loss = loss_sum.item()
                    self.save()
        seconds = time.perf_counter() - start
        sums = self.processes.gathered((loss_sum.item(), progress.images, progress.images - images_before))
        loss, images, images_now = map(sum, zip(*sums, strict=True))
        return {
            "epoch": progress.epoch,
            "update": progress.update,
            "lr": self.optimizer.param_groups[0]["lr"],
            "train_loss": loss / images,
            "images_per_second": images_now / seconds,
        }

    def _wants_checkpoint(self):
        every = self.options.checkpoint_every
        return every and self.progress.update % every == 0

    def _backward(self, images, labels):
        """Adds the gradients of a batch; its loss, detached."""
        images, share = self.mixing(
            images, (self.progress.epoch - 1) * len(self.loader) + self.progress.batch
        )
        is_last = (self.progress.batch + 1) % self.options.accumulate == 0
        is_last = is_last or self.progress.batch + 1 == len(self.loader)
        with self.processes.adding_up(self.parallel, is_last):
            return self._backward_of(images, labels, share)

    def _backward_of(self, images, labels, share):
        with self.precision.autocast():
            outputs = self.parallel(images)
            main, *others = outputs if isinstance(outputs, tuple) else (outputs,)
            loss = self._loss(main, labels, share)
            for other in others:
                if other is not None:
                    loss = loss + AUXILIARY_SHARE * self._loss(other, labels, share)
        self.precision.backward(loss / self._batches_of_update())
        return loss.detach()

    def _batches_of_update(self):
        """Fewer in the last one of a pass."""
        first = self.progress.batch - self.progress.batch % self.options.accumulate
        return min(self.options.accumulate, len(self.loader) - first)

    def _loss(self, output, labels, share):
        def loss_of(targets):
            return F.cross_entropy(output, targets, label_smoothing=self.options.label_smoothing)

        if share == 1:
            return loss_of(labels)
        return share * loss_of(labels) + (1 - share) * loss_of(labels.roll(1, 0))

    def _update(self):
        self.precision.step(self.optimizer, self.net, self.options.clip)
        self.optimizer.zero_grad()
        self.schedule.step()
        self.progress.update += 1
        if self.average:
            self.average.update_parameters(self.net)

    def _tested(self):
        with self.precision.autocast():
            figures = evaluate(self.best_net, self.test_loader)
        return {f"test_{name}": value for name, value in figures.items()}


def evaluate(net, loader):
    """{"loss", "top1", "top5"} over a loader, the latter two in percent."""
    was_training = net.training
    net.eval()
    losses, hits = [], []
    with ocl.no_grad():
        for images, labels in loader:
            output = net(images)
            losses.append(F.cross_entropy(output, labels, reduction="sum"))
            _, best = output.topk(min(5, output.shape[1]), dim=1)
            right = best == labels.unsqueeze(1)
            hits.append(ocl.stack([right[:, 0].sum(), right.sum()]))
    net.train(was_training)
    count = len(loader.dataset)
    top1, top5 = ocl.stack(hits).sum(0).tolist()
    return {
        "loss": ocl.stack(losses).sum().item() / count,
        "top1": 100 * top1 / count,
        "top5": 100 * top5 / count,
    }
