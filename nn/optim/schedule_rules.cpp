#include "nn/optim/schedule_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dlprim/core/error.h"

namespace ocl::optim {
namespace {

using dlprim::concat;
using dlprim::OptionRow;
using dlprim::OptionRows;
using dlprim::require;
using ValueError = dlprim::ValueError;

constexpr double pi = 3.14159265358979323846;

double on_cosine(double least, double base, double turn) {
  return least + (base - least) * (1 + std::cos(pi * turn)) / 2;
}

double milestones_at(const Moment& at) {
  const std::vector<double> all = at.self.numbers("milestones");
  return static_cast<double>(std::count(all.begin(), all.end(), at.self.number("last_epoch")));
}
double milestones_until(const Moment& at) {
  std::vector<double> all = at.self.numbers("milestones");
  std::sort(all.begin(), all.end());
  return static_cast<double>(std::upper_bound(all.begin(), all.end(), at.self.number("last_epoch")) -
                             all.begin());
}

// --- momentum that moves against the rate: Adam's first beta, or the option "momentum"

void set_momentum(NamedValues& group, double momentum) {
  if (!group.has("betas")) return group.set("momentum", momentum);
  std::vector<double> betas = group.numbers("betas");
  betas[0] = momentum;
  group.set("betas", betas);
}

void begin_momentum(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh) {
  const auto& first = *groups.front();
  require(first.has("betas") || first.has("momentum"),
          "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
  fields.set("use_beta1", first.has("betas"));
  const std::vector<double> tops = one_each("max_momentum", given, groups.size()),
                            bases = one_each("base_momentum", given, groups.size());
  for (std::size_t i = 0; fresh && i < groups.size(); ++i) {
    set_momentum(*groups[i], tops[i]);
    groups[i]->set("max_momentum", tops[i]);
    groups[i]->set("base_momentum", bases[i]);
  }
}

// --- CyclicLR

void begin_cyclic(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh) {
  const std::vector<double> bases = one_each("base_lr", given, groups.size());
  for (std::size_t i = 0; fresh && i < groups.size(); ++i) groups[i]->set("lr", bases[i]);
  fields.set("base_lrs", bases);
  fields.set("max_lrs", one_each("max_lr", given, groups.size()));
  const double up = given.number("step_size_up");
  const double down = given.is_none("step_size_down") ? up : given.number("step_size_down");
  fields.set("total_size", up + down);
  fields.set("step_ratio", up / (up + down));
  const std::string mode = given.text("mode");
  const bool has_function = !given.is_none("scale_fn");
  require(has_function || mode == "triangular" || mode == "triangular2" || mode == "exp_range",
          "mode is invalid and scale_fn is None");
  fields.set("mode", mode);
  fields.set("gamma", given.number("gamma"));
  fields.set("scale_mode", has_function ? given.text("scale_mode")
                                        : std::string(mode == "exp_range" ? "iterations" : "cycle"));
  fields.set("cycle_momentum", given.flag("cycle_momentum"));
  if (!given.flag("cycle_momentum")) return;
  begin_momentum(fields, given, groups, fresh);
  fields.set("base_momentums", one_each("base_momentum", given, groups.size()));
  fields.set("max_momentums", one_each("max_momentum", given, groups.size()));
}

double cyclic_rate(const Moment& at) {
  const auto of_group = [&](const char* name) {
    const std::vector<double> all = at.self.numbers(name);
    return at.index < all.size() ? all[at.index] : std::numeric_limits<double>::quiet_NaN();
  };
  const double epoch = at.self.number("last_epoch"), ratio = at.self.number("step_ratio");
  const double turns = epoch / at.self.number("total_size"), cycle = std::floor(1 + turns),
               x = 1 + turns - cycle;
  const double height = (x <= ratio ? x / ratio : (x - 1) / (ratio - 1)) *
                        cyclic_scale(at.self, at.self.text("scale_mode") == "cycle" ? cycle : epoch);
  if (at.self.flag("cycle_momentum")) {
    const double top = of_group("max_momentums");
    if (!std::isnan(top)) set_momentum(at.group, top - (top - of_group("base_momentums")) * height);
  }
  const double base = of_group("base_lrs");
  return base + (of_group("max_lrs") - base) * height;
}

// --- OneCycleLR

struct Phase {
  const char *start_lr, *end_lr, *start_momentum, *end_momentum;  // options of the group
};
constexpr Phase rise{"initial_lr", "max_lr", "max_momentum", "base_momentum"},
    fall{"max_lr", "initial_lr", "base_momentum", "max_momentum"},
    fall_to_end{"max_lr", "min_lr", "base_momentum", "max_momentum"},
    end{"initial_lr", "min_lr", "max_momentum", "max_momentum"};

double total_steps_of(const NamedValues& given) {
  const auto positive = [&](const char* name) {
    const double value = given.number(name);
    require(value > 0 && value == std::floor(value), "Expected positive integer ", name, ", but got ", value);
    return value;
  };
  if (!given.is_none("total_steps")) return positive("total_steps");
  require(!given.is_none("epochs") && !given.is_none("steps_per_epoch"),
          "You must define either total_steps OR (epochs AND steps_per_epoch)");
  return positive("epochs") * positive("steps_per_epoch");
}

void check_strategy(const std::string& strategy) {
  require(strategy == "cos" || strategy == "linear",
          "anneal_strategy must be one of 'cos' or 'linear', instead got ", strategy);
}

void begin_one_cycle(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh) {
  const double steps = total_steps_of(given), rises = given.number("pct_start") * steps;
  fields.set("total_steps", static_cast<std::int64_t>(steps));
  fields.set("_phase_ends", given.flag("three_phase")
                                ? std::vector<double>{rises - 1, 2 * rises - 2, steps - 1}
                                : std::vector<double>{rises - 1, steps - 1});
  check_strategy(given.text("anneal_strategy"));
  fields.set("_anneal_func_type", given.text("anneal_strategy"));
  const std::vector<double> tops = one_each("max_lr", given, groups.size());
  for (std::size_t i = 0; fresh && i < groups.size(); ++i) {
    const double first = tops[i] / given.number("div_factor");
    groups[i]->set("initial_lr", first);
    groups[i]->set("max_lr", tops[i]);
    groups[i]->set("min_lr", first / given.number("final_div_factor"));
  }
  fields.set("cycle_momentum", given.flag("cycle_momentum"));
  if (given.flag("cycle_momentum")) begin_momentum(fields, given, groups, fresh);
}

double one_cycle_rate(const Moment& at) {
  const double step = at.self.number("last_epoch");
  require(step <= at.self.number("total_steps"), "Tried to step ", step,
          " times. The specified number of total steps is ", at.self.number("total_steps"));
  const std::vector<double> ends = at.self.numbers("_phase_ends");
  std::size_t index = 0;
  double start = 0;
  for (; index + 1 < ends.size() && step > ends[index]; ++index) start = ends[index];
  const double part = (step - start) / (ends[index] - start);
  const Phase& phase = index == 0 ? rise : index == 2 ? end : ends.size() == 3 ? fall : fall_to_end;
  const bool is_linear = at.self.text("_anneal_func_type") == "linear";
  const auto annealed = [&](const char* from_name, const char* to_name) {
    if (!at.group.has(from_name) || !at.group.has(to_name))
      throw dlprim::IndexError(concat("OneCycleLR: parameter group ", at.index, " has no '",
                                      at.group.has(from_name) ? to_name : from_name,
                                      "': add groups before the schedule is made"));
    const double from = at.group.number(from_name), to = at.group.number(to_name);
    return is_linear ? (to - from) * part + from : to + (from - to) / 2 * (std::cos(pi * part) + 1);
  };
  const double rate = annealed(phase.start_lr, phase.end_lr);
  if (at.self.flag("cycle_momentum"))
    set_momentum(at.group, annealed(phase.start_momentum, phase.end_momentum));
  return rate;
}

// --- CosineAnnealingWarmRestarts

void begin_restarts(NamedValues& fields, const NamedValues& given, Groups&, bool) {
  for (const char* option : {"T_0", "T_mult", "eta_min"}) fields.set(option, given.get(option));
  fields.set("T_i", given.get("T_0"));
  fields.set("T_cur", fields.get("last_epoch"));
}

void advance_restarts(NamedValues& fields, std::optional<double> epoch) {
  const double first = fields.number("T_0"), growth = fields.number("T_mult");
  if (!epoch && fields.number("last_epoch") < 0) epoch = 0;
  double current = fields.number("T_cur") + 1, length = fields.number("T_i");
  if (!epoch && current >= length) {
    current = std::fmod(current, length);
    length *= growth;
  }
  if (epoch) {
    require(*epoch >= 0, "Expected non-negative epoch, but got ", *epoch);
    current = *epoch;
    length = first;
    if (*epoch >= first && growth == 1) {
      current = std::fmod(*epoch, first);
    } else if (*epoch >= first) {
      const double restarts = std::floor(std::log(*epoch / first * (growth - 1) + 1) / std::log(growth));
      current = *epoch - first * (std::pow(growth, restarts) - 1) / (growth - 1);
      length = first * std::pow(growth, restarts);
    }
  }
  fields.set("last_epoch", epoch ? std::floor(*epoch) : fields.number("last_epoch") + 1);
  fields.set("T_cur", current);
  fields.set("T_i", length);
}

// --- the table

#include "dlprim/core/option_rows.def"
// clang-format off
OptionRows plateau_rows() {
  OptionRows rows;
  const bool keyword_only = false;
  TEXT(mode, "min") NUMBER(factor, 0.1, factor < 1) WHOLE(patience, 10, true) NUMBER(threshold, 1e-4, true)
  TEXT(threshold_mode, "rel") WHOLE(cooldown, 0, true) LIST(min_lr, std::int64_t{0}) NUMBER(eps, 1e-8, true)
  return rows;
}
// clang-format on

#define SCHEDULE(Name, documentation, options, rate, closed) \
  OptionRows Name##_options() {                              \
    OptionRows rows;                                         \
    const bool keyword_only = false;                         \
    options return rows;                                     \
  }
#include "nn/optim/schedules.def"

// The numbers among the options as names of the expressions; read where an expression uses them.
class Field {
 public:
  Field(const NamedValues& self, const char* name) : self_(self), name_(name) {}
  operator double() const { return self_.number(name_); }

