"""A seeded differential fuzzer: random calls, arguments, programs and files, against PyTorch on the CPU.

    .venv/bin/python tests/python/fuzz --minutes 30

docs/fuzzing.md says how to read what it prints, and how to run it on a new device.
"""
