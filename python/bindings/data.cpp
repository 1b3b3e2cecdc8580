#include "casters.h"
#include "dlprim/io/file.h"
#include "nn/data/idx.h"
#include "nn/io/state_dict.h"

void bind_data(py::module_& parent) {
  py::module_ m = parent.def_submodule("_data", "Files.");
  m.def(
      "read_idx",
      [](const std::filesystem::path& path) {
        ocl::data::IdxArray idx;
        {
          PythonUnlocked unlocked;
          idx = ocl::data::read_idx(path);
        }
        import_numpy();
        py::array_t<std::uint8_t> array(idx.shape);
        std::copy(idx.values.begin(), idx.values.end(), array.mutable_data());
        return array;
      },
      py::arg("path"),
      "A uint8 array from an IDX file, plain or gzip. Raises OSError that names a damaged file.");
  m.def(
      "read_idx_shape",
      [](const std::filesystem::path& path) { return py::tuple(py::cast(ocl::data::read_idx_shape(path))); },
      py::arg("path"), "The shape of an IDX file's array from its header alone.");
  m.def(
      "write_file",
      [](const std::filesystem::path& path, const std::string_view& content) {
        dlprim::io::OutputFile file(path);
        file.write(content.data(), content.size());
        file.finish();
      },
      py::arg("path"), py::arg("content"), WithoutLock(),
      "Writes bytes to a file that is either whole or, as it was before, there or not.");
  m.def(
      "save_tensors",
      [](const py::dict& tensors, const std::filesystem::path& path, const ocl::Metadata& metadata) {
        ocl::StateDict state;
        for (const auto& [name, tensor] : tensors)
          state.emplace_back(name.cast<std::string>(), tensor.cast<ocl::Tensor>());
        PythonUnlocked unlocked;
        ocl::save(state, path, metadata);
      },
      py::arg("tensors"), py::arg("path"), py::arg("metadata"));
  m.def(
      "load_tensors",
      [](const std::filesystem::path& path, const std::optional<ocl::Device>& device) {
        PythonUnlocked unlocked;
        ocl::Metadata metadata;
        std::vector<std::pair<std::string, ocl::Tensor>> tensors =
            ocl::load(path, device_or_default(device), &metadata);
        return std::pair(std::move(tensors), std::move(metadata));
      },
      py::arg("path"), py::arg("device") = py::none());
}
