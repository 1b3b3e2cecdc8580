"""Diego999/pyGAT: attention over the edges of a graph, with a product whose gradient is its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, integers, report, uniform

NODES, FEATURES, CLASSES = 24, 6, 3


class SpecialSpmmFunction(torch.autograd.Function):
    """Special function for only sparse region backpropataion layer."""

    @staticmethod
    def forward(ctx, indices, values, shape, b):
        assert not indices.requires_grad
        a = torch.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(a, b)
        ctx.N = shape[0]
        return torch.matmul(a, b)

    @staticmethod
    def backward(ctx, grad_output):
        a, b = ctx.saved_tensors
        grad_values = grad_b = None
        if ctx.needs_input_grad[1]:
            grad_a_dense = grad_output.matmul(b.t())
            edge_idx = a._indices()[0, :] * ctx.N + a._indices()[1, :]
            grad_values = grad_a_dense.view(-1)[edge_idx]
        if ctx.needs_input_grad[3]:
            grad_b = a.t().matmul(grad_output)
        return None, grad_values, None, grad_b


class SpecialSpmm(nn.Module):
    def forward(self, indices, values, shape, b):
        return SpecialSpmmFunction.apply(indices, values, shape, b)


class SpGraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, alpha, concat=True):
        super().__init__()
        self.concat = concat
        self.W = nn.Parameter(torch.zeros(size=(in_features, out_features)))
        nn.init.xavier_normal_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.zeros(size=(1, 2 * out_features)))
        nn.init.xavier_normal_(self.a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(alpha)
        self.special_spmm = SpecialSpmm()

    def forward(self, input, adj):
        N = input.size()[0]
        edge = adj.nonzero().t()
        h = torch.mm(input, self.W)
        edge_h = torch.cat((h[edge[0, :], :], h[edge[1, :], :]), dim=1).t()
        edge_e = torch.exp(-self.leakyrelu(self.a.mm(edge_h).squeeze()))
        e_rowsum = self.special_spmm(
            edge, edge_e, torch.Size([N, N]), torch.ones(size=(N, 1), device=input.device)
        )
        h_prime = self.special_spmm(edge, edge_e, torch.Size([N, N]), h)
        h_prime = h_prime.div(e_rowsum)
        return F.elu(h_prime) if self.concat else h_prime


class SpGAT(nn.Module):
    def __init__(self, nfeat, nhid, nclass, alpha, nheads):
        super().__init__()
        self.attentions = [SpGraphAttentionLayer(nfeat, nhid, alpha) for _ in range(nheads)]
        for i, attention in enumerate(self.attentions):
            self.add_module(f"attention_{i}", attention)
        self.out_att = SpGraphAttentionLayer(nhid * nheads, nclass, alpha, concat=False)

    def forward(self, x, adj):
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        return F.log_softmax(F.elu(self.out_att(x, adj)), dim=1)


features, labels = uniform(NODES, FEATURES), integers(CLASSES, NODES)
adj = (uniform(NODES, NODES) > 0.8).float() + torch.eye(NODES, device=features.device)
net = fill(SpGAT(FEATURES, 5, CLASSES, 0.2, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.005, weight_decay=5e-4)
for _ in range(6):
    optimizer.zero_grad()
    loss = F.nll_loss(net(features, adj), labels)
    loss.backward()
    optimizer.step()
    report(loss)
