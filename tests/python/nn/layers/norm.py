from layers import layer

LAYERS = {
    "batch_norm_1d": layer(lambda nn: nn.BatchNorm1d(6), (9, 6)),
    "batch_norm_1d_long": layer(lambda nn: nn.BatchNorm1d(6, eps=1e-3, momentum=0.3), (3, 6, 5)),
    "batch_norm_2d": layer(lambda nn: nn.BatchNorm2d(4), (3, 4, 5, 6)),
    "batch_norm_3d": layer(lambda nn: nn.BatchNorm3d(4), (3, 4, 2, 5, 3)),
    "batch_norm_average": layer(lambda nn: nn.BatchNorm2d(4, momentum=None), (3, 4, 5, 6)),
    "batch_norm_no_affine": layer(lambda nn: nn.BatchNorm2d(4, affine=False), (3, 4, 5, 6)),
    "batch_norm_no_statistics": layer(lambda nn: nn.BatchNorm2d(4, track_running_stats=False), (3, 4, 5, 6)),
    "layer_norm": layer(lambda nn: nn.LayerNorm(6), (4, 5, 6)),
    "layer_norm_shape": layer(lambda nn: nn.LayerNorm([5, 6], eps=1e-3), (4, 5, 6)),
    "layer_norm_no_bias": layer(lambda nn: nn.LayerNorm(6, bias=False), (4, 6)),
    "layer_norm_no_affine": layer(lambda nn: nn.LayerNorm((6,), elementwise_affine=False), (4, 6)),
    "rms_norm": layer(lambda nn: nn.RMSNorm(6), (4, 6)),
    "rms_norm_options": layer(lambda nn: nn.RMSNorm((5, 6), eps=1e-3, elementwise_affine=False), (4, 5, 6)),
    "group_norm": layer(lambda nn: nn.GroupNorm(2, 6), (3, 6, 4, 5)),
    "group_norm_no_affine": layer(lambda nn: nn.GroupNorm(3, 6, eps=1e-3, affine=False), (3, 6, 7)),
    "instance_norm_1d": layer(lambda nn: nn.InstanceNorm1d(4), (3, 4, 6)),
    "instance_norm_1d_item": layer(lambda nn: nn.InstanceNorm1d(4, affine=True), (4, 6)),
    "instance_norm_2d": layer(lambda nn: nn.InstanceNorm2d(4, affine=True), (3, 4, 5, 6)),
    "instance_norm_statistics": layer(
        lambda nn: nn.InstanceNorm2d(4, momentum=0.3, affine=True, track_running_stats=True),
        (3, 4, 5, 6),
    ),
    "local_response_norm": layer(lambda nn: nn.LocalResponseNorm(3, alpha=0.5, k=2.0), (2, 5, 4, 3)),
}
