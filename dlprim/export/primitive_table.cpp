#include "dlprim/export/primitive_table.h"

#include <unordered_map>

#include "dlprim/dlprim.h"

namespace dlprim {

template <>
constexpr int enumerators<MatmulPrecision> = 3;
template <>
constexpr int enumerators<Negative> = 2;
template <>
constexpr int enumerators<PlaceReduction> = 3;
template <>
constexpr int enumerators<Triangle> = 2;
template <>
constexpr int enumerators<Reduction> = 3;
template <>
constexpr int enumerators<Extreme> = 2;
template <>
constexpr int enumerators<Interpolation> = 3;
template <>
constexpr int enumerators<GridInterpolation> = 3;
template <>
constexpr int enumerators<GridPadding> = 3;
template <>
constexpr int enumerators<PadMode> = 2;
template <>
constexpr int enumerators<RnnCell> = 4;
template <>
constexpr int enumerators<CheckError> = 2;

template <>
const PointwiseExpression& row_named(const std::string& name) {
  return expression_named(name);
}
template <>
const PointwiseOp& row_named(const std::string& name) {
  return pointwise_row_named(name);
}
template <>
const ReductionOp& row_named(const std::string& name) {
  return reduction(name);
}

template <>
struct OwnReader<DeviceCheck> : std::true_type {
  static DeviceCheck read(const ArgumentValue& value, ArgumentContext& context) {
    const std::vector<Argument>& fields = list_of(value);
    if (fields.size() != 2) refuse_value("a message and an error", value);
    return find_or_register_check(text_of_value(fields[0].value),
                                  read_argument<CheckError>(fields[1].value, context));
  }
};

template <>
struct OwnReader<RnnSteps> : std::true_type {
  static RnnSteps read(const ArgumentValue& value, ArgumentContext& context) {
    const std::vector<Argument>& fields = list_of(value);
    if (fields.empty()) refuse_value("the sizes of steps", value);
    return RnnSteps(read_argument<std::vector<std::int64_t>>(fields[0].value, context));
  }
};

namespace {

bool is_identifier(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_word);
}

/** Macros with whole numbers alone: " -DMOMENTUM=1 -DNESTEROV=0". */
Defines read_defines(const std::string& text) {
  Defines defines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(" -D", start + 1), text.size());
    const std::size_t equals = text.find('=', start);
    require(text.compare(start, 3, " -D") == 0 && equals < end, "expected macros, got '", text, "'");
    const std::string macro = text.substr(start + 3, equals - start - 3);
    const std::string number = text.substr(equals + 1, end - equals - 1);
    require(is_identifier(macro) && !number.empty() && number.size() < 10 &&
                number.find_first_not_of("0123456789") == std::string::npos,
            "expected macros, got '", text, "'");
    defines.set(interned(macro), std::stoll(number));
    start = end;
  }
  return defines;
}

}  // namespace

template <>
struct OwnReader<FusedUpdate> : std::true_type {
  static FusedUpdate read(const ArgumentValue& value, ArgumentContext& context) {
    const std::vector<Argument>& fields = list_of(value);
    if (fields.size() != 3) refuse_value("a kernel, coefficients and macros", value);
    const std::string& kernel = text_of_value(fields[0].value);
    require(is_identifier(kernel), "expected the name of a kernel, got '", kernel, "'");
    return {interned(kernel), read_argument<std::vector<double>>(fields[1].value, context),
            read_defines(text_of_value(fields[2].value))};
  }
};

