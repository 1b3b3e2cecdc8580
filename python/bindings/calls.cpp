#include <vector>

#include "autograd/ops/interceptor.h"
#include "autograd/tape/anomaly.h"
#include "autograd/tensor/tensor.h"
#include "casters.h"
#include "dlprim/core/call.h"
#include "dlprim/core/shapes_only.h"
#include "dlprim/runtime/barred_implementations.h"
#include "dlprim/runtime/group_probe.h"
#include "dlprim/runtime/implementation.h"
#include "python_lock.h"

using dlprim::Argument;
using dlprim::ArgumentValue;
using dlprim::Call;

namespace {

/** The calls of a thread, in order. */
class CallLog final : public dlprim::CallListener {
 public:
  struct Entry {
    std::string name;
    Call::Kind kind;
    int depth;
    std::vector<Argument> arguments;
  };

  void start() { listening_ = std::make_unique<dlprim::Listening>(*this); }
  void stop() { listening_.reset(); }
  const std::vector<Entry>& entries() const { return entries_; }
  /** (family, implementation, reasons) of each choice. */
  const std::vector<std::tuple<std::string, std::string, std::string>>& choices() const { return choices_; }

  void enter(const Call& call) override {
    entries_.push_back({call.name, call.kind, call.depth, call.arguments()});
  }
  void chose(const dlprim::ChosenImplementation& chosen, const std::string& reasons) override {
    choices_.emplace_back(chosen.family, chosen.name, reasons);
  }

 private:
  std::vector<Entry> entries_;
  std::vector<std::tuple<std::string, std::string, std::string>> choices_;
  std::unique_ptr<dlprim::Listening> listening_;
};

/** Switches ShapesOnly for the calling thread; what it was before. */
bool set_shapes_only(bool is_on) {
  thread_local std::unique_ptr<dlprim::ShapesOnly> mode;
  const bool before = mode != nullptr;
  if (is_on != before) mode = is_on ? std::make_unique<dlprim::ShapesOnly>() : nullptr;
  return before;
}

const char* text_of(Call::Kind kind) {
  switch (kind) {
    case Call::Kind::primitive:
      return "primitive";
    case Call::Kind::operation:
      return "operator";
    case Call::Kind::backward:
      return "backward";
    case Call::Kind::module:
      break;
  }
  return "module";
}

py::object object_of(const ArgumentValue& value);

/** A dict of a struct's fields, a list of anything else. */
py::object collection_of(const std::vector<Argument>& values) {
  if (values.empty() || values.front().name.empty()) {
    py::list list;
    for (const Argument& value : values) list.append(object_of(value.value));
    return list;
  }
  py::dict dict;
  for (const Argument& value : values) dict[py::str(value.name)] = object_of(value.value);
  return dict;
}

py::object object_of(const ArgumentValue& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>)
          return py::none();
        else if constexpr (std::is_same_v<Held, dlprim::Tensor>)
          return py::cast(ocl::Tensor(held));
        else if constexpr (std::is_same_v<Held, std::vector<Argument>>)
          return collection_of(held);
        else
          return py::cast(held);
      },
      value);
}

/** A tensor, or a list or tuple of tensors, with None for undefined ones. Throws TypeError. */
ocl::TensorList results_of(const std::string& name, const py::object& answer) {
  if (py::isinstance<ocl::Tensor>(answer)) return {answer.cast<ocl::Tensor>()};
  ocl::TensorList results;
  const bool is_sequence = py::isinstance<py::list>(answer) || py::isinstance<py::tuple>(answer);
  for (const py::handle& each : is_sequence ? py::list(answer) : py::list()) {
    if (!each.is_none() && !py::isinstance<ocl::Tensor>(each)) break;
    results.push_back(each.is_none() ? ocl::Tensor() : each.cast<ocl::Tensor>());
  }
  dlprim::require<dlprim::TypeError>(is_sequence && results.size() == py::len(answer), name,
                                     ": an interceptor gave no tensor and no list of tensors");
  return results;
}

/**
 * Asks a Python function before operators do their work: `function(name, tensors, arguments)`. It may put
 * other tensors in the places of those in the list `tensors`; `arguments()` is a dict of all arguments. It
 * returns the operator's results, or None for the operator to do its work.
 */
class PythonInterceptor final : public ocl::Interceptor {
 public:
  PythonInterceptor(py::function function, bool passes_on)
      : function_(std::move(function)), passes_on_(passes_on) {}

  void start() { intercepting_.emplace(*this); }
  void stop() {
    dlprim::require<dlprim::Error>(
        !intercepting_ || ocl::interceptor == this,
        "an interceptor ended in another order than it began, or in another thread");
    intercepting_.reset();
  }

  bool intercepts(const char*) override { return true; }
  bool passes_on() const override { return passes_on_; }

