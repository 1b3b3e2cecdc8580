#include "nn/modules/embedding.h"

#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "nn/init.h"

namespace ocl::nn {
namespace {

/** With padding_idx counted from the front. */
template <class Options>
Options checked(const char* layer, Options o) {
  const std::int64_t count = o.num_embeddings();
  if (!o.padding_idx()) return o;
  const std::int64_t row = *o.padding_idx();
  dlprim::require(row >= -count && row < count, layer, ": padding_idx must be within num_embeddings (", count,
                  "), got ", row);
  return o.padding_idx(row < 0 ? row + count : row);
}

/** Normal rows, but for that of `padding_idx`. */
void fill_rows(Tensor& weight, const std::optional<std::int64_t>& padding_idx) {
  init::normal_(weight);
  if (padding_idx) select(weight.detach(), 0, *padding_idx).zero_();
}

void require_rows(const char* layer, const Tensor& embeddings) {
  dlprim::require(embeddings.dim() == 2, layer,
                  ": embeddings parameter is expected to be 2-dimensional, got shape ", embeddings.shape());
}

}  // namespace

Embedding::Embedding(const EmbeddingOptions& given) : Layer(checked("Embedding", given)) {
  register_parameter("weight", weight, made({given.num_embeddings(), given.embedding_dim()}));
  initialize();
}

void Embedding::reset_parameters() {
  fill_rows(weight, options().padding_idx());
}

std::shared_ptr<Embedding> Embedding::from_pretrained(const Tensor& embeddings, bool freeze,
                                                      std::optional<std::int64_t> padding_idx) {
  require_rows("Embedding", embeddings);
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

EmbeddingBag::EmbeddingBag(const EmbeddingBagOptions& given) : Layer(checked("EmbeddingBag", given)) {
  register_parameter("weight", weight, made({given.num_embeddings(), given.embedding_dim()}));
  initialize();
}

void EmbeddingBag::reset_parameters() {
  fill_rows(weight, options().padding_idx());
}

std::shared_ptr<EmbeddingBag> EmbeddingBag::from_pretrained(const Tensor& embeddings, bool freeze,
                                                            const std::string& mode, bool include_last_offset,
                                                            std::optional<std::int64_t> padding_idx) {
  require_rows("EmbeddingBag", embeddings);
  const FactoryScope hollow(std::nullopt, std::nullopt, true);
  const auto module =
      std::make_shared<EmbeddingBag>(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                                         .mode(mode)
                                         .include_last_offset(include_last_offset)
                                         .padding_idx(padding_idx));
  static_cast<Module&>(*module).register_parameter("weight", parameter(embeddings.detach(), !freeze));
  return module;
}

Tensor EmbeddingBag::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  const EmbeddingBagOptions o = options();
  return embedding_bag(input, held(weight), offsets, o.mode(), per_sample_weights, o.include_last_offset(),
                       o.padding_idx());
}

const OfSeveralInputs::Inputs& EmbeddingBag::inputs() const {
  static const auto& all = *new Inputs{{"input", "offsets", "per_sample_weights"}, 1};
  return all;
}

std::string EmbeddingBag::extra_repr() const {
  const EmbeddingBagOptions o = options();
  const std::string padding = o.padding_idx() ? ", padding_idx=" + repr_of(o.padding_idx()) : "";
  return dlprim::concat(o.num_embeddings(), ", ", o.embedding_dim(), ", mode=", repr_of(o.mode()), padding);
}

}  // namespace ocl::nn
