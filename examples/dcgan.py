"""Trains two convolutional nets against each other to draw digits (Radford et al. 2016).

python examples/dcgan.py                   # scikit-learn's digits
python examples/dcgan.py --mnist DIR --epochs 5
"""

import time

from training.program import load_digits, make_parser, run_program, save_grid

import ocl
import ocl.nn.functional as F
from ocl import nn
from ocl.examples.program import not_negative, parse_epochs, positive
from ocl.utils.data import DataLoader, TensorDataset


def make_generator(noise, width):
    """[N, noise, 1, 1] -> images [N, 1, 28, 28], -1 to 1."""
    return nn.Sequential(
        nn.ConvTranspose2d(noise, 2 * width, 7, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.ConvTranspose2d(2 * width, width, 4, 2, 1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.ConvTranspose2d(width, 1, 4, 2, 1),
        nn.Tanh(),
    )


def make_discriminator(width):
    """Images -> logits [N] of being real."""
    return nn.Sequential(
        nn.Conv2d(1, width, 4, 2, 1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.LeakyReLU(0.2),
        nn.Conv2d(2 * width, 1, 7),
        nn.Flatten(0),
    )


def begin_small(module):
    """The paper's initial weights."""
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)


class Contest:
    """Both nets, and the steps by which each learns from the other."""

    def __init__(self, options):
        self.noise = options.noise
        self.generator = make_generator(options.noise, options.width).apply(begin_small)
        self.discriminator = make_discriminator(options.width).apply(begin_small)

        def optimizer(net):
            return ocl.optim.Adam(net.parameters(), lr=options.lr, betas=(0.5, 0.999))

        self.of_generator, self.of_discriminator = optimizer(self.generator), optimizer(self.discriminator)

    def drawn(self, count):
        return self.generator(ocl.randn(count, self.noise, 1, 1))

    def teach_discriminator(self, real, fake):
        """Its loss on real images and on drawn ones, as means of each."""
        self.of_discriminator.zero_grad()
        loss = self._loss(self.discriminator(real), 1.0) + self._loss(self.discriminator(fake.detach()), 0.0)
        loss.backward()
        self.of_discriminator.step()
        return loss.detach()

    def teach_generator(self, fake):
        """Its loss: how far from real the discriminator says that its images are."""
        self.of_generator.zero_grad()
        loss = self._loss(self.discriminator(fake), 1.0)
        loss.backward()
        self.of_generator.step()
        return loss.detach()

    @staticmethod
    def _loss(logits, target):
        return F.binary_cross_entropy_with_logits(logits, ocl.full_like(logits, target))


def load_images(folder):
    """float32 [N, 1, 28, 28], -1 to 1."""
    return TensorDataset(load_digits(folder, True) / 127.5 - 1)


def run(options):
    images = load_images(options.mnist)
    if options.batch_size > len(images):
        raise ValueError(f"--batch-size {options.batch_size} is more than the {len(images)} images")
    loader = DataLoader(images, options.batch_size, shuffle=True, drop_last=True, device=options.device)
    contest = Contest(options)
    always_the_same = ocl.randn(64, options.noise, 1, 1)
    for epoch in range(1, options.epochs + 1):
        start, losses, steps = time.perf_counter(), ocl.zeros(2), 0
        for (real,) in loader:
            fake = contest.drawn(len(real))
            losses += ocl.stack([contest.teach_discriminator(real, fake), contest.teach_generator(fake)])
            steps += 1
            if options.dry_run and steps == 2:
                break
        discriminator, generator = (losses / steps).tolist()
        print(
            f"epoch {epoch}: the discriminator's loss {discriminator:.3f}, the generator's {generator:.3f}; "
            f"{steps * options.batch_size / (time.perf_counter() - start):.0f} images/s",
            flush=True,
        )
    contest.generator.eval()
    with ocl.no_grad():
        save_grid((contest.generator(always_the_same)[:, 0].numpy() + 1) / 2, 8, options.output)
    print(f"wrote {options.output}")


def parse_arguments(arguments=None):
    parser = make_parser(__doc__, "dcgan.png")
    option = parser.add_argument
    option("--mnist", metavar="DIR", help="a folder with MNIST's files")
    option("--epochs", type=positive, default=25, help="default %(default)s")
    option("--batch-size", type=positive, default=50, help="default %(default)s")
    option("--noise", type=positive, default=32, help="numbers an image is drawn from, default %(default)s")
    option("--width", type=positive, default=24, help="channels, default %(default)s")
    option("--lr", type=not_negative, default=1e-3, help="default %(default)s")
    return parse_epochs(parser, arguments)


def main(arguments=None):
    run_program("dcgan.py", run, parse_arguments(arguments))


if __name__ == "__main__":
    main()
