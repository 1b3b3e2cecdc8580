#include "autograd/autocast.h"

#include <string_view>
#include <unordered_map>

#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"

namespace ocl {
namespace {

using dlprim::require;

/** PyTorch's lists (ATen/autocast_mode.h), by the names of our operators: some of ours are several of its
 * own. */
constexpr std::pair<CastRule, const char*> rules[] = {
    {CastRule::lower_precision,
     "convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm matmul "
     "einsum mm mv linear baddbmm bmm addbmm addmv addr "
     "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
     "scaled_dot_product_attention"},
    {CastRule::lower_precision_of_ends, "quantized_linear"},
    {CastRule::float32,
     "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm "
     "rms_norm "
     "group_norm cosine_similarity nll_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss "
     "binary_cross_entropy_with_logits logsumexp prod softmax log_softmax softmin cumprod cumsum norm "
     "normalize sum interpolate cdist pdist poisson_nll_loss hinge_embedding_loss margin_ranking_loss "
     "triplet_margin_loss cosine_embedding_loss soft_margin_loss multi_margin_loss multilabel_margin_loss "
     "renorm"},
    {CastRule::float32_result, "cross_entropy"},
    {CastRule::widest, "addcdiv addcmul atan2 bilinear cross dot grid_sample scatter_add tensordot vdot"},
    {CastRule::refused, "binary_cross_entropy"}};

const auto& rule_table() {
  static const auto& table = *[] {
    auto* rows = new std::unordered_map<std::string_view, CastRule>;
    for (const auto& [rule, names] : rules)
      for (std::string_view rest = names; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        rows->emplace(rest.substr(0, end), rule);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    return rows;
  }();
  return table;
}

bool is_castable(const Tensor& t) {
  return t.defined() && is_floating(t.dtype()) && t.dtype() != DType::float64;
}

/** Whether all that would be cast is of one dtype. */
bool are_alike(const std::vector<Tensor*>& tensors) {
  const Tensor* first = nullptr;
  for (const Tensor* t : tensors) {
    if (!is_castable(*t)) continue;
    if (first && t->dtype() != first->dtype()) return false;
    first = t;
  }
  return true;
}

class Autocast final : public Interceptor {
 public:
  AutocastMode mode;

  bool intercepts(const char* name) override { return rule_table().count(name) > 0; }

  std::optional<TensorList> intercept(const InterceptedCall& call) override {
    cast(call.name, call.tensors);
    return {};
  }

  void forget() { copies_.clear(); }

 private:
  void cast(const char* name, const std::vector<Tensor*>& tensors) {
    const CastRule rule = rule_table().at(name);
    require<AutogradError>(rule != CastRule::refused, name,
                           ": unsafe to autocast: a logarithm of a probability in 16 bits. Use "
                           "binary_cross_entropy_with_logits or BCEWithLogitsLoss, or leave autocast for it");
    if (rule == CastRule::float32_result && are_alike(tensors)) return;
    const bool casts_ends = rule == CastRule::lower_precision_of_ends;
    DType dtype = rule == CastRule::lower_precision || casts_ends ? mode.dtype : DType::float32;
    if (rule == CastRule::widest) {
      dtype = mode.dtype;
      for (const Tensor* t : tensors)
        if (is_castable(*t)) dtype = dlprim::promote_types(dtype, t->dtype());
    }
    for (Tensor* t : tensors) {
      const bool is_between = casts_ends && t != tensors.front() && t != tensors.back();
      if (!is_between && is_castable(*t) && t->dtype() != dtype) *t = cast(*t, dtype);
    }
  }

  /** The copy of a weight, and what it is a copy of. */
  struct Copy {
    Tensor weight, copy;
    std::shared_ptr<dlprim::Storage> storage;
    std::uint32_t version;
  };

  Tensor cast(const Tensor& t, DType dtype) {
    const bool is_weight = t.is_leaf() && t.requires_grad() && grad_enabled();
    const bool is_kept =
        mode.cache_enabled && is_weight && dtype == mode.dtype && dlprim::call_state.has_elements;
    if (!is_kept) return to(t, dtype);
    Copy& kept = copies_[&t.impl()];
    const auto& storage = t.data().storage;
    const bool is_current = kept.copy.defined() && kept.copy.dtype() == dtype && kept.storage == storage &&
                            kept.version == storage->version();
    if (!is_current) kept = {t, to(t, dtype), storage, storage->version()};
    return kept.copy;
  }

  std::unordered_map<const TensorImpl*, Copy> copies_;
};

/** The autocast of a thread, from when it first asks for one. One that ends within autocast leaves its copies
 * behind: by then there may be no device to free them on. */
struct Owner {
  Autocast* autocast = nullptr;
  ~Owner() {
    if (autocast && !autocast->mode.enabled) delete autocast;
  }
};
thread_local Owner owner;

}  // namespace

AutocastMode autocast_mode() {
  return owner.autocast ? owner.autocast->mode : AutocastMode();
}

AutocastMode set_autocast_mode(const AutocastMode& mode) {
  require<TypeError>(!mode.enabled || mode.dtype == DType::bfloat16 || mode.dtype == DType::float16,
                     "autocast: expected dtype bfloat16 or float16, got ", name(mode.dtype));
  Autocast*& autocast = owner.autocast;
  if (!autocast) {
    if (!mode.enabled) return {};
    autocast = new Autocast;
  }
  const AutocastMode before = std::exchange(autocast->mode, mode);
  set_last_interceptor(*autocast, mode.enabled);
  if (!mode.enabled) autocast->forget();
  return before;
}

AutocastGuard::~AutocastGuard() {
  set_autocast_mode(before_);
}

CastRule cast_rule(const std::string& name) {
  const auto found = rule_table().find(name);
  return found == rule_table().end() ? CastRule::none : found->second;
}

bool gives_float32(const char* name) {
  return autocast_mode().enabled && cast_rule(name) == CastRule::float32_result;
}

}  // namespace ocl
