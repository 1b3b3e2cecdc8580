"""``python -m ocl`` says what there is, ``python -m ocl doctor`` whether it works and what to do about it.

Each module has one subject. ``loader`` and ``drivers``, ``rights`` and ``hardware`` look at the machine;
``problems`` with their ``references``, ``accuracy`` and ``repeats`` at the results; ``speed`` measures.
``environment`` and ``report`` put it into words, ``command`` is the command line.
``import ocl`` imports none of them.
"""
