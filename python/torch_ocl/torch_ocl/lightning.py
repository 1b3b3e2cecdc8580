"""OpenCL devices for Lightning, whose Trainer and Fabric take the CPU for accelerators that they do not know
unless told::

import torch_ocl.lightning
Trainer(accelerator="ocl", strategy=SingleDeviceStrategy(torch.device("ocl:0")), precision="bf16-mixed")
Trainer(accelerator="ocl", strategy="ocl_ddp", devices=[0, 1])  # a process for each
"""

from __future__ import annotations

from typing import Any

import torch
from lightning.fabric.accelerators import ACCELERATOR_REGISTRY
from lightning.fabric.connector import _Connector
from lightning.fabric.plugins.precision.amp import MixedPrecision as MixedPrecisionOfFabric
from lightning.fabric.strategies import STRATEGY_REGISTRY
from lightning.fabric.strategies import DDPStrategy as DDPStrategyOfFabric
from lightning.fabric.strategies import SingleDeviceStrategy as SingleDeviceStrategyOfFabric
from lightning.pytorch.accelerators import Accelerator, AcceleratorRegistry
from lightning.pytorch.plugins.precision import MixedPrecision
from lightning.pytorch.strategies import DDPStrategy, SingleDeviceStrategy, StrategyRegistry
from lightning.pytorch.trainer.connectors.accelerator_connector import _AcceleratorConnector

from torch_ocl import device_module


class OpenCLAccelerator(Accelerator):
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

    @classmethod
    def register_accelerators(cls, accelerator_registry: Any) -> None:
        accelerator_registry.register(cls.name(), cls, description=cls.__name__)


class OpenCLDDPStrategy(DDPStrategy):
    """DistributedDataParallel where modules are: Lightning's own takes CUDA's streams for it."""

    strategy_name = "ocl_ddp"

    def determine_ddp_device_ids(self) -> None:
        return None


class OpenCLDDPStrategyOfFabric(DDPStrategyOfFabric):
    """The strategy for Fabric."""

    def _determine_ddp_device_ids(self) -> None:
        return None


def _move_autocast(precision: Any) -> None:
    """Mixed precision on the devices that the training is on: Lightning means CUDA's by every accelerator but
    two, and where those are not, PyTorch computes in float32."""
    if not isinstance(precision, (MixedPrecision, MixedPrecisionOfFabric)) or precision.device == "ocl":
        return
    precision.device = "ocl"
    if precision.scaler is not None and precision.scaler._device != "ocl":
        precision.scaler = torch.amp.GradScaler("ocl")


def _require_work_together(connector: Any) -> None:
    """Refuses processes that a launcher started to work together and that would each train alone."""
    processes = connector.cluster_environment.world_size()
    strategy = type(connector.strategy)
    if processes > 1 and issubclass(strategy, (SingleDeviceStrategy, SingleDeviceStrategyOfFabric)):
        raise RuntimeError(
            f"Lightning runs in one of {processes} processes, each of which would train alone by a "
            f'{strategy.__name__}: pass strategy="ocl_ddp" and as many devices ([0, 0] is one device for two '
            "processes)"
        )
    if strategy in (DDPStrategy, DDPStrategyOfFabric):
        raise RuntimeError('Lightning\'s "ddp" takes CUDA\'s streams: pass strategy="ocl_ddp" on ocl devices')


def _connect(connector: type) -> None:
    """Makes a connector of Lightning's, which puts accelerator, strategy and precision together, do so."""
    choose_precision = connector._check_and_init_precision

    def check_and_init_precision(self: Any) -> Any:
        precision = choose_precision(self)
        if isinstance(self.accelerator, OpenCLAccelerator):
            _move_autocast(precision)
            _require_work_together(self)
        return precision

    connector._check_and_init_precision = check_and_init_precision


for _registry in (AcceleratorRegistry, ACCELERATOR_REGISTRY):
    OpenCLAccelerator.register_accelerators(_registry)
StrategyRegistry.register("ocl_ddp", OpenCLDDPStrategy, description=OpenCLDDPStrategy.__doc__)
STRATEGY_REGISTRY.register(
    "ocl_ddp", OpenCLDDPStrategyOfFabric, description=OpenCLDDPStrategyOfFabric.__doc__
)
for _connector in (_AcceleratorConnector, _Connector):
    _connect(_connector)
