"""The classes of ocl.nn by the modules in which torch.nn.modules has them."""

from ocl.nn.modules import (  # noqa: F401
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy,
    linear,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
    utils,
)
from ocl.nn.modules.activation import *  # noqa: F403
from ocl.nn.modules.adaptive import *  # noqa: F403
from ocl.nn.modules.batchnorm import *  # noqa: F403
from ocl.nn.modules.channelshuffle import *  # noqa: F403
from ocl.nn.modules.container import *  # noqa: F403
from ocl.nn.modules.conv import *  # noqa: F403
from ocl.nn.modules.distance import *  # noqa: F403
from ocl.nn.modules.dropout import *  # noqa: F403
from ocl.nn.modules.flatten import *  # noqa: F403
from ocl.nn.modules.fold import *  # noqa: F403
from ocl.nn.modules.instancenorm import *  # noqa: F403
from ocl.nn.modules.linear import *  # noqa: F403
from ocl.nn.modules.loss import *  # noqa: F403
from ocl.nn.modules.module import *  # noqa: F403
from ocl.nn.modules.normalization import *  # noqa: F403
from ocl.nn.modules.padding import *  # noqa: F403
from ocl.nn.modules.pixelshuffle import *  # noqa: F403
from ocl.nn.modules.pooling import *  # noqa: F403
from ocl.nn.modules.rnn import *  # noqa: F403
from ocl.nn.modules.sparse import *  # noqa: F403
from ocl.nn.modules.transformer import *  # noqa: F403
from ocl.nn.modules.upsampling import *  # noqa: F403

__all__ = [
    name
    for module in (
        activation,
        adaptive,
        batchnorm,
        channelshuffle,
        container,
        conv,
        distance,
        dropout,
        flatten,
        fold,
        instancenorm,
        linear,
        loss,
        module,
        normalization,
        padding,
        pixelshuffle,
        pooling,
        rnn,
        sparse,
        transformer,
        upsampling,
    )
    for name in module.__all__
]
