#include "module_class.h"

void bind_embedding_modules(py::module_& m) {
  ModuleClass<Embedding>(m, "Embedding",
                         "A table of rows looked up by number: [...] -> [..., embedding_dim].")
      .def(py::init<std::int64_t, std::int64_t, std::optional<std::int64_t>>(), py::arg("num_embeddings"),
           py::arg("embedding_dim"), py::arg("padding_idx") = py::none())
      .def_static("from_pretrained", &Embedding::from_pretrained, py::arg("embeddings"),
                  py::arg("freeze") = true, py::arg("padding_idx") = py::none(),
                  "With the rows given, which are not trained unless freeze is False.")
      .def_property_readonly("num_embeddings", [](const Embedding& e) { return e.weight.size(0); })
      .def_property_readonly("embedding_dim", [](const Embedding& e) { return e.weight.size(1); })
      .def_property_readonly("padding_idx", &Embedding::padding_idx);
}
