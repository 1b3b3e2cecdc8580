"""Programs to start from, as ``python -m ocl.examples.mnist``, and what the programs in examples/ share."""
