"""Switches of torch._dynamo.config. They can be set and read back, and change nothing."""

suppress_errors = False
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
capture_scalar_outputs = capture_dynamic_output_shape_ops = False
optimize_ddp = True
verbose = False
