"""Steps of whole nets, ours beside torchvision's over PyTorch: same weights, same pictures, one process."""

import gc
import statistics
from dataclasses import dataclass, replace

import numpy as np
from validation.torchvision_files import load_torchvision

import ocl
import ocl.models
from ocl.utils import summary

from . import RIVALS, autocast, fusion, is_torch, is_tuned
from .timing import by_turns, seconds_of_steps

CLASSES = 1000
# The error relative to the largest output; nets of random weights in evaluation. TF32 and float16 have 11
# bits, bfloat16 8.
TOLERANCES = {"highest": 1e-3, "high": 3e-2, "medium": 2e-1, "float16": 3e-2, "bfloat16": 2e-1}
MIB = 2**20


@dataclass(frozen=True)
class Work:
    """The work of a step."""

    batch: int
    side: int
    training: bool
    dtype: str  # of parameters and pictures
    amp: str | None = None  # the dtype of autocast
    channels_last: bool = False

    def pictures(self):
        """(float32 [batch, 3, side, side], int64 [batch]), the same every time."""
        generator = np.random.default_rng(0)
        shape = (self.batch, 3, self.side, self.side)
        return (
            generator.standard_normal(shape).astype(np.float32),
            generator.integers(0, CLASSES, self.batch),
        )


def work_of(options):
    """The settings of --batch, --side, --inference, --dtype, --amp and --channels-last."""
    is_cpu = ocl.get_device_properties(options.device)["is_cpu"]
    return Work(
        options.batch or (4 if is_cpu else 64),
        options.side,
        not options.inference,
        options.dtype,
        options.amp,
        options.channels_last,
    )


class Contender:
    """One library's net on its device, and its steps."""

    def __init__(self, library, net, device, work):
        self.library, self.device, self.work = library, device, work
        dtype = getattr(library, work.dtype)
        self.net = net.to(device).to(dtype)
        images, labels = work.pictures()
        self.images = library.tensor(images).to(device).to(dtype)
        self.labels = library.tensor(labels).to(device)
        if work.channels_last:
            self.net = self.net.to(memory_format=library.channels_last)
            self.images = self.images.to(memory_format=library.channels_last)
        self.optimizer = library.optim.SGD(self.net.parameters(), lr=1e-3, momentum=0.9)
        self.loss = library.nn.functional.cross_entropy

    def autocast(self):
        return autocast(self.library, self.device, self.work.amp)

    def output(self):
        """The outputs of the net in evaluation."""
        self.net.eval()
        with self.library.no_grad(), self.autocast():
            return self.numbers(self.net(self.images).to(self.library.float32))

    def step(self):
        if not self.work.training:
            with self.library.no_grad(), self.autocast():
                return self.net(self.images)
        self.optimizer.zero_grad()
        with self.autocast():
            output = self.net(self.images)
            if isinstance(output, tuple):  # of nets with heads beside the last one
                output = output[0]
            loss = self.loss(output, self.labels)
        loss.backward()
        self.optimizer.step()
        return loss

    def seconds_of_block(self, options):
        self.net.train(self.work.training)
        return seconds_of_steps(self.step, self.wait, options.steps, options.clock)


class Ours(Contender):
    def __init__(self, net, options, work):
        super().__init__(ocl, net, options.device, work)
        self.fuses = ocl.get_fusion()

    def seconds_of_block(self, options):
        with fusion(ocl, self.fuses):
            return super().seconds_of_block(options)

    def numbers(self, tensor):
        return tensor.detach().numpy()

    def wait(self):
        ocl.synchronize()

    def start_counting_memory(self):
        ocl.reset_peak_memory_stats()

    def peak_memory(self):
        return ocl.max_memory_allocated()


class Theirs(Contender):
    def __init__(self, net, device, work, compiles=False):
        import torch

        super().__init__(torch, net, device, work)
        if compiles:
            self.net = torch.compile(self.net)

    def numbers(self, tensor):
        return tensor.detach().cpu().numpy()

    def wait(self):
        if self.device == "cuda":
            self.library.cuda.synchronize()

    def start_counting_memory(self):
        if self.device == "cuda":
            self.library.cuda.reset_peak_memory_stats()

    def peak_memory(self):
        return self.library.cuda.max_memory_allocated() if self.device == "cuda" else None


def torch_device(options):
    """Where PyTorch runs beside our device: a GPU beside a GPU, if its build has one."""
    import torch

    torch.set_num_threads(options.threads)
    is_gpu = not ocl.get_device_properties(options.device)["is_cpu"]
    if not (is_gpu and torch.cuda.is_available()):
        return "cpu"
    torch.backends.cudnn.allow_tf32 = options.precision != "highest"
    if is_tuned(options.against):
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision(options.precision)
    return "cuda"


def describe(device, options):
    import torch

    if device == "cpu":
        return f"PyTorch {torch.__version__}, CPU, {options.threads} threads"
    tf32 = "on" if torch.backends.cudnn.allow_tf32 else "off"
    products = torch.get_float32_matmul_precision()
    return (
        f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}, TF32 convolutions {tf32}, "
        f'matrix products "{products}"'
    )


