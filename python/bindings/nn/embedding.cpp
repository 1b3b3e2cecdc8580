#include "module_class.h"

void bind_embedding_modules(py::module_& m) {
  LayerClass<Embedding>(m, "Embedding", "A table of rows looked up by number: [...] -> [..., embedding_dim].")
      .def_static("from_pretrained", &Embedding::from_pretrained, py::arg("embeddings"),
                  py::arg("freeze") = true, py::arg("padding_idx") = py::none(),
                  "With the rows given, which are not trained unless freeze is False.");
}