  std::optional<ocl::TensorList> intercept(const ocl::InterceptedCall& call) override {
    const PythonLocked locked;
    py::list given;
    for (const ocl::Tensor* tensor : call.tensors) given.append(py::cast(*tensor));
    const py::cpp_function arguments([&call] { return collection_of(call.arguments()); });
    const py::object answer = function_(call.name, given, arguments);
    for (std::size_t i = 0; i < call.tensors.size(); ++i)
      if (!given[i].is_none()) *call.tensors[i] = given[i].cast<const ocl::Tensor&>();
    if (answer.is_none()) return {};
    return results_of(call.name, answer);
  }

 private:
  py::function function_;
  bool passes_on_;
  std::optional<ocl::Intercepting> intercepting_;
};

/** The lines of the Python program that lead to the call. */
std::string python_stack() {
  const PythonLocked locked;
  return py::str("")
      .attr("join")(py::module_::import("traceback").attr("format_stack")())
      .cast<std::string>();
}

}  // namespace

void bind_calls(py::module_& m) {
  py::class_<CallLog>(m, "_CallLog")
      .def(py::init())
      .def("start", &CallLog::start)
      .def("stop", &CallLog::stop)
      .def("choices", &CallLog::choices)
      .def("entries", [](const CallLog& log) {
        py::list entries;
        for (const CallLog::Entry& entry : log.entries())
          entries.append(
              py::make_tuple(entry.name, text_of(entry.kind), entry.depth, collection_of(entry.arguments)));
        return entries;
      });
  py::class_<PythonInterceptor>(m, "_Interceptor")
      .def(py::init<py::function, bool>(), py::arg("function"), py::arg("passes_on"))
      .def("start", &PythonInterceptor::start)
      .def("stop", &PythonInterceptor::stop);
  m.def("_set_shapes_only", &set_shapes_only, py::arg("is_on"));
  m.def(
      "_commands", [](const ocl::Device& device) { return device->queue().commands(); }, py::arg("device"),
      "The number of commands that were enqueued on the device so far.");
  m.def("_implementation_families", [] {
    py::dict families;
    for (const dlprim::ImplementationFamily* family : dlprim::implementation_families()) {
      py::list names;
      for (int i = 0; i < family->count(); ++i) names.append(family->implementation(i));
      families[family->name()] = names;
    }
    return families;
  });
  m.def("_set_implementations", &dlprim::set_implementations, py::arg("choices"));
  m.def("_get_implementations", &dlprim::get_implementations);
  m.def(
      "_set_measuring", [](bool measures) { dlprim::measures_choices = measures; }, py::arg("measures"));
  m.def("_is_measuring", [] { return dlprim::measures_choices.load(); });
  m.def(
      "_measured_choices",
      [](const ocl::Device& device) {
        py::list choices;
        for (const dlprim::MeasuredChoice& c : device->measured_choices().measured())
          choices.append(py::make_tuple(c.family, c.problem, c.implementation, c.seconds, c.expected,
                                        c.expected_seconds));
        return choices;
      },
      py::arg("device"));
  m.def(
      "_forget_measured_choices", [](const ocl::Device& device) { device->measured_choices().forget(); },
      py::arg("device"));
  m.def(
      "_barred_implementations",
      [](const ocl::Device& device) {
        py::list all;
        for (const dlprim::BarredImplementation& barred : device->info().barred->list())
          all.append(py::make_tuple(barred.family, barred.implementation, barred.reason));
        return all;
      },
      py::arg("device"));
  m.def(
      "_bar_implementation",
      [](const ocl::Device& device, const std::string& family, const std::string& implementation,
         const std::string& reason) {
        device->info().barred->bar({family, implementation, reason});
      },
      py::arg("device"), py::arg("family"), py::arg("implementation"), py::arg("reason"));
  m.def(
      "_unbar_implementations", [](const ocl::Device& device) { device->info().barred->unbar(); },
      py::arg("device"));
  m.def(
      "_group_probe",
      [](const ocl::Tensor& a, const ocl::Tensor& b, const ocl::Tensor& c, int rows, int columns) {
        dlprim::group_probe(c.data().device().queue(), a.data(), b.data(), c.data(), rows, columns);
      },
      py::arg("a"), py::arg("b"), py::arg("c"), py::arg("rows"), py::arg("columns"), WithoutLock());
  m.def("is_anomaly_enabled", &ocl::autograd::is_anomaly_enabled);
  m.def("is_anomaly_check_nan_enabled", &ocl::autograd::is_anomaly_check_nan_enabled);
  m.def("_set_detect_anomaly", &ocl::autograd::set_detect_anomaly, py::arg("mode"), py::arg("check_nan"));
  ocl::autograd::set_caller_description(&python_stack);
}
