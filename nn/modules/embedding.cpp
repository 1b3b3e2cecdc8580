#include "nn/modules/embedding.h"

#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

/** With padding_idx counted from the front. */
EmbeddingOptions checked(EmbeddingOptions o) {
  const std::int64_t count = o.num_embeddings();
  if (!o.padding_idx()) return o;
  const std::int64_t row = *o.padding_idx();
  dlprim::require(row >= -count && row < count, "Embedding: padding_idx must be within num_embeddings (",
                  count, "), got ", row);
  return o.padding_idx(row < 0 ? row + count : row);
}

}  // namespace

Embedding::Embedding(const EmbeddingOptions& given) : Layer(checked(given)) {
  register_parameter("weight", weight, made({given.num_embeddings(), given.embedding_dim()}));
  initialize();
}

void Embedding::reset_parameters() {
  init::normal_(weight);
  if (const auto row = options().padding_idx()) select(weight.detach(), 0, *row).zero_();
}

std::shared_ptr<Embedding> Embedding::from_pretrained(const Tensor& embeddings, bool freeze,
                                                      std::optional<std::int64_t> padding_idx) {
  dlprim::require(embeddings.dim() == 2,
                  "Embedding: embeddings parameter is expected to be 2-dimensional, got shape ",
                  embeddings.shape());
  const FactoryScope hollow(std::nullopt, std::nullopt, true);
  const auto module = std::make_shared<Embedding>(
      EmbeddingOptions(embeddings.size(0), embeddings.size(1)).padding_idx(padding_idx));
  static_cast<Module&>(*module).register_parameter("weight", parameter(embeddings.detach(), !freeze));
  return module;
}

std::string Embedding::extra_repr() const {
  const EmbeddingOptions o = options();
  const std::string padding = o.padding_idx() ? ", padding_idx=" + repr_of(o.padding_idx()) : "";
  return dlprim::concat(o.num_embeddings(), ", ", o.embedding_dim(), padding);
}

}  // namespace ocl::nn
