"""Language models as programs that write: ``ocl.models.GenerationStep``."""

import ocl
from ocl.nn import Module

__all__ = ["GenerationStep"]


class GenerationStep(Module):
    """A step of ``net.generate`` with all that it knows of earlier tokens in its buffers, to be exported.

    ::

        step = ocl.models.GenerationStep(net.eval(), length=256)
        step.export().save("gpt2.ocl")  # tapecl-run gpt2.ocl --input tokens=prompt.npy --generate 50

    ``forward(tokens, positions)``: tokens int64 [batch_size, T] at positions int64 [T], from 0 on -> the next
    tokens, int64 [batch_size, 1]. One program reads a prompt of any length, and then a token at a time.

    Args:
        net: a ``GPT2LMHeadModel``, which the step keeps as ``net``.
        batch_size: how many sequences it writes side by side.
        length: of prompt and continuation together, at most; ``net.n_positions`` by default. Each step
            attends to so many positions, those to come masked.
        do_sample, temperature, top_k, top_p: as those of ``net.generate``. The random numbers of a
            program go on from run to run, and begin with the seed of its export.

    Raises:
        ValueError: more than ``net.n_positions`` positions, or options without sense.
    """

    def __init__(
        self, net, *, batch_size=1, length=None, do_sample=False, temperature=1.0, top_k=None, top_p=None
    ):
        super().__init__()
        self.net = net
        self.choice = {"do_sample": do_sample, "temperature": temperature, "top_k": top_k, "top_p": top_p}
        cache = net.make_cache(batch_size, net.n_positions if length is None else length)
        self._names = [f"{kind}_{i}" for i in range(len(cache) // 2) for kind in ("keys", "values")]
        for name, tensor in zip(self._names, cache, strict=True):
            self.register_buffer(name, tensor)

    def forward(self, tokens, positions):
        cache = [getattr(self, name) for name in self._names]
        return self.net.next_tokens(tokens, positions, cache, **self.choice)

    def export(self):
        """The program (``ocl.export``), for any number of tokens up to ``length`` at a time."""
        batch_size, _, length, _ = self.keys_0.shape
        tokens = ocl.export.Dim("tokens", min=1, max=length)
        like = {"dtype": ocl.int64, "device": self.keys_0.device}
        inputs = ocl.zeros(batch_size, 2, **like), ocl.arange(2, **like)
        return ocl.export(self, inputs, dynamic_shapes=({1: tokens}, {0: tokens}))
