"""pytorch/examples time_sequence_prediction, in float64."""

import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from common import RNG, fill, report


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1 = nn.LSTMCell(1, 7)
        self.lstm2 = nn.LSTMCell(7, 7)
        self.linear = nn.Linear(7, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 7, dtype=torch.double)
        c_t = torch.zeros(input.size(0), 7, dtype=torch.double)
        h_t2, c_t2 = torch.zeros_like(h_t), torch.zeros_like(c_t)
        for input_t in input.split(1, dim=1):
            h_t, c_t = self.lstm1(input_t, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        for _ in range(future):
            h_t, c_t = self.lstm1(output, (h_t, c_t))
            h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
            output = self.linear(h_t2)
            outputs += [output]
        return torch.cat(outputs, dim=1)


x = np.arange(8) + RNG.integers(-8, 8, 3).reshape(3, 1)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "traindata.pt")
    with open(path, "wb") as file:
        torch.save(torch.from_numpy(np.sin(x / 1.0).astype("float64")), file)
    data = torch.load(path)
seq, criterion = fill(Sequence()), nn.MSELoss()
seq.double()
optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=3)
for _ in range(2):

    def closure():
        optimizer.zero_grad()
        loss = criterion(seq(data[:, :-1]), data[:, 1:])
        loss.backward()
        report(loss.item())
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        pred = seq(data[:, :-1], future=2)
        report(criterion(pred[:, :-2], data[:, 1:]))
