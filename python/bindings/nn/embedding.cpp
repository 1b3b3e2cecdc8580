#include "module_class.h"

void bind_embedding_modules(py::module_& m) {
  LayerClass<Embedding>(m, "Embedding", "A table of rows looked up by number: [...] -> [..., embedding_dim].")
      .def_static("from_pretrained", &Embedding::from_pretrained, py::arg("embeddings"),
                  py::arg("freeze") = true, py::arg("padding_idx") = py::none(),
                  "With the rows given, which are not trained unless freeze is False.");
  LayerClass<EmbeddingBag> bag(
      m, "EmbeddingBag",
      "Sums, means or maxima over bags of rows: indices [B, N], or [N] with the offsets "
      "where bags begin, -> [B, embedding_dim].");
  def_call<EmbeddingBag>(bag, {{"input", "ocl._C.Tensor"},
                               {"offsets", "ocl._C.Tensor | None", "None"},
                               {"per_sample_weights", "ocl._C.Tensor | None", "None"}});
  bag.def_static("from_pretrained", &EmbeddingBag::from_pretrained, py::arg("embeddings"),
                 py::arg("freeze") = true, py::arg("mode") = "mean", py::arg("include_last_offset") = false,
                 py::arg("padding_idx") = py::none(),
                 "With the rows given, which are not trained unless freeze is False.");
}
