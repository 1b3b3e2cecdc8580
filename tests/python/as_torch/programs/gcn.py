"""pytorch/examples gcn: graph convolutions over a normalised adjacency matrix in coordinate format."""

import torch
from common import fill, integers, report, uniform
from torch import nn
from torch.nn.parameter import Parameter
from torch.optim import Adam

NODES, FEATURES, CLASSES = 40, 12, 4
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class GraphConv(nn.Module):
    def __init__(self, input_dim, output_dim, use_bias=False):
        super().__init__()
        self.kernel = Parameter(torch.Tensor(input_dim, output_dim))
        nn.init.xavier_normal_(self.kernel)
        self.bias = None
        if use_bias:
            self.bias = Parameter(torch.Tensor(output_dim))
            nn.init.zeros_(self.bias)

    def forward(self, input_tensor, adj_mat):
        support = torch.mm(input_tensor, self.kernel)
        output = torch.spmm(adj_mat, support)
        return output + self.bias if self.bias is not None else output


class GCN(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim, use_bias=True):
        super().__init__()
        self.gc1 = GraphConv(input_dim, hidden_dim, use_bias=use_bias)
        self.gc2 = GraphConv(hidden_dim, output_dim, use_bias=use_bias)
        self.relu = nn.ReLU()

    def forward(self, input_tensor, adj_mat):
        x = self.relu(self.gc1(input_tensor, adj_mat))
        return nn.functional.log_softmax(self.gc2(x, adj_mat), dim=1)


def load():
    pairs = integers(NODES, 150, 2)
    edges = torch.cat([pairs, torch.stack([torch.arange(NODES)] * 2, dim=1).to(pairs.device)])
    rows, cols = edges[:, 0], edges[:, 1]
    adjacency = torch.sparse_coo_tensor(
        torch.stack([torch.cat([rows, cols]), torch.cat([cols, rows])]),
        torch.ones(2 * len(edges), device=pairs.device),
        (NODES, NODES),
    ).coalesce()
    degree_inv_sqrt = torch.pow(torch.sparse.sum(adjacency, dim=1).to_dense(), -0.5)
    degree = torch.diag(degree_inv_sqrt).to_sparse()
    adjacency = torch.sparse.mm(torch.sparse.mm(degree, adjacency), degree)
    return uniform(NODES, FEATURES), integers(CLASSES, NODES), adjacency.to(device)


features, labels, adjacency = load()
assert adjacency.is_sparse and adjacency.layout == torch.sparse_coo
net = fill(GCN(FEATURES, 8, CLASSES)).to(device)
optimizer = Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
criterion = nn.NLLLoss()
for _ in range(6):
    net.train()
    optimizer.zero_grad()
    loss = criterion(net(features, adjacency)[:30], labels[:30])
    loss.backward()
    optimizer.step()
    report(loss)
