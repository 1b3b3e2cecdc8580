"""pytorch/examples mnist_forward_forward: each layer learns by its own goodness."""

import torch
import torch.nn as nn
from common import RNG, floats, report, seeded
from torch.optim import Adam
from torch.utils.data import DataLoader, TensorDataset


def get_y_neg(y):
    y_neg = y.clone()
    for idx, y_samp in enumerate(y):
        allowed_indices = list(range(10))
        allowed_indices.remove(y_samp.item())
        y_neg[idx] = torch.tensor(allowed_indices)[int(RNG.integers(len(allowed_indices)))].item()
    return y_neg.to(device)


def overlay_y_on_x(x, y, classes=10):
    x_ = x.clone()
    x_[:, :classes] *= 0.0
    x_[range(x.shape[0]), y] = x.max()
    return x_


class Net(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.layers = []
        for d in range(len(dims) - 1):
            self.layers = self.layers + [Layer(dims[d], dims[d + 1]).to(device)]

    def predict(self, x):
        goodness_per_label = []
        for label in range(10):
            h = overlay_y_on_x(x, label)
            goodness = []
            for layer in self.layers:
                h = layer(h)
                goodness = goodness + [h.pow(2).mean(1)]
            goodness_per_label += [sum(goodness).unsqueeze(1)]
        goodness_per_label = torch.cat(goodness_per_label, 1)
        report(goodness_per_label.mean())
        return goodness_per_label.argmax(1)

    def train(self, x_pos, x_neg):
        h_pos, h_neg = x_pos, x_neg
        for i, layer in enumerate(self.layers):
            print("training layer: ", i)
            h_pos, h_neg = layer.train(h_pos, h_neg)


class Layer(nn.Linear):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, bias, device, dtype)
        self.relu = torch.nn.ReLU()
        seeded(self)
        self.opt = Adam(self.parameters(), lr=0.02)
        self.threshold = 1.5
        self.num_epochs = 4

    def forward(self, x):
        x_direction = x / (x.norm(2, 1, keepdim=True) + 1e-4)
        return self.relu(torch.mm(x_direction, self.weight.T) + self.bias.unsqueeze(0))

    def train(self, x_pos, x_neg):
        for _ in range(self.num_epochs):
            g_pos = self.forward(x_pos).pow(2).mean(1)
            g_neg = self.forward(x_neg).pow(2).mean(1)
            loss = torch.log(
                1 + torch.exp(torch.cat([-g_pos + self.threshold, g_neg - self.threshold]))
            ).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            report(loss.item())
        return self.forward(x_pos).detach(), self.forward(x_neg).detach()


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
labels = torch.arange(40) % 10
pictures = floats(10, 50)[labels] + 0.3 * floats(40, 50)
loader = DataLoader(TensorDataset(pictures, labels), batch_size=40, shuffle=False)
net = Net([50, 60, 40])
x, y = next(iter(loader))
x, y = x.to(device), y.to(device)
net.train(overlay_y_on_x(x, y), overlay_y_on_x(x, get_y_neg(y)))
print("train error:", 1.0 - net.predict(x).eq(y).float().mean().item())
