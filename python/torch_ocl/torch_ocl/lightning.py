"""OpenCL devices for Lightning's Trainer and Fabric, in the packages ``lightning``, ``pytorch_lightning`` and
``lightning_fabric``::

Trainer(accelerator="ocl", precision="bf16-mixed")
Trainer(accelerator="ocl", strategy="ddp", devices=[0, 1])  # a process for each

``accelerator="auto"``, the default, and ``"gpu"`` mean ocl where they would find no other accelerator and
:func:`torch_ocl.accelerate.chosen_device` is of ocl. Nothing has to be imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from torch_ocl import device_module
from torch_ocl.accelerate import chosen_device


class OpenCLAccelerator:
    """Matches Lightning's CUDAAccelerator. ``devices`` is a count, a list of indices as ``"ocl:N"`` counts
    them, or ``"auto"``: the first.
    """

    def setup_device(self, device: torch.device) -> None:
        if device.type != "ocl":
            raise ValueError(
                f"expected a device of ocl, got {device}: the strategy names it, as "
                'SingleDeviceStrategy(torch.device("ocl:0"))'
            )
        device_module.set_device(device)

    def get_device_stats(self, device: torch.device | str | int) -> dict[str, Any]:
        return device_module.memory_stats(device)

    def teardown(self) -> None:
        device_module.empty_cache()

    @staticmethod
    def parse_devices(devices: int | str | list[int]) -> list[int]:
        there = device_module.device_count()
        if isinstance(devices, str):
            devices = [int(index) for index in devices.split(",")] if "," in devices else int(devices)
        chosen = list(range(there if devices == -1 else devices)) if isinstance(devices, int) else devices
        for index in chosen:
            if not 0 <= index < there:
                raise ValueError(f"there is no device ocl:{index}, of {there}")
        return list(chosen)

    @staticmethod
    def get_parallel_devices(devices: int | str | list[int]) -> list[torch.device]:
        return [torch.device("ocl", index) for index in OpenCLAccelerator.parse_devices(devices)]

    @staticmethod
    def auto_device_count() -> int:
        return 1

    @staticmethod
    def is_available() -> bool:
        return device_module.is_available()

    @staticmethod
    def name() -> str:
        return "ocl"


def _register(root: str, accelerators: Any, strategies: Any) -> None:
    """Adds the accelerator and a strategy to the registries of Lightning's package ``root``."""
    base = importlib.import_module(f"{root}.accelerators").Accelerator
    kind = type("OpenCLAccelerator", (OpenCLAccelerator, base), {"__doc__": OpenCLAccelerator.__doc__})
    accelerators.register("ocl", kind, description=kind.__name__)
    ddp = importlib.import_module(f"{root}.strategies").DDPStrategy
    strategies.register("ocl_ddp", ddp, description='"ddp", by an older name')


def _keep_off_streams(strategy: type, name: str) -> None:
    """Lets DistributedDataParallel take modules where they are: indices mean CUDA's streams."""
    indices_of = getattr(strategy, name)
    setattr(strategy, name, lambda self: None if self.root_device.type == "ocl" else indices_of(self))


def _move_autocast(precision: Any, of_lightning: type) -> None:
    """Mixed precision on the devices that the training is on: Lightning means CUDA's by every accelerator but
    two, and where those are not, PyTorch computes in float32."""
    if not isinstance(precision, of_lightning) or precision.device == "ocl":
        return
    precision.device = "ocl"
    if precision.scaler is not None and precision.scaler._device != "ocl":
        precision.scaler = torch.amp.GradScaler("ocl")


def _require_work_together(connector: Any, single_device: type) -> None:
    """Refuses processes that a launcher started to work together and that would each train alone."""
    processes = connector.cluster_environment.world_size()
    strategy = type(connector.strategy)
    if processes > 1 and issubclass(strategy, single_device):
        raise RuntimeError(
            f"Lightning runs in one of {processes} processes, each of which would train alone by a "
            f'{strategy.__name__}: pass strategy="ddp" and as many devices ([0, 0] is one device for two '
            "processes)"
        )


def _connect(connector: type, module: ModuleType) -> None:
    """Makes a connector of Lightning's, which puts accelerator, strategy and precision together, know ocl."""
    choose_precision = connector._check_and_init_precision
    choose_strategy = connector._choose_strategy
    choose_accelerator = connector._choose_auto_accelerator
    choose_gpu = connector._choose_gpu_accelerator_backend

    def check_and_init_precision(self: Any) -> Any:
        precision = choose_precision(self)
        if isinstance(self.accelerator, OpenCLAccelerator):
            _move_autocast(precision, module.MixedPrecision)
            _require_work_together(self, module.SingleDeviceStrategy)
        return precision

    def choose_strategy_on_ocl(self: Any) -> Any:
        is_single = self._num_nodes_flag <= 1 and len(self._parallel_devices) == 1
        if isinstance(self.accelerator, OpenCLAccelerator) and is_single:
            return module.SingleDeviceStrategy(device=self._parallel_devices[0])
        return choose_strategy(self)

    def choose_accelerator_or_ocl() -> str:
        name = choose_accelerator()
        return "ocl" if name == "cpu" and chosen_device() is not None else name

    def choose_gpu_or_ocl() -> str:
        if chosen_device() is not None:
            return "ocl"
        return choose_gpu()

    connector._check_and_init_precision = check_and_init_precision
    connector._choose_strategy = choose_strategy_on_ocl
    connector._choose_auto_accelerator = staticmethod(choose_accelerator_or_ocl)
    connector._choose_gpu_accelerator_backend = staticmethod(choose_gpu_or_ocl)


def install_in_trainer(connector: ModuleType) -> None:
    """For ``Trainer``, whose choices ``connector`` makes."""
    _register(
        connector.__name__.split(".trainer.")[0], connector.AcceleratorRegistry, connector.StrategyRegistry
    )
    _keep_off_streams(connector.DDPStrategy, "determine_ddp_device_ids")
    _connect(connector._AcceleratorConnector, connector)


def install_in_fabric(connector: ModuleType) -> None:
    """For ``Fabric``, whose choices ``connector`` makes."""
    root = connector.__name__.removesuffix(".connector")
    _register(root, connector.ACCELERATOR_REGISTRY, connector.STRATEGY_REGISTRY)
    _keep_off_streams(importlib.import_module(f"{root}.strategies").DDPStrategy, "_determine_ddp_device_ids")
    _connect(connector._Connector, connector)


INSTALLERS: dict[str, Callable[[ModuleType], None]] = {
    "lightning.fabric.connector": install_in_fabric,
    "lightning_fabric.connector": install_in_fabric,
    "lightning.pytorch.trainer.connectors.accelerator_connector": install_in_trainer,
    "pytorch_lightning.trainer.connectors.accelerator_connector": install_in_trainer,
}
