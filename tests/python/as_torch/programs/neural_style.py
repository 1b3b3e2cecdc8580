"""pytorch/examples fast_neural_style, on made pictures and a small net for the losses."""

from collections import namedtuple

import torch
import torch.nn as nn
from common import report, seeded, uniform
from torch.optim import Adam
from torch.utils.data import DataLoader


class ConvLayer(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride):
        super().__init__()
        reflection_padding = kernel_size // 2
        self.reflection_pad = torch.nn.ReflectionPad2d(reflection_padding)
        self.conv2d = torch.nn.Conv2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x):
        return self.conv2d(self.reflection_pad(x))


class ResidualBlock(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = ConvLayer(channels, channels, kernel_size=3, stride=1)
        self.in1 = torch.nn.InstanceNorm2d(channels, affine=True)
        self.conv2 = ConvLayer(channels, channels, kernel_size=3, stride=1)
        self.in2 = torch.nn.InstanceNorm2d(channels, affine=True)
        self.relu = torch.nn.ReLU()

    def forward(self, x):
        out = self.relu(self.in1(self.conv1(x)))
        return self.in2(self.conv2(out)) + x


class UpsampleConvLayer(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, upsample=None):
        super().__init__()
        self.upsample = upsample
        self.reflection_pad = torch.nn.ReflectionPad2d(kernel_size // 2)
        self.conv2d = torch.nn.Conv2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x):
        if self.upsample:
            x = torch.nn.functional.interpolate(x, mode="nearest", scale_factor=self.upsample)
        return self.conv2d(self.reflection_pad(x))


class TransformerNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = ConvLayer(3, 8, kernel_size=9, stride=1)
        self.in1 = torch.nn.InstanceNorm2d(8, affine=True)
        self.conv2 = ConvLayer(8, 16, kernel_size=3, stride=2)
        self.in2 = torch.nn.InstanceNorm2d(16, affine=True)
        self.res1 = ResidualBlock(16)
        self.deconv1 = UpsampleConvLayer(16, 8, kernel_size=3, stride=1, upsample=2)
        self.in3 = torch.nn.InstanceNorm2d(8, affine=True)
        self.deconv2 = ConvLayer(8, 3, kernel_size=9, stride=1)
        self.relu = torch.nn.ReLU()

    def forward(self, X):
        y = self.relu(self.in1(self.conv1(X)))
        y = self.relu(self.in2(self.conv2(y)))
        y = self.res1(y)
        y = self.relu(self.in3(self.deconv1(y)))
        return self.deconv2(y)


class Features(torch.nn.Module):
    """Slices of a net of pictures, as the example's Vgg16."""

    def __init__(self, requires_grad=False):
        super().__init__()
        layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
        )
        self.slice1, self.slice2 = torch.nn.Sequential(), torch.nn.Sequential()
        for x in range(2):
            self.slice1.add_module(str(x), layers[x])
        for x in range(2, 5):
            self.slice2.add_module(str(x), layers[x])
        if not requires_grad:
            for param in self.parameters():
                param.requires_grad = False

    def forward(self, X):
        h_relu1 = self.slice1(X)
        return namedtuple("Outputs", ["relu1", "relu2"])(h_relu1, self.slice2(h_relu1))


def gram_matrix(y):
    (b, ch, h, w) = y.size()
    features = y.view(b, ch, w * h)
    features_t = features.transpose(1, 2)
    return features.bmm(features_t) / (ch * h * w)


def normalize_batch(batch):
    mean = batch.new_tensor([0.485, 0.456, 0.406]).view(-1, 1, 1)
    std = batch.new_tensor([0.229, 0.224, 0.225]).view(-1, 1, 1)
    return (batch.div_(255.0) - mean) / std


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
transformer = seeded(TransformerNet()).to(device)
features = seeded(Features(requires_grad=False)).to(device)
optimizer = Adam(transformer.parameters(), 1e-3)
mse_loss = torch.nn.MSELoss()
style = (uniform(3, 16, 16) * 255).repeat(2, 1, 1, 1).to(device)
gram_style = [gram_matrix(y) for y in features(normalize_batch(style))]
for x in DataLoader([uniform(3, 16, 16) * 255 for _ in range(6)], batch_size=2):
    n_batch = len(x)
    optimizer.zero_grad()
    x = x.to(device)
    y = transformer(x)
    y = normalize_batch(y)
    x = normalize_batch(x)
    features_y, features_x = features(y), features(x)
    content_loss = 10.0 * mse_loss(features_y.relu2, features_x.relu2)
    style_loss = 0.0
    for ft_y, gm_s in zip(features_y, gram_style, strict=True):
        style_loss += mse_loss(gram_matrix(ft_y), gm_s[:n_batch, :, :])
    style_loss *= 100.0
    total_loss = content_loss + style_loss
    total_loss.backward()
    optimizer.step()
    report(content_loss.item())
    report(style_loss.item())
    report(total_loss)
transformer.eval()
report(transformer(style).clone().clamp(0, 255).mean())
