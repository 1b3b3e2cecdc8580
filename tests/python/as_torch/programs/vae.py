import torch
from common import fill, floats, report
from torch import nn, optim
from torch.nn import functional as F

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 16)
        self.fc21 = nn.Linear(16, 4)
        self.fc22 = nn.Linear(16, 4)
        self.fc3 = nn.Linear(4, 16)
        self.fc4 = nn.Linear(16, 20)

    def forward(self, x, eps):
        h = F.relu(self.fc1(x.view(-1, 20)))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu + eps * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


model = fill(VAE()).cuda() if torch.cuda.is_available() else fill(VAE())
optimizer = optim.Adam(model.parameters(), lr=1e-2)
for _ in range(4):
    x, eps = torch.sigmoid(floats(8, 20)).to(device), floats(8, 4).to(device=device)
    optimizer.zero_grad()
    recon, mu, logvar = model(x, eps)
    bce = F.binary_cross_entropy(recon, x.view(-1, 20), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    (bce + kld).backward()
    optimizer.step()
    report(bce + kld)
