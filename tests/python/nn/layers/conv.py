from layers import layer

LAYERS = {
    "conv": layer(lambda nn: nn.Conv2d(3, 6, 3), (2, 3, 9, 7)),
    "conv_options": layer(
        lambda nn: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
        (3, 4, 11, 8),
    ),
    "conv_groups": layer(lambda nn: nn.Conv2d(6, 4, 3, padding=1, groups=2, bias=False), (1, 6, 5, 5)),
    "conv_depthwise": layer(lambda nn: nn.Conv2d(5, 10, 3, stride=2, groups=5), (2, 5, 8, 9)),
    "conv_same": layer(lambda nn: nn.Conv2d(3, 4, (4, 3), padding="same", dilation=(1, 2)), (2, 3, 7, 8)),
    "conv_valid": layer(lambda nn: nn.Conv2d(3, 4, 3, padding="valid"), (2, 3, 7, 8)),
    "conv_reflect": layer(
        lambda nn: nn.Conv2d(3, 4, 3, padding=(1, 2), padding_mode="reflect"), (2, 3, 7, 8)
    ),
    "conv_replicate_same": layer(
        lambda nn: nn.Conv2d(3, 4, (4, 3), padding="same", padding_mode="replicate"), (2, 3, 7, 8)
    ),
    "conv_circular": layer(lambda nn: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), (2, 3, 7, 8)),
    "conv_1d": layer(lambda nn: nn.Conv1d(3, 6, 3), (2, 3, 9)),
    "conv_1d_options": layer(
        lambda nn: nn.Conv1d(4, 6, 4, stride=2, padding=3, dilation=2, groups=2, bias=False), (2, 4, 11)
    ),
    "conv_1d_same": layer(lambda nn: nn.Conv1d(3, 4, 4, padding="same"), (3, 9)),
    "conv_1d_circular": layer(lambda nn: nn.Conv1d(3, 4, 3, padding=2, padding_mode="circular"), (2, 3, 9)),
    "conv_3d": layer(lambda nn: nn.Conv3d(3, 6, (2, 3, 3)), (2, 3, 4, 6, 5)),
    "conv_3d_options": layer(
        lambda nn: nn.Conv3d(4, 6, 3, stride=(2, 1, 2), padding=(1, 2, 0), dilation=(1, 2, 1), groups=2),
        (2, 4, 6, 7, 5),
    ),
    "conv_3d_same": layer(lambda nn: nn.Conv3d(2, 3, (3, 2, 4), padding="same", bias=False), (2, 4, 5, 6)),
    "conv_3d_replicate": layer(
        lambda nn: nn.Conv3d(2, 3, 3, padding=1, padding_mode="replicate"), (2, 2, 3, 4, 5)
    ),
    "conv_transpose": layer(lambda nn: nn.ConvTranspose2d(3, 6, 3), (2, 3, 5, 4)),
    "conv_transpose_options": layer(
        lambda nn: nn.ConvTranspose2d(
            4, 6, (3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2), groups=2, dilation=(1, 2)
        ),
        (2, 4, 5, 4),
    ),
    "conv_transpose_no_bias": layer(lambda nn: nn.ConvTranspose2d(2, 3, 4, 2, 1, bias=False), (2, 2, 5, 4)),
    "conv_transpose_1d": layer(lambda nn: nn.ConvTranspose1d(3, 6, 3, stride=2, output_padding=1), (2, 3, 5)),
    "conv_transpose_3d": layer(
        lambda nn: nn.ConvTranspose3d(
            4, 6, (3, 2, 2), stride=(2, 3, 1), padding=(1, 0, 1), output_padding=(1, 2, 0), groups=2
        ),
        (2, 4, 3, 4, 3),
    ),
}
