"""The switches of torch.backends.opt_einsum, which change nothing."""

enabled = False
strategy = None


def is_available() -> bool:
    """False."""
    return False