 private:
  const NamedValues& self_;
  const char* name_;
};
#define NUMBER(option, initial, condition) [[maybe_unused]] const Field option(at.self, #option);
#define WHOLE(option, initial, condition) NUMBER(option, initial, condition)
#define GIVEN_NUMBER(option, condition) NUMBER(option, 0, condition)
#define GIVEN_WHOLE(option, condition) NUMBER(option, 0, condition)
#define GIVEN_LIST(option)
#define GIVEN_CALLABLE(option)
#define MAYBE_CALLABLE(option)
#define LIST(option, initial)
#define FLAG(option, initial)
#define TEXT(option, initial)
#define MAYBE(option)
#define RATE_FUNCTION(function, options, expression)                                                         \
  double function([[maybe_unused]] const Moment& at, [[maybe_unused]] double epoch,                          \
                  [[maybe_unused]] double lr, [[maybe_unused]] double base, [[maybe_unused]] bool initial) { \
    options return expression;                                                                               \
  }
#define SCHEDULE(Name, documentation, options, rate, closed) \
  RATE_FUNCTION(Name##_rate, options, rate)                  \
  RATE_FUNCTION(Name##_closed, options, closed)
#include "nn/optim/schedules.def"

struct Special {
  const char* name;
  ScheduleRule::Begin begin;
  ScheduleRule::Advance advance;
};
constexpr Special specials[] = {{"CyclicLR", begin_cyclic, nullptr},
                                {"OneCycleLR", begin_one_cycle, nullptr},
                                {"CosineAnnealingWarmRestarts", begin_restarts, advance_restarts}};

Special special_of(const std::string& name) {
  for (const Special& special : specials)
    if (special.name == name) return special;
  return {nullptr, nullptr, nullptr};
}

std::vector<ScheduleRule> read_table() {
  std::vector<ScheduleRule> rules;
#define SCHEDULE(Name, documentation, options, rate, closed)                           \
  rules.push_back({#Name, documentation, Name##_options(), Name##_rate, Name##_closed, \
                   special_of(#Name).begin, special_of(#Name).advance});
#include "nn/optim/schedules.def"
  return rules;
}

}  // namespace

double cyclic_scale(const NamedValues& fields, double x) {
  if (!fields.is_none("_scale_fn_custom")) return fields.call("_scale_fn_custom", 0, x);
  const std::string mode = fields.text("mode");
  if (mode == "triangular2") return 1 / std::pow(2.0, x - 1);
  return mode == "exp_range" ? std::pow(fields.number("gamma"), x) : 1;
}

std::vector<double> one_each(const char* name, const NamedValues& given, std::size_t groups) {
  const Value value = given.get(name);
  const auto* several = std::get_if<std::vector<double>>(&value);
  if (!several) return std::vector<double>(groups, given.number(name));
  require(several->size() == groups, name, " must have the same length as optimizer.param_groups. ", name,
          " has ", several->size(), " values, param_groups has ", groups, ".");
  return *several;
}

void ScheduleRule::check(const NamedValues& fields) const {
  for (const OptionRow& row : options)  // OneCycleLR and CyclicLR keep some of theirs alone
    if (row.kind != OptionRow::Kind::callable && fields.has(row.name))
      dlprim::check_options(name, {row}, fields);
  if (!fields.has("_anneal_func_type")) return;
  check_strategy(fields.text("_anneal_func_type"));
  require(fields.number("total_steps") > 0, "Expected positive integer total_steps, but got ",
          fields.number("total_steps"));
}

void ScheduleRule::begin(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh) const {
  dlprim::check_options(name, options, given);
  if (own_begin) return own_begin(fields, given, groups, fresh);
  for (const OptionRow& row : options)
    if (row.kind != OptionRow::Kind::callable) fields.set(row.name, given.get(row.name));
}

std::vector<double> ScheduleRule::rates(const NamedValues& fields, Groups& groups, bool closed) const {
  const std::vector<double> bases = fields.numbers("base_lrs");
  const double epoch = fields.number("last_epoch");
  const bool initial = fields.flag("_is_initial");
  std::vector<double> rates;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool has_base = i < bases.size();
    const double lr = groups[i]->number("lr"),
                 base = has_base ? bases[i] : std::numeric_limits<double>::quiet_NaN();
    const double next = (closed ? closed_form : rate)({fields, *groups[i], i}, epoch, lr, base, initial);
    rates.push_back(!has_base && std::isnan(next) ? lr : next);
  }
  return rates;
}

const std::vector<ScheduleRule>& schedule_rules() {
  static const auto& rules = *new std::vector<ScheduleRule>(read_table());
  return rules;
}

const ScheduleRule& schedule_rule(const std::string& name) {
  for (const ScheduleRule& rule : schedule_rules())
    if (rule.name == name) return rule;
  throw ValueError(concat("there is no schedule '", name, "'"));
}

const OptionRows& plateau_options() {
  static const auto& rows = *new OptionRows(plateau_rows());
  return rows;
}

void check_plateau(const NamedValues& fields) {
  dlprim::check_options("ReduceLROnPlateau", plateau_options(), fields);
  const std::string mode = fields.text("mode"), threshold_mode = fields.text("threshold_mode");
  require(mode == "min" || mode == "max", "mode ", mode, " is unknown!");
  require(threshold_mode == "rel" || threshold_mode == "abs", "threshold mode ", threshold_mode,
          " is unknown!");
}

bool sees_plateau(NamedValues& fields, double metric) {
  const double sign = fields.text("mode") == "min" ? -1 : 1, threshold = fields.number("threshold"),
               best = fields.number("best"),
               limit = fields.text("threshold_mode") == "rel" ? best * (1 + sign * threshold)
                                                              : best + sign * threshold;
  const bool is_better = sign < 0 ? metric < limit : metric > limit;
  if (is_better) fields.set("best", metric);
  double bad = is_better ? 0 : fields.number("num_bad_epochs") + 1,
         cooldown = fields.number("cooldown_counter");
  if (cooldown > 0) {
    --cooldown;
    bad = 0;
  }
  const bool reduces = bad > fields.number("patience");
  fields.set("num_bad_epochs", reduces ? 0 : bad);
  fields.set("cooldown_counter", reduces ? fields.number("cooldown") : cooldown);
  return reduces;
}

double reduced_rate(const NamedValues& fields, double rate, double least) {
  const double reduced = std::fmax(rate * fields.number("factor"), least);
  return rate - reduced > fields.number("eps") ? reduced : rate;
}

}  // namespace ocl::optim
