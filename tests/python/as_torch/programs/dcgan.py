import torch
import torch.nn as nn
import torch.nn.parallel
import torch.optim as optim
import torch.utils.data
from common import fill, floats, report
from torch.nn.utils.parametrizations import weight_norm

device = "cuda" if torch.cuda.is_available() else "cpu"
netG = nn.Sequential(
    nn.ConvTranspose2d(6, 8, 4, 1, 0, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False),
    nn.Tanh(),
)
netD = nn.Sequential(
    weight_norm(nn.Conv2d(3, 4, 4, 2, 1, bias=False)),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(4, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
)
fill(netG).to(device), fill(netD).to(device)
criterion = nn.BCELoss()
optimizerD = optim.Adam(netD.parameters(), lr=0.01, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.01, betas=(0.5, 0.999))
for _ in range(3):
    netD.zero_grad()
    real = floats(4, 3, 8, 8).to(device)
    label = torch.full((4,), 1, dtype=real.dtype, device=device)
    errD_real = criterion(netD(real).view(-1), label)
    errD_real.backward()
    fake = netG(floats(4, 6, 1, 1).to(device))
    label.fill_(0)
    errD_fake = criterion(netD(fake.detach()).view(-1), label)
    errD_fake.backward()
    optimizerD.step()
    netG.zero_grad()
    label.fill_(1)
    errG = criterion(netD(fake).view(-1), label)
    errG.backward()
    optimizerG.step()
    report(errD_real + errD_fake)
    report(errG)
