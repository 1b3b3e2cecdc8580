"""To be imported before torchvision. Its build for CUDA lacks its operators over PyTorch for CPUs, and is
imported without what needs them. Over ocl it is imported as it is.
"""

import sys
import types

import torch

IS_OCL = "ocl" in torch.__version__
if not IS_OCL:
    sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("none"))
