#include "signature.h"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <set>

#include "dlprim/core/error.h"

using dlprim::concat;
using py::detail::function_record;

namespace {

std::map<std::string, PyTypeObject*>& known_classes() {
  static auto& classes = *new std::map<std::string, PyTypeObject*>;
  return classes;
}

/** The pieces of `text` between separators that stand outside brackets and quotes. */
std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') quoted = !quoted;
    if (!quoted) depth += (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}');
    if (!quoted && depth == 0 && text.compare(i, separator.size(), separator) == 0) {
      pieces.emplace_back();
      i += separator.size() - 1;
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/** The text between the brackets of `name[...]`, if it is that. */
std::optional<std::string> inside(const std::string& type, const std::string& name) {
  if (type.compare(0, name.size() + 1, name + "[") != 0) return std::nullopt;
  return type.substr(name.size() + 1, type.size() - name.size() - 2);
}

std::vector<std::string> alternatives(const std::string& type) {
  return split(type, " | ");
}

std::string type_name(PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

/** A type as an error names it: "Tensor or Number", "tuple of ints". */
std::string described(const std::string& type) {
  std::vector<std::string> names;
  for (const std::string& alternative : alternatives(type)) {
    if (alternative == "None") continue;
    if (const auto element = inside(alternative, "Sequence"))
      names.push_back("tuple of " + described(*element) + "s");
    else if (const auto elements = inside(alternative, "tuple"))
      names.push_back(
          concat("tuple of ", split(*elements, ", ").size(), " ", split(*elements, ", ")[0], "s"));
    else if (inside(alternative, "Callable"))
      names.push_back("Callable");
    else
      names.push_back(alternative.substr(alternative.rfind('.') + 1));
  }
  const auto complex = std::find(names.begin(), names.end(), "complex");  // what takes it takes every number
  if (complex != names.end()) names.erase(complex);
  const std::vector<std::string> number{"float", "int", "bool"};
  const auto found = std::search(names.begin(), names.end(), number.begin(), number.end());
  if (found != names.end()) names.insert(names.erase(found, found + 3), "Number");
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

bool fits(const std::string& type, PyObject* value);

/** The first element of a sequence that is not of that type. */
std::optional<std::string> wrong_element(const std::string& type, PyObject* sequence) {
  const Py_ssize_t size = PySequence_Size(sequence);
  for (Py_ssize_t i = 0; i < size; ++i) {
    const auto element = py::reinterpret_steal<py::object>(PySequence_GetItem(sequence, i));
    if (!element) break;
    if (!fits(type, element.ptr()))
      return concat("found element of type ", type_name(element.ptr()), " at pos ", i);
  }
  PyErr_Clear();
  return std::nullopt;
}

bool is_listing(PyObject* value) {
  return PyList_Check(value) || PyTuple_Check(value);
}

/** Whether a value may be taken for one of those types; true for types that are not known here. */
bool fits(const std::string& type, PyObject* value) {
  const auto fits_one = [value](const std::string& wanted) {
    const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
    if (wanted == "None") return value == Py_None;
    const bool is_number = wanted == "int" || wanted == "float" || wanted == "bool" || wanted == "complex";
    if (is_number && loses_gradient_as_number(value)) return false;
    if (wanted == "int") return !PyFloat_Check(value) && number && (number->nb_index || number->nb_int);
    if (wanted == "complex") return PyComplex_Check(value) != 0;
    if (wanted == "float") return number && (number->nb_float || number->nb_index);
    if (wanted == "bool") return PyBool_Check(value) || (number && number->nb_bool && !PyLong_Check(value));
    if (wanted == "str") return PyUnicode_Check(value) != 0;
    if (wanted == "device") return type_name(value) == "device";
    if (inside(wanted, "Callable")) return PyCallable_Check(value) != 0;
    if (const auto element = inside(wanted, "Sequence"))
      return !PyUnicode_Check(value) && PySequence_Check(value) &&
             (!is_listing(value) || !wrong_element(*element, value)) &&
             (!loses_gradient_as_number(value) || fits(*element, value));
    if (const auto elements = inside(wanted, "tuple")) {
      const std::vector<std::string> types = split(*elements, ", ");
      return is_listing(value) && PySequence_Size(value) == static_cast<Py_ssize_t>(types.size()) &&
             !wrong_element(types[0], value);
    }
    const auto known = known_classes().find(wanted);
    return known == known_classes().end() || PyObject_TypeCheck(value, known->second);
  };
  const std::vector<std::string> types = alternatives(type);
  return std::any_of(types.begin(), types.end(), fits_one);
}

/** Why one overload does not take the arguments, and how far it came: the one that came furthest is meant. */
struct Failure {
  std::size_t progress;
  std::string text;
  // For an argument of the wrong type:
  std::string parameter{}, place{}, types{};
  PyObject* value = nullptr;
};

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += concat(i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", "'", names[i], "'");
  return text;
}

std::string missing(const std::string& function, const char* kind, const std::vector<std::string>& names) {
  return concat(function, "() missing ", names.size(), " required ", kind,
                names.size() == 1 ? " argument: " : " arguments: ", listed(names));
}

std::string wrong_type(const std::string& function, const Failure& failure) {
  std::string reason = "not " + type_name(failure.value);
  if (is_listing(failure.value))
    for (const std::string& alternative : alternatives(failure.types)) {
      if (inside(alternative, "tuple")) reason += concat(" of ", PySequence_Size(failure.value));
      if (const auto element = inside(alternative, "Sequence"))
        if (const auto wrong = wrong_element(*element, failure.value)) reason = "but " + *wrong;
    }
  reason += gradient_advice(failure.value);
  return concat(function, "(): argument '", failure.parameter, "'", failure.place, " must be ",
                described(failure.types), ", ", reason);
}

bool is_beyond_32_bits(PyObject* value) {
  if (!PyLong_Check(value)) return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow != 0 || number > INT_MAX || number < INT_MIN;
}

Failure failure_of(const function_record& overload, const std::string& function,
                   const GivenArguments& given) {
  enum Progress : std::size_t { count, keywords, completeness, types };
  const std::vector<Parameter> parameters = parameters_of(overload.signature);
  const std::size_t own = overload.is_method ? 1 : 0;  // self
  using Kind = Parameter::Kind;
  const auto count_of = [&](Kind kind) {
    return static_cast<std::size_t>(std::count_if(parameters.begin(), parameters.end(),
                                                  [kind](const auto& p) { return p.kind == kind; }));
  };
  const std::size_t positional = count_of(Kind::positional);
  if (given.positional > positional && count_of(Kind::all_positional) == 0)
    return {count, concat(function, "() takes ", positional - own, " positional argument",
                          positional - own == 1 ? "" : "s", " but ", given.positional - own,
                          given.positional - own == 1 ? " was" : " were", " given")};

  std::map<std::string, PyObject*> named;
  for (Py_ssize_t i = 0; given.names && i < PyTuple_GET_SIZE(given.names); ++i) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(given.names, i));
    named.emplace(name ? name : "", given.values[given.positional + static_cast<std::size_t>(i)]);
  }
  for (const auto& [name, value] : named) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&, &name = name](const auto& p) { return p.name == name; });
    if (found == parameters.end() && count_of(Kind::all_keywords) == 0)
      return {keywords, concat(function, "() got an unexpected keyword argument '", name, "'")};
    if (found != parameters.end() && found->kind == Kind::positional &&
        static_cast<std::size_t>(found - parameters.begin()) < given.positional)
      return {keywords, concat(function, "() got multiple values for argument '", name, "'")};
  }

  std::vector<std::string> missing_positional, missing_named;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (!p.default_value.empty() || named.count(p.name)) continue;
    if (p.kind == Kind::positional && i >= given.positional) missing_positional.push_back(p.name);
    if (p.kind == Kind::keyword_only) missing_named.push_back(p.name);
  }
  if (!missing_positional.empty()) return {completeness, missing(function, "positional", missing_positional)};
  if (!missing_named.empty()) return {completeness, missing(function, "keyword-only", missing_named)};

  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (p.kind == Kind::positional && i < given.positional) {
      if (i < own || fits(p.type, given.values[i])) continue;
      return {types + i, "", p.name, concat(" (position ", i - own + 1, ")"), p.type, given.values[i]};
    }
    if (const auto found = named.find(p.name); found != named.end() && !fits(p.type, found->second))
      return {types + i, "", p.name, "", p.type, found->second};
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    const auto found = named.find(p.name);
    PyObject* value = i < given.positional ? given.values[i] : found != named.end() ? found->second : nullptr;
    if (p.kind != Kind::all_positional && value && is_beyond_32_bits(value))
      return {types + i, concat(function, "(): argument '", p.name,
                                "' is out of range: ", py::str(value).cast<std::string>())};
  }
  std::string got;
  for (std::size_t i = own; i < given.positional; ++i)
    got += (i > own ? ", " : "") + type_name(given.values[i]);
  for (const auto& [name, value] : named) got += concat(got.empty() ? "" : ", ", name, "=", type_name(value));
  return {types, concat(function, "() received an invalid combination of arguments - got (", got, ")")};
}

