"""``python -m ocl`` and ``python -m ocl doctor``."""

import sys

from ocl.doctor.command import main

sys.exit(main(sys.argv[1:]))
