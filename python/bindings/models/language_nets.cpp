#include "../casters.h"
#include "model_class.h"
#include "nn/models/gpt2.h"

namespace {

GenerationOptions choice_of(bool do_sample, double temperature, const std::optional<std::int64_t>& top_k,
                            const std::optional<double>& top_p) {
  return GenerationOptions().do_sample(do_sample).temperature(temperature).top_k(top_k).top_p(top_p);
}

Tensor generate(GPT2LMHeadModel& net, const Tensor& tokens, std::int64_t max_new_tokens, double temperature,
                const std::optional<std::int64_t>& top_k, const std::optional<double>& top_p, bool do_sample,
                const std::optional<std::int64_t>& eos_token_id, ocl::Generator* generator, bool use_cache) {
  return net.generate(tokens, choice_of(do_sample, temperature, top_k, top_p)
                                  .max_new_tokens(max_new_tokens)
                                  .eos_token_id(eos_token_id)
                                  .generator(generator)
                                  .use_cache(use_cache));
}

Tensor next_tokens(GPT2LMHeadModel& net, const Tensor& tokens, const Tensor& positions,
                   const ocl::TensorList& cache, bool do_sample, double temperature,
                   const std::optional<std::int64_t>& top_k, const std::optional<double>& top_p) {
  return net.next_tokens(tokens, positions, cache, choice_of(do_sample, temperature, top_k, top_p));
}

constexpr const char* next_tokens_documentation =
    "One step of generate: tokens [N, T] at positions int64 [T] -> the next tokens, int64 [N, 1].\n"
    "\n"
    "cache, of make_cache, holds keys and values of the positions before, and gets those of these. The "
    "calls\n"
    "are the same at any position, so that ocl.export makes a program of them (ocl.models.GenerationStep).\n"
    "Records no gradients.\n"
    "\n"
    "Args:\n"
    "    do_sample, temperature, top_k, top_p: as those of generate.\n"
    "\n"
    "Raises:\n"
    "    ValueError: positions that are not one for each token, a cache that is not make_cache's, an option\n"
    "        without sense.\n"
    "    TypeError: tokens that are no integers, positions that are not int64.";

constexpr const char* generate_documentation =
    "The tokens and up to max_new_tokens more: [N, T] -> [N, up to T + max_new_tokens], without gradients.\n"
    "\n"
    "As transformers' generate. Dropout acts while the net is training: call eval() first.\n"
    "\n"
    "Args:\n"
    "    tokens: int64 or int32 [N, T], T of at least 1.\n"
    "    temperature, top_k, top_p: with do_sample, logits are divided by temperature, and one is drawn\n"
    "        among the top_k likeliest, of which the first that together have the probability top_p.\n"
    "    do_sample: whether to draw; the likeliest token is taken otherwise.\n"
    "    eos_token_id: the end of a sequence, after which only this token follows; generation ends early\n"
    "        where all are at their end, which costs a wait for the device at every token.\n"
    "    generator: what numbers are drawn from; the device's default one otherwise.\n"
    "    use_cache: keeps keys and values, so that a new token costs one position's work.\n"
    "\n"
    "Raises:\n"
    "    ValueError: more than n_positions tokens in all, an option without sense, or blocks that are not\n"
    "        GPT2Block's while use_cache is on.\n"
    "    TypeError: tokens that are no integers.";

}  // namespace

void bind_language_nets(py::module_& models) {
  py::module_ m = models.def_submodule("gpt2");
  LayerClass<Conv1D>(m, "Conv1D", "A linear layer whose weight is [nx, nf]: [..., nx] -> [..., nf].");
  bind_composed<GPT2Attention>(m, "GPT2Attention",
                               "Each position sees itself and those before it: [N, T, n_embd] -> the same.",
                               {"n_embd", "n_head", "attn_pdrop"});
  bind_composed<GPT2MLP>(m, "GPT2MLP", "By n_inner and a tanh-GELU: [N, T, n_embd] -> the same.");
  bind_composed<GPT2Block>(m, "GPT2Block", "Attention and an MLP, each after a norm.");
  bind_composed<GPT2Model>(m, "GPT2Model", "Tokens [N, T], T <= n_positions -> [N, T, n_embd].",
                           {"n_positions"});
  bind_composed<GPT2LMHeadModel>(
      m, "GPT2LMHeadModel",
      "Language Models are Unsupervised Multitask Learners (Radford et al. 2019): tokens int64 or int32 "
      "[N, T], T <= n_positions -> logits of the token after each, [N, T, vocab_size].",
      {"vocab_size", "n_positions", "n_embd", "n_layer", "n_head"})
      .def("generate", &generate, py::arg("tokens"), py::arg("max_new_tokens") = 20,
           py::arg("temperature") = 1.0, py::arg("top_k") = py::none(), py::arg("top_p") = py::none(),
           py::arg("do_sample") = false, py::arg("eos_token_id") = py::none(),
           py::arg("generator") = py::none(), py::arg("use_cache") = true, WithoutLock(),
           generate_documentation)
      .def("make_cache", &GPT2LMHeadModel::make_cache, py::arg("batch_size"), py::arg("length"),
           WithoutLock(),
           "Room for next_tokens: zeros, two tensors [N, n_head, length, n_embd / n_head] a block.\n"
           "\n"
           "Raises:\n"
           "    ValueError: a length of more than n_positions.")
      .def("next_tokens", &next_tokens, py::arg("tokens"), py::arg("positions"), py::arg("cache"),
           py::arg("do_sample") = false, py::arg("temperature") = 1.0, py::arg("top_k") = py::none(),
           py::arg("top_p") = py::none(), WithoutLock(), next_tokens_documentation);
  def_nets<GPT2LMHeadModel>(m, "A GPT-2 (Radford et al. 2019), as transformers'; its files of weights load.");
}
