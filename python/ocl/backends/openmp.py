"""The names of torch.backends.openmp: that library is not used."""


def is_available() -> bool:
    """False."""
    return False
