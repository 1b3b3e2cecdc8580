"""
Modules.
"""
from __future__ import annotations
import collections.abc
import ocl._C
import ocl.nn.global_hooks
import typing
from . import _functional
from . import _rnn
from . import _init
from . import _utils
__all__: list[str] = ['AdaptiveAvgPool1d', 'AdaptiveAvgPool2d', 'AdaptiveAvgPool3d', 'AdaptiveMaxPool1d', 'AdaptiveMaxPool2d', 'AdaptiveMaxPool3d', 'AvgPool1d', 'AvgPool2d', 'AvgPool3d', 'BCELoss', 'BCEWithLogitsLoss', 'BatchNorm1d', 'BatchNorm2d', 'BatchNorm3d', 'Bilinear', 'CELU', 'ChannelShuffle', 'CircularPad1d', 'CircularPad2d', 'CircularPad3d', 'Conv1d', 'Conv2d', 'Conv3d', 'ConvTranspose1d', 'ConvTranspose2d', 'ConvTranspose3d', 'CosineEmbeddingLoss', 'CosineSimilarity', 'CrossEntropyLoss', 'Dropout', 'Dropout2d', 'ELU', 'Embedding', 'EmbeddingBag', 'Flatten', 'Fold', 'GELU', 'GLU', 'GRU', 'GRUCell', 'GaussianNLLLoss', 'GroupNorm', 'Hardshrink', 'Hardsigmoid', 'Hardswish', 'Hardtanh', 'HingeEmbeddingLoss', 'HuberLoss', 'Identity', 'InstanceNorm1d', 'InstanceNorm2d', 'KLDivLoss', 'L1Loss', 'LPPool1d', 'LPPool2d', 'LPPool3d', 'LSTM', 'LSTMCell', 'LayerNorm', 'LeakyReLU', 'Linear', 'LocalResponseNorm', 'LogSigmoid', 'LogSoftmax', 'MSELoss', 'MarginRankingLoss', 'MaxPool1d', 'MaxPool2d', 'MaxPool3d', 'Mish', 'Module', 'ModuleDict', 'ModuleList', 'MultiLabelMarginLoss', 'MultiLabelSoftMarginLoss', 'MultiMarginLoss', 'MultiheadAttention', 'NLLLoss', 'NonDynamicallyQuantizableLinear', 'PReLU', 'PairwiseDistance', 'ParameterDict', 'ParameterList', 'PixelShuffle', 'PixelUnshuffle', 'PoissonNLLLoss', 'RMSNorm', 'RNN', 'RNNBase', 'RNNCell', 'RNNCellBase', 'RReLU', 'ReLU', 'ReLU6', 'ReflectionPad1d', 'ReflectionPad2d', 'ReflectionPad3d', 'RemovableHandle', 'ReplicationPad1d', 'ReplicationPad2d', 'ReplicationPad3d', 'SELU', 'Sequential', 'SiLU', 'Sigmoid', 'SmoothL1Loss', 'SoftMarginLoss', 'Softmax', 'Softmax2d', 'Softmin', 'Softplus', 'Softshrink', 'Softsign', 'StochasticDepth', 'Tanh', 'Tanhshrink', 'Threshold', 'Transformer', 'TransformerDecoder', 'TransformerDecoderLayer', 'TransformerEncoder', 'TransformerEncoderLayer', 'TripletMarginLoss', 'Unflatten', 'Unfold', 'Upsample', 'ZeroPad1d', 'ZeroPad2d', 'ZeroPad3d']
class Module:
    """
    Base of all modules, as torch.nn.Module.
    """
    call_super_init: typing.ClassVar[bool] = False
    training: bool
    def __call__(self, *args, **kwargs) -> typing.Any:
        ...
    def __delattr__(self, name: str) -> None:
        """
        ``del module.name``: takes a parameter, a buffer, a submodule or a plain attribute away.
        """
    def __getattr__(self, arg0: str) -> typing.Any:
        ...
    def __getstate__(self) -> dict:
        ...
    def __init__(self, *args, **kwargs) -> None:
        ...
    def __repr__(self) -> str:
        ...
    def __setattr__(self, arg0: str, arg1: typing.Any) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _delete_entry(self, name: str) -> None:
        """
        ``del module.name``: takes a parameter, a buffer, a submodule or a plain attribute away.
        """
    def _entries(self, arg0: str) -> dict:
        ...
    def _forward_with_attributes(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """
        The class's forward, with what stands under names that were taken away.
        """
    def _get_name(self) -> str:
        ...
    def _register_load_state_dict_pre_hook(self, hook: collections.abc.Callable, with_module: bool = False) -> RemovableHandle:
        ...
    def _register_state_dict_hook(self, hook: collections.abc.Callable) -> RemovableHandle:
        """
        Calls hook(module, state_dict, prefix, local_metadata) when a state dict holds the module's tensors and those below, to change it.
        """
    def _set_entry(self, arg0: str, arg1: str, arg2: typing.Any) -> None:
        ...
    def add_module(self, name: str, module: typing.Any) -> None:
        ...
    def apply(self, fn: collections.abc.Callable) -> typing.Any:
        """
        Calls fn on every submodule, then on this module.
        """
    def bfloat16(self) -> typing.Any:
        ...
    def buffers(self, recurse: bool = True) -> collections.abc.Iterator:
        ...
    def children(self) -> collections.abc.Iterator:
        ...
    def compile(self, *args: typing.Any, **kwargs: typing.Any) -> None:
        """
        Changes nothing: kernels are compiled when they are called. (torch.nn.Module.compile)
        """
    def cpu(self) -> typing.Any:
        """
        Moves parameters and buffers to the first OpenCL device that is a CPU.
        """
    def double(self) -> typing.Any:
        ...
    def eval(self) -> typing.Any:
        ...
    def extra_repr(self) -> str:
        ...
    def float(self) -> typing.Any:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
    def get_buffer(self, target: str) -> typing.Any:
        ...
    def get_parameter(self, target: str) -> typing.Any:
        ...
    def get_submodule(self, target: str) -> typing.Any:
        """
        What stands under a dotted name.
        """
    def half(self) -> typing.Any:
        ...
    def load_state_dict(self, state_dict: dict, strict: bool = True, assign: bool = False) -> typing.Any:
        """
        Takes anything array-like: our tensors, NumPy arrays, PyTorch's.
        """
    def modules(self) -> collections.abc.Iterator:
        ...
    def named_buffers(self, prefix: str = '', recurse: bool = True, remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def named_children(self) -> collections.abc.Iterator:
        ...
    def named_modules(self, memo: typing.Any = None, prefix: str = '', remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def named_parameters(self, prefix: str = '', recurse: bool = True, remove_duplicate: bool = True) -> collections.abc.Iterator:
        ...
    def parameters(self, recurse: bool = True) -> collections.abc.Iterator:
        ...
    def register_buffer(self, name: str, tensor: ocl._C.Tensor | None, persistent: bool = True) -> None:
        """
        A buffer that is not persistent stays out of the state dict.
        """
    def register_forward_hook(self, hook: typing.Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False) -> typing.Any:
        """
        Calls hook(module, args, output) after every forward; what it returns, unless None, replaces the
            output. (torch.nn.Module.register_forward_hook)
        
            With ``prepend`` before the module's other hooks, with ``with_kwargs`` as hook(module, args, kwargs,
            output), with ``always_call`` even if the forward raises, with the output None.
            
        """
    def register_forward_pre_hook(self, hook: collections.abc.Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """
        Calls hook(module, args) before every forward; what it returns, unless None, replaces the arguments.
        """
    def register_full_backward_hook(self, hook: collections.abc.Callable, prepend: bool = False) -> RemovableHandle:
        """
        Calls hook(module, grad_input, grad_output) in every backward; what it returns, unless None, replaces grad_input. Of outputs, a tensor or a tuple of them is watched.
        """
    def register_full_backward_pre_hook(self, hook: typing.Callable, prepend: bool = False) -> ocl.nn.global_hooks.Handle:
        """
        Calls hook(module, grad_output) before every backward; what it returns, unless None, replaces
            grad_output. (torch.nn.Module.register_full_backward_pre_hook)
            
        """
    def register_load_state_dict_post_hook(self, hook: collections.abc.Callable) -> RemovableHandle:
        """
        Calls hook(module, incompatible_keys) when a state dict is loaded, to change what counts as missing or unexpected.
        """
    def register_load_state_dict_pre_hook(self, hook: collections.abc.Callable) -> RemovableHandle:
        """
        Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs) before a state dict is loaded, to change it.
        """
    def register_module(self, name: str, module: typing.Any) -> None:
        ...
    def register_parameter(self, name: str, param: ocl._C.Tensor | None) -> None:
        ...
    def register_state_dict_post_hook(self, hook: collections.abc.Callable) -> RemovableHandle:
        """
        Calls hook(module, state_dict, prefix, local_metadata) when a state dict holds the module's tensors and those below, to change it.
        """
    def register_state_dict_pre_hook(self, hook: collections.abc.Callable) -> RemovableHandle:
        """
        Calls hook(module, prefix, keep_vars) before a state dict is made.
        """
    def requires_grad_(self, requires_grad: bool = True) -> typing.Any:
        ...
    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """
        Puts a module under a dotted name; with ``strict`` where there is one already.
        
            ValueError without a name, and for what is no module; AttributeError where the name leads to no module.
            (torch.nn.Module.set_submodule)
            
        """
    def share_memory(self) -> Module:
        """
        The module itself: processes do not share memory of a device. (torch.nn.Module.share_memory)
        """
    def state_dict(self, *, destination: dict | None = None, prefix: str = '', keep_vars: bool = False) -> dict:
        """
        Parameters and buffers by dotted name after prefix, sharing memory with the module and, unless keep_vars, free of the tape.
        """
    def to(self, *args, device: typing.Any = None, dtype: ocl._C.dtype | None = None, non_blocking: bool = False, memory_format: ocl._C.memory_format | None = None) -> typing.Any:
        """
        Moves parameters and buffers to a device, a floating dtype, both, or those of a tensor; to a memory format those of four dimensions, or five. Between devices never waits for the uploads, which overlap with what the other device computes: non_blocking changes nothing.
        """
    def to_empty(self, *, device: typing.Any, recurse: bool = True) -> Module:
        """
        Gives the parameters and buffers memory on a device without their values, those of submodules too
            with ``recurse``. (torch.nn.Module.to_empty)
            
        """
    def train(self, mode: bool = True) -> typing.Any:
        ...
    def type(self, dst_type: typing.Any) -> Module:
        """
        Converts all parameters and buffers, those of integers too. (torch.nn.Module.type)
        """
    def zero_grad(self, set_to_none: bool = True) -> None:
        ...
    @property
    def _buffers(self) -> typing.Any:
        ...
    @property
    def _modules(self) -> typing.Any:
        ...
    @property
    def _non_persistent_buffers_set(self) -> frozenset[str]:
        """
        The names of the own buffers that are not in the state dict. (torch.nn.Module)
        """
    @property
    def _parameters(self) -> typing.Any:
        ...
class RemovableHandle:
    """
    Takes a hook away again; also a context manager.
    """
    def __enter__(self) -> typing.Any:
        ...
    def __exit__(self, *args) -> None:
        ...
    def remove(self) -> None:
        ...
    @property
    def id(self) -> int:
        ...
class Sequential(Module):
    """
    Each module's output is the next one's input. Takes modules one by one, or an OrderedDict of names and modules; slices are Sequentials too.
    """
    def __add__(self, arg0: typing.Any) -> typing.Any:
        ...
    def __delitem__(self, index: typing.Any) -> None:
        ...
    def __getitem__(self, index: typing.Any) -> typing.Any:
        ...
    def __iadd__(self, arg0: typing.Any) -> typing.Any:
        ...
    def __imul__(self, arg0: typing.SupportsIndex) -> typing.Any:
        ...
    def __init__(self, *args) -> None:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __len__(self) -> int:
        ...
    def __mul__(self, arg0: typing.SupportsIndex) -> typing.Any:
        ...
    def __rmul__(self, arg0: typing.SupportsIndex) -> typing.Any:
        ...
    def __setitem__(self, index: typing.Any, module: typing.Any) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def append(self, module: typing.Any) -> typing.Any:
        """
        Adds a module at the end, under the next number.
        """
    def extend(self, modules: typing.Any) -> typing.Any:
        """
        Adds modules at the end.
        """
    def forward(self, input: typing.Any) -> typing.Any:
        ...
    def insert(self, index: typing.Any, module: typing.Any) -> typing.Any:
        """
        Puts a module before the one at index; all are numbered anew.
        """
    def pop(self, index: typing.Any = -1) -> typing.Any:
        """
        Takes the module at index out and returns it.
        """
class ModuleList(Module):
    """
    Modules by number, which the owner calls as it likes.
    """
    def __add__(self, arg0: typing.Any) -> typing.Any:
        ...
    def __delitem__(self, index: typing.Any) -> None:
        ...
    def __getitem__(self, index: typing.Any) -> typing.Any:
        ...
    def __iadd__(self, arg0: typing.Any) -> typing.Any:
        ...
    def __init__(self, modules: typing.Any = None) -> None:
        ...
    def __iter__(self) -> collections.abc.Iterator:
        ...
    def __len__(self) -> int:
        ...
    def __repr__(self) -> str:
        ...
    def __setitem__(self, index: typing.Any, module: typing.Any) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def append(self, module: typing.Any) -> typing.Any:
        """
        Adds a module at the end, under the next number.
        """
    def extend(self, modules: typing.Any) -> typing.Any:
        """
        Adds modules at the end.
        """
    def insert(self, index: typing.Any, module: typing.Any) -> None:
        """
        Puts a module before the one at index.
        """
    def pop(self, index: typing.Any = -1) -> typing.Any:
        """
        Takes the module at index out and returns it.
        """
class ParameterList(Module):
    """
    Parameters by number; a tensor that is none yet becomes one.
    """
    def __getitem__(self, index: typing.Any) -> typing.Any:
        ...
    def __iadd__(self, values: typing.Any) -> typing.Any:
        """
        Adds parameters at the end.
        """
    def __init__(self, values: typing.Any = None) -> None:
        ...
    def __iter__(self) -> typing.Any:
        ...
    def __len__(self) -> int:
        ...
    def __setitem__(self, index: typing.Any, value: ocl._C.Tensor) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def append(self, value: ocl._C.Tensor) -> typing.Any:
        """
        Adds a parameter at the end.
        """
    def extend(self, values: typing.Any) -> typing.Any:
        """
        Adds parameters at the end.
        """
class ModuleDict(Module):
    """
    Modules by name, in the order in which they were added.
    """
    def __contains__(self, *args, **kwargs) -> typing.Any:
        ...
    def __delitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __getitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __init__(self, modules: typing.Any = None) -> None:
        ...
    def __iter__(self, *args, **kwargs) -> typing.Any:
        ...
    def __len__(self, *args, **kwargs) -> typing.Any:
        ...
    def __reversed__(self, *args, **kwargs) -> typing.Any:
        ...
    def __setitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def clear(self, *args, **kwargs) -> typing.Any:
        ...
    def get(self, *args, **kwargs) -> typing.Any:
        ...
    def items(self, *args, **kwargs) -> typing.Any:
        ...
    def keys(self, *args, **kwargs) -> typing.Any:
        ...
    def pop(self, *args, **kwargs) -> typing.Any:
        ...
    def popitem(self, *args, **kwargs) -> typing.Any:
        ...
    def setdefault(self, *args, **kwargs) -> typing.Any:
        ...
    def update(self, modules: typing.Any) -> None:
        ...
    def values(self, *args, **kwargs) -> typing.Any:
        ...
class ParameterDict(Module):
    """
    Parameters by name; a tensor that is none yet becomes one.
    """
    def __contains__(self, *args, **kwargs) -> typing.Any:
        ...
    def __delitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __getitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __init__(self, parameters: typing.Any = None) -> None:
        ...
    def __iter__(self, *args, **kwargs) -> typing.Any:
        ...
    def __len__(self, *args, **kwargs) -> typing.Any:
        ...
    def __reversed__(self, *args, **kwargs) -> typing.Any:
        ...
    def __setitem__(self, *args, **kwargs) -> typing.Any:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def clear(self, *args, **kwargs) -> typing.Any:
        ...
    def get(self, *args, **kwargs) -> typing.Any:
        ...
    def items(self, *args, **kwargs) -> typing.Any:
        ...
    def keys(self, *args, **kwargs) -> typing.Any:
        ...
    def pop(self, *args, **kwargs) -> typing.Any:
        ...
    def popitem(self, *args, **kwargs) -> typing.Any:
        ...
    def setdefault(self, *args, **kwargs) -> typing.Any:
        ...
    def update(self, parameters: typing.Any) -> None:
        ...
    def values(self, *args, **kwargs) -> typing.Any:
        ...
class Sigmoid(Module):
    """
    1 / (1 + exp(-a)).
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Tanh(Module):
    """
    The hyperbolic tangent.
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LogSigmoid(Module):
    """
    log(sigmoid(a)).
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Tanhshrink(Module):
    """
    a - tanh(a).
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softsign(Module):
    """
    a / (1 + |a|).
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReLU(Module):
    """
    max(a, 0).
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReLU6(Module):
    """
    min(max(a, 0), 6).
    """
    max_val: typing.ClassVar[float] = 6.0
    min_val: typing.ClassVar[float] = 0.0
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class SiLU(Module):
    """
    a * sigmoid(a), also named swish.
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Mish(Module):
    """
    a * tanh(softplus(a)) (Misra 2019).
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class SELU(Module):
    """
    The self-normalising unit (Klambauer et al. 2017).
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Hardsigmoid(Module):
    """
    relu6(a + 3) / 6.
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Hardswish(Module):
    """
    a * relu6(a + 3) / 6 (Howard et al. 2019).
    """
    inplace: typing.Any
    def __init__(self, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LeakyReLU(Module):
    """
    a, or negative_slope * a where negative.
    """
    inplace: typing.Any
    negative_slope: typing.Any
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ELU(Module):
    """
    a, or alpha * (exp(a) - 1) where negative (Clevert et al. 2016).
    """
    alpha: typing.Any
    inplace: typing.Any
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class CELU(Module):
    """
    elu with a continuous slope (Barron 2017).
    """
    alpha: typing.Any
    inplace: typing.Any
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Hardshrink(Module):
    """
    a, but 0 between -lambd and lambd.
    """
    lambd: typing.Any
    def __init__(self, lambd: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softshrink(Module):
    """
    a moved by lambd towards 0, which is as far as it goes.
    """
    lambd: typing.Any
    def __init__(self, lambd: float = 0.5) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softplus(Module):
    """
    log(1 + exp(beta * a)) / beta; linear above threshold / beta.
    """
    beta: typing.Any
    threshold: typing.Any
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Hardtanh(Module):
    """
    a held between min_val and max_val.
    """
    inplace: typing.Any
    max_val: typing.Any
    min_val: typing.Any
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Threshold(Module):
    """
    a where it is above threshold, value elsewhere.
    """
    inplace: typing.Any
    threshold: typing.Any
    value: typing.Any
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class GELU(Module):
    """
    a times the normal distribution function of a (Hendrycks and Gimpel 2016).
    """
    approximate: typing.Any
    def __init__(self, approximate: str = 'none') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class PReLU(Module):
    """
    The slope where negative is learned, for all channels together or one each.
    """
    init: typing.Any
    num_parameters: typing.Any
    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class RReLU(Module):
    """
    Slopes where negative that are drawn for each element while training.
    """
    inplace: typing.Any
    lower: typing.Any
    upper: typing.Any
    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softmax2d(Module):
    """
    Softmax over the channels of [N, C, H, W].
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class GLU(Module):
    """
    The first half of dim times the sigmoid of the second.
    """
    dim: typing.Any
    def __init__(self, dim: int = -1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softmax(Module):
    """
    Exponentials along dim, which add up to 1.
    """
    dim: typing.Any
    def __init__(self, dim: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Softmin(Module):
    """
    Softmax of the negated input.
    """
    dim: typing.Any
    def __init__(self, dim: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LogSoftmax(Module):
    """
    The logarithm of softmax.
    """
    dim: typing.Any
    def __init__(self, dim: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Linear(Module):
    """
    [..., in_features] -> [..., out_features].
    """
    in_features: typing.Any
    out_features: typing.Any
    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class Bilinear(Module):
    """
    [..., in1_features] and [..., in2_features] -> [..., out_features].
    """
    in1_features: typing.Any
    in2_features: typing.Any
    out_features: typing.Any
    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input1: ocl._C.Tensor, input2: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class Dropout(Module):
    """
    Zeroes elements with probability p and scales the rest, while training.
    """
    inplace: typing.Any
    p: typing.Any
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Dropout2d(Module):
    """
    Drops whole channels of x [N, C, ...] with probability p, while training.
    """
    inplace: typing.Any
    p: typing.Any
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class StochasticDepth(Module):
    """
    Drops whole residual branches while training, as torchvision.ops.StochasticDepth.
    """
    mode: typing.Any
    p: typing.Any
    def __init__(self, p: float, mode: str) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Flatten(Module):
    """
    Joins dimensions start_dim to end_dim.
    """
    end_dim: typing.Any
    start_dim: typing.Any
    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Unflatten(Module):
    """
    Splits dimension dim into unflattened_size, of which one may be -1.
    """
    dim: typing.Any
    unflattened_size: typing.Any
    def __init__(self, dim: int, unflattened_size: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Identity(Module):
    """
    The input itself.
    """
    def __init__(self) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class _ConvNd(Module):
    """
    Base of the convolution layers.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
    def _forward_with_complex_numbers(self, input: ocl._C.Tensor, output_size: typing.Any = None) -> ocl._C.Tensor:
        """
        The forward of a convolution that had complex parameters once.
        """
class Conv1d(_ConvNd):
    """
    1D convolution, [N, in, L] -> [N, out, OL].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1,), padding: int | tuple[int, ...] | str = (0,), dilation: int | tuple[int, ...] = (1,), groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class Conv2d(_ConvNd):
    """
    2D convolution, [N, in, H, W] -> [N, out, OH, OW].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1, 1), padding: int | tuple[int, ...] | str = (0, 0), dilation: int | tuple[int, ...] = (1, 1), groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class Conv3d(_ConvNd):
    """
    3D convolution, [N, in, D, H, W] -> [N, out, OD, OH, OW].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1, 1, 1), padding: int | tuple[int, ...] | str = (0, 0, 0), dilation: int | tuple[int, ...] = (1, 1, 1), groups: int = 1, bias: bool = True, padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class ConvTranspose1d(_ConvNd):
    """
    The gradient of a 1D convolution, [N, in, L] -> [N, out, OL].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    output_padding: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1,), padding: int | tuple[int, ...] = (0,), output_padding: int | tuple[int, ...] = (0,), groups: int = 1, bias: bool = True, dilation: int | tuple[int, ...] = (1,), padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor, output_size: collections.abc.Sequence[typing.SupportsIndex] | None = None) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class ConvTranspose2d(_ConvNd):
    """
    The gradient of a 2D convolution, [N, in, H, W] -> [N, out, OH, OW].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    output_padding: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1, 1), padding: int | tuple[int, ...] = (0, 0), output_padding: int | tuple[int, ...] = (0, 0), groups: int = 1, bias: bool = True, dilation: int | tuple[int, ...] = (1, 1), padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor, output_size: collections.abc.Sequence[typing.SupportsIndex] | None = None) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class ConvTranspose3d(_ConvNd):
    """
    The gradient of a 3D convolution, [N, in, D, H, W] -> [N, out, OD, OH, OW].
    """
    dilation: typing.Any
    groups: typing.Any
    in_channels: typing.Any
    kernel_size: typing.Any
    out_channels: typing.Any
    output_padding: typing.Any
    padding: typing.Any
    padding_mode: typing.Any
    stride: typing.Any
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] = (1, 1, 1), padding: int | tuple[int, ...] = (0, 0, 0), output_padding: int | tuple[int, ...] = (0, 0, 0), groups: int = 1, bias: bool = True, dilation: int | tuple[int, ...] = (1, 1, 1), padding_mode: str = 'zeros', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor, output_size: collections.abc.Sequence[typing.SupportsIndex] | None = None) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class _NormBase(Module):
    """
    Base of batch and instance norm.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
    def reset_running_stats(self) -> None:
        ...
class BatchNorm1d(_NormBase):
    """
    Batch normalisation over [N, C] or [N, C, L].
    """
    affine: typing.Any
    eps: typing.Any
    momentum: typing.Any
    num_features: typing.Any
    track_running_stats: typing.Any
    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class BatchNorm2d(_NormBase):
    """
    Batch normalisation over [N, C, H, W].
    """
    affine: typing.Any
    eps: typing.Any
    momentum: typing.Any
    num_features: typing.Any
    track_running_stats: typing.Any
    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class BatchNorm3d(_NormBase):
    """
    Batch normalisation over [N, C, D, H, W].
    """
    affine: typing.Any
    eps: typing.Any
    momentum: typing.Any
    num_features: typing.Any
    track_running_stats: typing.Any
    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class InstanceNorm1d(_NormBase):
    """
    Instance normalisation over [N, C, L] or [C, L].
    """
    affine: typing.Any
    eps: typing.Any
    momentum: typing.Any
    num_features: typing.Any
    track_running_stats: typing.Any
    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = False, track_running_stats: bool = False, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class InstanceNorm2d(_NormBase):
    """
    Instance normalisation over [N, C, H, W] or [C, H, W].
    """
    affine: typing.Any
    eps: typing.Any
    momentum: typing.Any
    num_features: typing.Any
    track_running_stats: typing.Any
    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float | None = 0.1, affine: bool = False, track_running_stats: bool = False, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class LayerNorm(Module):
    """
    The last dimensions, of sizes normalized_shape, normalised.
    """
    elementwise_affine: typing.Any
    eps: typing.Any
    normalized_shape: typing.Any
    def __init__(self, normalized_shape: int | tuple[int, ...], eps: float = 1e-05, elementwise_affine: bool = True, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class RMSNorm(Module):
    """
    The last dimensions over their root mean square.
    """
    elementwise_affine: typing.Any
    eps: typing.Any
    normalized_shape: typing.Any
    def __init__(self, normalized_shape: int | tuple[int, ...], eps: float | None = None, elementwise_affine: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class GroupNorm(Module):
    """
    Groups of channels of [N, num_channels, ...] normalised.
    """
    affine: typing.Any
    eps: typing.Any
    num_channels: typing.Any
    num_groups: typing.Any
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-05, affine: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None, *, bias: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class LocalResponseNorm(Module):
    """
    Local response normalisation of [N, C, ...].
    """
    alpha: typing.Any
    beta: typing.Any
    k: typing.Any
    size: typing.Any
    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class _PoolOfMaxima(Module):
    """
    Base of the layers of maxima.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
    def forward(self, input: ocl._C.Tensor) -> ocl._C.Tensor | tuple[ocl._C.Tensor, ocl._C.Tensor]:
        ...
class MaxPool1d(_PoolOfMaxima):
    """
    The largest element of each window of [N, C, L].
    """
    ceil_mode: typing.Any
    dilation: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    return_indices: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, padding: int | tuple[int] = 0, dilation: int | tuple[int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MaxPool2d(_PoolOfMaxima):
    """
    The largest element of each window of [N, C, H, W].
    """
    ceil_mode: typing.Any
    dilation: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    return_indices: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MaxPool3d(_PoolOfMaxima):
    """
    The largest element of each window of [N, C, D, H, W].
    """
    ceil_mode: typing.Any
    dilation: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    return_indices: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, padding: int | tuple[int, int, int] = 0, dilation: int | tuple[int, int, int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveMaxPool1d(_PoolOfMaxima):
    """
    As many maxima of [N, C, L] as output_size says.
    """
    output_size: typing.Any
    return_indices: typing.Any
    def __init__(self, output_size: int | tuple[int], return_indices: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveMaxPool2d(_PoolOfMaxima):
    """
    As many maxima of [N, C, H, W] as output_size says.
    """
    output_size: typing.Any
    return_indices: typing.Any
    def __init__(self, output_size: int | None | tuple[int | None, int | None], return_indices: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveMaxPool3d(_PoolOfMaxima):
    """
    As many maxima of [N, C, D, H, W] as output_size says.
    """
    output_size: typing.Any
    return_indices: typing.Any
    def __init__(self, output_size: int | None | tuple[int | None, int | None, int | None], return_indices: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AvgPool1d(Module):
    """
    The mean of each window of [N, C, L].
    """
    ceil_mode: typing.Any
    count_include_pad: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, ...], stride: int | tuple[int, ...] | None = None, padding: int | tuple[int, ...] = (0,), ceil_mode: bool = False, count_include_pad: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AvgPool2d(Module):
    """
    The mean of each window of [N, C, H, W].
    """
    ceil_mode: typing.Any
    count_include_pad: typing.Any
    divisor_override: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, padding: int | tuple[int, int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AvgPool3d(Module):
    """
    The mean of each window of [N, C, D, H, W].
    """
    ceil_mode: typing.Any
    count_include_pad: typing.Any
    divisor_override: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, padding: int | tuple[int, int, int] = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveAvgPool1d(Module):
    """
    As many means of [N, C, L] as output_size says.
    """
    output_size: typing.Any
    def __init__(self, output_size: int | tuple[int]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveAvgPool2d(Module):
    """
    As many means of [N, C, H, W] as output_size says.
    """
    output_size: typing.Any
    def __init__(self, output_size: int | None | tuple[int | None, int | None]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class AdaptiveAvgPool3d(Module):
    """
    As many means of [N, C, D, H, W] as output_size says.
    """
    output_size: typing.Any
    def __init__(self, output_size: int | None | tuple[int | None, int | None, int | None]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LPPool1d(Module):
    """
    The power average of each window of [N, C, L].
    """
    ceil_mode: typing.Any
    kernel_size: typing.Any
    norm_type: typing.Any
    stride: typing.Any
    def __init__(self, norm_type: float, kernel_size: int | tuple[int], stride: int | tuple[int] | None = None, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LPPool2d(Module):
    """
    The power average of each window of [N, C, H, W].
    """
    ceil_mode: typing.Any
    kernel_size: typing.Any
    norm_type: typing.Any
    stride: typing.Any
    def __init__(self, norm_type: float, kernel_size: int | tuple[int, int], stride: int | tuple[int, int] | None = None, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class LPPool3d(Module):
    """
    The power average of each window of [N, C, D, H, W].
    """
    ceil_mode: typing.Any
    kernel_size: typing.Any
    norm_type: typing.Any
    stride: typing.Any
    def __init__(self, norm_type: float, kernel_size: int | tuple[int, int, int], stride: int | tuple[int, int, int] | None = None, ceil_mode: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Upsample(Module):
    """
    The input brought to a size, or to scale_factor times its own.
    """
    align_corners: typing.Any
    mode: typing.Any
    recompute_scale_factor: typing.Any
    scale_factor: typing.Any
    size: typing.Any
    def __init__(self, size: int | int | tuple[int, ...] | None = None, scale_factor: float | float | tuple[float, ...] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class PixelShuffle(Module):
    """
    [N, C r r, H, W] -> [N, C, H r, W r].
    """
    upscale_factor: typing.Any
    def __init__(self, upscale_factor: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class PixelUnshuffle(Module):
    """
    [N, C, H r, W r] -> [N, C r r, H, W].
    """
    downscale_factor: typing.Any
    def __init__(self, downscale_factor: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ChannelShuffle(Module):
    """
    The channels of all groups by turns.
    """
    groups: typing.Any
    def __init__(self, groups: int) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Unfold(Module):
    """
    The sliding blocks of [N, C, H, W] as columns [N, C KH KW, blocks].
    """
    dilation: typing.Any
    kernel_size: typing.Any
    padding: typing.Any
    stride: typing.Any
    def __init__(self, kernel_size: int | tuple[int, int], dilation: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, stride: int | tuple[int, int] = 1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class Fold(Module):
    """
    The sum of the blocks that are the columns: the transpose of Unfold.
    """
    dilation: typing.Any
    kernel_size: typing.Any
    output_size: typing.Any
    padding: typing.Any
    stride: typing.Any
    def __init__(self, output_size: int | tuple[int, int], kernel_size: int | tuple[int, int], dilation: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, stride: int | tuple[int, int] = 1) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ZeroPad1d(Module):
    """
    pad() of the last dimensions, mode 'constant'.
    """
    value: typing.ClassVar[float] = 0.0
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ZeroPad2d(Module):
    """
    pad() of the last dimensions, mode 'constant'.
    """
    value: typing.ClassVar[float] = 0.0
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ZeroPad3d(Module):
    """
    pad() of the last dimensions, mode 'constant'.
    """
    value: typing.ClassVar[float] = 0.0
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReflectionPad1d(Module):
    """
    pad() of the last dimensions, mode 'reflect'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReflectionPad2d(Module):
    """
    pad() of the last dimensions, mode 'reflect'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReflectionPad3d(Module):
    """
    pad() of the last dimensions, mode 'reflect'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReplicationPad1d(Module):
    """
    pad() of the last dimensions, mode 'replicate'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReplicationPad2d(Module):
    """
    pad() of the last dimensions, mode 'replicate'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class ReplicationPad3d(Module):
    """
    pad() of the last dimensions, mode 'replicate'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class CircularPad1d(Module):
    """
    pad() of the last dimensions, mode 'circular'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class CircularPad2d(Module):
    """
    pad() of the last dimensions, mode 'circular'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class CircularPad3d(Module):
    """
    pad() of the last dimensions, mode 'circular'.
    """
    padding: typing.Any
    def __init__(self, padding: int | tuple[int, ...]) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class _Loss(Module):
    """
    Base of the losses.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
    def forward(self, input: ocl._C.Tensor, target: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class CrossEntropyLoss(_Loss):
    """
    Cross entropy of logits and classes.
    """
    ignore_index: typing.Any
    label_smoothing: typing.Any
    reduction: typing.Any
    def __init__(self, weight: ocl._C.Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class NLLLoss(_Loss):
    """
    Negative log likelihood of log probabilities and classes.
    """
    ignore_index: typing.Any
    reduction: typing.Any
    def __init__(self, weight: ocl._C.Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MSELoss(_Loss):
    """
    Squared differences.
    """
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class L1Loss(_Loss):
    """
    Absolute differences.
    """
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: _Loss, input: ocl._C.Tensor, target: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class SmoothL1Loss(_Loss):
    """
    Squared where below beta, absolute above.
    """
    beta: typing.Any
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean', beta: float = 1.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class HuberLoss(_Loss):
    """
    Squared where below delta, absolute above, times delta.
    """
    delta: typing.Any
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean', delta: float = 1.0) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class BCELoss(_Loss):
    """
    Binary cross entropy of probabilities.
    """
    reduction: typing.Any
    def __init__(self, weight: ocl._C.Tensor | None = None, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class BCEWithLogitsLoss(_Loss):
    """
    Binary cross entropy of logits.
    """
    reduction: typing.Any
    def __init__(self, weight: ocl._C.Tensor | None = None, reduction: str = 'mean', pos_weight: ocl._C.Tensor | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class KLDivLoss(_Loss):
    """
    Kullback-Leibler divergence of log probabilities.
    """
    log_target: typing.Any
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean', log_target: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class PoissonNLLLoss(_Loss):
    """
    Negative log likelihood of Poisson variables.
    """
    eps: typing.Any
    full: typing.Any
    log_input: typing.Any
    reduction: typing.Any
    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-08, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class HingeEmbeddingLoss(_Loss):
    """
    Distances of similar pairs, and what those of others lack to margin.
    """
    margin: typing.Any
    reduction: typing.Any
    def __init__(self, margin: float = 1.0, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class SoftMarginLoss(_Loss):
    """
    log(1 + exp(-target input)).
    """
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MultiMarginLoss(_Loss):
    """
    Hinge loss of scores and classes.
    """
    margin: typing.Any
    p: typing.Any
    reduction: typing.Any
    def __init__(self, p: int = 1, margin: float = 1.0, weight: ocl._C.Tensor | None = None, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MultiLabelMarginLoss(_Loss):
    """
    Hinge loss of scores and several classes a row.
    """
    reduction: typing.Any
    def __init__(self, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class MultiLabelSoftMarginLoss(_Loss):
    """
    Binary cross entropy of logits, averaged over classes.
    """
    reduction: typing.Any
    def __init__(self, weight: ocl._C.Tensor | None = None, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
class GaussianNLLLoss(Module):
    """
    Negative log likelihood of normal variables.
    """
    eps: typing.Any
    full: typing.Any
    reduction: typing.Any
    def __init__(self, *, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor, target: ocl._C.Tensor, var: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class MarginRankingLoss(Module):
    """
    Hinge loss of which of two inputs should be larger.
    """
    margin: typing.Any
    reduction: typing.Any
    def __init__(self, margin: float = 0.0, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input1: ocl._C.Tensor, input2: ocl._C.Tensor, target: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class CosineEmbeddingLoss(Module):
    """
    Cosines of pairs that should be alike or not.
    """
    margin: typing.Any
    reduction: typing.Any
    def __init__(self, margin: float = 0.0, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input1: ocl._C.Tensor, input2: ocl._C.Tensor, target: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class TripletMarginLoss(Module):
    """
    Hinge loss of the distances of an anchor from two others.
    """
    eps: typing.Any
    margin: typing.Any
    p: typing.Any
    reduction: typing.Any
    swap: typing.Any
    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, reduction: str = 'mean') -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, anchor: ocl._C.Tensor, positive: ocl._C.Tensor, negative: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class PairwiseDistance(Module):
    """
    The p-norm of x1 - x2 + eps over the last dimension.
    """
    eps: typing.Any
    keepdim: typing.Any
    def __init__(self, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, x1: ocl._C.Tensor, x2: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
    @property
    def norm(self) -> float:
        ...
    @norm.setter
    def norm(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None:
        ...
class CosineSimilarity(Module):
    """
    The cosine of the angle between the vectors along dim.
    """
    dim: typing.Any
    eps: typing.Any
    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, x1: ocl._C.Tensor, x2: ocl._C.Tensor) -> ocl._C.Tensor:
        ...
class NonDynamicallyQuantizableLinear(Linear):
    """
    The Linear at the end of MultiheadAttention.
    """
    in_features: typing.Any
    out_features: typing.Any
    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class MultiheadAttention(Module):
    """
    Attention of several heads::
    
        attention = nn.MultiheadAttention(8, 2)
        x = ocl.randn(5, 3, 8)  # steps, items, features
        output, weights = attention(x, x, x)
        output.sum().backward()
    
    Returns the output and, with need_weights, the weights, else None.
    """
    add_bias_kv: typing.Any
    add_zero_attn: typing.Any
    batch_first: typing.Any
    dropout: typing.Any
    embed_dim: typing.Any
    kdim: typing.Any
    num_heads: typing.Any
    vdim: typing.Any
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, query: ocl._C.Tensor, key: ocl._C.Tensor, value: ocl._C.Tensor, key_padding_mask: ocl._C.Tensor | None = None, need_weights: bool = True, attn_mask: ocl._C.Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False) -> tuple[ocl._C.Tensor, ocl._C.Tensor | None]:
        ...
    def reset_parameters(self: Module) -> None:
        ...
    @property
    def head_dim(self) -> int:
        ...
class RNNBase(Module):
    """
    What RNN, GRU and LSTM share.
    """
    mode: typing.Any
    proj_size: typing.Any
    def __init__(self, *args, **kwargs) -> None:
        ...
    def flatten_parameters(self) -> None:
        """
        Does nothing.
        """
    @property
    def all_weights(self) -> list:
        """
        The parameters of each layer and direction.
        """
class RNN(RNNBase):
    """
    Layers of h = tanh(W_ih x + b_ih + W_hh h + b_hh), or of relu; gives output and h_n.
    """
    batch_first: typing.Any
    bias: typing.Any
    bidirectional: typing.Any
    dropout: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    nonlinearity: typing.Any
    num_layers: typing.Any
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = 'tanh', bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNBase, input: typing.Any, hx: ocl._C.Tensor | None = None) -> tuple:
        ...
    def reset_parameters(self: Module) -> None:
        ...
    @property
    def mode(self) -> typing.Any:
        ...
    @mode.setter
    def mode(self, arg1: str) -> None:
        ...
class GRU(RNNBase):
    """
    Layers of gated recurrent units; gives output and h_n.
    """
    batch_first: typing.Any
    bias: typing.Any
    bidirectional: typing.Any
    dropout: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    num_layers: typing.Any
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNBase, input: typing.Any, hx: ocl._C.Tensor | None = None) -> tuple:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class LSTM(RNNBase):
    """
    Layers of long short-term memory; gives output and (h_n, c_n).
    """
    batch_first: typing.Any
    bias: typing.Any
    bidirectional: typing.Any
    dropout: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    num_layers: typing.Any
    proj_size: typing.Any
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNBase, input: typing.Any, hx: tuple[ocl._C.Tensor, ocl._C.Tensor] | None = None) -> tuple:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class RNNCellBase(Module):
    """
    What the cells share.
    """
    def __init__(self, *args, **kwargs) -> None:
        ...
class RNNCell(RNNCellBase):
    """
    One step of RNN: h.
    """
    bias: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    nonlinearity: typing.Any
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = 'tanh', device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNCellBase, input: ocl._C.Tensor, hx: ocl._C.Tensor | None = None) -> typing.Any:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class GRUCell(RNNCellBase):
    """
    One step of GRU: h.
    """
    bias: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNCellBase, input: ocl._C.Tensor, hx: ocl._C.Tensor | None = None) -> typing.Any:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class LSTMCell(RNNCellBase):
    """
    One step of LSTM: (h, c).
    """
    bias: typing.Any
    hidden_size: typing.Any
    input_size: typing.Any
    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self: RNNCellBase, input: ocl._C.Tensor, hx: tuple[ocl._C.Tensor, ocl._C.Tensor] | None = None) -> typing.Any:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class TransformerEncoderLayer(Module):
    """
    Attention of a sequence to itself and a feed-forward net, each with a residual and layer norm.
    """
    activation: typing.Any
    norm_first: typing.Any
    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | collections.abc.Callable | Module = 'relu', layer_norm_eps: float = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, src: ocl._C.Tensor, src_mask: ocl._C.Tensor | None = None, src_key_padding_mask: ocl._C.Tensor | None = None, is_causal: bool | None = False) -> ocl._C.Tensor:
        ...
class TransformerDecoderLayer(Module):
    """
    As TransformerEncoderLayer, with attention to the encoder's output between.
    """
    activation: typing.Any
    norm_first: typing.Any
    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | collections.abc.Callable | Module = 'relu', layer_norm_eps: float = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, tgt: ocl._C.Tensor, memory: ocl._C.Tensor, tgt_mask: ocl._C.Tensor | None = None, memory_mask: ocl._C.Tensor | None = None, tgt_key_padding_mask: ocl._C.Tensor | None = None, memory_key_padding_mask: ocl._C.Tensor | None = None, tgt_is_causal: bool | None = False, memory_is_causal: bool | None = False) -> ocl._C.Tensor:
        ...
class TransformerEncoder(Module):
    """
    num_layers copies of a layer one after the other, and a last norm. enable_nested_tensor and mask_check are of no effect: there are no nested tensors here.
    """
    enable_nested_tensor: typing.Any
    mask_check: typing.Any
    num_layers: typing.Any
    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, src: ocl._C.Tensor, mask: ocl._C.Tensor | None = None, src_key_padding_mask: ocl._C.Tensor | None = None, is_causal: bool | None = None) -> ocl._C.Tensor:
        ...
class TransformerDecoder(Module):
    """
    num_layers copies of a layer one after the other, and a last norm.
    """
    num_layers: typing.Any
    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, tgt: ocl._C.Tensor, memory: ocl._C.Tensor, tgt_mask: ocl._C.Tensor | None = None, memory_mask: ocl._C.Tensor | None = None, tgt_key_padding_mask: ocl._C.Tensor | None = None, memory_key_padding_mask: ocl._C.Tensor | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool | None = False) -> ocl._C.Tensor:
        ...
class Transformer(Module):
    """
    Encoder and decoder (Vaswani et al. 2017): `transformer(src, tgt)`.
    """
    batch_first: typing.Any
    d_model: typing.Any
    nhead: typing.Any
    @staticmethod
    def generate_square_subsequent_mask(sz: typing.SupportsIndex, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> ocl._C.Tensor:
        """
        [sz, sz] of 0 where a query may look, -inf above the diagonal.
        """
    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | collections.abc.Callable | Module = 'relu', custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-05, batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def _reset_parameters(self) -> None:
        ...
    def forward(self, src: ocl._C.Tensor, tgt: ocl._C.Tensor, src_mask: ocl._C.Tensor | None = None, tgt_mask: ocl._C.Tensor | None = None, memory_mask: ocl._C.Tensor | None = None, src_key_padding_mask: ocl._C.Tensor | None = None, tgt_key_padding_mask: ocl._C.Tensor | None = None, memory_key_padding_mask: ocl._C.Tensor | None = None, src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool | None = False) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class Embedding(Module):
    """
    A table of rows looked up by number: [...] -> [..., embedding_dim].
    """
    embedding_dim: typing.Any
    num_embeddings: typing.Any
    padding_idx: typing.Any
    @staticmethod
    def from_pretrained(embeddings: ocl._C.Tensor, freeze: bool = True, padding_idx: typing.SupportsIndex | None = None) -> Embedding:
        """
        With the rows given, which are not trained unless freeze is False.
        """
    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def reset_parameters(self: Module) -> None:
        ...
class EmbeddingBag(Module):
    """
    Sums, means or maxima over bags of rows: indices [B, N], or [N] with the offsets where bags begin, -> [B, embedding_dim].
    """
    embedding_dim: typing.Any
    include_last_offset: typing.Any
    mode: typing.Any
    num_embeddings: typing.Any
    padding_idx: typing.Any
    @staticmethod
    def from_pretrained(embeddings: ocl._C.Tensor, freeze: bool = True, mode: str = 'mean', include_last_offset: bool = False, padding_idx: typing.SupportsIndex | None = None) -> EmbeddingBag:
        """
        With the rows given, which are not trained unless freeze is False.
        """
    def __init__(self, num_embeddings: int, embedding_dim: int, mode: str = 'mean', include_last_offset: bool = False, padding_idx: int | None = None, device: ocl._C.device | str | int | None = None, dtype: ocl._C.dtype | None = None) -> None:
        ...
    def __setstate__(self, arg0: dict) -> None:
        ...
    def _options(self: Module) -> dict:
        ...
    def forward(self, input: ocl._C.Tensor, offsets: ocl._C.Tensor | None = None, per_sample_weights: ocl._C.Tensor | None = None) -> ocl._C.Tensor:
        ...
    def reset_parameters(self: Module) -> None:
        ...
