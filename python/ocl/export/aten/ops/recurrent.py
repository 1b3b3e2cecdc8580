"""Recurrent layers."""

import ocl
from ocl.export.aten.table import operator


def _recurrent(function):
    def run(call, x, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first):
        train = call.trains(train)
        return function(x, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first)

    return run


operator("aten.lstm.input", call=True, flag=6)(_recurrent(ocl.lstm))
operator("aten.gru.input", call=True, flag=6)(_recurrent(ocl.gru))
operator("aten.rnn_tanh.input", call=True, flag=6)(_recurrent(ocl.rnn_tanh))
operator("aten.rnn_relu.input", call=True, flag=6)(_recurrent(ocl.rnn_relu))
