"""The names of torch.backends.cpu."""


def get_cpu_capability() -> str:
    """The OpenCL driver chooses the instructions, so that "DEFAULT" it is."""
    return "DEFAULT"