namespace {

template <class Parameter>
decltype(auto) read_parameter(const Argument& argument, ArgumentContext& context) {
  using T = std::decay_t<Parameter>;
  return at_place([&] { return "argument " + argument.name; },
                  [&]() -> decltype(auto) { return read_argument<T>(argument.value, context); });
}

template <class... Parameters, std::size_t... I>
std::shared_ptr<HeldCall> read_call(const char* name, void (*function)(Queue&, Parameters...),
                                    const std::vector<Argument>& arguments, ArgumentContext& context,
                                    std::index_sequence<I...>) {
  require<TypeError>(arguments.size() == sizeof...(I), "expected ", sizeof...(I), " arguments, got ",
                     arguments.size());
  return std::make_shared<HeldCallOf<void, Parameters...>>(
      name, function, read_parameter<Parameters>(arguments[I], context)...);
}

template <class... Parameters>
std::shared_ptr<HeldCall> read_call(const char* name, void (*function)(Queue&, Parameters...),
                                    const std::vector<Argument>& arguments, ArgumentContext& context) {
  return read_call(name, function, arguments, context, std::index_sequence_for<Parameters...>());
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/** Calls visit with each value that a path leads to: "a", or "a.b" for field b of a, or of each element of a.
 */
template <class Visit>
void at_path(const std::vector<Argument>& arguments, std::string_view path, const Visit& visit) {
  const std::size_t dot = path.find('.');
  const std::string_view first = path.substr(0, dot);
  for (const Argument& argument : arguments) {
    const auto* list = std::get_if<std::vector<Argument>>(&argument.value);
    if (argument.name.empty()) {  // an element of a list
      if (list) at_path(*list, path, visit);
    } else if (argument.name == first) {
      if (dot == std::string_view::npos)
        visit(argument.value);
      else if (list)
        at_path(*list, path.substr(dot + 1), visit);
    }
  }
}

bool is_not_zero(const ArgumentValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  return number_of(value) != 0;
}

/** The tensors that a list of paths leads to; see primitives.def. */
std::vector<Tensor> tensors_at(const std::vector<Argument>& arguments, const char* paths) {
  std::vector<Tensor> tensors;
  for (const std::string& text : split_at_commas(paths)) {
    constexpr std::string_view keyword = " if ";
    const std::string_view part = trimmed(text);
    const std::size_t condition = part.find(keyword);
    bool holds = condition == std::string_view::npos;
    if (!holds)
      at_path(arguments, part.substr(condition + keyword.size()),
              [&](const ArgumentValue& value) { holds = is_not_zero(value); });
    if (holds)
      at_path(arguments, part.substr(0, condition), [&](const ArgumentValue& value) {
        for (Tensor& tensor : tensors_in({{std::string(), value}})) tensors.push_back(std::move(tensor));
      });
  }
  return tensors;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.storage == b.storage && a.dtype == b.dtype && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides;
}

bool is_among(const Tensor& tensor, const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& t) { return is_same(t, tensor); });
}

}  // namespace

Primitive::Tensors Primitive::tensors(const std::vector<Argument>& arguments) const {
  Tensors by_use;
  by_use.updated = tensors_at(arguments, updates);
  for (const Tensor& tensor : tensors_at(arguments, writes))
    if (!is_among(tensor, by_use.updated)) by_use.written.push_back(tensor);
  // Written arguments are taken out by place, not by value: a tensor may be read and written by one call.
  std::vector<Tensor> others = tensors_in(arguments);
  for (const std::vector<Tensor>* outputs : {&by_use.written, &by_use.updated})
    for (const Tensor& output : *outputs) {
      const auto last =
          std::find_if(others.rbegin(), others.rend(), [&](const Tensor& t) { return is_same(t, output); });
      if (last != others.rend()) others.erase(std::next(last).base());
    }
  by_use.read = std::move(others);
  return by_use;
}

std::shared_ptr<HeldCall> Primitive::call(const std::vector<Argument>& arguments,
                                          ArgumentContext& context) const {
  return at_place([&] { return name; }, [&] { return make(name, arguments, context); });
}

namespace {

/** Whether the build has the primitive: all, or those of cmake -DTAPECL_OPERATORS. */
constexpr bool is_built(std::string_view name) {
#ifdef TAPECL_PRIMITIVES
  constexpr std::string_view built = TAPECL_PRIMITIVES;  // " a b c "
  for (std::size_t at = built.find(name); at != built.npos; at = built.find(name, at + 1))
    if (built[at - 1] == ' ' && built[at + name.size()] == ' ') return true;
  return false;
#else
  return !name.empty();
#endif
}

/** `make`, or null. The linker drops a function that no row leads to, and what it alone uses. */
template <bool is_built, class Make>
constexpr decltype(Primitive::make) make_if_built(Make make) {
  if constexpr (is_built)
    return make;
  else
    return nullptr;
}

}  // namespace

const std::vector<Primitive>& primitive_table() {
  struct Row {
    const char *name, *parameters, *writes, *updates;
    decltype(Primitive::make) make;
  };
#define PRIMITIVE(function, parameters, writes, updates)                                           \
  Row{#function, parameters, writes, updates,                                                      \
      make_if_built<is_built(#function)>(                                                          \
          [](const char* name, const std::vector<Argument>& arguments, ArgumentContext& context) { \
            return read_call(name, function, arguments, context);                                  \
          })},
  static constexpr Row rows[] = {
#include "dlprim/export/primitives.def"
  };
#undef PRIMITIVE
  static const auto& table = *[] {
    auto* primitives = new std::vector<Primitive>;
    for (const Row& row : rows)
      primitives->push_back({row.name, split_names(row.parameters), row.writes, row.updates, row.make});
    return primitives;
  }();
  return table;
}

const Primitive* find_primitive(std::string_view name) {
  static const auto& by_name = *[] {
    auto* primitives = new std::unordered_map<std::string_view, const Primitive*>;
    for (const Primitive& primitive : primitive_table()) primitives->emplace(primitive.name, &primitive);
    return primitives;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace dlprim
