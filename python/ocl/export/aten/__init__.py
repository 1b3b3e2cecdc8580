"""Programs of ``torch.export`` as modules: loading, the table of operators, and how a graph runs.

Nothing here imports torch but `loading`, within its functions.
"""
