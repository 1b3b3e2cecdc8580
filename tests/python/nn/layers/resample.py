from layers import layer

LAYERS = {
    "upsample": layer(lambda nn: nn.Upsample(scale_factor=2), (2, 3, 4, 5)),
    "upsample_size": layer(lambda nn: nn.Upsample((7, 9), mode="bilinear"), (2, 3, 4, 5)),
    "upsample_corners": layer(
        lambda nn: nn.Upsample(scale_factor=(1.5, 2.5), mode="bilinear", align_corners=True), (2, 3, 4, 5)
    ),
    "upsample_1d": layer(lambda nn: nn.Upsample(9, mode="linear"), (2, 3, 4)),
    "pixel_shuffle": layer(lambda nn: nn.PixelShuffle(2), (2, 8, 3, 4)),
    "pixel_unshuffle": layer(lambda nn: nn.PixelUnshuffle(2), (2, 3, 4, 6)),
    "channel_shuffle": layer(lambda nn: nn.ChannelShuffle(2), (2, 6, 3, 4)),
    "unfold": layer(lambda nn: nn.Unfold(2), (2, 3, 4, 5)),
    "unfold_options": layer(lambda nn: nn.Unfold((2, 3), dilation=2, padding=(1, 2), stride=2), (3, 5, 6)),
    "fold": layer(lambda nn: nn.Fold((4, 5), 2), (2, 8, 12)),
    "fold_options": layer(lambda nn: nn.Fold(5, (2, 3), dilation=2, padding=1, stride=(1, 2)), (1, 12, 10)),
    "zero_pad": layer(lambda nn: nn.ZeroPad2d((1, 2, 0, 3)), (2, 3, 4, 5)),
    "zero_pad_1d": layer(lambda nn: nn.ZeroPad1d(2), (2, 3, 4)),
    "zero_pad_3d": layer(lambda nn: nn.ZeroPad3d(1), (1, 2, 3, 4, 3)),
    "reflection_pad": layer(lambda nn: nn.ReflectionPad2d(2), (2, 3, 4, 5)),
    "reflection_pad_1d": layer(lambda nn: nn.ReflectionPad1d((1, 2)), (2, 3, 4)),
    "reflection_pad_3d": layer(lambda nn: nn.ReflectionPad3d(1), (1, 2, 3, 4, 3)),
    "replication_pad": layer(lambda nn: nn.ReplicationPad2d((0, 1, 2, 3)), (2, 3, 4, 5)),
    "replication_pad_1d": layer(lambda nn: nn.ReplicationPad1d(3), (2, 3, 4)),
    "replication_pad_3d": layer(lambda nn: nn.ReplicationPad3d(1), (1, 2, 3, 4, 3)),
    "circular_pad": layer(lambda nn: nn.CircularPad2d(2), (2, 3, 4, 5)),
    "circular_pad_1d": layer(lambda nn: nn.CircularPad1d((1, 2)), (2, 3, 4)),
    "circular_pad_3d": layer(lambda nn: nn.CircularPad3d(1), (1, 2, 3, 4, 3)),
}
