"""A small recognizer of speech: spectrograms, convolutions, packed GRUs, CTC, and greedy decoding."""

import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from common import RNG, report, seeded
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

ALPHABET = "_abcde"


class Tones(Dataset):
    """Each letter is a tone of its own pitch."""

    def __init__(self, count):
        self.items = []
        for _ in range(count):
            word = "".join(RNG.choice(list(ALPHABET[1:]), RNG.integers(2, 5)))
            time = np.arange(240)
            wave = [np.sin(time * 0.15 * (1 + ALPHABET.index(c))) + RNG.normal(0, 0.1, 240) for c in word]
            self.items.append((np.concatenate(wave).astype("float32"), word))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        wave, word = self.items[i]
        spectrum = torch.stft(
            torch.from_numpy(wave), n_fft=64, hop_length=32, window=torch.hann_window(64), return_complex=True
        )
        return torch.log1p(spectrum.abs()).T, torch.tensor(
            [ALPHABET.index(c) for c in word], dtype=torch.long
        )


def collate(batch):
    batch = sorted(batch, key=lambda item: len(item[0]), reverse=True)
    inputs, targets = zip(*batch, strict=False)
    input_lengths = torch.tensor([len(x) for x in inputs])
    target_lengths = torch.tensor([len(y) for y in targets])
    return pad_sequence(inputs, batch_first=True), torch.cat(targets), input_lengths, target_lengths


class Recognizer(nn.Module):
    def __init__(self, n_features, n_hidden, n_class):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_features, n_hidden, 5, stride=2, padding=2, bias=False),
            nn.BatchNorm1d(n_hidden),
            nn.Hardtanh(0, 20, inplace=True),
        )
        self.rnn = nn.GRU(n_hidden, n_hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(2 * n_hidden)
        self.fc = nn.Linear(2 * n_hidden, n_class)

    def forward(self, x, lengths):
        x = self.conv(x.transpose(1, 2)).transpose(1, 2)
        lengths = torch.div(lengths - 1, 2, rounding_mode="floor") + 1
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=True)
        output, _ = self.rnn(packed)
        output, _ = pad_packed_sequence(output, batch_first=True)
        return F.log_softmax(self.fc(self.norm(output)), dim=-1), lengths


def greedy(log_probs, lengths):
    best = log_probs.argmax(dim=-1)
    words = []
    for row, length in zip(best.tolist(), lengths.tolist(), strict=False):
        collapsed = [key for key, _ in itertools.groupby(row[:length])]
        words.append("".join(ALPHABET[k] for k in collapsed if k != 0))
    return words


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(Tones(12), batch_size=6, shuffle=False, collate_fn=collate)
net = seeded(Recognizer(33, 16, len(ALPHABET))).to(device)
criterion = nn.CTCLoss(blank=0, zero_infinity=True).to(device)
optimizer = torch.optim.AdamW(net.parameters(), 5e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=1e-2, steps_per_epoch=len(loader), epochs=4, anneal_strategy="linear"
)
for _ in range(4):
    net.train()
    for inputs, targets, input_lengths, target_lengths in loader:
        optimizer.zero_grad()
        output, lengths = net(inputs.to(device), input_lengths)
        loss = criterion(output.transpose(0, 1), targets.to(device), lengths, target_lengths)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        report(loss.item())
    report(scheduler.get_last_lr()[0])
net.eval()
with torch.no_grad():
    for inputs, targets, input_lengths, target_lengths in loader:
        output, lengths = net(inputs.to(device), input_lengths)
        report(criterion(output.transpose(0, 1), targets.to(device), lengths, target_lengths))
        print(greedy(output.cpu(), lengths))