bool is_python_name(const std::string& name) {
  static const auto& keywords =
      *new std::set<std::string>{"from", "lambda", "in", "is", "not", "and", "or", "if", "for", "global"};
  return keywords.count(name) == 0;
}

/** A default as inspect can evaluate it: a literal. */
std::string evaluable(const std::string& value) {
  if (value == "inf" || value == "-inf") return replaced(value, "inf", "1e999");
  if (value == "nan") return "...";
  return value.find('<') == std::string::npos ? value : "...";
}

}  // namespace

std::vector<Parameter> parameters_of(const char* signature) {
  std::string text = signature;
  text = text.substr(1, text.rfind(") -> ") - 1);
  text = replaced(text, "typing.SupportsFloat | typing.SupportsIndex", "float");
  text = replaced(text, "typing.SupportsIndex", "int");
  text = replaced(text, "collections.abc.", "");
  std::vector<Parameter> parameters;
  Parameter::Kind kind = Parameter::Kind::positional;
  if (text.empty()) return parameters;
  for (const std::string& piece : split(text, ", ")) {
    if (piece == "/") continue;
    if (piece == "*") {
      kind = Parameter::Kind::keyword_only;
    } else if (piece.compare(0, 2, "**") == 0) {
      parameters.push_back({Parameter::Kind::all_keywords, piece.substr(2), "", ""});
    } else if (piece[0] == '*') {
      parameters.push_back({Parameter::Kind::all_positional, piece.substr(1), "", ""});
      kind = Parameter::Kind::keyword_only;
    } else {
      const std::size_t colon = piece.find(": "), equals = piece.find(" = ");
      const std::size_t type_end = std::min(equals, piece.size());
      parameters.push_back({kind, piece.substr(0, colon), piece.substr(colon + 2, type_end - colon - 2),
                            equals == std::string::npos ? "" : piece.substr(equals + 3)});
    }
  }
  return parameters;
}

