"""The operators of nets, each alone, ours beside torchvision's over PyTorch.

Leaf modules, on inputs of the shapes that they meet in the net.
"""

import statistics
from dataclasses import dataclass, field

import torch

import ocl

from .nets import Theirs, Work, torch_device, two_nets
from .timing import by_turns, seconds_of_steps

WIDTH = 72  # of a module's text


@dataclass
class Site:
    """Calls of one kind: modules that are alike, on inputs that are alike."""

    module: str
    shape: tuple
    needs_gradient: bool  # of the input
    path: str  # of the first such module in the net
    count: int = 0
    seconds: dict = field(default_factory=dict)  # of a call, by library

    @property
    def share(self):
        return self.count * self.seconds["ocl"]


def sites_of(net, images):
    """Calls of a net of torchvision's, in their order: of modules whose input is one tensor."""
    sites = {}

    def note(path):
        def hook(module, inputs, _output):
            if len(inputs) != 1 or not isinstance(inputs[0], torch.Tensor):
                return
            key = (repr(module), tuple(inputs[0].shape), inputs[0].requires_grad)
            sites.setdefault(key, Site(*key, path)).count += 1

        return hook

    leaves = [(path, module) for path, module in net.named_modules() if not any(module.children())]
    hooks = [module.register_forward_hook(note(path)) for path, module in leaves]
    net(images)
    for hook in hooks:
        hook.remove()
    return [site for site in sites.values() if not site.module.startswith(("Identity", "Dropout", "Flatten"))]


class Call:
    """One library's call of a site, with its backward pass in training."""

    def __init__(self, library, net, wait, site, work, device):
        self.library, self.wait = library, wait
        self.module = net.get_submodule(site.path)
        if hasattr(self.module, "inplace"):
            self.module.inplace = False  # the input is a leaf here
        self.x = library.randn(*site.shape).to(device).requires_grad_(work.training and site.needs_gradient)
        parameters = list(self.module.parameters()) if work.training else []
        self.towards = [self.x, *parameters] if self.x.requires_grad else parameters
        self.by_result = library.ones_like(self.module(self.x)) if self.towards else None

    def __call__(self):
        if not self.towards:
            with self.library.no_grad():
                return self.module(self.x)
        return self.library.autograd.grad(self.module(self.x), self.towards, self.by_result)

    def seconds_of_block(self, options):
        return seconds_of_steps(self, self.wait, options.steps, options.clock)


def time_site(site, nets, options, work):
    calls = {
        library.__name__: Call(library, net, wait, site, work, device) for library, net, wait, device in nets
    }
    for call in calls.values():
        call.seconds_of_block(options)  # builds, first touches
    blocks = {name: lambda c=call: c.seconds_of_block(options) for name, call in calls.items()}
    times = by_turns(blocks, options.blocks)
    site.seconds = {name: statistics.median(seconds) for name, seconds in times.items()}


def line_of(site):
    text = f"{site.count:3} x {site.module:.{WIDTH}} {list(site.shape)}"
    ours, theirs = site.seconds["ocl"], site.seconds["torch"]
    return f"{1e3 * ours:9.3f} {1e3 * theirs:9.3f} {ours / theirs:6.2f}  {text}"


def bench_operators(name, options, work: Work):
    """The operators of a net, what takes the most first; a dict."""
    ours, theirs = two_nets(name)
    device = torch_device(options)
    other = Theirs(theirs, device, work)
    ours = ours.to(options.device)
    for net in (ours, theirs):
        net.train(work.training)
    sites = sites_of(theirs, other.images)
    nets = [(ocl, ours, ocl.synchronize, options.device), (torch, theirs, other.wait, device)]
    for site in sites:
        time_site(site, nets, options, work)
    print(f"{name}: ms of a call{', forward and backward' if work.training else ''}")
    print(f"{'ours':>9} {'theirs':>9} {'ratio':>6}")
    for site in sorted(sites, key=lambda site: -site.share):
        print(line_of(site), flush=True)
    total = {library: sum(s.count * s.seconds[library] for s in sites) for library in ("ocl", "torch")}
    ratio = total["ocl"] / total["torch"]
    print(f"{1e3 * total['ocl']:9.3f} {1e3 * total['torch']:9.3f} {ratio:6.2f}  all calls of these modules")
    return {
        "net": name,
        "operators": [
            {"module": s.module, "shape": s.shape, "count": s.count, "seconds": s.seconds} for s in sites
        ],
        "seconds": total,
        "ratio": ratio,
    }
