"""pytorch/examples siamese_network: are two pictures of one class?"""

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from common import RNG, report, seeded
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=5, stride=2, padding=2, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, 16, kernel_size=3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((2, 2)),
        )
        self.fc_in_features = 64
        self.fc = nn.Sequential(
            nn.Linear(self.fc_in_features * 2, 32),
            nn.ReLU(inplace=True),
            nn.Linear(32, 1),
        )
        self.sigmoid = nn.Sigmoid()
        self.features.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        output = self.features(x)
        return output.view(output.size()[0], -1)

    def forward(self, input1, input2):
        output = torch.cat((self.forward_once(input1), self.forward_once(input2)), 1)
        return self.sigmoid(self.fc(output))


class APP_MATCHER(Dataset):
    """Pairs: an even index has two pictures of one class, an odd one has two classes."""

    def __init__(self, train):
        super().__init__()
        self.targets = torch.from_numpy(RNG.integers(0, 10, 96 if train else 32))
        patterns = np.random.default_rng(7).random((10, 20, 20))
        noise = RNG.normal(0, 30, (len(self.targets), 20, 20))
        pictures = (patterns[self.targets.numpy()] * 255 + noise).clip(0, 255)
        self.data = torch.from_numpy(pictures.astype(np.uint8)).unsqueeze(1) / 255
        self.group_examples()

    def group_examples(self):
        targets = np.array(self.targets.clone())
        self.grouped_examples = {i: np.where(targets == i)[0] for i in range(10)}

    def __len__(self):
        return self.data.shape[0]

    def __getitem__(self, index):
        selected_class = random.randint(0, 9)
        index_1 = random.choice(self.grouped_examples[selected_class])
        image_1 = self.data[index_1].clone().float()
        if index % 2 == 0:
            index_2 = random.choice(self.grouped_examples[selected_class])
            target = torch.tensor(1, dtype=torch.float)
        else:
            other_class = (selected_class + random.randint(1, 9)) % 10
            index_2 = random.choice(self.grouped_examples[other_class])
            target = torch.tensor(0, dtype=torch.float)
        return image_1, self.data[index_2].clone().float(), target


def train(args, model, device, train_loader, optimizer, epoch):
    model.train()
    criterion = nn.BCELoss()
    for batch_idx, (images_1, images_2, targets) in enumerate(train_loader):
        images_1, images_2, targets = images_1.to(device), images_2.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = model(images_1, images_2).squeeze()
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            done, percent = batch_idx * len(images_1), 100.0 * batch_idx / len(train_loader)
            print(f"Train Epoch: {epoch} [{done}/{len(train_loader.dataset)} ({percent:.0f}%)]")
            report(loss.item())


def test(model, device, test_loader):
    model.eval()
    test_loss, correct = 0, 0
    criterion = nn.BCELoss(reduction="sum")
    with torch.no_grad():
        for images_1, images_2, targets in test_loader:
            images_1, images_2, targets = images_1.to(device), images_2.to(device), targets.to(device)
            outputs = model(images_1, images_2).squeeze()
            test_loss += criterion(outputs, targets).sum().item()
            pred = torch.where(outputs > 0.5, 1, 0)
            correct += pred.eq(targets.view_as(pred)).sum().item()
    report(test_loss / len(test_loader.dataset))
    print(f"Accuracy: {correct}/{len(test_loader.dataset)}")


def main():
    parser = argparse.ArgumentParser(description="PyTorch Siamese network Example")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--log-interval", type=int, default=1)
    args = parser.parse_args()
    use_cuda = torch.cuda.is_available()
    torch.manual_seed(1)
    random.seed(1)
    device = torch.device("cuda" if use_cuda else "cpu")
    train_loader = DataLoader(APP_MATCHER(train=True), batch_size=args.batch_size)
    test_loader = DataLoader(APP_MATCHER(train=False), batch_size=16)
    model = seeded(SiameseNetwork()).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)
        scheduler.step()


if __name__ == "__main__":
    main()
