#include "nn/modules/resample.h"

#include "module_class.h"

void bind_resample_modules(py::module_& m) {
  LayerClass<Upsample>(m, "Upsample", "The input brought to a size, or to scale_factor times its own.");
  LayerClass<PixelShuffle>(m, "PixelShuffle", "[N, C r r, H, W] -> [N, C, H r, W r].");
  LayerClass<PixelUnshuffle>(m, "PixelUnshuffle", "[N, C, H r, W r] -> [N, C r r, H, W].");
  LayerClass<ChannelShuffle>(m, "ChannelShuffle", "The channels of all groups by turns.");
  LayerClass<Unfold>(m, "Unfold", "The sliding blocks of [N, C, H, W] as columns [N, C KH KW, blocks].");
  LayerClass<Fold>(m, "Fold", "The sum of the blocks that are the columns: the transpose of Unfold.");
#define PADDING(Class, axes, mode) \
  LayerClass<Class>(m, #Class, "pad() of the last dimensions, mode '" mode "'.");
#include "nn/modules/paddings.def"
  for (const char* name : {"ZeroPad1d", "ZeroPad2d", "ZeroPad3d"})
    m.attr(name).attr("value") = 0.0;  // PyTorch derives them from ConstantPad
}
