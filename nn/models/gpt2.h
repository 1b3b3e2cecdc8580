#pragma once

#include "autograd/tensor/generator.h"
#include "nn/models/composed.h"
#include "nn/modules/embedding.h"

/** GPT-2, "Language Models are Unsupervised Multitask Learners" (Radford et al. 2019): arguments, defaults,
 * initialisation and state dicts of Hugging Face's transformers, so that its files of weights load. */
namespace ocl::models {

struct Conv1DOptions {
  Conv1DOptions() = default;
  Conv1DOptions(std::int64_t nf, std::int64_t nx) : nf_(nf), nx_(nx) {}
  OPTION(std::int64_t, nf) = 0;
  OPTION(std::int64_t, nx) = 0;
  OPTION_LIST(2, nf_, nx_)
};
/** transformers' Conv1D, a linear layer whose weight is [in, out]: [..., nx] -> [..., nf]. */
class Conv1D : public Layer<Conv1D, Conv1DOptions> {
 public:
  HOLDER(Conv1D, Layer)
  explicit Conv1D(const Conv1DOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /** Normal of deviation 0.02, the bias zeros. */
  void reset_parameters();

  Tensor weight;  // [nx, nf]
  Tensor bias;    // [nf]
};

/** transformers' GPT2Config, by its names and defaults: the sizes are those of "gpt2". */
struct GPT2Options {
  OPTION(std::int64_t, vocab_size) = 50257;
  /** The longest sequence. */
  OPTION(std::int64_t, n_positions) = 1024;
  OPTION(std::int64_t, n_embd) = 768;
  OPTION(std::int64_t, n_layer) = 12;
  OPTION(std::int64_t, n_head) = 12;
  /** Width within the MLPs, 4 n_embd where it is none. */
  OPTION(std::optional<std::int64_t>, n_inner) = std::nullopt;
  OPTION(double, resid_pdrop) = 0.1;
  OPTION(double, embd_pdrop) = 0.1;
  OPTION(double, attn_pdrop) = 0.1;
  OPTION(double, layer_norm_epsilon) = 1e-5;
  /** The weights' deviation; that of the projections onto the residual is divided by sqrt(2 n_layer). */
  OPTION(double, initializer_range) = 0.02;
  OPTION_LIST(0, vocab_size_, n_positions_, n_embd_, n_layer_, n_head_, n_inner_, resid_pdrop_, embd_pdrop_,
              attn_pdrop_, layer_norm_epsilon_, initializer_range_)
};

/** x [N, T, n_embd] -> the same: each position sees itself and those before it. Throws ValueError where
 * n_head does not divide n_embd. */
class GPT2Attention : public Composed<GPT2Attention, GPT2Options> {
 public:
  explicit GPT2Attention(const GPT2Options& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> c_attn = child<Module>("c_attn"), c_proj = child<Module>("c_proj");
  Child<Module> resid_dropout = child<Module>("resid_dropout");
};

/** x [N, T, n_embd] -> the same, by n_inner and a GELU of the tanh kind. */
class GPT2MLP : public Composed<GPT2MLP, GPT2Options> {
 public:
  explicit GPT2MLP(const GPT2Options& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> c_fc = child<Module>("c_fc"), act = child<Module>("act"), c_proj = child<Module>("c_proj");
  Child<Module> dropout = child<Module>("dropout");
};

/** x [N, T, n_embd] -> the same: attention and an MLP, each after a norm and beside the identity. */
class GPT2Block : public Composed<GPT2Block, GPT2Options> {
 public:
  explicit GPT2Block(const GPT2Options& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> ln_1 = child<Module>("ln_1"), attn = child<Module>("attn");
  Child<Module> ln_2 = child<Module>("ln_2"), mlp = child<Module>("mlp");
};

/** Tokens int64 or int32 [N, T], 1 <= T <= n_positions -> what the net makes of them, [N, T, n_embd]. Throws
 * TypeError and ValueError for other tokens. */
class GPT2Model : public Composed<GPT2Model, GPT2Options> {
 public:
  explicit GPT2Model(const GPT2Options& options = {});
  Tensor forward(const Tensor& tokens) override;

