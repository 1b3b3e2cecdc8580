"""Disagreements that stay, each with its reason; docs/fuzzing.md shows this list."""

import re
from dataclasses import dataclass

from fuzz.found import Found


@dataclass(frozen=True)
class Known:
    """`kinds` of disagreement, with commas; patterns for the whole subject and for a part of the rest."""

    kinds: str
    subject: str
    text: str
    reason: str
    device: str = ""  # a part of the device's name, where only one has it

    def covers(self, found: Found, device_name: str) -> bool:
        return (
            found.what in self.kinds.split(",")
            and re.fullmatch(self.subject, found.subject) is not None
            and re.search(self.text, f"{found.call} {found.detail}", re.DOTALL) is not None
            and self.device in device_name
        )


OVERLAP = "refer to a single memory location|refers to a single memory location"
NOT_FINITE = "not finite where PyTorch is"
NORMS = "batch_norm_activation|(batch|instance|layer|group|rms|local_response)_norm|normalize|(vector_)?norm"

OPERATORS = "[^:]*"  # cases of operators and their arguments: the other kinds have a colon in their subjects

KNOWN = (
    Known(
        "refuses",
        "program: (written|written_with|assigned|filled)",
        OVERLAP,
        "A write whose target overlaps itself, or a part of its source, is refused: the result would "
        "depend on the order. PyTorch notices only some of these.",
    ),
    Known(
        "accepts",
        "program: (assigned|written|written_with)",
        OVERLAP,
        "x[i] = y copies y first where the two overlap, and the same elements under other strides are the "
        "same; PyTorch refuses.",
    ),
    Known(
        "accepts",
        "program: (backward|grad)",
        "modified by an inplace operation",
        "x.mul_(x) and the like have their gradient, from a copy of x made before the write; in PyTorch the "
        "backward pass fails.",
    ),
    Known(
        "wrong",
        "program: .*",
        r"assigned.*in float64",
        "x[i] = y copies y first where the two overlap; PyTorch reads what it has just written.",
    ),
    Known(
        "accepts",
        "program: (written|written_with|assigned|filled)",
        "A view was created in no_grad mode",
        "A view that was made under no_grad is written to like any other.",
    ),
    Known(
        "refuses,accepts",
        "program: reshaped",
        "is not compatible with input tensor's size",
        "A gradient is laid out as the operator makes it; PyTorch's follows the tensor in more cases.",
    ),
    Known(
        "wrong",
        "prod|cumprod|addcdiv|cross_entropy",
        f"{NOT_FINITE}|with nan or inf",
        "Gradients with infinite or NaN factors beside zeros.",
    ),
    Known(
        "refuses",
        "lstm|gru|rnn_tanh|rnn_relu",
        r"expected \d+ parameters .* got \d+",
        "More parameters than the layers have are refused; PyTorch leaves those that it does not need out.",
    ),
    Known(
        "wrong",
        "(subset: )?batch_norm(_activation)?",
        r"transposed|permuted|scattered|sliced|expanded.*(gradient 0|result \d)",
        "PyTorch gives one channel's gradients to another where the input is laid out channels-last and the "
        "gradient is not (seen where height or width is 1), and reads beyond a weight that is expanded.",
    ),
    Known(
        "wrong",
        "program: gradient",
        "retained.*one, PyTorch has none",
        "A retained gradient stays with a tensor that is written to, or whose base is; PyTorch loses some.",
    ),
    Known(
        "refuses",
        ".*",
        "MemoryError|out of memory",
        "More memory than the device, or the fuzzer, has.",
    ),
    Known(
        "wrong",
        "files",
        "is not supported by",
        "A device without float64 refuses files that hold it.",
    ),
    Known(
        "accepts",
        "(number: )?(celu|hardtanh)",
        "alpha cannot be 0|min_val cannot be greater",
        "The operators under ocl take what those of ocl.nn.functional refuse as PyTorch does.",
    ),
    Known(
        "refuses",
        "conv_transpose[123]d",
        "dilation should be greater than zero",
        "PyTorch looks at the dilation only where the kernel is larger than 1.",
    ),
    Known(
        "wrong",
        "gelu|glu|glu_kernel|mish|logaddexp|nll_loss|normalize|scaled_dot_product_attention",
        "units off",
        "Sums that cancel, or a softmax near 1, on devices with an erf and exp of their own: some units of "
        "the largest term.",
    ),
    Known(
        "wrong",
        "diff|rnn_tanh_cell",
        "expanded.*units off",
        "Gradients of expanded tensors are sums, which may cancel.",
    ),
    Known(
        "wrong",
        "(std|var)_mean",
        "result 1.*10000",
        "The mean beside a variance is one of running deviations: off by units of the largest element.",
    ),
    Known(
        "refuses",
        "pad",
        "circular padding|is too small for padding",
        "Circular padding and reflection of a dimension that is cut at its other side: what is left counts.",
    ),
    Known(
        "accepts",
        "program: (written|written_with|assigned|filled)",
        "a leaf Variable that requires grad",
        "A view whose base was written with a gradient is no leaf; PyTorch takes it for one until something "
        "asks for its grad_fn.",
    ),
    Known(
        "crash,hang",
        "PyTorch's .*",
        "",
        "PyTorch itself ends the process, or does not end.",
    ),
    Known(
        "accepts",
        ".*",
        "can't allocate memory|split_size=-1|Storage size calculation overflowed",
        "Sizes beyond all memory where nothing is computed; PyTorch asks for the memory, or overflows.",
    ),
    Known(
        "refuses",
        "local_response_norm|adaptive_.*|pad|linspace|conv_transpose[123]d|addmm|baddbmm",
        r"positive size|is too large|without overflow|output padding must be smaller",
        "Sizes and numbers out of their range are refused where there is nothing to compute too.",
    ),
    Known(
        "wrong",
        "linspace|logspace",
        "inf|nan",
        "Which of the numbers between infinite bounds are NaN.",
    ),
    Known(
        "wrong",
        "linspace",
        "dtype=ocl.int",
        "Integers on the way: PyTorch's steps are rounded otherwise, and may fall short of a whole number.",
    ),
    Known(
        "wrong",
        "(subset: )?(argsort|sort|topk|median)",
        "stable=False|topk",
        "The order of equal elements where no stable one is asked for.",
    ),
    Known(
        "wrong",
        r"(number: (nn\.)?)?dropout.*",
        "",
        "Random numbers are not PyTorch's; and a dropped infinity is 0, where PyTorch multiplies it by 0.",
    ),
    Known(
        "refuses",
        OPERATORS,
        "of 32 bits|32 bits hold|of 64 bits|2147483647|64 bits count|is out of range",
        "Numbers beyond 32 bits for strides, windows, dilations and the like are refused, and integers "
        "beyond 64 bits everywhere.",
    ),
    Known(
        "accepts",
        "binary_cross_entropy",
        "between 0 and 1",
        "Probabilities outside [0, 1] give NaN: to refuse them would wait for the device.",
    ),
    Known(
        "wrong",
        "(vector_)?norm|normalize",
        r"(p=|>, )(-|0\.|nan|1e|\d{5})",
        "Norms of order NaN, of negative orders and those below 1, whose gradients grow without bound near "
        "0, and of orders so near 0 or so large that float32 holds no such power.",
    ),
    Known(
        "accepts",
        OPERATORS,
        "value cannot be converted to type (float|double|at::(BFloat16|Half)) without overflow",
        "A number beside tensors that float32 does not hold is infinite; PyTorch refuses some of them.",
    ),
    Known(
        "refuses,wrong",
        "take_along_dim",
        "index out of range",
        "PyTorch's take_along_dim reads another element where an index is out of range.",
    ),
    Known(
        "accepts",
        "program: (backward|grad)",
        f"{OVERLAP}|Trying to backward through the graph a second time",
        "A write into a view of stride 0 has a gradient, and needs nothing that a first backward pass frees.",
    ),
    Known(
        "refuses",
        "cross_entropy",
        "label_smoothing must be between",
        "PyTorch looks at label_smoothing only where the target holds classes.",
    ),
    Known(
        "wrong",
        "(std|var)(_mean)?",
        NOT_FINITE,
        "Infinities: whether the mean beside a variance is NaN depends on how PyTorch joins partial sums.",
    ),
    Known(
        "accepts",
        ".*",
        "SymIntArrayRef",
        "PyTorch refuses integers of 2^62 and more in lists.",
    ),
    Known(
        "refuses",
        "roll",
        "dimension out of range",
        "PyTorch looks at the dimensions only where there are elements to move.",
    ),
    Known(
        "wrong",
        "mish|gelu|gelu_tanh|silu|hardswish|softsign|hardsigmoid|relu6|hardtanh|elu|selu|celu|clamp_min|"
        "clamp_max|prelu_kernel|fmod|remainder|hardshrink|softshrink|logit",
        r"\bnan\b|\binf\b|\b10000\.0\b",
        "Gradients where the input is NaN or infinite; PyTorch's own kernels disagree there.",
    ),
    Known(
        "wrong",
        "binary_cross_entropy(_with_logits)?|kl_div",
        f"{NOT_FINITE}",
        "Targets and weights that are no probabilities.",
    ),
    Known(
        "wrong",
        "conv[123]d|conv_transpose[123]d|affine_grid|scaled_dot_product_attention",
        f"{NOT_FINITE}|scale=-?(inf|nan|1e)",
        "Infinite weights, queries, scales and matrices of grids: which results are NaN depends on whether "
        "padding, or a coordinate next to 0, is multiplied.",
    ),
    Known(
        "wrong",
        NORMS,
        NOT_FINITE,
        "Infinities and NaN among the statistics, weights and biases of norms: which results are NaN depends "
        "on the order of the products.",
    ),
    Known(
        "refuses",
        "rnn_tanh|rnn_relu|lstm|gru",
        "expected hx|the sum of batch_sizes|batch sizes (greater than 0|that do not grow)|"
        "dropout probability",
        "PyTorch's recurrent functions look neither at how many layers the states are for, nor at the batch "
        "sizes, nor at dropout.",
    ),
    Known(
        "wrong",
        "(vector_)?norm",
        r"e-[34]\d(\]| ->)",
        "A norm over one element whose square float32 does not hold: PyTorch takes its absolute value.",
    ),
    Known(
        "wrong",
        "(vector_)?norm",
        r"(p=|>, )\d\.\d.*units off",
        "Powers: OpenCL's pow may be off by 16 units, and is taken of quotients, which may be denormal.",
    ),
    Known(
        "wrong",
        "addmm|addmv|addbmm|baddbmm|addr",
        "alpha=(-?inf|nan)",
        "An infinite alpha multiplies the sum of the products here, each product in PyTorch, which by oneDNN "
        "takes NaN for 1.",
    ),
    Known(
        "accepts",
        "local_response_norm",
        "resulted in a negative output size",
        "A window of 2^63 - 1 channels is as large as the channels; PyTorch's padding for it overflows.",
    ),
    Known(
        "wrong,accepts",
        "scatter_add_?",
        r"int32\[[^\]]*\] expanded.*gradient|Long but found Int",
        "Indices of int32, which PyTorch takes or refuses by the layout; its gradient reads those that are "
        "expanded as if they were not.",
    ),
    Known(
        "wrong",
        "interpolate",
        NOT_FINITE,
        "Infinite elements: whether one that has a weight of 0 makes the result NaN.",
    ),
    Known(
        "accepts",
        "chunk|split|tensor_split",
        "split_size can only be 0",
        "PyTorch's count of elements in a piece overflows.",
    ),
    Known(
        "refuses",
        "cat",
        "dimension out of range",
        "PyTorch looks at the dimension only where there are elements to join.",
    ),
    Known(
        "refuses",
        "door: .*",
        r"an array of dtype u?int\w+ has no dtype here",
        "There are no uint16, uint32 and uint64 tensors: such arrays are to be converted.",
    ),
    Known(
        "accepts",
        "door: (tensor|as_tensor|new_tensor|setitem)",
        r"numpy\.(float\d+|longdouble)' object cannot be interpreted as an integer",
        "Floats of NumPy in a list become integers as Python's do.",
    ),
    Known(
        "accepts",
        "(door|number|module|subset): .*",
        "not implemented for|derivative for aten::.* is not implemented",
        "PyTorch lacks a kernel of that dtype, or a derivative, on the CPU.",
    ),
    Known(
        "wrong",
        "subset: lstm_cell",
        "by (retained gradients|hooks)",
        "The gradient of the cell's state as the user sees it: where PyTorch has no fused cell, it also "
        "holds what comes through the hidden state, which is made of it.",
    ),
    Known(
        "wrong",
        "module: BatchNorm.*",
        r", 1(, \d+)*\] (transposed|permuted|scattered|expanded).*gradient of input",
        "PyTorch gives one channel's gradients to another where the input is laid out channels-last and the "
        "gradient is not (seen where height or width is 1).",
    ),
    Known(
        "accepts",
        "conv_transpose2d|module: (Conv.*|Reflection.*|Replication.*|Pixel.*|ChannelShuffle|NLLLoss|"
        "BatchNorm.*|InstanceNorm.*|Upsample)",
        r"list of 1 values|other non-zero dimensions|invalid gradient at index|pixel_shuffle expects|"
        r"Value of groups:0|grad_(input|weight) (must|needs to) be contiguous|primitive descriptor|"
        r"index 0 out of range for tensor of size \[0\]|Padding size 2 is not supported for 4D|[Nn]on-empty",
        "A kernel size of one number in a tuple serves all dimensions; sizes of 0 and permuted inputs for "
        "which PyTorch's kernels were not written.",
    ),
    Known(
        "refuses",
        "number: optim.*",
        "cannot be array|cannot be tensor",
        "An optimizer's settings are numbers, or a tensor for the rate; PyTorch computes with any object.",
    ),
    Known(
        "accepts",
        "number: .*",
        r"must be bool, not|keepdim=(?!True|False).*bool keepdim",
        "Flags take what Python takes for true or false; PyTorch takes bools alone.",
    ),
    Known(
        "accepts",
        "number: (lstm|gru|rnn_tanh|rnn_relu)",
        "bool has_biases, int num_layers, float dropout, bool train",
        "Flags of recurrent functions take what Python takes for true or false; PyTorch takes bools alone.",
    ),
    Known(
        "refuses",
        "door: .*",
        "expected a number of 64 bits",
        "Whole numbers from 2^63 on beside tensors; PyTorch takes those below 2^64.",
    ),
    Known(
        "wrong",
        "door: clamp_?",
        r"of uint8.*: -\d",
        "A bound is compared as the number that it is; PyTorch makes a byte of a negative one first.",
    ),
    Known(
        "wrong,refuses",
        "door: .*",
        r"np\.(True|False)_.*(PyTorch has float|ZeroDivisionError)",
        "A bool of NumPy's is a bool, as Python's; PyTorch takes it for a float.",
    ),
    Known(
        "wrong",
        "door: (setitem|pow)",
        r"np\.longdouble",
        "PyTorch takes a longdouble by way of float32, or of the tensor's dtype.",
    ),
    Known(
        "accepts",
        "door: (tensor|as_tensor|new_tensor)",
        "Promotion for uint16, uint32, uint64 types is not supported",
        "Lists of NumPy's unsigned integers beside other numbers: they promote as integers do.",
    ),
    Known(
        "accepts",
        "door: (tensor|as_tensor|new_tensor|setitem)",
        r"of type numpy\.longdouble|source and destination dtypes match",
        "Numbers of NumPy's longdouble become those of the dtype that is asked for.",
    ),
    Known(
        "wrong",
        "door: save, out",
        "requires_grad False; PyTorch has .* True",
        "Files of tensors hold numbers: a tensor that is loaded is a leaf without a gradient.",
    ),
    Known(
        "refuses",
        "door: (full|full_like|constant_|fill_|new_full)",
        r"to (float16|bfloat16) without overflow",
        "Fills refuse numbers beyond a 16-bit dtype; PyTorch does not look where it is one element.",
    ),
    Known(
        "refuses",
        "number: .*",
        "which requires gradients that a number would lose",
        "Numbers of operators have no gradients; where PyTorch's operator is made of others some have.",
    ),
    Known(
        "refuses",
        "number: .*",
        r"must be .*, not (numpy\.ndarray|ocl\._C\.Tensor)",
        "A size is an int, or what stands for one; PyTorch also takes an array of it, or never looks at it.",
    ),
    Known(
        "accepts",
        r"number: (nn\.)?(interpolate|upsample.*|sort)",
        r"(align_corners|stable|descending)=(<|np\.)",
        "Flags take what Python takes for true or false; PyTorch takes bools alone.",
    ),
    Known(
        "wrong",
        "module: (RNN|LSTM|GRU)",
        r"gradient of weight_\w+: .* PyTorch has None",
        "Weights of a recurrent layer whose results the loss does not use: the gradient of the one function "
        "that the layer is has zeros for them.",
    ),
    Known(
        "wrong",
        "training",
        r"'dtype': 'float64'.*(nadam|asgd).*(resumed|copied)",
        "PyTorch keeps numbers of the states of NAdam and ASGD in float32, but in the parameters' dtype once "
        "a state was loaded.",
    ),
    Known(
        "accepts",
        "door: .*",
        r"Can't call numpy\(\) on Tensor that requires grad|INTERNAL ASSERT FAILED",
        "PyTorch has no operator for an array on the left of a tensor that requires gradients, nor for some "
        "powers to a bool.",
    ),
    Known(
        "accepts,wrong",
        "number: clamp(_m[a-z]+)?_?",
        r"incorrect: max, min|invalid combination.*max=\w+, min=|"
        r"result 0: float64\[\], PyTorch has float32",
        "A tensor as one bound and a number as the other: what promotes is the tensor's dtype.",
    ),
    Known(
        "wrong",
        r"number: (nn\.)?(lstm|gru|rnn_tanh|rnn_relu)",
        "tensor of a fraction",
        "Random numbers are not PyTorch's, in the dropout between layers neither.",
    ),
    Known(
        "wrong",
        "door: mod",
        "bool, requires_grad False; PyTorch has int8|bool.*PyTorch has int8",
        "The remainder of bools is a bool; NumPy's, which PyTorch passes this to, is an int8.",
    ),
    Known(
        "wrong",
        "module: (Instance|Batch)Norm.*",
        r"float32\[0, .*state running_(mean|var): .*PyTorch has .*nan",
        "A batch of nothing leaves the running moments as they are; PyTorch's become NaN.",
    ),
    Known(
        "wrong",
        "module: Conv.*",
        r"dilation=\(1,\).*padding='same'|padding='same'.*dilation=\(1,\)",
        "A dilation of one number in a tuple: PyTorch pads 'same' in the first dimension alone.",
    ),
    Known(
        "wrong",
        "module: MaxPool.*",
        r"padding=[(\[]?1.*dilation=[(\[]?2.*, 1\] .*gradient of input",
        "A window that lies in the padding as a whole has no gradient; PyTorch gives it to an element "
        "beside the window.",
    ),
    Known(
        "wrong",
        "digamma",
        NOT_FINITE,
        "The gradient at a pole, which is infinite; PyTorch's is 0 at those that are far from 0.",
    ),
    Known(
        "wrong",
        "subset: whole reductions",
        r"float32\[(1, )*1?\] \[*nan",
        "The product of one element that is NaN has what arrives for a gradient; PyTorch divides by it.",
    ),
    Known(
        "wrong",
        "program: gradient",
        "hooked.*detached.*written",
        "A hook of a view stays where its memory is written through a detached tensor; PyTorch forgets it.",
    ),
    Known(
        "refuses",
        "tile",
        "expected numbers of at least 0",
        "PyTorch looks at the numbers only where there are elements.",
    ),
    Known(
        "wrong",
        "prod",
        "gradient 0: .* units off",
        "Products that are denormal numbers: their quotients by an element have as few digits. PyTorch "
        "multiplies the other elements where any is 0.",
    ),
    Known(
        "accepts",
        "door: (tensor|as_tensor|new_tensor)",
        "invalid data type 'bytes'",
        "Bytes are the numbers that they are made of, as a bytearray is.",
    ),
    Known(
        "accepts",
        "door: setitem",
        r"can't assign a numpy\.",
        "NumPy's numbers are assigned like Python's, where the dtype holds them.",
    ),
    Known(
        "wrong,refuses",
        "door: .*",
        r"a subclass .*(MaskedArray|NumPy has no bfloat16|Can't call numpy\(\))",
        "Subclasses of NumPy's arrays compute for themselves.",
    ),
    Known(
        "accepts",
        "door: r?sub",
        "Subtraction, the `-` operator, with a bool tensor",
        "A bool beside other numbers is 0 or 1 in a difference too.",
    ),
    Known(
        "wrong",
        "door: r?floordiv",
        "requires_grad False; PyTorch has .* True",
        "A quotient that is rounded has no gradient; PyTorch's raises when it is asked for.",
    ),
)


def reason_for(found: Found, device_name: str) -> str | None:
    """Why a disagreement stays; None for one that nobody has explained."""
    return next((known.reason for known in KNOWN if known.covers(found, device_name)), None)


def documentation() -> str:
    """The rows that docs/fuzzing.md has of KNOWN."""

    def row(known: Known) -> str:
        subject = "any" if known.subject in (".*", OPERATORS) else f"`{known.subject}`".replace("|", "\\|")
        return f"| {subject} | {known.kinds.replace(',', ', ')} | {known.reason} |"

    return "\n".join(map(row, KNOWN)) + "\n"
