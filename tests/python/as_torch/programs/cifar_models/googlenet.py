import torch
import torch.nn as nn


def convolution(in_planes, planes, size):
    return [
        nn.Conv2d(in_planes, planes, kernel_size=size, padding=size // 2),
        nn.BatchNorm2d(planes),
        nn.ReLU(True),
    ]


class Inception(nn.Module):
    def __init__(self, in_planes, n1x1, n3x3red, n3x3, n5x5red, n5x5, pool_planes):
        super().__init__()
        self.b1 = nn.Sequential(*convolution(in_planes, n1x1, 1))
        self.b2 = nn.Sequential(*convolution(in_planes, n3x3red, 1), *convolution(n3x3red, n3x3, 3))
        self.b3 = nn.Sequential(
            *convolution(in_planes, n5x5red, 1), *convolution(n5x5red, n5x5, 3), *convolution(n5x5, n5x5, 3)
        )
        self.b4 = nn.Sequential(nn.MaxPool2d(3, stride=1, padding=1), *convolution(in_planes, pool_planes, 1))

    def forward(self, x):
        return torch.cat([self.b1(x), self.b2(x), self.b3(x), self.b4(x)], 1)


class GoogLeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre_layers = nn.Sequential(*convolution(3, 192, 3))
        self.a3 = Inception(192, 64, 96, 128, 16, 32, 32)
        self.b3 = Inception(256, 128, 128, 192, 32, 96, 64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.a4 = Inception(480, 192, 96, 208, 16, 48, 64)
        self.b4 = Inception(512, 160, 112, 224, 24, 64, 64)
        self.c4 = Inception(512, 128, 128, 256, 24, 64, 64)
        self.d4 = Inception(512, 112, 144, 288, 32, 64, 64)
        self.e4 = Inception(528, 256, 160, 320, 32, 128, 128)
        self.a5 = Inception(832, 256, 160, 320, 32, 128, 128)
        self.b5 = Inception(832, 384, 192, 384, 48, 128, 128)
        self.avgpool = nn.AvgPool2d(8, stride=1)
        self.linear = nn.Linear(1024, 10)

    def forward(self, x):
        out = self.pre_layers(x)
        out = self.b3(self.a3(out))
        out = self.maxpool(out)
        out = self.e4(self.d4(self.c4(self.b4(self.a4(out)))))
        out = self.maxpool(out)
        out = self.b5(self.a5(out))
        out = self.avgpool(out)
        out = out.view(out.size(0), -1)
        return self.linear(out)
