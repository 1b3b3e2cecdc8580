"""Training steps that tests export."""

import ocl.nn.functional as F


def training(net, optimizer):
    """A step on a batch of inputs and classes, which gives the loss."""

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step