def two_nets(name):
    """(ours, torchvision's) with the same weights."""
    import torch

    torch.manual_seed(0)
    extra = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    theirs = load_torchvision().models.get_model(name, **extra)
    for (
        parameter
    ) in theirs.parameters():  # a head that begins at 0 would give outputs that nothing tells apart
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)
    ours = ocl.models.get_model(name, **extra)
    ours.load_state_dict({key: ocl.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return ours, theirs


def contenders_of(name, options, work):
    if is_torch(options.against):
        ours, theirs = two_nets(name)
        theirs_work = replace(work, channels_last=True) if is_tuned(options.against) else work
        compiles = options.against == "torch-compile"
        return {
            "ocl": Ours(ours, options, work),
            options.against: Theirs(theirs, torch_device(options), theirs_work, compiles),
        }
    contenders = {"ocl": Ours(ocl.models.get_model(name), options, work)}
    if options.against == "unfused":
        rival = Ours(ocl.models.get_model(name), options, work)
        rival.net.load_state_dict(contenders["ocl"].net.state_dict())
        rival.fuses = False
        contenders[options.against] = rival
    return contenders


def bench_net(name, options, work):
    """The figures of one net, a dict."""
    contenders = contenders_of(name, options, work)
    ours = contenders["ocl"]
    multiply_adds = summary(ours.net, input_data=ours.images[:1]).total_mult_adds * work.batch
    figures = {"net": name}
    if options.against:
        figures["difference"] = check_outputs(name, ours, contenders[options.against], options)
    for contender in contenders.values():
        contender.start_counting_memory()
        contender.seconds_of_block(options)  # builds, first touches
    blocks = {key: lambda c=c: c.seconds_of_block(options) for key, c in contenders.items()}
    times = by_turns(blocks, options.blocks)
    for key, contender in contenders.items():
        seconds = statistics.median(times[key])
        figures[key] = {
            "seconds": seconds,
            "blocks": times[key],
            # A backward pass has two products for each of the forward pass.
            "gflops": 2 * multiply_adds * (3 if work.training else 1) / seconds / 1e9,
            "peak_bytes": contender.peak_memory(),
        }
    if options.against:
        pairs = zip(times["ocl"], times[options.against], strict=True)
        figures["ratio"] = statistics.median(mine / other for mine, other in pairs)
    print(line_of(figures, options.against), flush=True)
    if options.profile:
        show_profile(ours, options)
    return figures


def check_outputs(name, one, other, options):
    """The largest difference of two contenders' outputs in evaluation, as a part of the largest output."""
    ours, theirs = one.output(), other.output()
    largest = max(np.abs(theirs).max(), np.finfo(np.float32).tiny)  # all 0 where 16 bits hold nothing smaller
    difference = float(np.abs(ours - theirs).max() / largest)
    coarsest = options.amp or (options.precision if options.dtype == "float32" else options.dtype)
    if not difference <= TOLERANCES[coarsest]:
        raise SystemExit(f"bench.py: {name}: the outputs differ by {difference:.1e} of the largest")
    return difference


def show_profile(contender, options):
    with ocl.profiler.profile() as profile:
        contender.seconds_of_block(options)
    for by in options.profile:
        print(f"\n{options.steps} steps by {by}\n{profile.table(by=by)}")


def line_of(figures, against):
    ours, theirs = figures["ocl"], figures.get(against)
    text = f"{figures['net']:22} {1e3 * ours['seconds']:9.2f}"
    text += f" {1e3 * theirs['seconds']:9.2f} {figures['ratio']:6.2f}" if theirs else f" {'':9} {'':6}"
    text += f" {ours['gflops']:9.0f} {ours['peak_bytes'] / MIB:9.0f}"
    if theirs and theirs["peak_bytes"]:
        text += f" {theirs['peak_bytes'] / MIB:9.0f}"
    return text


def bench_nets(options):
    """One line a net, and the geometric mean of the ratios."""
    if options.precision:
        ocl.set_float32_matmul_precision(options.precision)
    options.precision = ocl.get_float32_matmul_precision()
    work = work_of(options)
    step = "training step" if work.training else "inference"
    numbers = f'"{options.precision}"' if work.dtype == "float32" else work.dtype
    numbers += f", autocast to {work.amp}" if work.amp else ""
    numbers += ", channels-last" if work.channels_last else ""
    if options.against:
        numbers += f"; theirs: {RIVALS[options.against]}"
    print(f"{step}, batch {work.batch}, {work.side} pixels, {numbers}, {ocl.get_device_name()}")
    if is_torch(options.against):
        print("against", describe(torch_device(options), options))
    if options.operators:
        from .operators import bench_operators  # which needs PyTorch

        return [bench_operators(name, options, work) for name in options.nets.split(",")]
    print(f"{'':22} {'ours':>9} {'theirs':>9} {'ratio':>6} {'GFLOP/s':>9} {'peak MiB':>9} {'theirs':>9}")
    results = []
    for name in options.nets.split(","):
        results.append(bench_net(name, options, work))
        gc.collect()
        ocl.empty_cache()
    ratios = [figures["ratio"] for figures in results if "ratio" in figures]
    if ratios:
        print(f"{'geometric mean':22} {'':9} {'':9} {statistics.geometric_mean(ratios):6.2f}")
    return results
