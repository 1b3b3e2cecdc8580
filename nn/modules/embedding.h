#pragma once

#include <optional>

#include "autograd/ops/indexing.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Embedding: [...] of int64 or int32 -> [..., embedding_dim]. */
class Embedding : public Module {
 public:
  /** Rows from a standard normal distribution; row `padding_idx` is 0 and gets no gradient. */
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
            std::optional<std::int64_t> padding_idx = std::nullopt);
  /** Rows given, [num_embeddings, embedding_dim]; `freeze`: they ask for no gradient. */
  static std::shared_ptr<Embedding> from_pretrained(const Tensor& embeddings, bool freeze = true,
                                                    std::optional<std::int64_t> padding_idx = std::nullopt);

  Tensor forward(const Tensor& input) override { return embedding(input, held(weight), padding_idx_); }
  std::string name() const override { return "Embedding"; }
  std::string extra_repr() const override;
  std::optional<std::int64_t> padding_idx() const { return padding_idx_; }

  Tensor weight;  // [num_embeddings, embedding_dim]

 private:
  Embedding(const Tensor& rows, std::optional<std::int64_t> padding_idx);

  std::optional<std::int64_t> padding_idx_;
};

}  // namespace ocl::nn
