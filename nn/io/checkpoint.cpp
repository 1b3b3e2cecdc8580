#include "nn/io/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "dlprim/core/error.h"

namespace ocl {
namespace {

using nlohmann::json;
using optim::OptimizerState;
using optim::Options;
using optim::SchedulerState;
using optim::Value;

constexpr const char *module_kind = "module", *optimizer_kind = "optimizer", *schedule_kind = "schedule",
                     *scaler_kind = "scaler", *generator_kind = "generator", *text_kind = "text";
/** They stand before a name in the file's metadata. */
constexpr const char *kind_key = "kind of ", *numbers_key = "numbers of ";

// ---- values

/** JSON has no infinity and no NaN. */
json json_of(double number) {
  if (std::isfinite(number)) return number;
  return {{"number", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
}

double number_of(const json& value) {
  if (!value.is_object()) return value.get<double>();
  const std::string name = value.at("number");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return name == "nan" ? std::numeric_limits<double>::quiet_NaN() : name == "inf" ? infinity : -infinity;
}

json json_of(const Value& value) {
  struct Visitor {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(bool flag) const { return flag; }
    json operator()(std::int64_t number) const { return number; }
    json operator()(double number) const { return json_of(number); }
    json operator()(const std::string& text) const { return text; }
    json operator()(const std::vector<double>& numbers) const {
      json all = json::array();
      for (const double number : numbers) all.push_back(json_of(number));
      return all;
    }
  };
  return std::visit(Visitor{}, value);
}

Value value_of(const json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return number_of(value);
  std::vector<double> numbers;
  for (const json& number : value) numbers.push_back(number_of(number));
  return numbers;
}

json json_of(const Options& options) {
  json all = json::object();
  for (const auto& [name, value] : options.values()) all[name] = json_of(value);
  return all;
}

Options options_of(const json& values) {
  Options options;
  for (const auto& [name, value] : values.items()) options.set(name.c_str(), value_of(value));
  return options;
}

json json_of(const SchedulerState& state) {
  json inner = json::array();
  for (const SchedulerState& each : state.schedulers) inner.push_back(json_of(each));
  return {{"values", json_of(state.values)}, {"schedulers", inner}};
}

SchedulerState schedule_of(const json& state) {
  SchedulerState result{options_of(state.at("values")), {}};
  for (const json& inner : state.at("schedulers")) result.schedulers.push_back(schedule_of(inner));
  return result;
}

std::string prefix_of(const std::string& name, std::size_t group, std::size_t parameter) {
  return dlprim::concat(name, ".", group, ".", parameter, ".");
}

/** Gives what `read` makes of the numbers of `name`. */
template <class Read>
auto parsed(const std::string& name, const std::string& numbers, const Read& read) {
  try {
    return read(json::parse(numbers));
  } catch (const json::exception& error) {
    throw ValueError(
        dlprim::concat("the checkpoint's numbers of \"", name, "\" cannot be read: ", error.what()));
  }
}

}  // namespace

// ---- add

Checkpoint& Checkpoint::note(const std::string& name, const char* kind, std::string numbers) {
  dlprim::require(name.find('.') == std::string::npos, "a name in a checkpoint has no dots, got \"", name,
                  "\"");
  dlprim::require(!has(name), "the checkpoint has something named \"", name, "\" already");
  kinds_[name] = kind;
  numbers_[name] = std::move(numbers);
  return *this;
}

Checkpoint& Checkpoint::add(const std::string& name, const nn::Module& module) {
  note(name, module_kind, "");
  for (const auto& [path, tensor] : module.state_dict()) add_tensor(name + "." + path, tensor);
  return *this;
}

Checkpoint& Checkpoint::add(const std::string& name, const optim::Optimizer& optimizer) {
  const OptimizerState state = optimizer.state_dict();
  json groups = json::array();
  for (const OptimizerState::Group& group : state.groups) {
    json parameters = json::array();
    for (const optim::ParameterState& parameter : group.parameters) {
      json numbers = json::object();
      for (const auto& [key, number] : parameter.numbers) numbers[key] = json_of(number);
      for (const auto& [key, tensor] : parameter.tensors)
        if (tensor.defined()) add_tensor(prefix_of(name, groups.size(), parameters.size()) + key, tensor);
      parameters.push_back(numbers);
    }
    groups.push_back({{"options", json_of(group.options)}, {"parameters", parameters}});
  }
  return note(name, optimizer_kind, json{{"class", optimizer.name()}, {"groups", groups}}.dump());
}

Checkpoint& Checkpoint::add(const std::string& name, const optim::LRScheduler& schedule) {
  return note(name, schedule_kind, json_of(schedule.state_dict()).dump());
}

Checkpoint& Checkpoint::add(const std::string& name, const GradScaler& scaler) {
  const GradScalerState state = scaler.state();
  return note(name, scaler_kind, json{{"scale", state.scale}, {"steps", state.steps_since_growth}}.dump());
}

Checkpoint& Checkpoint::add(const std::string& name, const Generator& generator) {
  const dlprim::PhiloxState state = generator.state();
  return note(name, generator_kind, json{{"seed", state.seed}, {"offset", state.offset}}.dump());
}

Checkpoint& Checkpoint::add(const std::string& name, const std::string& text) {
  return note(name, text_kind, text);
}

// ---- restore

const std::string& Checkpoint::numbers_of(const std::string& name, const char* kind) const {
  const auto found = kinds_.find(name);
  dlprim::require(found != kinds_.end(), "the checkpoint has nothing named \"", name, "\"");
  dlprim::require(found->second == kind, "the checkpoint's \"", name, "\" is no ", kind, " but of the kind ",
                  found->second);
  return numbers_.at(name);
}

StateDict Checkpoint::tensors_of(const std::string& prefix) const {
  StateDict part;
  for (const auto& [path, tensor] : tensors_)
    if (path.compare(0, prefix.size(), prefix) == 0) part.emplace_back(path.substr(prefix.size()), tensor);
  return part;
}

const Checkpoint& Checkpoint::restore(const std::string& name, nn::Module& module) const {
  numbers_of(name, module_kind);
  module.load_state_dict(tensors_of(name + "."));
  return *this;
}

const Checkpoint& Checkpoint::restore(const std::string& name, optim::Optimizer& optimizer) const {
  OptimizerState state = parsed(name, numbers_of(name, optimizer_kind), [&](const json& numbers) {
    const std::string saved = numbers.at("class");
    dlprim::require(saved == optimizer.name(), "the checkpoint's \"", name, "\" is of the class ", saved,
                    ", expected ", optimizer.name());
    OptimizerState result;
    for (const json& group : numbers.at("groups")) {
      OptimizerState::Group& read = result.groups.emplace_back();
      read.options = options_of(group.at("options"));
      for (const json& parameter : group.at("parameters")) {
        std::map<std::string, double>& kept = read.parameters.emplace_back().numbers;
        for (const auto& [key, number] : parameter.items()) kept[key] = number_of(number);
      }
    }
    return result;
  });
  const auto& groups = optimizer.param_groups();
  for (std::size_t g = 0; g < std::min(groups.size(), state.groups.size()); ++g) {
    const TensorList& parameters = groups[g].parameters;
    for (std::size_t p = 0; p < std::min(parameters.size(), state.groups[g].parameters.size()); ++p)
      for (const auto& [key, tensor] : tensors_of(prefix_of(name, g, p)))
        state.groups[g].parameters[p].tensors[key] = tensor.to(parameters[p].device());
  }
  optimizer.load_state_dict(state);  // says what does not fit
  return *this;
}

const Checkpoint& Checkpoint::restore(const std::string& name, optim::LRScheduler& schedule) const {
  schedule.load_state_dict(parsed(name, numbers_of(name, schedule_kind), schedule_of));
  return *this;
}

const Checkpoint& Checkpoint::restore(const std::string& name, GradScaler& scaler) const {
  scaler.set_state(parsed(name, numbers_of(name, scaler_kind), [](const json& numbers) {
    return GradScalerState{numbers.at("scale"), numbers.at("steps")};
  }));
  return *this;
}

const Checkpoint& Checkpoint::restore(const std::string& name, Generator& generator) const {
  generator.set_state(parsed(name, numbers_of(name, generator_kind), [](const json& numbers) {
    return dlprim::PhiloxState{numbers.at("seed"), numbers.at("offset")};
  }));
  return *this;
}

std::string Checkpoint::text(const std::string& name) const {
  return numbers_of(name, text_kind);
}

// ---- files

void Checkpoint::save(const std::filesystem::path& path) const {
  Metadata metadata;
  for (const auto& [name, kind] : kinds_) {
    metadata[kind_key + name] = kind;
    metadata[numbers_key + name] = numbers_.at(name);
  }
  ocl::save(tensors_, path, metadata);
}

Checkpoint Checkpoint::load(const std::filesystem::path& path, const Device& device) {
  Checkpoint checkpoint;
  Metadata metadata;
  checkpoint.tensors_ = ocl::load(path, device, &metadata);
  const std::string key = kind_key;
  for (const auto& [entry, kind] : metadata) {
    if (entry.compare(0, key.size(), key) != 0) continue;
    const std::string name = entry.substr(key.size());
    checkpoint.note(name, kind.c_str(), metadata[numbers_key + name]);
  }
  if (checkpoint.kinds_.empty()) {
    throw FileError(path.string() + ": no checkpoint: it names no part that ocl::Checkpoint wrote");
  }
  return checkpoint;
}

void save(const optim::Optimizer& optimizer, const std::filesystem::path& path) {
  Checkpoint().add(optimizer_kind, optimizer).save(path);
}
void load(optim::Optimizer& optimizer, const std::filesystem::path& path) {
  Checkpoint::load(path).restore(optimizer_kind, optimizer);
}
void save(const optim::LRScheduler& schedule, const std::filesystem::path& path) {
  Checkpoint().add(schedule_kind, schedule).save(path);
}
void load(optim::LRScheduler& schedule, const std::filesystem::path& path) {
  Checkpoint::load(path).restore(schedule_kind, schedule);
}

}  // namespace ocl
