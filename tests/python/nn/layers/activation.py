from layers import layer

PLAIN = (
    "ReLU ReLU6 Sigmoid Tanh SiLU Mish SELU Hardsigmoid Hardswish LogSigmoid Tanhshrink Softsign LeakyReLU "
    "ELU CELU Softplus Hardtanh Hardshrink Softshrink GELU PReLU GLU"
).split()
IN_PLACE = "ReLU ReLU6 SiLU Mish SELU Hardsigmoid Hardswish LeakyReLU ELU CELU Hardtanh".split()

LAYERS = {
    "softmax": layer(lambda nn: nn.Softmax(dim=1), (3, 5)),
    "log_softmax": layer(lambda nn: nn.LogSoftmax(dim=-1), (3, 5)),
    "softmin": layer(lambda nn: nn.Softmin(dim=1), (3, 5)),
    "gelu_tanh": layer(lambda nn: nn.GELU(approximate="tanh"), (3, 5)),
    "leaky_relu": layer(lambda nn: nn.LeakyReLU(0.2), (3, 5)),
    "leaky_relu_whole": layer(lambda nn: nn.LeakyReLU(2, True), (3, 5)),
    "elu": layer(lambda nn: nn.ELU(alpha=0.7), (3, 5)),
    "celu": layer(lambda nn: nn.CELU(2.0), (3, 5)),
    "softplus": layer(lambda nn: nn.Softplus(beta=2.0, threshold=1.5), (3, 5)),
    "hardtanh": layer(lambda nn: nn.Hardtanh(-0.5, 0.25), (3, 5)),
    "hardshrink": layer(lambda nn: nn.Hardshrink(0.8), (3, 5)),
    "softshrink": layer(lambda nn: nn.Softshrink(lambd=1), (3, 5)),
    "threshold": layer(lambda nn: nn.Threshold(0.1, 20), (3, 5)),
    "threshold_inplace": layer(lambda nn: nn.Threshold(0.5, -1.5, inplace=True), (3, 5)),
    "rrelu_of_one_slope": layer(lambda nn: nn.RReLU(0.3, 0.3), (3, 5)),
    "rrelu_inplace": layer(lambda nn: nn.RReLU(lower=0.25, upper=0.25, inplace=True), (3, 5)),
    "softmax_2d": layer(lambda nn: nn.Softmax2d(), (2, 5, 3, 4)),
    "softmax_2d_of_one": layer(lambda nn: nn.Softmax2d(), (5, 3, 4)),
    "prelu_channels": layer(lambda nn: nn.PReLU(3, init=0.4), (2, 3, 4)),
    "prelu_matrix": layer(lambda nn: nn.PReLU(num_parameters=5), (4, 5)),
    "prelu_vector": layer(lambda nn: nn.PReLU(), (7,)),
    "glu_first": layer(lambda nn: nn.GLU(dim=0), (4, 3)),
    "glu_middle": layer(lambda nn: nn.GLU(1), (2, 6, 3)),
}
LAYERS |= {name: layer(lambda nn, name=name: getattr(nn, name)(), (4, 6)) for name in PLAIN}
LAYERS |= {
    f"{name}_inplace": layer(lambda nn, name=name: getattr(nn, name)(inplace=True), (4, 6))
    for name in IN_PLACE
}
