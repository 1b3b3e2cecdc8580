"""Exported programs beside our eager inference and onnxruntime: same weights, same inputs, one process."""

import gc
import statistics
import tempfile
from pathlib import Path

import ocl
import ocl.models

from .bert import Sizes, bert_batch, make_bert
from .nets import Work, check_outputs
from .timing import by_turns, seconds_of_steps

BATCHES = (1, 8)
LENGTH = 128  # of BERT's sentences, in words


class Contender:
    """A way to compute a net's results, arrays of the host in and out, as a service has them."""

    def __init__(self, compute):
        self.output = compute

    def seconds_of_block(self, options):
        self.output()  # what another contender's threads and caches leave behind is over
        return seconds_of_steps(self.output, lambda: None, options.steps, options.clock)


def net_and_input(name, batch, side):
    """(one of ours in eval mode, an array for it), the same every time."""
    ocl.manual_seed(0)
    if name == "bert_base":
        return make_bert(ocl, Sizes()).eval(), bert_batch(Sizes(), batch, LENGTH)
    net = ocl.models.get_model(name)
    images, _ = Work(batch, side, training=False, dtype="float32").pictures()
    measure_statistics(net, ocl.tensor(images))
    return net.eval(), images


def measure_statistics(net, images):
    """Gives batch norms the statistics of these images, so that no layer's results vanish."""
    norms = [module for module in net.modules() if isinstance(module, ocl.nn.BatchNorm2d)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    with ocl.no_grad():
        net.train()(images)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
        # The variance of few elements is none.
        norm.running_var.clamp_(min=1e-2)


def our_program(net, array, folder, device):
    """The optimized program, written and loaded as `tapecl-run` and `ocl.runtime.load` do."""
    file = folder / "net.ocl"
    ocl.export(net, (ocl.tensor(array),)).optimized().save(file)
    program = ocl.runtime.load(file, device)
    return lambda: program(array).numpy()


def our_eager(net, array):
    def compute():
        with ocl.no_grad():
            return net(ocl.tensor(array)).numpy()

    return compute


def onnxruntime_session(net, array, folder, threads):
    import onnxruntime

    file = folder / "net.onnx"
    ocl.onnx.save(net, file, (ocl.tensor(array),), input_names=["x"])
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.inter_op_num_threads = threads, 1
    settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = onnxruntime.InferenceSession(file, settings, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"x": array})[0]


def bench_program(name, batch, options):
    """The figures of one net at one batch size, a dict."""
    net, array = net_and_input(name, batch, options.side)
    with tempfile.TemporaryDirectory(prefix="tapecl-bench-") as folder:
        folder = Path(folder)
        contenders = {
            "program": Contender(our_program(net, array, folder, options.device)),
            "eager": Contender(our_eager(net, array)),
            "onnxruntime": Contender(onnxruntime_session(net, array, folder, options.threads)),
        }
    difference = max(
        check_outputs(name, contenders["program"], contenders[rival], options)
        for rival in ("eager", "onnxruntime")
    )
    for contender in contenders.values():
        contender.seconds_of_block(options)  # builds, first touches
    blocks = {key: lambda c=c: c.seconds_of_block(options) for key, c in contenders.items()}
    times = by_turns(blocks, options.blocks)
    figures = {"net": name, "batch": batch, "difference": difference, "blocks": times}
    figures["seconds"] = {key: statistics.median(values) for key, values in times.items()}
    figures["ratios"] = {
        rival: statistics.median(
            mine / other for mine, other in zip(times["program"], times[rival], strict=True)
        )
        for rival in ("onnxruntime", "eager")
    }
    print(line_of(figures), flush=True)
    return figures


def line_of(figures):
    milliseconds = [1e3 * figures["seconds"][key] for key in ("program", "eager", "onnxruntime")]
    return (
        f"{figures['net']:22} {figures['batch']:5}"
        + "".join(f" {each:9.2f}" for each in milliseconds)
        + "".join(f" {figures['ratios'][key]:11.2f}" for key in ("onnxruntime", "eager"))
    )


def bench_programs(options):
    """One line a net and batch size, and the geometric means of the ratios."""
    try:
        import onnxruntime

        import ocl.onnx  # noqa: F401
    except ImportError as error:
        raise SystemExit(f"bench.py: programs: {error}; pip install onnx onnxruntime") from error
    if options.precision:
        ocl.set_float32_matmul_precision(options.precision)
    options.precision = ocl.get_float32_matmul_precision()
    print(
        f"inference, {options.side} pixels or {LENGTH} words, float32, arrays in and out, ms\n"
        f"ours: {ocl.get_device_name()}; "
        f"onnxruntime {onnxruntime.__version__}: CPU provider, {options.threads} threads"
    )
    print(f"{'':22} {'batch':>5} {'program':>9} {'eager':>9} {'theirs':>9} {'/ theirs':>11} {'/ eager':>11}")
    results = []
    for name in options.nets.split(","):
        for batch in [options.batch] if options.batch else BATCHES:
            results.append(bench_program(name, batch, options))
            gc.collect()
            ocl.empty_cache()
    means = [
        statistics.geometric_mean(figures["ratios"][rival] for figures in results)
        for rival in ("onnxruntime", "eager")
    ]
    print(f"{'geometric mean':22} {'':5} {'':9} {'':9} {'':9}" + "".join(f" {mean:11.2f}" for mean in means))
    return results
