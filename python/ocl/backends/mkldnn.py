"""The names of torch.backends.mkldnn: that library is not used."""

enabled = False


def is_available() -> bool:
    """False."""
    return False
