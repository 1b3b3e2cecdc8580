"""The functions that write operators, one file a family."""
