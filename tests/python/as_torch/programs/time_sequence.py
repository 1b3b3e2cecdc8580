import torch
import torch.nn as nn
import torch.optim as optim
from common import fill, floats, report


class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm1 = nn.LSTMCell(1, 7)
        self.lstm2 = nn.LSTMCell(7, 7)
        self.linear = nn.Linear(7, 1)

    def forward(self, input, future=0):
        outputs = []
        h_t = torch.zeros(input.size(0), 7, dtype=torch.float)
        c_t = torch.zeros(input.size(0), 7, dtype=torch.float)
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


seq, criterion = fill(Sequence()), nn.MSELoss()
data = torch.sin(floats(3, 1) + torch.arange(8).float())
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