  Child<Embedding> wte = child<Embedding>("wte"), wpe = child<Embedding>("wpe");
  Child<Module> drop = child<Module>("drop");
  Child<ModuleList> h = child<ModuleList>("h");
  Child<Module> ln_f = child<Module>("ln_f");
};

/** How GPT2LMHeadModel::generate goes on: names and meanings of transformers' generate. */
struct GenerationOptions {
  OPTION(std::int64_t, max_new_tokens) = 20;
  /** The divisor of logits before one is drawn. */
  OPTION(double, temperature) = 1;
  /** Draws among so many of the likeliest; all where it is none. */
  OPTION(std::optional<std::int64_t>, top_k) = std::nullopt;
  /** Draws among the likeliest that together have this probability; all where it is none. */
  OPTION(std::optional<double>, top_p) = std::nullopt;
  /** Draws; the likeliest, where it is false. */
  OPTION(bool, do_sample) = false;
  /** A sequence that has it is at its end: only this token follows there. */
  OPTION(std::optional<std::int64_t>, eos_token_id) = std::nullopt;
  /** The generator that numbers are drawn from; the device's default one where it is null. */
  using Source = Generator*;
  OPTION(Source, generator) = nullptr;
  /** Keeps the keys and values of all positions, so that a new token costs one position's work. */
  OPTION(bool, use_cache) = true;
};

/**
 * GPT-2 with its head: tokens int64 or int32 [N, T], T <= n_positions -> logits of the token after each, [N,
 * T, vocab_size]. The weight of lm_head is that of transformer.wte, until load_state_dict assigns two
 * separate tensors, as in PyTorch. A state dict may be loaded as published: without "transformer." before the
 * names, with the masks "attn.bias" and "attn.masked_bias" of old files, without "lm_head.weight".
 */
class GPT2LMHeadModel : public Composed<GPT2LMHeadModel, GPT2Options> {
 public:
  explicit GPT2LMHeadModel(const GPT2Options& options = {});
  Tensor forward(const Tensor& tokens) override;
  /**
   * The tokens, and up to max_new_tokens more: [N, T] -> [N, up to T + max_new_tokens]; less where all
   * sequences have reached eos_token_id, which costs a wait for the device at every token. Records no
   * gradients. Dropout acts while the net is training: call eval() first. Throws ValueError for more than
   * n_positions in all, for options without sense, and where blocks that are not GPT2Block's leave no keys to
   * cache.
   */
  Tensor generate(const Tensor& tokens, const GenerationOptions& options = {});

  /** Room for the keys and values of `length` positions of `batch_size` sequences, for next_tokens: zeros,
   * two tensors [N, n_head, length, n_embd / n_head] a block. Throws ValueError for more than n_positions. */
  TensorList make_cache(std::int64_t batch_size, std::int64_t length) const;
  /**
   * One step of generate: tokens [N, T] at `positions`, int64 [T] -> the tokens after the last, int64 [N, 1].
   * `cache` holds keys and values of the positions before, and gets those of these. The calls are the same at
   * any position, so that export_program makes a program of them. Records no gradients. The options'
   * max_new_tokens, eos_token_id and use_cache mean nothing here. Throws ValueError for a cache that is not
   * make_cache's, TypeError for positions that are not int64.
   */
  Tensor next_tokens(const Tensor& tokens, const Tensor& positions, const TensorList& cache,
                     const GenerationOptions& options = {});
  /** "gpt2", "gpt2_medium", "gpt2_large", "gpt2_xl". */
  static const Variants<GPT2Options>& variants();

  Child<GPT2Model> transformer = child<GPT2Model>("transformer");
  Child<Module> lm_head = child<Module>("lm_head");

 private:
  /** The token that follows the last position of a pass: [N, 1]. */
  Tensor token_after(const Tensor& tokens, const GenerationOptions& options);
};

}  // namespace ocl::models
