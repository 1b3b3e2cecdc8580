"""Calls of operators as Python hears them: with names and named arguments, and made again as they were."""