std::string gradient_advice(PyObject* value) {
  return loses_gradient_as_number(value)
             ? ", which requires gradients that a number would lose: give its detach() or item()"
             : "";
}

std::string argument_error(const function_record& overloads, const GivenArguments& given) {
  std::string function = overloads.name;
  if (overloads.is_constructor)
    function = overloads.scope.attr("__name__").cast<std::string>() + "." + function;
  if (overloads.is_method && given.positional == 0)
    return "unbound method " + function + "() needs an argument";
  if (overloads.is_method && !overloads.is_constructor &&
      !PyObject_TypeCheck(given.values[0], reinterpret_cast<PyTypeObject*>(overloads.scope.ptr())))
    return concat("descriptor '", function, "' for '", overloads.scope.attr("__name__").cast<std::string>(),
                  "' objects doesn't apply to a '", type_name(given.values[0]), "' object");
  Failure best = failure_of(overloads, function, given);
  for (const function_record* next = overloads.next; next; next = next->next) {
    Failure other = failure_of(*next, function, given);
    if (other.value && other.value == best.value && other.progress == best.progress)
      best.types += " | " + other.types;
    else if (other.progress > best.progress)
      best = std::move(other);
  }
  if (overloads.is_setter && best.value)
    return concat("attribute '", function, "' must be ", described(best.types), ", not ",
                  type_name(best.value));
  return best.value ? wrong_type(function, best) : best.text;
}

py::object without_numpy_names(const function_record& overloads, PyObject* names) {
  static const auto& torch_names =
      *new std::map<std::string, std::string>{{"axis", "dim"}, {"keepdims", "keepdim"}, {"x", "input"},
                                              {"a", "input"},  {"x1", "input"},         {"x2", "other"}};
  std::set<std::string> known;
  for (const function_record* overload = &overloads; overload; overload = overload->next)
    for (const Parameter& p : parameters_of(overload->signature)) known.insert(p.name);
  bool changes = false;
  py::list renamed;
  for (const py::handle name : py::reinterpret_borrow<py::tuple>(names)) {
    const auto text = name.cast<std::string>();
    const auto found = torch_names.find(text);
    const bool is_numpys = found != torch_names.end() && !known.count(text) && known.count(found->second);
    renamed.append(is_numpys ? py::str(found->second) : py::reinterpret_borrow<py::str>(name));
    changes |= is_numpys;
  }
  const bool is_distinct = py::len(py::set(renamed)) == py::len(renamed);
  return changes && is_distinct ? py::object(py::tuple(renamed)) : py::none();
}

std::string text_signature(const function_record& overloads) {
  std::vector<std::vector<Parameter>> all;
  for (const function_record* overload = &overloads; overload; overload = overload->next)
    all.push_back(parameters_of(overload->signature));
  const auto& general = *std::max_element(all.begin(), all.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto is_everywhere = [&](const std::string& name) {
    return std::all_of(all.begin(), all.end(), [&](const auto& parameters) {
      return std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.name == name; });
    });
  };
  using Kind = Parameter::Kind;
  std::string text;
  bool is_marked = false;  // the point from which arguments are named
  for (const Parameter& p : general) {
    if (!text.empty()) text += ", ";
    if (p.kind == Kind::keyword_only && !is_marked) text += "*, ";
    is_marked |= p.kind == Kind::keyword_only || p.kind == Kind::all_positional;
    text += p.kind == Kind::all_positional ? "*" : p.kind == Kind::all_keywords ? "**" : "";
    text += is_python_name(p.name) ? p.name : p.name + "_";
    if (!p.default_value.empty())
      text += "=" + evaluable(p.default_value);
    else if (p.kind == Kind::keyword_only && !is_everywhere(p.name))
      text += "=None";
  }
  return "(" + text + ")";
}

void add_known_class(const std::string& qualified_name, PyTypeObject* type) {
  known_classes().emplace(qualified_name, type);
}
