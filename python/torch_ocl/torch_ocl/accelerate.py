"""accelerate on ocl devices, which it does not know by name.

``ACCELERATE_TORCH_DEVICE`` names the device, as ever. Where it is not set and CUDA is not there, it is ocl's
current one (``torch.ocl.current_device()``), unless the program asks for the CPU (``cpu=True``).

Processes that torchrun starts train together. accelerate knows by name which devices have processes that work
together: on others each of them would train alone, without a word. Here it does what it does for several
processes on the CPU (``DistributedType.MULTI_CPU``), which is DistributedDataParallel on whatever device the
model is, with the process group of ocl.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch


def chosen_device() -> torch.device | None:
    """The ocl device that training goes to unless the program says otherwise; None: it is another device."""
    named = os.environ.get("ACCELERATE_TORCH_DEVICE")
    if named is not None:
        device = torch.device(named)
        return device if device.type == "ocl" else None
    if torch.cuda.is_available() or not torch.ocl.is_available():
        return None
    return torch.device("ocl", torch.ocl.current_device())


def _is_one_of_several() -> bool:
    """Whether a launcher started this process, by what accelerate goes by."""
    return int(os.environ.get("LOCAL_RANK", -1)) != -1


def install_in_state(state: ModuleType) -> None:
    """Teaches ``accelerate.state`` which device is the default, and that processes on ocl work together."""
    prepare = state.PartialState._prepare_backend
    default_device = state.PartialState.default_device.fget

    def prepare_backend(
        self: Any, cpu: bool = False, sagemaker_dp: bool = False, backend: str | None = None
    ) -> tuple[str | None, Any]:
        device = self.device or self.default_device
        if device.type != "ocl" or cpu or not _is_one_of_several():
            return prepare(self, cpu, sagemaker_dp, backend)
        if self.device is None or self.device.index is None:
            index = int(os.environ["LOCAL_RANK"]) % torch.ocl.device_count()
            self.device = torch.device("ocl", index)
            torch.ocl.set_device(self.device)
        return backend or "ocl", state.DistributedType.MULTI_CPU

    def default_device_or_ocl(self: Any) -> torch.device:
        device = default_device(self)
        return (chosen_device() or device) if device.type == "cpu" else device

    state.PartialState._prepare_backend = prepare_backend
    state.PartialState.default_device = property(default_device_or_ocl)


def install_in_modeling(modeling: ModuleType) -> None:
    """Teaches ``accelerate.utils.modeling`` to scale losses on ocl and what ``device_map="auto"`` fills."""
    get_grad_scaler, get_max_memory = modeling.get_grad_scaler, modeling.get_max_memory

    def get_grad_scaler_or_ocls(distributed_type: Any = None, **options: Any) -> torch.amp.GradScaler:
        if chosen_device() is None:
            return get_grad_scaler(distributed_type, **options)
        if distributed_type == modeling.DistributedType.FSDP:
            from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

            return ShardedGradScaler(device="ocl", **options)
        return torch.amp.GradScaler("ocl", **options)

    def get_max_memory_with_ocls(max_memory: dict | None = None) -> dict:
        if max_memory is not None or chosen_device() is None:
            return get_max_memory(max_memory)
        free = {index: torch.ocl.mem_get_info(index)[0] for index in _devices_like_the_chosen()}
        return {**free, **get_max_memory()}

    logging.getLogger(modeling.__name__).addFilter(_is_not_about_a_device_there)
    modeling.get_grad_scaler = get_grad_scaler_or_ocls
    modeling.get_max_memory = get_max_memory_with_ocls


def _is_not_about_a_device_there(record: logging.LogRecord) -> bool:
    """Keeps accelerate, which counts CUDA's devices, from a warning that an ocl device is not there."""
    missing = re.match(r"Device (\d+) is not available, available devices are \[\]", record.getMessage())
    return missing is None or chosen_device() is None or int(missing[1]) >= torch.ocl.device_count()


