#include "module_class.h"

void bind_norm_modules(py::module_& m) {
  ModuleClass<RunningNorm, Module>(m, "_NormBase", "Base of batch and instance norm.")
      .def("reset_running_stats", &RunningNorm::reset_running_stats, WithoutLock());
  LayerClass<BatchNorm1d, RunningNorm>(m, "BatchNorm1d", "Batch normalisation over [N, C] or [N, C, L].");
  LayerClass<BatchNorm2d, RunningNorm>(m, "BatchNorm2d", "Batch normalisation over [N, C, H, W].");
  LayerClass<BatchNorm3d, RunningNorm>(m, "BatchNorm3d", "Batch normalisation over [N, C, D, H, W].");
  LayerClass<InstanceNorm1d, RunningNorm>(m, "InstanceNorm1d",
                                          "Instance normalisation over [N, C, L] or [C, L].");
  LayerClass<InstanceNorm2d, RunningNorm>(m, "InstanceNorm2d",
                                          "Instance normalisation over [N, C, H, W] or [C, H, W].");
  LayerClass<LayerNorm>(m, "LayerNorm", "The last dimensions, of sizes normalized_shape, normalised.");
  LayerClass<RMSNorm>(m, "RMSNorm", "The last dimensions over their root mean square.");
  LayerClass<GroupNorm>(m, "GroupNorm", "Groups of channels of [N, num_channels, ...] normalised.");
  LayerClass<LocalResponseNorm>(m, "LocalResponseNorm", "Local response normalisation of [N, C, ...].");
}
