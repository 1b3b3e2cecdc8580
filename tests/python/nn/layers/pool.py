from layers import layer

LAYERS = {
    "max_pool": layer(lambda nn: nn.MaxPool2d(2), (2, 3, 7, 8)),
    "max_pool_options": layer(
        lambda nn: nn.MaxPool2d((3, 2), stride=(2, 1), padding=1, dilation=(1, 2), ceil_mode=True),
        (2, 3, 9, 8),
    ),
    "avg_pool": layer(lambda nn: nn.AvgPool2d(3), (2, 3, 7, 8)),
    "avg_pool_options": layer(lambda nn: nn.AvgPool2d((3, 2), (2, 1), 1, True, False), (2, 3, 8, 7)),
    "adaptive_avg_pool": layer(lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 7, 8)),
    "adaptive_avg_pool_odd": layer(lambda nn: nn.AdaptiveAvgPool2d((3, 5)), (2, 3, 7, 8)),
}
