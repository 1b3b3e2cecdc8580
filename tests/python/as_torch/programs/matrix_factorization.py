"""Ratings as products of rows of two tables, with biases: sparse gradients, and SGD with momentum."""

import torch
from common import fill, integers, report, uniform

USERS, ITEMS, FACTORS, BATCH = 30, 20, 6, 32


class BiasedMatrixFactorization(torch.nn.Module):
    def __init__(self, n_users, n_items, n_factors):
        super().__init__()
        self.user_factors = torch.nn.Embedding(n_users, n_factors, sparse=True)
        self.item_factors = torch.nn.Embedding(n_items, n_factors, sparse=True)
        self.user_biases = torch.nn.Embedding(n_users, 1, sparse=True)
        self.item_biases = torch.nn.EmbeddingBag(n_items, 1, mode="sum", sparse=True)

    def forward(self, user, item):
        pred = self.user_biases(user) + self.item_biases(item.unsqueeze(1))
        pred += (self.user_factors(user) * self.item_factors(item)).sum(1, keepdim=True)
        return pred.squeeze()


model = fill(BiasedMatrixFactorization(USERS, ITEMS, FACTORS))
loss_func = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.5)
second = torch.optim.Adagrad(model.parameters(), lr=0.05)
for step in range(8):
    user, item, rating = integers(USERS, BATCH), integers(ITEMS, BATCH), uniform(BATCH) * 5
    loss = loss_func(model(user, item), rating)
    optimizer.zero_grad()
    loss.backward()
    (optimizer if step % 2 else second).step()
    report(loss)
