from layers import layer

LAYERS = {
    "conv": layer(lambda nn: nn.Conv2d(3, 6, 3), (2, 3, 9, 7)),
    "conv_options": layer(
        lambda nn: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
        (3, 4, 11, 8),
    ),
    "conv_groups": layer(lambda nn: nn.Conv2d(6, 4, 3, padding=1, groups=2, bias=False), (1, 6, 5, 5)),
    "conv_depthwise": layer(lambda nn: nn.Conv2d(5, 10, 3, stride=2, groups=5), (2, 5, 8, 9)),
}
