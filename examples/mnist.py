"""Trains a small convolutional net on MNIST, on any OpenCL device.

python examples/mnist.py                          # downloads MNIST on its first run; or, from a wheel:
python -m ocl.examples.mnist
python examples/mnist.py --data DIR --device ocl:1 --epochs 5 --plot curves.png
"""

import ocl
import ocl.nn.functional as F
from ocl import nn, optim
from ocl.examples.program import ends_in_one_line, parse_epochs, positive
from ocl.examples.session import Session, make_parser, mnist_or_digits
from ocl.utils.data import DataLoader


def make_net():
    """A net from pictures [N, 1, 28, 28] to scores [N, 10]."""
    features = [nn.Conv2d(1, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    features += [nn.Conv2d(32, 64, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten()]
    return nn.Sequential(*features, nn.Linear(64 * 5 * 5, 128), nn.ReLU(), nn.Linear(128, 10))


def train(net, loader, optimizer, session):
    """One pass over the training set."""
    net.train()
    for image, target in session.batches(loader):
        optimizer.zero_grad()
        with session.precision.autocast():
            loss = F.cross_entropy(net(image), target)
        session.precision.backward(loss)
        session.precision.step(optimizer, net)
        session.log(loss)


def test(net, loader, session):
    """The accuracy over the test set, in per cent."""
    net.eval()
    with ocl.no_grad(), session.precision.autocast():
        hits = [(net(image).argmax(dim=1) == target).sum() for image, target in loader]
    return 100 * sum(hit.item() for hit in hits) / len(loader.dataset)


def parse_arguments():
    parser = make_parser(__doc__.splitlines()[0])
    option = parser.add_argument
    option("--data", metavar="DIR", help="folder of MNIST's files; without it they are cached or downloaded")
    option("--batch-size", type=positive, default=64, metavar="N", help="default %(default)s")
    option("--test-batch-size", type=positive, default=1000, metavar="N", help="default %(default)s")
    option("--epochs", type=positive, default=3, metavar="N", help="default %(default)s")
    option("--lr", type=float, default=1e-3, help="learning rate of Adam, default %(default)s")
    option("--gamma", type=float, default=0.7, help="learning rate factor per epoch, default %(default)s")
    return parse_epochs(parser)


def run(options):
    session = Session(options)  # on the device and with the seed of the options
    net = make_net()
    optimizer = optim.Adam(net.parameters(), lr=options.lr)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=options.gamma)
    train_set, test_set = mnist_or_digits(options.data)
    train_loader = DataLoader(train_set, options.batch_size, shuffle=True, device=options.device)
    test_loader = DataLoader(test_set, options.test_batch_size, device=options.device)
    with session.writing_results(net):
        for epoch in range(1, options.epochs + 1):
            train(net, train_loader, optimizer, session)
            accuracy = test(net, test_loader, session)
            print(f"epoch {epoch}: test accuracy {accuracy:.2f} %", flush=True)
            scheduler.step()
    print(f"test accuracy {accuracy:.2f} %")


if __name__ == "__main__":
    with ends_in_one_line("mnist.py"):
        run(parse_arguments())
