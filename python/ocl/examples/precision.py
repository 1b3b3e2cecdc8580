"""Mixed precision of a training, as --amp asks for it."""

import ocl

__all__ = ["Precision", "add_amp_option"]

_DTYPES = {"bf16": ocl.bfloat16, "fp16": ocl.float16}


def add_amp_option(parser):
    parser.add_argument(
        "--amp", choices=list(_DTYPES), help="mixed precision: products and convolutions in 16 bits"
    )


class Precision:
    """float32 throughout, or mixed; float16 has so small a range that its gradients need a scaler."""

    def __init__(self, amp):
        self.dtype = _DTYPES.get(amp)
        self.scaler = ocl.amp.GradScaler(enabled=amp == "fp16")

    def autocast(self):
        """The context of forward and loss; backward runs behind its end."""
        return ocl.autocast("ocl", dtype=self.dtype, enabled=self.dtype is not None)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def step(self, optimizer, net, clip=0.0):
        """The optimizer's step; before it all gradients are clipped to the norm `clip`, unless that is 0."""
        if clip:
            self.scaler.unscale_(optimizer)
            ocl.nn.utils.clip_grad_norm_(net.parameters(), clip)
        self.scaler.step(optimizer)
        self.scaler.update()
