"""Whole nets compared with torchvision's, for tools/validate_network.py and the tests."""
