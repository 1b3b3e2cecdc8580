#include "options.h"

#include <algorithm>

#include "../signature.h"

using ocl::nn::OptionNames;

namespace {

std::vector<std::string> argument_names(const OptionNames& options, bool factory) {
  std::vector<std::string> names = options.names;
  if (factory) names.insert(names.end(), {"device", "dtype"});
  return names;
}

/** Places among argument_names(), in the order of the constructor's signature: options that are given by name
 * come last. */
std::vector<std::size_t> places_of(const OptionNames& options, bool factory) {
  const std::size_t by_name = options.names.size() - options.keywords,
                    all = options.names.size() + (factory ? 2 : 0);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < by_name; ++i) places.push_back(i);
  for (std::size_t i = options.names.size(); i < all; ++i) places.push_back(i);
  for (std::size_t i = by_name; i < options.names.size(); ++i) places.push_back(i);
  return places;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += dlprim::concat(i == 0 ? "" : i + 1 < names.size() ? ", " : " and ", '\'', names[i], '\'');
  return text;
}

}  // namespace

void refuse_option(const std::string& name, const std::string& expected, const py::handle& value) {
  if (PyLong_Check(value.ptr()) && expected.rfind("int", 0) == 0)
    throw py::type_error(dlprim::concat(name.substr(0, name.rfind(" (")),
                                        " is out of range: ", py::str(value).cast<std::string>()));
  throw py::type_error(dlprim::concat(name, " must be ", expected, ", not ", Py_TYPE(value.ptr())->tp_name,
                                      gradient_advice(value.ptr())));
}

py::object number_or_itself(const py::handle& value) {
  if (py::isinstance<ocl::Tensor>(value) && !loses_gradient_as_number(value.ptr()) &&
      value.cast<const ocl::Tensor&>().dim() == 0)
    return value.attr("item")();
  if (py::isinstance<NumpyArray>(value) && py::reinterpret_borrow<py::array>(value).ndim() == 0)
    return value.attr("item")();
  return py::reinterpret_borrow<py::object>(value);
}

void PythonOption<std::vector<std::int64_t>>::take(std::vector<std::int64_t>& option, const py::handle& value,
                                                   const std::string& name) {
  if (is_whole(value)) {
    option.resize(1);
    PythonOption<std::int64_t>::take(option[0], value, name);
    return;
  }
  if (!py::isinstance<py::sequence>(value) || py::isinstance<py::str>(value))
    refuse_option(name, "int or tuple of ints", value);
  option.clear();
  for (const py::handle size : value) {
    std::int64_t number = 0;
    PythonOption<std::int64_t>::take(number, size, name);
    option.push_back(number);
  }
}

void PythonOption<ocl::Tensor>::take(ocl::Tensor& option, const py::handle& value, const std::string& name) {
  if (!value.is_none() && !py::isinstance<ocl::Tensor>(value)) refuse_option(name, "Tensor or None", value);
  option = or_undefined(value.cast<std::optional<ocl::Tensor>>());
}

ConstructorArguments::ConstructorArguments(const std::string& layer, const OptionNames& options, bool factory,
                                           const py::tuple& positional, const py::dict& named)
    : names_(argument_names(options, factory)), options_(options.names.size()) {
  const std::vector<std::string>& names = names_;
  const auto refuse = [&](const auto&... text) {
    throw py::type_error(dlprim::concat(layer, ".__init__() ", text...));
  };
  values_.resize(names.size());
  const std::size_t most = names.size() - options.keywords;
  if (positional.size() > most)
    refuse("takes at most ", most + 1, " positional arguments but ", positional.size() + 1, " were given");
  const std::vector<std::size_t> places = places_of(options, factory);
  for (std::size_t i = 0; i < positional.size(); ++i) values_[places[i]] = positional[i];
  for (const auto& [key, value] : named) {
    const auto name = key.cast<std::string>();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) refuse("got an unexpected keyword argument '", name, "'");
    py::handle& place = values_[static_cast<std::size_t>(found - names.begin())];
    if (place) refuse("got multiple values for argument '", name, "'");
    place = value;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < options.required; ++i)
    if (!values_[i]) missing.push_back(names[i]);
  if (!missing.empty())
    refuse("missing ", missing.size(), " required positional argument", missing.size() > 1 ? "s" : "", ": ",
           listed(missing));
}

py::handle ConstructorArguments::operator[](const std::string& option) const {
  return values_[static_cast<std::size_t>(std::find(names_.begin(), names_.end(), option) - names_.begin())];
}

std::optional<ocl::Device> ConstructorArguments::device() const {
  if (values_.size() == options_ || !values_[options_] || values_[options_].is_none()) return std::nullopt;
  return device_of(values_[options_]);
}

std::optional<ocl::DType> ConstructorArguments::dtype() const {
  if (values_.size() == options_ || !values_[options_ + 1] || values_[options_ + 1].is_none())
    return std::nullopt;
  if (!py::isinstance<ocl::DType>(values_[options_ + 1]))
    throw ocl::TypeError(
        dlprim::concat("dtype must be an ocl.dtype, not ", Py_TYPE(values_[options_ + 1].ptr())->tp_name));
  return values_[options_ + 1].cast<ocl::DType>();
}

ConstructorSignature::ConstructorSignature(const OptionNames& options, std::vector<std::string> option_types,
                                           const std::vector<py::object>& option_defaults, bool factory)
    : positional(options.names.size() - options.keywords + (factory ? 2 : 0)) {
  option_types.insert(option_types.end(), {"ocl._C.device | str | int | None", "ocl._C.dtype | None"});
  const std::vector<std::string> all = argument_names(options, factory);
  for (const std::size_t i : places_of(options, factory)) {
    names.push_back(all[i]);
    types.push_back(option_types[i]);
    defaults.push_back(i < options.required       ? ""
                       : i < options.names.size() ? py::repr(option_defaults[i]).cast<std::string>()
                                                  : "None");
  }
}

std::string ConstructorSignature::plain() const {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i > 0 ? ", " : "") + std::string(i == positional ? "*, " : "") + names[i] +
            (defaults[i].empty() ? "" : "=" + defaults[i]);
  return text;
}

std::string ConstructorSignature::of_init() const {
  std::string typed;
  for (std::size_t i = 0; i < names.size(); ++i)
    typed += (i == positional ? ", *, " : ", ") + names[i] + ": " + types[i] +
             (defaults[i].empty() ? "" : " = " + defaults[i]);
  const std::string own = plain();
  return dlprim::concat("__init__(self", own.empty() ? "" : ", ", own, ")\n--\n\n__init__(self", typed,
                        ") -> None");
}
