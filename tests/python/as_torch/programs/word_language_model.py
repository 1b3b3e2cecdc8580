import math
import sys

import torch
import torch.nn as nn
from common import fill, integers, report

torch.manual_seed(1111)
device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nlayers, self.nhid = nlayers, nhid

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.encoder(input), hidden)
        return self.decoder(output).view(-1, 11), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (
            weight.new_zeros(self.nlayers, bsz, self.nhid),
            weight.new_zeros(self.nlayers, bsz, self.nhid),
        )


class TransformerModel(nn.Module):
    def __init__(self, ntoken, ninp, nhead, nhid, nlayers):
        super().__init__()
        pe = torch.zeros(20, ninp)
        position = torch.arange(0, 20, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, ninp, 2).float() * (-math.log(10000.0) / ninp))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(ninp, nhead, nhid, 0.0), nlayers)
        self.input_emb = nn.Embedding(ntoken, ninp)
        self.decoder = nn.Linear(ninp, ntoken)

    def forward(self, src):
        mask = torch.log(torch.tril(torch.ones(len(src), len(src)))).to(src.device)
        x = self.input_emb(src) * math.sqrt(8) + self.pe[: src.size(0), :]
        return self.decoder(self.encoder(x, mask=mask)).view(-1, 11)


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


is_transformer = sys.argv[1] == "--transformer"
model = fill(TransformerModel(11, 8, 2, 16, 2) if is_transformer else RNNModel(11, 8, 12, 2)).to(device)
criterion, lr = nn.CrossEntropyLoss(), 0.5
hidden = None if is_transformer else model.init_hidden(4)
for _ in range(4):
    data, targets = integers(11, 6, 4).to(device), integers(11, 24).to(device)
    model.zero_grad()
    if is_transformer:
        output = model(data)
    else:
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
    loss = criterion(output, targets)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    for p in model.parameters():
        p.data.add_(p.grad, alpha=-lr)
    report(loss.item())
