"""A loader's workers import the program anew, which begins with `import torch`."""

import numpy as np
import torch


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return np.float32(i * i), torch.__version__


if __name__ == "__main__":
    for method in (None, "fork"):
        loader = torch.utils.data.DataLoader(Squares(), 4, num_workers=2, multiprocessing_context=method)
        for numbers, versions in loader:
            print(*(int(number) for number in numbers), *set(versions))
