#!/usr/bin/env python3
"""Draws the pictures of docs/gallery.md: runs the examples, and keeps what they draw in docs/images/gallery/.

tools/generate_gallery.py               # all of them: some minutes on two cores
tools/generate_gallery.py vae dcgan
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/images/gallery"
# Name: the program with its options, and the file that it writes.
PROGRAMS = {
    "mnist": (["mnist.py", "--log-interval", "1", "--plot", "mnist.png"], "mnist.png"),
    "train": (["train.py", "--output", "."], "curves.png"),
    "unet": (["unet.py"], "unet.png"),
    "vae": (["vae.py"], "vae.png"),
    "dcgan": (["dcgan.py"], "dcgan.png"),
}
MOST_PIXELS = 900  # of the width


def draw(name, device):
    (program, *options), file = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, ROOT / "examples" / program, "--device", device, *options]
        subprocess.run(command, cwd=folder, check=True)
        picture = Image.open(Path(folder) / file).convert("RGB")
    if picture.width > MOST_PIXELS:
        picture = picture.resize(
            (MOST_PIXELS, round(MOST_PIXELS * picture.height / picture.width)), Image.Resampling.LANCZOS
        )
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture.quantize(64).save(PICTURES / f"{name}.png", optimize=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(PROGRAMS)}")
    parser.add_argument("--device", default="ocl:0", help="default %(default)s")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(PROGRAMS)):
        parser.error(f"there is no {', '.join(unknown)}: choose from {', '.join(PROGRAMS)}")
    for name in options.names or PROGRAMS:
        draw(name, options.device)


if __name__ == "__main__":
    main()
