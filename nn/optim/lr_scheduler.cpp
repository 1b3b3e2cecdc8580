#include "nn/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>

namespace ocl::optim {
namespace {

using dlprim::concat;
using dlprim::require;

/** A group's options, which are the optimizer's own. */
class OwnOptions : public NamedValues {
 public:
  explicit OwnOptions(GroupOptions& options) : options_(options) {}
  bool has(const char* name) const override { return options_.has(name); }
  Value get(const char* name) const override { return options_.get(name); }
  void set(const char* name, Value value) override { options_.add(name, std::move(value)); }

 private:
  GroupOptions& options_;
};

bool is_number(const Value& value) {
  return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value) ||
         std::holds_alternative<bool>(value);
}

/** `value` if it may stand where `own` stood. */
Value fitting(const std::string& name, const Value& own, const Value& value) {
  const bool fits = is_number(own) ? is_number(value) : own.index() == value.index();
  require<TypeError>(fits, "load_state_dict: '", name, "' cannot be ", dlprim::text_of(value));
  if (!std::holds_alternative<std::int64_t>(own)) return value;
  Options one{{name, value}};
  const double number = one.number(name.c_str());
  require(number == std::floor(number) && std::fabs(number) <= 4503599627370496, "load_state_dict: '", name,
          "' cannot be ", number);  // 2^52
  return static_cast<std::int64_t>(number);
}

}  // namespace

double LRScheduler::Fields::call(const char* name, std::size_t index, double argument) const {
  const auto& all = functions.at(name);
  return all.at(all.size() == 1 ? 0 : index)(argument);
}

LRScheduler::LRScheduler(Optimizer& optimizer, std::int64_t last_epoch) : optimizer_(optimizer) {
  fields_.set("last_epoch", last_epoch);
  fields_.set("_step_count", std::int64_t{0});
  fields_.set("_is_initial", false);
  fields_.set("_last_lr", std::vector<double>());
}

void LRScheduler::note_base_rates() {
  if (std::exchange(has_noted_rates_, true)) return;
  {
    const std::lock_guard locked(optimizer_.mutex());
    for (ParameterGroup& group : optimizer_.param_groups()) {
      if (last_epoch() == -1 && !group.options.has("initial_lr"))
        group.options.add("initial_lr", group.options.get("lr"));
      require(group.options.has("initial_lr"), "a schedule that resumes at epoch ", last_epoch(),
              " needs 'initial_lr' in every parameter group: load the optimizer's state first");
    }
  }
  if (!fields_.has("base_lrs")) fields_.set("base_lrs", group_values("initial_lr"));
}

void LRScheduler::start() {
  note_base_rates();
  fields_.set("_step_count", std::int64_t{0});
  fields_.set("_is_initial", true);
  step();
  fields_.set("_is_initial", false);
}

void LRScheduler::step() {
  fields_.set("_step_count", static_cast<std::int64_t>(fields_.number("_step_count")) + 1);
  fields_.set("last_epoch", last_epoch() + 1);
  set_rates(get_lr());
}

void LRScheduler::step_to(double epoch) {
  fields_.set("last_epoch", static_cast<std::int64_t>(std::floor(epoch)));
  set_rates(closed_form_lr());
}

Groups LRScheduler::groups() const {
  Groups groups;
  for (ParameterGroup& group : optimizer_.param_groups())
    groups.push_back(std::make_unique<OwnOptions>(group.options));
  return groups;
}

std::vector<double> LRScheduler::group_values(const char* option) const {
  const std::lock_guard locked(optimizer_.mutex());
  std::vector<double> values;
  for (const ParameterGroup& group : optimizer_.param_groups()) values.push_back(group.number(option));
  return values;
}

void LRScheduler::set_rates(const std::vector<double>& rates) {
  note_rates(rates);
  const std::lock_guard locked(optimizer_.mutex());
  auto rate = rates.begin();
  for (ParameterGroup& group : optimizer_.param_groups())
    if (rate != rates.end()) group.options.set("lr", *rate++);  // a group may just have been added
}

SchedulerState LRScheduler::checked(const SchedulerState& state) const {
  SchedulerState whole = state_dict();
  for (const auto& [name, own] : whole.values.values())
    if (state.values.has(name.c_str()))
      whole.values.set(name.c_str(), fitting(name, own, state.values.get(name.c_str())));
  for (const char* rates : {"base_lrs", "_last_lr"})
    require(whole.values.numbers(rates).size() == fields_.numbers(rates).size(), "load_state_dict: expected ",
            fields_.numbers(rates).size(), " ", rates, ", got ", whole.values.numbers(rates).size());
  check(whole.values);
  return whole;
}

void LRScheduler::take(SchedulerState state) {
  for (const auto& [name, value] : state.values.values()) fields_.set(name.c_str(), value);
}

void LRScheduler::undo_first_step() {
  if (last_epoch() >= 0) fields_.set("last_epoch", last_epoch() - 1);
}

void LRScheduler::start_anew() {
  fields_.set("last_epoch", std::int64_t{-1});
  start();
}

RuleSchedule::RuleSchedule(Optimizer& optimizer, const ScheduleOptions& given)
    : LRScheduler(optimizer, given.resumes_at), rule_(given.rule) {
  const std::size_t count = optimizer.param_groups().size();
  Options complete = given;
  for (const auto& row : rule_.options) {
    if (row.kind != dlprim::OptionRow::Kind::callable) continue;
    const char* const name = row.required ? "lr_lambdas" : "_scale_fn_custom";
    require(!given.functions.empty() || !row.required, rule_.name, ": expected a function");
    require(given.functions.size() <= 1 || given.functions.size() == count, "Expected ", count, " ", name,
            ", but got ", given.functions.size());
    fields_.functions[name] = given.functions;
    complete.set(row.name, given.functions.empty() ? Value() : Value(true));
    fields_.set(name, complete.get(row.name));
  }
  {
    const std::lock_guard locked(optimizer.mutex());
    std::vector<Options> before;
    for (const ParameterGroup& group : optimizer.param_groups()) before.push_back(group.options);
    Groups all = groups();
    rule_.begin(fields_, complete, all, given.resumes_at == -1);
    for (std::size_t i = 0; i < count; ++i) {
      Options settings;
      for (const auto& [name, value] : optimizer.param_groups()[i].options.values())
        if (name != "lr" && !(before[i].has(name.c_str()) && before[i].get(name.c_str()) == value))
          settings.set(name.c_str(), value);
      group_settings_.push_back(std::move(settings));
    }
  }
  start();
}

void RuleSchedule::start_anew() {
  {  // another schedule of the same optimizer may have put its own there since
    const std::lock_guard locked(optimizer().mutex());
    auto& all = optimizer().param_groups();
    for (std::size_t i = 0; i < std::min(all.size(), group_settings_.size()); ++i)
      for (const auto& [name, value] : group_settings_[i].values()) all[i].options.add(name.c_str(), value);
  }
  LRScheduler::start_anew();
}

std::vector<double> RuleSchedule::rates(bool closed_form) {
  const std::lock_guard locked(optimizer().mutex());
  Groups all = groups();
  return rule_.rates(fields_, all, closed_form);
}

void RuleSchedule::step() {
  if (!rule_.advance) return LRScheduler::step();
  rule_.advance(fields_, std::nullopt);
  set_rates(get_lr());
}

void RuleSchedule::step_to(double epoch) {
  if (!rule_.advance) return LRScheduler::step_to(epoch);
  rule_.advance(fields_, epoch);
  set_rates(get_lr());
}

}  // namespace ocl::optim
