"""pytorch-cifar's trainer: two steps of a net, its checkpoint, and an evaluation."""

import argparse
import os
import tempfile

import cifar_models
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.optim as optim
from common import floats, integers, report, seeded

parser = argparse.ArgumentParser(description="PyTorch CIFAR10 Training")
parser.add_argument("--lr", default=0.001, type=float, help="learning rate")
parser.add_argument("--net", default="ResNet18")
args = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
best_acc = 0
trainset = [(floats(3, 32, 32), int(integers(10, 1))) for _ in range(8)]
trainloader = torch.utils.data.DataLoader(trainset, batch_size=4, shuffle=False, num_workers=0)

print("==> Building model..")
net = seeded(getattr(cifar_models, args.net)())
net = net.to(device)
if device == "cuda":
    net = torch.nn.DataParallel(net)
    cudnn.benchmark = True
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=200)


def train(epoch):
    print(f"\nEpoch: {epoch}")
    net.train()
    correct = total = 0
    for inputs, targets in trainloader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        report(loss.item())
        _, predicted = outputs.max(1)
        total += targets.size(0)
        correct += predicted.eq(targets).sum().item()
        if total == len(targets):
            report(sum(p.grad.norm() for p in net.parameters() if p.grad is not None))


def test(epoch):
    global best_acc
    net.eval()
    correct = total = 0
    with torch.no_grad():
        for inputs, targets in trainloader:
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = net(inputs)
            _, predicted = outputs.max(1)
            total += targets.size(0)
            correct += predicted.eq(targets).sum().item()
    acc = 100.0 * correct / total
    state = {"net": net.state_dict(), "acc": acc, "epoch": epoch}
    with tempfile.TemporaryDirectory() as folder:
        torch.save(state, os.path.join(folder, "ckpt.pth"))
        checkpoint = torch.load(os.path.join(folder, "ckpt.pth"))
    net.load_state_dict(checkpoint["net"])
    best_acc = max(best_acc, checkpoint["acc"])
    report(net(inputs).pow(2).mean())


train(0)
test(0)
scheduler.step()
