#include "nn/modules/embedding.h"

#include "autograd/creation.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "nn/init.h"

namespace ocl::nn {

Embedding::Embedding(const Tensor& rows, std::optional<std::int64_t> padding_idx)
    : padding_idx_(padding_idx) {
  dlprim::require(rows.dim() == 2,
                  "Embedding: embeddings parameter is expected to be 2-dimensional, got shape ",
                  rows.shape());
  const std::int64_t count = rows.size(0);
  dlprim::require(!padding_idx || (*padding_idx >= -count && *padding_idx < count),
                  "Embedding: padding_idx must be within num_embeddings (", count, "), got ",
                  padding_idx.value_or(0));
  if (padding_idx && *padding_idx < 0) padding_idx_ = *padding_idx + count;
  register_parameter("weight", weight, rows);
}

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     std::optional<std::int64_t> padding_idx)
    : Embedding(empty({num_embeddings, embedding_dim}), padding_idx) {
  init::normal_(weight);
  if (!padding_idx_) return;
  const NoGradGuard no_grad;
  select(weight.detach(), 0, *padding_idx_).zero_();
}

std::shared_ptr<Embedding> Embedding::from_pretrained(const Tensor& embeddings, bool freeze,
                                                      std::optional<std::int64_t> padding_idx) {
  const std::shared_ptr<Embedding> module(new Embedding(embeddings.detach(), padding_idx));
  module->weight.requires_grad_(!freeze);
  return module;
}

std::string Embedding::extra_repr() const {
  return dlprim::concat(weight.size(0), ", ", weight.size(1),
                        padding_idx_ ? dlprim::concat(", padding_idx=", *padding_idx_) : "");
}

}  // namespace ocl::nn
