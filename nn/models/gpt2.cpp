#include "nn/models/gpt2.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <tuple>
#include <utility>

#include "autograd/ops/attention.h"
#include "autograd/ops/compare.h"
#include "autograd/ops/index.h"
#include "autograd/ops/join.h"
#include "autograd/ops/masking.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/random.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/sort.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "nn/init.h"
#include "nn/models/key_value_cache.h"

namespace ocl::models {

using dlprim::require;

namespace {

GPT2Options published(std::int64_t n_embd, std::int64_t n_layer, std::int64_t n_head) {
  return GPT2Options().n_embd(n_embd).n_layer(n_layer).n_head(n_head);
}

void require_tokens(const char* op, const Tensor& tokens) {
  require(tokens.dim() == 2 && tokens.size(1) > 0, op,
          ": expected tokens [N, T] with T of at least 1, got shape ", tokens.shape());
  require<TypeError>(tokens.dtype() == DType::int64 || tokens.dtype() == DType::int32, op,
                     ": expected tokens of dtype int64 or int32, got ", name(tokens.dtype()));
}

/** Refuses what no distribution can be made of. */
void require_choice(const char* op, const GenerationOptions& o) {
  require(!o.do_sample() || (o.temperature() > 0 && std::isfinite(o.temperature())), op,
          ": temperature must be above 0, got ", o.temperature(), "; do_sample=False takes the likeliest");
  require(!o.top_k() || *o.top_k() > 0, op, ": top_k must be above 0, got ", o.top_k().value_or(0));
  require(!o.top_p() || (*o.top_p() > 0 && *o.top_p() <= 1), op, ": top_p must be in (0, 1], got ",
          o.top_p().value_or(0));
}

void require_sense(const GenerationOptions& o, const Tensor& tokens, const GPT2Options& net) {
  require(o.max_new_tokens() >= 0, "generate: max_new_tokens must not be negative, got ", o.max_new_tokens());
  require(o.max_new_tokens() <= net.n_positions() - tokens.size(1), "generate: ", tokens.size(1),
          " tokens and max_new_tokens=", o.max_new_tokens(),
          " are more than n_positions=", net.n_positions());
  require_choice("generate", o);
  require(!o.eos_token_id() || (*o.eos_token_id() >= 0 && *o.eos_token_id() < net.vocab_size()),
          "generate: eos_token_id must be below vocab_size=", net.vocab_size(), ", got ",
          o.eos_token_id().value_or(0));
}

/** A token for each row of logits [N, vocab_size]: [N, 1]. */
Tensor chosen_tokens(const Tensor& logits, const GenerationOptions& o) {
  if (!o.do_sample()) return argmax(logits, -1, true);
  const Tensor scaled = to(logits, DType::float32) / o.temperature();
  if (!o.top_k() && !o.top_p()) return multinomial(softmax(scaled, -1), 1, false, o.generator());
  // Sorted, so that what is left out is the end; what is drawn is a place in that order.
  const std::int64_t count = logits.size(-1), kept = std::min(o.top_k().value_or(count), count);
  const auto [best, tokens] = topk(scaled, kept);
  Tensor likely = softmax(best, -1);
  if (o.top_p()) {
    const Tensor before = cumsum(likely, -1) - likely;
    likely = likely * to(lt(before, *o.top_p()), DType::float32);
  }
  return gather(tokens, -1, multinomial(likely, 1, false, o.generator()));
}

/** Brings a state dict of GPT2LMHeadModel as it was published to the names that it has here. */
void use_own_names(Module& module, StateDict& state, const std::string& prefix) {
  static const auto& mask = *new std::regex(R"((?:transformer\.)?h\.\d+\.attn\.(?:bias|masked_bias))");
  static const auto& bare = *new std::regex(R"((?:wte|wpe|h|ln_f)\..*)");
  const auto is_own = [&](const std::string& key) { return key.compare(0, prefix.size(), prefix) == 0; };
  const auto is_mask = [&](const auto& entry) {
    return is_own(entry.first) && std::regex_match(entry.first.substr(prefix.size()), mask);
  };
  state.erase(std::remove_if(state.begin(), state.end(), is_mask), state.end());
  const std::string head = prefix + "lm_head.weight", embedding = prefix + "transformer.wte.weight";
  Tensor tied;
  bool has_head = false;
  for (auto& [key, tensor] : state) {
    if (is_own(key) && std::regex_match(key.substr(prefix.size()), bare))
      key = prefix + "transformer." + key.substr(prefix.size());
    if (key == embedding) tied = tensor;
    has_head = has_head || key == head;
  }
  // Files leave one of two names of the same weight out.
  const StateDict own = module.named_parameters("", true, false);
  const auto find = [&](const char* key) {
    for (const auto& [own_key, tensor] : own)
      if (own_key == key) return tensor;
    return Tensor();
  };
  const Tensor weight = find("lm_head.weight"), rows = find("transformer.wte.weight");
  const bool is_tied = weight.defined() && rows.defined() && &weight.impl() == &rows.impl();
  if (is_tied && tied.defined() && !has_head) state.emplace_back(head, tied);
}

}  // namespace

Conv1D::Conv1D(const Conv1DOptions& o) : Layer(o) {
  require(o.nf() >= 0 && o.nx() >= 0, "Conv1D: nf and nx must not be negative, got ", o.nf(), " and ",
          o.nx());
  register_parameter("weight", weight, made({o.nx(), o.nf()}));
  register_parameter("bias", bias, made({o.nf()}));
  initialize();
}

void Conv1D::reset_parameters() {
  init::normal_(weight, 0, 0.02);
  init::zeros_(bias);
}

Tensor Conv1D::forward(const Tensor& x) {
  return linear(x, transpose(held(weight), 0, 1), held(bias));
}

GPT2Attention::GPT2Attention(const GPT2Options& o) : Composed(o) {
  require(o.n_head() > 0 && o.n_embd() % o.n_head() == 0, "GPT2Attention: n_embd=", o.n_embd(),
          " is not divisible by n_head=", o.n_head());
  compose([&] {
    add<Conv1D>("c_attn", Conv1DOptions(3 * o.n_embd(), o.n_embd()));
    add<Conv1D>("c_proj", Conv1DOptions(o.n_embd(), o.n_embd()));
    add<Dropout>("resid_dropout", o.resid_pdrop());
  });
}

Tensor GPT2Attention::forward(const Tensor& x) {
  const GPT2Options o = options();
  require(x.dim() == 3 && x.size(2) == o.n_embd(), "GPT2Attention: expected [N, T, n_embd=", o.n_embd(),
          "], got shape ", x.shape());
  const std::int64_t items = x.size(0), positions = x.size(1);
  const TensorList parts =
      unbind(reshape(c_attn(x), {items, positions, 3, o.n_head(), o.n_embd() / o.n_head()}), 2);
  const auto heads = [&](std::size_t part) { return permute(parts[part], {0, 2, 1, 3}); };
  const Tensor query = heads(0);
  SeenPositions seen{heads(1), heads(2), {}};
  if (KeyValueCache* cache = KeyValueCache::current()) seen = cache->extended(seen.keys, seen.values);
  AttentionOptions how;
  how.dropout_p = is_training() ? o.attn_pdrop() : 0;
  how.attn_mask = seen.mask;
  how.is_causal = !seen.mask.defined() && positions > 1;  // one alone is the last, and sees all before it too
  const Tensor attended = scaled_dot_product_attention(query, seen.keys, seen.values, how);
  return resid_dropout(c_proj(reshape(permute(attended, {0, 2, 1, 3}), {items, positions, o.n_embd()})));
}

GPT2MLP::GPT2MLP(const GPT2Options& o) : Composed(o) {
  compose([&] {
    const std::int64_t inner = o.n_inner().value_or(4 * o.n_embd());
    add<Conv1D>("c_fc", Conv1DOptions(inner, o.n_embd()));
    add<Conv1D>("c_proj", Conv1DOptions(o.n_embd(), inner));
    add<GELU>("act", GELUOptions().approximate("tanh"));
    add<Dropout>("dropout", o.resid_pdrop());
  });
}

Tensor GPT2MLP::forward(const Tensor& x) {
  return dropout(c_proj(act(c_fc(x))));
}

GPT2Block::GPT2Block(const GPT2Options& o) : Composed(o) {
  compose([&] {
    const LayerNormOptions norm = LayerNormOptions({o.n_embd()}).eps(o.layer_norm_epsilon());
    add<LayerNorm>("ln_1", norm);
    add<GPT2Attention>("attn", o);
    add<LayerNorm>("ln_2", norm);
    add<GPT2MLP>("mlp", o);
  });
}

Tensor GPT2Block::forward(const Tensor& input) {
  const Tensor x = input + attn(ln_1(input));
  return x + mlp(ln_2(x));
}

GPT2Model::GPT2Model(const GPT2Options& o) : Composed(o) {
  compose([&] {
    add<Embedding>("wte", o.vocab_size(), o.n_embd());
    add<Embedding>("wpe", o.n_positions(), o.n_embd());
    add<Dropout>("drop", o.embd_pdrop());
    const auto blocks = add<ModuleList>("h");
    for (std::int64_t i = 0; i < o.n_layer(); ++i) blocks->append(make<GPT2Block>(o));
    add<LayerNorm>("ln_f", LayerNormOptions({o.n_embd()}).eps(o.layer_norm_epsilon()));
    init_layers<Conv1D>(*this, [&](Tensor& weight) { init::normal_(weight, 0, o.initializer_range()); });
    for_each<Embedding>(*this, [&](auto& rows) { init::normal_(rows.weight, 0, o.initializer_range()); });
    const double layers = static_cast<double>(std::max<std::int64_t>(o.n_layer(), 1));
    for (auto& [path, parameter] : named_parameters())
      if (std::regex_match(path, std::regex(R"(.*\.c_proj\.weight)")))
        init::normal_(parameter, 0, o.initializer_range() / std::sqrt(2 * layers));
  });
}

Tensor GPT2Model::forward(const Tensor& tokens) {
  require_tokens("GPT2Model", tokens);
  KeyValueCache* cache = KeyValueCache::current();
  if (cache && !cache->begin_pass()) cache = nullptr;
  const KeyValueCache::Scope scope(cache);
  const std::int64_t count = tokens.size(1), n_positions = options().n_positions();
  require(count <= n_positions, "GPT2Model: a sequence of ", count,
          " tokens is longer than n_positions=", n_positions);
  const Tensor positions =
      cache ? cache->positions(count, tokens.device()) : arange(0, count, 1, DType::int64, tokens.device());
  Tensor x = drop(wte(tokens) + wpe(positions));
  const ModulePointers blocks = h->entries();
  for (const auto& block : blocks) x = (*block)(x);
  if (cache) cache->end_pass(count, blocks.size());
  return ln_f(x);
}

GPT2LMHeadModel::GPT2LMHeadModel(const GPT2Options& o) : Composed(o) {
  register_load_state_dict_pre_hook([](Module& module, StateDict& state, const std::string& prefix,
                                       LoadReport&) { use_own_names(module, state, prefix); });
  compose([&] {
    const auto body = add<GPT2Model>("transformer", o);
    const FactoryScope hollow(std::nullopt, std::nullopt, true);  // the weight is there already
    const auto head = make<Linear>(LinearOptions(o.n_embd(), o.vocab_size()).bias(false));
    static_cast<Module&>(*head).register_parameter("weight", body->wte->weight);
    register_module("lm_head", head);
  });
}

Tensor GPT2LMHeadModel::forward(const Tensor& tokens) {
  return lm_head(transformer(tokens));
}

Tensor GPT2LMHeadModel::generate(const Tensor& given, const GenerationOptions& o) {
  require_tokens("generate", given);
  require_sense(o, given, options());
  const NoGradGuard no_grad;
  GrowingCache cache(given.size(1) + o.max_new_tokens());
  const KeyValueCache::Scope scope(o.use_cache() ? &cache : nullptr);
  Tensor tokens = given, ended;
  for (std::int64_t i = 0; i < o.max_new_tokens(); ++i) {
    cache.await_pass();
    const Tensor seen = narrow(tokens, 1, cache.length(), tokens.size(1) - cache.length());
    Tensor next = token_after(seen, o).to(given.dtype());
    if (o.eos_token_id()) {
      if (ended.defined()) next = masked_fill(next, ended, *o.eos_token_id());
      ended = eq(next, *o.eos_token_id());
    }
    tokens = cat({tokens, next}, 1);
    if (ended.defined() && all(ended).item<bool>()) break;
  }
  return tokens;
}

Tensor GPT2LMHeadModel::token_after(const Tensor& tokens, const GenerationOptions& o) {
  const Tensor last = narrow(transformer(tokens), 1, tokens.size(1) - 1, 1);
  return chosen_tokens(select(lm_head(last), 1, 0), o);
}

TensorList GPT2LMHeadModel::make_cache(std::int64_t batch_size, std::int64_t length) const {
  const GPT2Options o = options();
  require(batch_size > 0, "make_cache: batch_size must be above 0, got ", batch_size);
  require(length > 0 && length <= o.n_positions(),
          "make_cache: length must be from 1 to n_positions=", o.n_positions(), ", got ", length);
  const Tensor weight = transformer->wte->weight;
  TensorList cache;
  for (std::int64_t i = 0; i < 2 * o.n_layer(); ++i)
    cache.push_back(
        zeros({batch_size, o.n_head(), length, o.n_embd() / o.n_head()}, weight.dtype(), weight.device()));
  return cache;
}

Tensor GPT2LMHeadModel::next_tokens(const Tensor& tokens, const Tensor& positions, const TensorList& cache,
                                    const GenerationOptions& o) {
  require_tokens("next_tokens", tokens);
  require_choice("next_tokens", o);
  const NoGradGuard no_grad;
  PlacedCache placed(cache, positions);
  const KeyValueCache::Scope scope(&placed);
  placed.await_pass();
  return token_after(tokens, o);
}

const Variants<GPT2Options>& GPT2LMHeadModel::variants() {
  static const auto& all = *new Variants<GPT2Options>{
      {"gpt2", GPT2Options()},
      {"gpt2_medium", published(1024, 24, 16)},
      {"gpt2_large", published(1280, 36, 20)},
      {"gpt2_xl", published(1600, 48, 25)},
  };
  return all;
}

}  // namespace ocl::models
