"""Uses what programs of 2018 use: types of tensors as functions, Variable, a function as map_location."""

import os
import tempfile

import torch
import torch.autograd as autograd
import torch.nn as nn
from common import RNG, fill, floats, report
from torch.autograd import Variable

Tensor = torch.FloatTensor


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()  # noqa: UP008
        self.model = nn.Sequential(
            nn.Linear(6, 16),
            nn.BatchNorm1d(16, 0.8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(16, 64),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.model(z).view(z.shape[0], 1, 8, 8)


discriminator = fill(
    nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64, 1))
)
generator = fill(Generator())
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))


def gradient_penalty(real, fake):
    alpha = Tensor(RNG.random((real.size(0), 1, 1, 1)))
    between = (alpha * real + ((1 - alpha) * fake)).requires_grad_(True)
    ones = Variable(Tensor(real.shape[0], 1).fill_(1.0), requires_grad=False)
    gradients = autograd.grad(
        outputs=discriminator(between),
        inputs=between,
        grad_outputs=ones,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


for step in range(4):
    real = Variable(floats(8, 1, 8, 8).type(Tensor))
    d_optimizer.zero_grad()
    noise = Variable(Tensor(RNG.normal(0, 1, (8, 6))))
    fake = generator(noise)
    loss = discriminator(fake.detach()).mean() - discriminator(real).mean()
    loss = loss + 10 * gradient_penalty(real.data, fake.data)
    loss.backward()
    d_optimizer.step()
    report(loss)
    if step % 2 == 0:
        g_optimizer.zero_grad()
        (-discriminator(generator(noise)).mean()).backward()
        g_optimizer.step()

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pth.tar")
    torch.save({"epoch": 3, "state_dict": generator.state_dict()}, path)
    checkpoint = torch.load(path, map_location=lambda storage, loc: storage)
    generator.load_state_dict(checkpoint["state_dict"])
labels = torch.LongTensor([[0], [2]])
one_hot = torch.FloatTensor(2, 3).zero_().scatter_(1, labels, 1)
sample = generator(floats(2, 6)).squeeze_(1)
sample.transpose_(1, 2).unsqueeze_(-1)
report((sample.sum(axis=0, keepdims=True) ** 2).mean() + one_hot.type("torch.DoubleTensor").sum())
