#include "nn/models/blocks.h"

#include "model_class.h"

void bind_blocks(py::module_& m) {
  bind_composed<Conv2dNormActivation, Sequential>(
      m, "Conv2dNormActivation", "A Conv2d, a norm and an activation, the latter two where there are any.",
      {"out_channels"});
  bind_composed<SqueezeExcitation>(
      m, "SqueezeExcitation",
      "A factor for each channel of [N, C, H, W], made of the channels' means (Hu et al. 2017).");
  bind_composed<MLP, Sequential>(m, "MLP",
                                 "Linear layers, each but the last with its norm, activation and dropout.");
  LayerClass<Permute>(m, "Permute", "The dimensions in another order.");
  LayerClass<LayerNorm2d, LayerNorm>(m, "LayerNorm2d", "LayerNorm over the channels of [N, C, H, W].");
}