def _devices_like_the_chosen() -> list[int]:
    """The chosen device and those of its name: no model is spread over a GPU and OpenCL's CPU beside it."""
    chosen = chosen_device()
    index = torch.ocl.current_device() if chosen.index is None else chosen.index
    name = torch.ocl.get_device_name(index)
    return [other for other in range(torch.ocl.device_count()) if torch.ocl.get_device_name(other) == name]


def install_in_memory(memory: ModuleType) -> None:
    """Teaches ``accelerate.utils.memory`` what ocl's cache is, and what it says when memory is used up."""
    clear_device_cache, should_reduce = memory.clear_device_cache, memory.should_reduce_batch_size

    def clear_device_cache_and_ocls(garbage_collection: bool = False) -> None:
        clear_device_cache(garbage_collection)
        torch.ocl.empty_cache()

    def should_reduce_batch_size(exception: Exception) -> bool:
        return isinstance(exception, torch.OutOfMemoryError) or should_reduce(exception)

    memory.clear_device_cache = clear_device_cache_and_ocls
    memory.should_reduce_batch_size = should_reduce_batch_size


def _with_ocl_in_lists(code: CodeType) -> CodeType:
    """The code, where tuples of names of devices that have CUDA's among them have ocl's too."""
    constants = [
        (*constant, "ocl") if isinstance(constant, tuple) and {"cuda", "xpu"} <= set(constant) else constant
        for constant in code.co_consts
    ]
    return code.replace(co_consts=tuple(constants))


def install_in_accelerator(accelerator: ModuleType) -> None:
    """Adds ocl to the devices that ``Accelerator`` lets compute in float16, a tuple in its ``__init__``."""
    initialize = accelerator.Accelerator.__init__
    initialize.__code__ = _with_ocl_in_lists(initialize.__code__)


def _random_states_in(folder: str | os.PathLike, process: int) -> Path:
    return Path(folder) / f"random_states_ocl_{process}.pth"


def save_random_states(folder: str | os.PathLike, process: int) -> None:
    """Writes the states of all ocl devices' generators into a checkpoint's folder."""
    torch.save(torch.ocl.get_rng_state_all(), _random_states_in(folder, process))


def load_random_states(folder: str | os.PathLike, process: int) -> None:
    """Goes on from what :func:`save_random_states` wrote; says so in the log where there is no such file."""
    path = _random_states_in(folder, process)
    if path.is_file():
        torch.ocl.set_rng_state_all(torch.load(path, weights_only=True))
    else:
        logging.getLogger(__name__).warning(
            "%s is not there: random numbers on ocl are not those of an uninterrupted training", path
        )


def install_in_checkpointing(checkpointing: ModuleType) -> None:
    """Adds ocl's random states to the checkpoints of ``accelerate.checkpointing``."""
    save, load = checkpointing.save_accelerator_state, checkpointing.load_accelerator_state

    def save_accelerator_state(output_dir: str, *arguments: Any, **options: Any) -> Any:
        saved = save(output_dir, *arguments, **options)
        if chosen_device() is not None:
            save_random_states(output_dir, checkpointing.PartialState().process_index)
        return saved

    def load_accelerator_state(input_dir: str, *arguments: Any, **options: Any) -> Any:
        loaded = load(input_dir, *arguments, **options)
        if chosen_device() is not None:
            load_random_states(input_dir, checkpointing.PartialState().process_index)
        return loaded

    checkpointing.save_accelerator_state = save_accelerator_state
    checkpointing.load_accelerator_state = load_accelerator_state


INSTALLERS: dict[str, Callable[[ModuleType], None]] = {
    "accelerate.state": install_in_state,
    "accelerate.utils.memory": install_in_memory,
    "accelerate.utils.modeling": install_in_modeling,
    "accelerate.accelerator": install_in_accelerator,
    "accelerate.checkpointing": install_in_checkpointing,
}
