#include "module_class.h"

void bind_nn(py::module_& parent) {
  py::module_ m = parent.def_submodule("_nn", "Modules.");
  bind_module(m);
  bind_container_modules(m);
  bind_activation_modules(m);
  bind_basic_modules(m);
  bind_conv_modules(m);
  bind_norm_modules(m);
  bind_pool_modules(m);
  bind_resample_modules(m);
  bind_loss_modules(m);
  bind_distance_modules(m);
  bind_attention_modules(m);
  bind_rnn_modules(m);
  bind_transformer_modules(m);
  bind_embedding_modules(m);
  bind_init(m);
  bind_utils(m);
}
