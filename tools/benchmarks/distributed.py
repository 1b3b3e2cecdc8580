"""Measures the gain of several processes of one host: all_reduce in GB/s by size, and a net's training step.

    python -m ocl.distributed.run --nproc-per-node 2 tools/benchmarks/distributed.py
    python -m ocl.distributed.run --nproc-per-node 2 tools/benchmarks/distributed.py --library torch  # NCCL
    python -m ocl.distributed.run --nproc-per-node 2 tools/benchmarks/distributed.py --net small --side 32 \\
        --batch-size 8 --most-bytes 4194304  # on a machine without GPUs

GB/s are bytes of the tensor by seconds. A step "alone" is one process's without the others, all at once. The
gain is how many times more pictures a second all train on together than one alone.
"""

import argparse
import os
import statistics
import time


class Ours:
    def __init__(self, options):
        import ocl
        import ocl.distributed

        self.lib, self.dist = ocl, ocl.distributed
        number = int(os.environ["LOCAL_RANK"]) % ocl.device_count()
        self.device = options.device or f"ocl:{number}"
        ocl.set_default_device(self.device)
        ocl.set_float32_matmul_precision(options.precision)
        self.dist.init_process_group()
        self.wait = lambda: ocl.synchronize(self.device)
        self.name = f"ocl on {ocl.get_device_name(self.device)}"

    def net(self, options):
        from ocl import models

        return small(self.lib) if options.net == "small" else models.get_model(options.net)

    def parallel(self, net):
        return self.lib.nn.parallel.DistributedDataParallel(net)


class Torch:
    def __init__(self, options):
        import torch
        import torch.distributed

        self.lib, self.dist = torch, torch.distributed
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        torch.set_float32_matmul_precision(options.precision)
        torch.backends.cudnn.allow_tf32 = options.precision != "highest"
        torch.backends.cudnn.benchmark = True
        torch.set_default_device(self.device)
        self.dist.init_process_group("nccl")
        self.wait = torch.cuda.synchronize
        self.name = f"torch {torch.__version__} with NCCL on {torch.cuda.get_device_name()}"

    def net(self, options):
        import torchvision

        return small(self.lib) if options.net == "small" else torchvision.models.get_model(options.net)

    def parallel(self, net):
        return self.lib.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)


def small(lib):
    nn = lib.nn
    layers = [nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 64, 3, 2), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 1000))


def seconds_of(call, library, rounds):
    """Median of single calls, each waited for; the slowest process's."""
    times = []
    for _ in range(rounds):
        library.wait()
        library.dist.barrier()
        start = time.perf_counter()
        call()
        library.wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def of_steps(step, library, options):
    for _ in range(options.warm_up):
        step()
    library.wait()
    library.dist.barrier()
    start = time.perf_counter()
    for _ in range(options.steps):
        step()
    library.wait()
    return (time.perf_counter() - start) / options.steps


def print_all_reduce(library, options, say):
    say(f"all_reduce, {library.name}, {library.dist.get_world_size()} processes")
    size = 1 << 10
    while size <= options.most_bytes:
        tensor = library.lib.ones(size // 4, device=library.device)
        seconds_of(lambda t=tensor: library.dist.all_reduce(t), library, 3)
        seconds = seconds_of(lambda t=tensor: library.dist.all_reduce(t), library, options.rounds)
        say(f"  {size:>11,} bytes: {1e6 * seconds:10.1f} us, {size / seconds / 1e9:7.2f} GB/s")
        size *= 4


def print_steps(library, options, say):
    lib, count = library.lib, library.dist.get_world_size()
    images = lib.randn(options.batch_size, 3, options.side, options.side, device=library.device)
    labels = lib.randint(0, 1000, (options.batch_size,), device=library.device)

    def step_of(net, optimizer):
        def step():
            optimizer.zero_grad()
            lib.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()

        return step

    net = library.net(options).to(library.device)
    net.train()
    alone = of_steps(step_of(net, lib.optim.SGD(net.parameters(), lr=1e-4)), library, options)
    net = library.parallel(net)
    together = of_steps(step_of(net, lib.optim.SGD(net.parameters(), lr=1e-4)), library, options)
    say(
        f'training step, {options.net}, batch {options.batch_size} each, "{options.precision}": '
        f"alone {1e3 * alone:.2f} ms, {count} processes {1e3 * together:.2f} ms, "
        f"gain {count * alone / together:.2f}"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--library", choices=["ocl", "torch"], default="ocl")
    option("--device", help="default ocl:LOCAL_RANK")
    option("--net", default="resnet50")
    option("--batch-size", type=int, default=64, help="of each process, default %(default)s")
    option("--side", type=int, default=224)
    option("--precision", default="high")
    option("--most-bytes", type=int, default=256 << 20)
    option("--rounds", type=int, default=10)
    option("--warm-up", type=int, default=5)
    option("--steps", type=int, default=20)
    options = parser.parse_args()
    library = {"ocl": Ours, "torch": Torch}[options.library](options)
    first = library.dist.get_rank() == 0

    def say(text):
        if first:
            print(text, flush=True)

    print_all_reduce(library, options, say)
    print_steps(library, options, say)
    library.dist.destroy_process_group()


if __name__ == "__main__":
    main()
