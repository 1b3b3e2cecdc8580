#include "state_hooks.h"

#include "hooks.h"

namespace {

using Names = std::vector<std::string>;

/** A state dict as a hook leaves it. */
ocl::StateDict state_of(const py::dict& given) {
  ocl::StateDict state;
  for (const auto& [name, value] : given) {
    if (!py::isinstance<py::str>(name) || !(value.is_none() || py::isinstance<Tensor>(value)))
      throw ocl::TypeError(dlprim::concat("a hook of a state dict left ", shown(value), " under ",
                                          shown(name), ": it must hold tensors by name"));
    state.emplace_back(name.cast<std::string>(), or_undefined(value.cast<std::optional<Tensor>>()));
  }
  return state;
}

py::dict metadata_of(const py::object& self) {
  py::dict metadata;
  metadata["version"] = py::getattr(self, "_version", py::int_(1));
  return metadata;
}

}  // namespace

py::dict python_state(const ocl::StateDict& state) {
  py::dict result;
  for (const auto& [name, tensor] : state) result[py::str(name)] = tensor_or_none(tensor);
  return result;
}

py::object python_keys(const IncompatibleKeys& keys) {
  return py::module_::import("ocl.nn.entries")
      .attr("_IncompatibleKeys")(keys.missing_keys, keys.unexpected_keys);
}

void run_state_dict_pre_hooks(const Module& module, const std::string& prefix, bool keep_vars) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  for (const Hook& hook : hooks_of(self, state_dict_pre_hooks)) hook.function(self, prefix, keep_vars);
}

void run_state_dict_hooks(const Module& module, ocl::StateDict& state, const std::string& prefix) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  const std::vector<Hook> hooks = hooks_of(self, state_dict_hooks);
  if (hooks.empty()) return;
  py::dict given = python_state(state);
  for (const Hook& hook : hooks)
    if (const py::object replaced = hook.function(self, given, prefix, metadata_of(self));
        !replaced.is_none())
      given = replaced.cast<py::dict>();
  state = state_of(given);
}

void run_load_pre_hooks(Module& module, ocl::StateDict& state, const std::string& prefix,
                        LoadReport& report) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  const std::vector<Hook> hooks = hooks_of(self, load_state_dict_pre_hooks);
  if (hooks.empty()) return;
  const py::dict given = python_state(state), metadata = metadata_of(self);
  const py::list missing = py::cast(report.missing_keys), unexpected = py::cast(report.unexpected_keys),
                 errors = py::cast(report.errors);
  for (const Hook& hook : hooks) {
    const py::tuple rest =
        py::make_tuple(given, prefix, metadata, py::bool_(true), missing, unexpected, errors);  // as torch's
    if (hook.is_flagged)
      hook.function(*rest);
    else
      hook.function(self, *rest);
  }
  state = state_of(given);
  report.missing_keys = missing.cast<Names>();
  report.unexpected_keys = unexpected.cast<Names>();
  report.errors = errors.cast<Names>();
}

void run_load_post_hooks(Module& module, IncompatibleKeys& keys) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  const std::vector<Hook> hooks = hooks_of(self, load_state_dict_post_hooks);
  if (hooks.empty()) return;
  const py::object given = python_keys(keys);
  for (const Hook& hook : hooks)
    if (!hook.function(self, given).is_none())
      throw ocl::AutogradError(
          "hooks registered with register_load_state_dict_post_hook should change the keys in place and "
          "return None");
  keys = {given.attr("missing_keys").cast<Names>(), given.attr("unexpected_keys").cast<Names>()};
}
