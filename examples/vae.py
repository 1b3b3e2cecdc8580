"""Trains a variational autoencoder (Kingma & Welling 2014) on scikit-learn's digits, and draws new ones.

python examples/vae.py
python examples/vae.py --mnist DIR --epochs 20
"""

import time

from training.program import load_digits, make_parser, run_program, save_grid

import ocl
import ocl.nn.functional as F
from ocl import nn
from ocl.examples.program import not_negative, parse_epochs, positive
from ocl.utils.data import DataLoader, TensorDataset

PIXELS = 28 * 28


class VAE(nn.Module):
    def __init__(self, hidden=256, latent=8):
        super().__init__()
        self.latent = latent
        self.encoder = nn.Sequential(
            nn.Flatten(), nn.Linear(PIXELS, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent)
        )
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, PIXELS))

    def forward(self, images):
        """Logits of the pixels, and the mean and the logarithm of the variance of the code."""
        mean, log_variance = self.encoder(images).chunk(2, 1)
        code = mean + (0.5 * log_variance).exp() * ocl.randn_like(mean)
        return self.decoder(code), mean, log_variance

    def drawn(self, count):
        """New images, [count, 28, 28]."""
        return self.decoder(ocl.randn(count, self.latent)).sigmoid().reshape(count, 28, 28)


def bound(net, images):
    """(nats of the reconstruction, of the code) per image: together the negative evidence lower bound."""
    logits, mean, log_variance = net(images)
    pixels = F.binary_cross_entropy_with_logits(logits, images.flatten(1), reduction="sum")
    code = -0.5 * (1 + log_variance - mean * mean - log_variance.exp()).sum()
    return pixels / len(images), code / len(images)


def load_images(folder, train):
    """float32 [N, 1, 28, 28], 0 to 1."""
    return TensorDataset(load_digits(folder, train) / 255)


def tested(net, loader):
    net.eval()
    with ocl.no_grad():
        totals = [sum(bound(net, images)).item() * len(images) for (images,) in loader]
    net.train()
    return sum(totals) / len(loader.dataset)


def run(options):
    train, test = load_images(options.mnist, True), load_images(options.mnist, False)
    train_loader = DataLoader(train, options.batch_size, shuffle=True, device=options.device)
    test_loader = DataLoader(test, 500, device=options.device)
    net = VAE(latent=options.latent)
    optimizer = ocl.optim.Adam(net.parameters(), lr=options.lr)
    for epoch in range(1, options.epochs + 1):
        start, sums = time.perf_counter(), ocl.zeros(2)
        for (images,) in train_loader:
            optimizer.zero_grad()
            parts = ocl.stack(bound(net, images))
            parts.sum().backward()
            optimizer.step()
            sums += parts.detach() * len(images)
        pixels, code = (sums / len(train)).tolist()
        print(
            f"epoch {epoch}: {pixels:.2f} nats of pixels + {code:.2f} of the code; "
            f"test {tested(net, test_loader):.2f}; {len(train) / (time.perf_counter() - start):.0f} images/s",
            flush=True,
        )
    net.eval()
    with ocl.no_grad():
        originals = ocl.tensor(test.arrays()[0][:10])
        rebuilt = net(originals)[0].sigmoid().reshape(10, 28, 28)
        save_grid(ocl.cat([originals[:, 0], rebuilt, net.drawn(30)]).numpy(), 10, options.output)
    print(f"wrote {options.output}: ten test images, what is left of them, thirty new ones")


def parse_arguments(arguments=None):
    parser = make_parser(__doc__, "vae.png")
    option = parser.add_argument
    option("--mnist", metavar="DIR", help="a folder with MNIST's files")
    option("--epochs", type=positive, default=30, help="default %(default)s")
    option("--batch-size", type=positive, default=64, help="default %(default)s")
    option("--latent", type=positive, default=8, help="numbers of a code, default %(default)s")
    option("--lr", type=not_negative, default=2e-3, help="default %(default)s")
    return parse_epochs(parser, arguments)


def main(arguments=None):
    run_program("vae.py", run, parse_arguments(arguments))


if __name__ == "__main__":
    main()
