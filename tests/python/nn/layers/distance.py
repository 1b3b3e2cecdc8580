"""Distances, and losses of three tensors."""

import numpy as np

from layers import layer


def signs(*shape):
    """Targets of -1 and 1."""
    return lambda rng: rng.choice([-1, 1], shape)


LAYERS = {
    "pairwise_distance": layer(lambda nn: nn.PairwiseDistance(), (4, 6), (4, 6)),
    "pairwise_distance_options": layer(
        lambda nn: nn.PairwiseDistance(p=1, eps=0.1, keepdim=True), (2, 4, 6), (4, 6)
    ),
    "cosine_similarity": layer(lambda nn: nn.CosineSimilarity(), (4, 6), (4, 6)),
    "cosine_similarity_first": layer(lambda nn: nn.CosineSimilarity(dim=0, eps=1e-3), (6, 3), (6, 3)),
    "gaussian_nll_loss": layer(
        lambda nn: nn.GaussianNLLLoss(full=True, reduction="sum"),
        *((4, 6), (4, 6)),
        lambda rng: rng.uniform(0.1, 2, (4, 1)).astype(np.float32),
    ),
    "margin_ranking_loss": layer(lambda nn: nn.MarginRankingLoss(0.3), (5, 4), (5, 4), signs(5, 4)),
    "cosine_embedding_loss": layer(lambda nn: nn.CosineEmbeddingLoss(margin=0.2), (5, 4), (5, 4), signs(5)),
    "triplet_margin_loss": layer(lambda nn: nn.TripletMarginLoss(), (5, 4), (5, 4), (5, 4)),
    "triplet_margin_loss_options": layer(
        lambda nn: nn.TripletMarginLoss(2.0, p=1, swap=True, reduction="none"), (5, 4), (5, 4), (5, 4)
    ),
    "triplet_margin_with_distance_loss": layer(
        lambda nn: nn.TripletMarginWithDistanceLoss(swap=True), (5, 4), (5, 4), (5, 4)
    ),
    "triplet_margin_of_cosines": layer(
        lambda nn: nn.TripletMarginWithDistanceLoss(
            distance_function=lambda a, b: 1 - nn.CosineSimilarity()(a, b), margin=0.5, reduction="sum"
        ),
        *((5, 4), (5, 4), (5, 4)),
    ),
}
