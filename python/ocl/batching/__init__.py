"""vmap: from the calls that a function makes for one example to those for a whole batch."""
