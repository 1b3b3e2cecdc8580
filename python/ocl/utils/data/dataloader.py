"""The names of torch.utils.data.dataloader."""

from ocl.utils.data.collate import default_collate, default_convert
from ocl.utils.data.loader import DataLoader
from ocl.utils.data.worker import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
