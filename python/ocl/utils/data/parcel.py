"""How a dataset and functions get to a worker process."""

import io
import pickle
from multiprocessing import reduction

import ocl

__all__ = ["Parcel"]


class Parcel:
    """Carries a value to another process; ``open`` gives it there, and raises what unpickling raises.

    Raises:
        TypeError: (while pickling) the value cannot be sent, or holds an ocl tensor.
    """

    def __init__(self, value):
        self._value = value

    def open(self):
        return self._value

    def __reduce__(self):
        file = io.BytesIO()
        try:
            _Pickler(file, 5).dump(self._value)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise TypeError(
                "DataLoader: the dataset, collate_fn or worker_init_fn cannot be sent to workers: "
                f"{error}; define functions and classes at the top of a module, open files in "
                "worker_init_fn, or use num_workers=0"
            ) from error
        return _SealedParcel, (file.getvalue(),)


class _SealedParcel:
    def __init__(self, pickled):
        self._pickled = pickled

    def open(self):
        return pickle.loads(self._pickled)


class _Pickler(reduction.ForkingPickler):
    def reducer_override(self, value):
        if isinstance(value, ocl.Tensor):
            raise TypeError("an ocl tensor is in it, and workers touch no device (keep tensor.numpy())")
        return NotImplemented
