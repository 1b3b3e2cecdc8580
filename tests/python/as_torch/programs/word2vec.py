"""Skip-grams with negative samples: two tables with sparse gradients, and SparseAdam."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from common import fill, integers, report

WORDS, SIZE, BATCH, NEGATIVES = 50, 8, 16, 5


class SkipGramModel(nn.Module):
    def __init__(self, emb_size, emb_dimension):
        super().__init__()
        self.u_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)
        self.v_embeddings = nn.Embedding(emb_size, emb_dimension, sparse=True)

    def forward(self, pos_u, pos_v, neg_v):
        emb_u = self.u_embeddings(pos_u)
        emb_v = self.v_embeddings(pos_v)
        emb_neg_v = self.v_embeddings(neg_v)
        score = torch.sum(torch.mul(emb_u, emb_v), dim=1)
        score = -F.logsigmoid(torch.clamp(score, max=10, min=-10))
        neg_score = torch.bmm(emb_neg_v, emb_u.unsqueeze(2)).squeeze()
        neg_score = -torch.sum(F.logsigmoid(-torch.clamp(neg_score, max=10, min=-10)), dim=1)
        return torch.mean(score + neg_score)


net = fill(SkipGramModel(WORDS, SIZE))
optimizer = torch.optim.SparseAdam(list(net.parameters()), lr=0.05)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)
for _ in range(8):
    optimizer.zero_grad()
    loss = net(integers(WORDS, BATCH), integers(WORDS, BATCH), integers(WORDS, BATCH, NEGATIVES))
    loss.backward()
    assert net.u_embeddings.weight.grad.is_sparse
    optimizer.step()
    scheduler.step()
    report(loss)
