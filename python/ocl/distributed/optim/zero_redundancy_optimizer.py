"""An optimizer whose states are shared out among processes (Rajbhandari et al. 2020, stage 1)."""

import ocl
from ocl.distributed.collectives import all_gather_object
from ocl.distributed.groups import of
from ocl.optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """Each process keeps the states of its share of the parameters, steps them, and sends them to the others.

    (torch.distributed.optim.ZeroRedundancyOptimizer) Gradients must be the same in all processes, as
    DistributedDataParallel leaves them: then the step is, bit for bit, that of `optimizer_class` alone.

    Args:
        params: tensors, or dicts of groups; the same in all processes.
        optimizer_class: what steps; it must treat each parameter by itself.
        process_group: all processes where None.
        defaults: arguments of `optimizer_class`.
    """

    def __init__(self, params, optimizer_class, process_group=None, **defaults):
        self._group = of(process_group, "ZeroRedundancyOptimizer")
        whole = optimizer_class(params, **defaults)  # checks, and has no states before a step
        super().__init__(whole.param_groups, whole.defaults)
        self._params = [p for group in self.param_groups for p in group["params"]]
        self._owners = self._shared_out()
        rank = self._group.rank()
        self._own = [i for i, owner in enumerate(self._owners) if owner == rank]
        own = {id(self._params[i]) for i in self._own}
        # Has the same length as param_groups: some may be empty, and then have no group of their own.
        self._own_groups = [
            {**group, "params": [p for p in group["params"] if id(p) in own]} for group in self.param_groups
        ]
        filled = [group for group in self._own_groups if group["params"]]
        self.optim = optimizer_class(filled, **defaults) if filled else None
        self._consolidated = None

    def _shared_out(self):
        """The rank that steps each parameter: the largest first, to whoever has least."""
        sizes, owners = [0] * self._group.size(), [0] * len(self._params)
        for i in sorted(range(len(owners)), key=lambda i: (-self._params[i].numel(), i)):
            owners[i] = sizes.index(min(sizes))
            sizes[owners[i]] += self._params[i].numel()
        return owners

    def _take_settings(self):
        """The groups' settings, as schedules change them, to the optimizer of this share."""
        if self.optim is None:
            return
        filled = [i for i, group in enumerate(self._own_groups) if group["params"]]
        for i, group in zip(filled, self.optim.param_groups, strict=True):
            group.update({key: value for key, value in self.param_groups[i].items() if key != "params"})

    def step(self, closure=None):
        """One step of all parameters; `closure` computes the loss once more, and returns it."""
        loss = None
        if closure is not None:
            with ocl.enable_grad():
                loss = closure()
        self._take_settings()
        if self.optim is not None:
            self.optim.step()
        self._send_parameters()
        return loss

    def _send_parameters(self):
        sent = []
        for rank in range(self._group.size()):
            kinds = {}
            for p, owner in zip(self._params, self._owners, strict=True):
                if owner == rank:
                    kinds.setdefault((str(p.dtype), str(p.device)), []).append(p.detach())
            for _, params in sorted(kinds.items()):
                flat = ocl.cat([p.reshape(-1) for p in params])
                sent.append((rank, params, flat, self._group.broadcast(flat, rank)))
        for rank, params, flat, work in sent:
            work.wait()
            if rank != self._group.rank():
                parts = flat.split([p.numel() for p in params])
                for p, part in zip(params, parts, strict=True):
                    p.copy_(part.reshape(p.shape))

    def consolidate_state_dict(self, to=0):
        """Brings all states to rank `to`, whose ``state_dict()`` is whole then. All processes call it."""
        own = self.sharded_state_dict()["state"]
        packed = {i: {k: _packed(v) for k, v in state.items()} for i, state in own.items()}
        shares = [None] * self._group.size()
        all_gather_object(shares, packed, self._group)
        self._consolidated = None
        if self._group.rank() == to:
            self._consolidated = {i: state for share in shares for i, state in share.items()}

    def state_dict(self):
        """That of one optimizer over all parameters.

        Raises:
            RuntimeError: ``consolidate_state_dict`` has not brought the states here.
        """
        if self._consolidated is None:
            raise RuntimeError(
                "ZeroRedundancyOptimizer: the states are not here; all processes call "
                "consolidate_state_dict(to=RANK) first"
            )
        result = super().state_dict()
        result["state"] = {
            i: {key: _unpacked(value, self._params[i].device) for key, value in state.items()}
            for i, state in sorted(self._consolidated.items())
        }
        return result

    def sharded_state_dict(self):
        """The state dict with the states of this process's parameters alone. Shares the tensors."""
        result = super().state_dict()
        own = {} if self.optim is None else self.optim.state_dict()["state"]
        result["state"] = {self._own[i]: state for i, state in own.items()}
        return result

    def loads(self, path):
        """Whether load_state_dict takes what stands at this path of a state dict, such as ("state", 3)."""
        return path[0] != "state" or len(path) < 2 or path[1] in self._own

    def load_state_dict(self, state_dict):
        """Takes this process's share of a whole state dict, whatever number of processes it was made by."""
        super().load_state_dict({**state_dict, "state": {}})
        self._consolidated = None
        if self.optim is None:
            return
        self._take_settings()
        own = self.optim.state_dict()
        states = state_dict.get("state", {})
        own["state"] = {at: states[i] for at, i in enumerate(self._own) if i in states}
        self.optim.load_state_dict(own)


def _packed(value):
    """A state's value for a pickle; NumPy has no bfloat16."""
    if not isinstance(value, ocl.Tensor):
        return value
    return (value.float() if value.dtype == ocl.bfloat16 else value).numpy(), str(value.dtype).split(".")[1]


def _unpacked(value, device):
    if not isinstance(value, tuple):
        return value
    array, dtype = value
    return ocl.tensor(array, dtype=getattr(ocl, dtype), device=device)
