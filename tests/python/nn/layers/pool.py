from layers import layer

LAYERS = {
    "max_pool": layer(lambda nn: nn.MaxPool2d(2), (2, 3, 7, 8)),
    "max_pool_options": layer(
        lambda nn: nn.MaxPool2d((3, 2), stride=(2, 1), padding=1, dilation=(1, 2), ceil_mode=True),
        (2, 3, 9, 8),
    ),
    "max_pool_pair": layer(lambda nn: nn.MaxPool2d((2, 2)), (2, 3, 7, 8)),
    "max_pool_1d": layer(lambda nn: nn.MaxPool1d(3, 2, 1, 2, ceil_mode=True), (2, 3, 11)),
    "max_pool_3d": layer(lambda nn: nn.MaxPool3d(2), (2, 3, 4, 7, 5)),
    "max_pool_3d_options": layer(
        lambda nn: nn.MaxPool3d((3, 2, 3), stride=(2, 1, 2), padding=1, dilation=(1, 2, 1), ceil_mode=True),
        (2, 3, 6, 8, 7),
    ),
    "avg_pool": layer(lambda nn: nn.AvgPool2d(3), (2, 3, 7, 8)),
    "avg_pool_options": layer(lambda nn: nn.AvgPool2d((3, 2), (2, 1), 1, True, False), (2, 3, 8, 7)),
    "avg_pool_divisor": layer(lambda nn: nn.AvgPool2d(2, divisor_override=3), (2, 3, 8, 7)),
    "avg_pool_1d": layer(lambda nn: nn.AvgPool1d(3), (2, 3, 11)),
    "avg_pool_1d_options": layer(lambda nn: nn.AvgPool1d(3, 2, 1, True, False), (2, 3, 12)),
    "avg_pool_3d": layer(lambda nn: nn.AvgPool3d(2), (2, 3, 4, 7, 5)),
    "avg_pool_3d_options": layer(
        lambda nn: nn.AvgPool3d((3, 2, 2), (2, 1, 1), 1, True, False, 5), (2, 3, 6, 5, 4)
    ),
    "adaptive_avg_pool": layer(lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 7, 8)),
    "adaptive_avg_pool_pair": layer(lambda nn: nn.AdaptiveAvgPool2d((1, 1)), (2, 3, 7, 8)),
    "adaptive_avg_pool_odd": layer(lambda nn: nn.AdaptiveAvgPool2d((3, 5)), (2, 3, 7, 8)),
    "adaptive_avg_pool_none": layer(lambda nn: nn.AdaptiveAvgPool2d((None, 5)), (2, 3, 7, 8)),
    "adaptive_avg_pool_1d": layer(lambda nn: nn.AdaptiveAvgPool1d(4), (2, 3, 7)),
    "adaptive_avg_pool_3d": layer(lambda nn: nn.AdaptiveAvgPool3d((2, None, 3)), (2, 3, 5, 4, 7)),
    "adaptive_max_pool_3d": layer(lambda nn: nn.AdaptiveMaxPool3d(2), (2, 3, 5, 4, 7)),
    "adaptive_max_pool": layer(lambda nn: nn.AdaptiveMaxPool2d((3, 5)), (2, 3, 7, 8)),
    "adaptive_max_pool_1d": layer(lambda nn: nn.AdaptiveMaxPool1d(4), (2, 3, 7)),
    "lp_pool_1d": layer(lambda nn: nn.LPPool1d(2, 3, stride=2), (2, 3, 8)),
    "lp_pool": layer(lambda nn: nn.LPPool2d(2.0, (3, 2), ceil_mode=True), (2, 3, 8, 7)),
    "lp_pool_3d": layer(lambda nn: nn.LPPool3d(1, 2), (1, 3, 4, 5, 4)),
    "lp_pool_maxima": layer(lambda nn: nn.LPPool2d(float("inf"), 2), (2, 3, 8, 7)),
}
