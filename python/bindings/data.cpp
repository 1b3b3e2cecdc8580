#include "casters.h"
#include "nn/data/idx.h"
#include "nn/io/state_dict.h"

void bind_data(py::module_& parent) {
  py::module_ m = parent.def_submodule("_data", "Files.");
  m.def(
      "read_idx",
      [](const std::string& path) {
        ocl::data::IdxArray idx;
        {
          PythonUnlocked unlocked;
          idx = ocl::data::read_idx(path);
        }
        py::array_t<std::uint8_t> array(idx.shape);
        std::copy(idx.values.begin(), idx.values.end(), array.mutable_data());
        return array;
      },
      py::arg("path"),
      "A uint8 array from an IDX file, plain or gzip. Raises OSError that names a damaged file.");
  m.def(
      "save_tensors",
      [](const std::map<std::string, ocl::Tensor>& tensors, const std::string& path,
         const ocl::Metadata& metadata) {
        ocl::save(ocl::StateDict(tensors.begin(), tensors.end()), path, metadata);
      },
      py::arg("tensors"), py::arg("path"), py::arg("metadata"), WithoutLock());
  m.def(
      "load_tensors",
      [](const std::string& path, const std::optional<ocl::Device>& device) {
        PythonUnlocked unlocked;
        ocl::StateDict state = ocl::load(path, device_or_default(device));
        ocl::Metadata metadata = ocl::load_metadata(path);
        return std::pair(std::move(state), std::move(metadata));
      },
      py::arg("path"), py::arg("device") = py::none());
}
