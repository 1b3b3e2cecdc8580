#include "models.h"

#include "model_class.h"

void bind_models(py::module_& parent) {
  py::module_ m = parent.def_submodule("_models", "Nets, as torchvision.models.");
  bind_blocks(m);
  bind_plain_nets(m);
  bind_resnet(m);
  bind_inception_nets(m);
  bind_mobile_nets(m);
  bind_scaled_nets(m);
  bind_transformer_nets(m);
  bind_segmentation(m);
  bind_detection(m);
  m.def("list_models", [] { return list_models(); }, "The names of all nets.");
  m.def("require_model", &require_model, py::arg("name"),
        "Raises ValueError unless there is a net of that name.");
}
