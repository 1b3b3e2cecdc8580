"""``__torch_function__``: classes and modes that replace functions.

Nobody is asked until there is somebody to ask. Functions and methods ask once a class of tensors defines
``__torch_function__``, once a mode is entered, or once a function refuses an object whose class defines it.
Until then plain tensors go the way that they always go.
"""
