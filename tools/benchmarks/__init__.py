"""The measurements of tools/bench.py."""

import contextlib

# With what --against compares.
RIVALS = {
    "torch": "PyTorch as it is",
    "torch-best": "PyTorch in channels-last, with cudnn.benchmark and TF32 products",
    "torch-compile": "that, compiled by torch.compile",
    "unfused": "ours with fusion off",
}
USUAL_NETS = "alexnet resnet18 resnet50 vgg16 mobilenet_v2".split()
# bert_base is of benchmarks/bert.py.
PROGRAM_NETS = "resnet18 resnet50 mobilenet_v2 mobilenet_v3_small efficientnet_b0 vit_b_16 bert_base".split()


def is_torch(against):
    """Whether --against names PyTorch, in whatever form."""
    return against is not None and against.startswith("torch")


def is_tuned(against):
    """Whether it names PyTorch with the settings that its users find."""
    return against in ("torch-best", "torch-compile")


@contextlib.contextmanager
def fusion(library, is_on):
    """Whether our operators fuse, meanwhile."""
    before = library.get_fusion()
    library.set_fusion(is_on)
    try:
        yield
    finally:
        library.set_fusion(before)


def add_dtype_option(option):
    """--dtype; `option`: a parser's add_argument."""
    option(
        "--dtype",
        default="float32",
        choices=["float32", "bfloat16", "float16"],
        help="of nets and their pictures; others than float32 with --inference (optimizers take that)",
    )


def check_dtype(parser, options):
    if options.dtype != "float32" and not options.inference:
        parser.error("--dtype: wants --inference, or float32")


def add_amp_option(option):
    """--amp; `option`: a parser's add_argument."""
    option(
        "--amp",
        choices=["bfloat16", "float16"],
        help="run forward passes under autocast of this dtype, on both sides",
    )


def autocast(library, device, dtype):
    """A context: `library`'s autocast of the dtype of that name on `device`, none for None."""
    if dtype is None:
        return contextlib.nullcontext()
    return library.autocast(str(device).partition(":")[0], dtype=getattr(library, dtype))
