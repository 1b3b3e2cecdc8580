"""A module without names: PyTorch's are for functions that ``register_custom_op_symbolic`` takes."""
