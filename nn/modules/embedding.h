#pragma once

#include "autograd/ops/index.h"
#include "nn/modules/several_inputs.h"

namespace ocl::nn {

struct EmbeddingOptions {
  EmbeddingOptions() = default;
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  OPTION(std::int64_t, num_embeddings) = 0;
  OPTION(std::int64_t, embedding_dim) = 0;
  /** A row that is 0 and gets no gradient. */
  OPTION(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  OPTION_LIST(2, num_embeddings_, embedding_dim_, padding_idx_)
};

/** torch.nn.Embedding: [...] of int64 or int32 -> [..., embedding_dim]. Throws ValueError. */
class Embedding : public Layer<Embedding, EmbeddingOptions> {
 public:
  HOLDER(Embedding, Layer)
  explicit Embedding(const EmbeddingOptions& options);
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : Embedding(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  /** Rows given, [num_embeddings, embedding_dim]; `freeze`: they ask for no gradient. */
  static std::shared_ptr<Embedding> from_pretrained(const Tensor& embeddings, bool freeze = true,
                                                    std::optional<std::int64_t> padding_idx = std::nullopt);

  Tensor forward(const Tensor& input) override {
    return embedding(input, held(weight), options().padding_idx());
  }
  /** Standard normal rows. */
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // [num_embeddings, embedding_dim]
};

struct EmbeddingBagOptions {
  EmbeddingBagOptions() = default;
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  OPTION(std::int64_t, num_embeddings) = 0;
  OPTION(std::int64_t, embedding_dim) = 0;
  /** "sum", "mean" or "max". */
  OPTION(std::string, mode) = "mean";
  /** Whether the last offset is the end of the last bag. */
  OPTION(bool, include_last_offset) = false;
  /** A row that is 0 at first, counts in no bag and gets no gradient. */
  OPTION(std::optional<std::int64_t>, padding_idx) = std::nullopt;
  OPTION_LIST(2, num_embeddings_, embedding_dim_, mode_, include_last_offset_, padding_idx_)
};

/** torch.nn.EmbeddingBag: bags of rows joined; see ocl::embedding_bag. Throws ValueError. */
class EmbeddingBag : public Layer<EmbeddingBag, EmbeddingBagOptions, OfSeveralInputs> {
 public:
  HOLDER(EmbeddingBag, Layer)
  explicit EmbeddingBag(const EmbeddingBagOptions& options);
  EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingBag(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  /** Rows given, [num_embeddings, embedding_dim]; `freeze`: they ask for no gradient. */
  static std::shared_ptr<EmbeddingBag> from_pretrained(
      const Tensor& embeddings, bool freeze = true, const std::string& mode = "mean",
      bool include_last_offset = false, std::optional<std::int64_t> padding_idx = std::nullopt);

  Tensor forward(const Tensor& input) override { return forward(input, Tensor()); }
  Tensor forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights = {});
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1], given[2]); }
  /** Standard normal rows. */
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // [num_embeddings, embedding_dim]
};

}  // namespace ocl::nn
