from __future__ import annotations
import collections.abc
import ocl._C
import ocl._C._nn
import os
import typing
__all__: list[str] = ['Conv1D', 'GPT2Attention', 'GPT2Block', 'GPT2LMHeadModel', 'GPT2MLP', 'GPT2Model', 'gpt2', 'gpt2_large', 'gpt2_medium', 'gpt2_xl']
class Conv1D(ocl._C._nn.Module):
    """
    A linear layer whose weight is [nx, nf]: [..., nx] -> [..., nf].
    """
    nf: typing.Any
    nx: typing.Any
    def __init__(self, nf: int, nx: int, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def reset_parameters(self: ocl._C._nn.Module) -> None:
        ...
class GPT2Attention(ocl._C._nn.Module):
    """
    Each position sees itself and those before it: [N, T, n_embd] -> the same.
    """
    attn_pdrop: typing.Any
    n_embd: typing.Any
    n_head: typing.Any
    def __init__(self, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class GPT2MLP(ocl._C._nn.Module):
    """
    By n_inner and a tanh-GELU: [N, T, n_embd] -> the same.
    """
    def __init__(self, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class GPT2Block(ocl._C._nn.Module):
    """
    Attention and an MLP, each after a norm.
    """
    def __init__(self, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class GPT2Model(ocl._C._nn.Module):
    """
    Tokens [N, T], T <= n_positions -> [N, T, n_embd].
    """
    n_positions: typing.Any
    def __init__(self, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
class GPT2LMHeadModel(ocl._C._nn.Module):
    """
    Language Models are Unsupervised Multitask Learners (Radford et al. 2019): tokens int64 or int32 [N, T], T <= n_positions -> logits of the token after each, [N, T, vocab_size].
    """
    n_embd: typing.Any
    n_head: typing.Any
    n_layer: typing.Any
    n_positions: typing.Any
    vocab_size: typing.Any
    def __init__(self, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: ocl._C._nn.Module) -> dict:
        ...
    def generate(self, tokens: ocl._C.Tensor, max_new_tokens: typing.SupportsIndex = 20, temperature: typing.SupportsFloat | typing.SupportsIndex = 1.0, top_k: typing.SupportsIndex | None = None, top_p: typing.SupportsFloat | typing.SupportsIndex | None = None, do_sample: bool = False, eos_token_id: typing.SupportsIndex | None = None, generator: ocl._C.Generator = None, use_cache: bool = True) -> ocl._C.Tensor:
        """
        The tokens and up to max_new_tokens more: [N, T] -> [N, up to T + max_new_tokens], without gradients.
        
        As transformers' generate. Dropout acts while the net is training: call eval() first.
        
        Args:
            tokens: int64 or int32 [N, T], T of at least 1.
            temperature, top_k, top_p: with do_sample, logits are divided by temperature, and one is drawn
                among the top_k likeliest, of which the first that together have the probability top_p.
            do_sample: whether to draw; the likeliest token is taken otherwise.
            eos_token_id: the end of a sequence, after which only this token follows; generation ends early
                where all are at their end, which costs a wait for the device at every token.
            generator: what numbers are drawn from; the device's default one otherwise.
            use_cache: keeps keys and values, so that a new token costs one position's work.
        
        Raises:
            ValueError: more than n_positions tokens in all, an option without sense, or blocks that are not
                GPT2Block's while use_cache is on.
            TypeError: tokens that are no integers.
        """
    def make_cache(self, batch_size: typing.SupportsIndex, length: typing.SupportsIndex) -> list[ocl._C.Tensor]:
        """
        Room for next_tokens: zeros, two tensors [N, n_head, length, n_embd / n_head] a block.
        
        Raises:
            ValueError: a length of more than n_positions.
        """
    def next_tokens(self, tokens: ocl._C.Tensor, positions: ocl._C.Tensor, cache: collections.abc.Sequence[ocl._C.Tensor], do_sample: bool = False, temperature: typing.SupportsFloat | typing.SupportsIndex = 1.0, top_k: typing.SupportsIndex | None = None, top_p: typing.SupportsFloat | typing.SupportsIndex | None = None) -> ocl._C.Tensor:
        """
        One step of generate: tokens [N, T] at positions int64 [T] -> the next tokens, int64 [N, 1].
        
        cache, of make_cache, holds keys and values of the positions before, and gets those of these. The calls
        are the same at any position, so that ocl.export makes a program of them (ocl.models.GenerationStep).
        Records no gradients.
        
        Args:
            do_sample, temperature, top_k, top_p: as those of generate.
        
        Raises:
            ValueError: positions that are not one for each token, a cache that is not make_cache's, an option
                without sense.
            TypeError: tokens that are no integers, positions that are not int64.
        """
def gpt2(*, weights: str | os.PathLike | None = None, progress: bool = True, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 768, n_layer: int = 12, n_head: int = 12, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> GPT2LMHeadModel:
    """
    A GPT-2 (Radford et al. 2019), as transformers'; its files of weights load.
    
    The arguments are GPT2LMHeadModel's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def gpt2_large(*, weights: str | os.PathLike | None = None, progress: bool = True, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 1280, n_layer: int = 36, n_head: int = 20, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> GPT2LMHeadModel:
    """
    A GPT-2 (Radford et al. 2019), as transformers'; its files of weights load.
    
    The arguments are GPT2LMHeadModel's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def gpt2_medium(*, weights: str | os.PathLike | None = None, progress: bool = True, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 1024, n_layer: int = 24, n_head: int = 16, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> GPT2LMHeadModel:
    """
    A GPT-2 (Radford et al. 2019), as transformers'; its files of weights load.
    
    The arguments are GPT2LMHeadModel's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
def gpt2_xl(*, weights: str | os.PathLike | None = None, progress: bool = True, vocab_size: int = 50257, n_positions: int = 1024, n_embd: int = 1600, n_layer: int = 48, n_head: int = 25, n_inner: int | None = None, resid_pdrop: float = 0.1, embd_pdrop: float = 0.1, attn_pdrop: float = 0.1, layer_norm_epsilon: float = 1e-05, initializer_range: float = 0.02) -> GPT2LMHeadModel:
    """
    A GPT-2 (Radford et al. 2019), as transformers'; its files of weights load.
    
    The arguments are GPT2LMHeadModel's. weights: the path of a file to load (.pth, .safetensors); progress is of no effect.
    """
