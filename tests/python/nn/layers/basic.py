from layers import layer

LAYERS = {
    "linear": layer(lambda nn: nn.Linear(7, 5), (4, 7)),
    "linear_no_bias": layer(lambda nn: nn.Linear(7, 5, bias=False), (4, 7)),
    "linear_one_row": layer(lambda nn: nn.Linear(7, 5), (7,)),
    "linear_batches": layer(lambda nn: nn.Linear(7, 5), (2, 3, 4, 7)),
    "bilinear": layer(lambda nn: nn.Bilinear(4, 3, 5), (6, 4), (6, 3)),
    "bilinear_no_bias": layer(lambda nn: nn.Bilinear(4, 3, 5, bias=False), (2, 3, 4), (2, 3, 3)),
    "bilinear_one_row": layer(lambda nn: nn.Bilinear(4, 3, 1), (4,), (3,)),
    "flatten": layer(lambda nn: nn.Flatten(), (2, 3, 4)),
    "flatten_some": layer(lambda nn: nn.Flatten(0, 1), (2, 3, 4)),
    "unflatten": layer(lambda nn: nn.Unflatten(1, (2, 3)), (4, 6, 2)),
    "unflatten_rest": layer(lambda nn: nn.Unflatten(dim=-1, unflattened_size=(2, -1)), (3, 6)),
    "unflatten_one": layer(lambda nn: nn.Unflatten(0, (5,)), (5,)),
    "identity": layer(lambda nn: nn.Identity(54, unused=1), (2, 3)),
    "dropout_nothing": layer(lambda nn: nn.Dropout(0.0), (2, 3)),
    "dropout_all": layer(lambda nn: nn.Dropout(1.0), (2, 3)),
    "dropout_inplace": layer(lambda nn: nn.Dropout(p=0, inplace=True), (2, 3)),
    "sequential": layer(
        lambda nn: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Sequential(nn.Linear(6, 2), nn.Tanh())),
        (5, 4),
    ),
}
