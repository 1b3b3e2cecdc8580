"""The measurements of tools/bench.py."""

USUAL_NETS = "alexnet resnet18 resnet50 vgg16 mobilenet_v2".split()


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
