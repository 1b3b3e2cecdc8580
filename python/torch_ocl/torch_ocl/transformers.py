"""transformers and sentence-transformers on ocl devices, which they do not know by name.

Trainer, pipelines and models of sentences take the device of :func:`torch_ocl.accelerate.chosen_device` where
they would take CUDA's first device.
``TrainingArguments(use_cpu=True)`` and ``pipeline(device="cpu")`` stay on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any

import torch

from torch_ocl.accelerate import chosen_device, load_random_states, save_random_states


def install_in_import_utils(import_utils: ModuleType) -> None:
    """Tells ``transformers.utils.import_utils``, which asks devices by name, that ocl's have bfloat16."""
    is_available = import_utils.is_torch_bf16_gpu_available
    import_utils.is_torch_bf16_gpu_available = lambda: chosen_device() is not None or is_available()


def install_in_training_args(training_args: ModuleType) -> None:
    """Makes ``TrainingArguments.device`` accelerate's device where that is one of ocl."""
    set_up = training_args.TrainingArguments._setup_devices.func

    def set_up_devices(self: Any) -> torch.device:
        device = set_up(self)
        state = self.distributed_state
        if device.type == "cpu" and not self.use_cpu and state is not None and state.device.type == "ocl":
            torch.ocl.set_device(state.device)
            return torch.device("ocl", torch.ocl.current_device())
        return device

    devices = cached_property(set_up_devices)
    devices.__set_name__(training_args.TrainingArguments, "_setup_devices")
    training_args.TrainingArguments._setup_devices = devices


def install_in_pipelines(base: ModuleType) -> None:
    """Makes ``Pipeline(device=N)`` mean ``ocl:N``, and no device the chosen one, as they mean CUDA's."""
    initialize = base.Pipeline.__init__

    def initialize_on_ocl(
        self: Any, model: Any, *arguments: Any, device: int | str | torch.device | None = None, **options: Any
    ) -> None:
        chosen = chosen_device()
        if chosen is not None and not getattr(model, "hf_device_map", None):
            if device is None:
                device = chosen
            elif isinstance(device, int) and device >= 0:
                device = torch.device("ocl", device)
        initialize(self, model, *arguments, device=device, **options)

    base.Pipeline.__init__ = initialize_on_ocl


def install_in_trainer(trainer: ModuleType) -> None:
    """Adds ocl's random states to the checkpoints of ``Trainer``."""
    save, load = trainer.Trainer._save_rng_state, trainer.Trainer._load_rng_state

    def save_rng_state(self: Any, output_dir: str) -> None:
        save(self, output_dir)
        if self.args.device.type == "ocl":
            save_random_states(output_dir, self.args.process_index)

    def load_rng_state(self: Any, checkpoint: str | None) -> None:
        load(self, checkpoint)
        if checkpoint is not None and self.args.device.type == "ocl":
            load_random_states(checkpoint, self.args.process_index)

    trainer.Trainer._save_rng_state = save_rng_state
    trainer.Trainer._load_rng_state = load_rng_state


def install_in_sentence_transformers(environment: ModuleType) -> None:
    """Makes sentence-transformers' default device the chosen one where it would be the CPU."""
    get_device_name = environment.get_device_name

    def get_device_name_or_ocls() -> str:
        name, chosen = get_device_name(), chosen_device()
        return str(chosen) if name == "cpu" and chosen is not None else name

    environment.get_device_name = get_device_name_or_ocls


INSTALLERS: dict[str, Callable[[ModuleType], None]] = {
    "transformers.utils.import_utils": install_in_import_utils,
    "transformers.training_args": install_in_training_args,
    "transformers.pipelines.base": install_in_pipelines,
    "transformers.trainer": install_in_trainer,
    "sentence_transformers.util.environment": install_in_sentence_transformers,
}
