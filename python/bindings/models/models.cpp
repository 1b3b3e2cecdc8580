#include "models.h"

#include "model_class.h"

void bind_models(py::module_& parent) {
  py::module_ m = parent.def_submodule("_models", "Nets, as torchvision.models, and of language.");
  bind_blocks(m);
  bind_plain_nets(m);
  bind_resnet(m);
  bind_inception_nets(m);
  bind_mobile_nets(m);
  bind_scaled_nets(m);
  bind_transformer_nets(m);
  bind_segmentation(m);
  bind_detection(m);
  bind_language_nets(m);
  m.def("list_models", [] { return list_models(); }, "The names of all nets that torchvision has.");
  m.def(
      "list_language_models", [] { return list_models(Task::language); },
      "The names of all nets that go on with a text, which list_models leaves out: torchvision has none.");
  m.def("require_model", &require_model, py::arg("name"),
        "Raises ValueError unless there is a net of that name.");
}
