#include "nn/optim/schedule_rules.h"

#include "optim.h"

using namespace ocl::optim;

namespace {

Groups groups_of(const py::list& dicts) {
  Groups groups;
  for (const py::handle group : dicts)
    groups.push_back(std::make_unique<PythonValues>(py::reinterpret_borrow<py::object>(group)));
  return groups;
}

}  // namespace

// The schedules' fields are attributes of Python objects, and the groups dicts: all of this runs with
// Python's lock.
void bind_schedules(py::module_& m) {
  m.def(
      "schedule_options",
      [](const std::string& name) {
        return option_rows(name == "ReduceLROnPlateau" ? plateau_options() : schedule_rule(name).options);
      },
      py::arg("name"), "The rows of a schedule's options: name, kind, default, required, keyword only.");
  m.def(
      "schedule_documentation", [](const std::string& name) { return schedule_rule(name).documentation; },
      py::arg("name"));
  m.def(
      "check_schedule",
      [](const std::string& name, const py::object& fields) {
        schedule_rule(name).check(PythonValues(fields));
      },
      py::arg("name"), py::arg("fields"));
  m.def(
      "begin_schedule",
      [](const std::string& name, const py::object& schedule, const py::dict& given, const py::list& groups,
         bool fresh) {
        PythonValues fields(schedule);
        Groups all = groups_of(groups);
        schedule_rule(name).begin(fields, PythonValues(given), all, fresh);
      },
      py::arg("name"), py::arg("schedule"), py::arg("given"), py::arg("param_groups"), py::arg("fresh"));
  m.def(
      "rates",
      [](const std::string& name, const py::object& schedule, const py::list& groups, bool closed_form) {
        Groups all = groups_of(groups);
        try {
          return schedule_rule(name).rates(PythonValues(schedule), all, closed_form);
        } catch (const ocl::IndexError& missing) {  // a setting that a group lacks
          throw py::key_error(missing.what());
        }
      },
      py::arg("name"), py::arg("schedule"), py::arg("param_groups"), py::arg("closed_form"));
  m.def(
      "cyclic_scale",
      [](const py::object& schedule, double x) { return cyclic_scale(PythonValues(schedule), x); },
      py::arg("schedule"), py::arg("x"));
  m.def(
      "advance",
      [](const std::string& name, const py::object& schedule, std::optional<double> epoch) {
        PythonValues fields(schedule);
        schedule_rule(name).advance(fields, epoch);
      },
      py::arg("name"), py::arg("schedule"), py::arg("epoch"));
  m.def(
      "check_plateau", [](const py::object& fields) { check_plateau(PythonValues(fields)); },
      py::arg("fields"));
  m.def(
      "sees_plateau",
      [](const py::object& schedule, double metric) {
        PythonValues fields(schedule);
        return sees_plateau(fields, metric);
      },
      py::arg("schedule"), py::arg("metric"));
  m.def(
      "reduced_rate",
      [](const py::object& schedule, double rate, double least) {
        return reduced_rate(PythonValues(schedule), rate, least);
      },
      py::arg("schedule"), py::arg("rate"), py::arg("least"));
}
