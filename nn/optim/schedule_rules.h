#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "dlprim/core/named_values.h"

namespace ocl::optim {

using dlprim::NamedValues;
using dlprim::Options;
using dlprim::Value;

/** The settings of an optimizer's groups, wherever they are kept. */
using Groups = std::vector<std::unique_ptr<NamedValues>>;

/** The variables of a schedule's formula: the schedule's fields by torch's names, and the group whose rate it
 * gives.
 */
struct Moment {
  const NamedValues& self;
  NamedValues& group;
  std::size_t index;
};

/** A schedule: its options and its formula. */
struct ScheduleRule {
  using Rate = double (*)(const Moment& at, double epoch, double lr, double base, bool initial);
  using Begin = void (*)(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh);
  using Advance = void (*)(NamedValues& fields, std::optional<double> epoch);

  const char *name, *documentation;
  dlprim::OptionRows options;
  Rate rate, closed_form;
  Begin own_begin;  // makes other fields than the options, or null
  Advance advance;  // goes to the next epoch, or to the one given, where that is more than counting; or null

  /** Throws ValueError or TypeError for options, given or loaded, that the schedule cannot work with. */
  void check(const NamedValues& fields) const;
  /** Turns the options given into fields, which has effects on the groups where the schedule starts afresh.
   */
  void begin(NamedValues& fields, const NamedValues& given, Groups& groups, bool fresh) const;
  /** The rate of each group. One that came after the schedule, and has no base rate, keeps its own. */
  std::vector<double> rates(const NamedValues& fields, Groups& groups, bool closed_form) const;
};

/** Those of schedules.def, in its order. */
const std::vector<ScheduleRule>& schedule_rules();
/** Throws ValueError for an unknown name. */
const ScheduleRule& schedule_rule(const std::string& name);

/** CyclicLR: what the height of a cycle is multiplied by, of the cycle's number or of the epoch. */
double cyclic_scale(const NamedValues& fields, double x);

/** ReduceLROnPlateau: its options (the factor, the patience, …). */
const dlprim::OptionRows& plateau_options();
void check_plateau(const NamedValues& fields);
/** Counts a metric; whether the rates are to be reduced. */
bool sees_plateau(NamedValues& fields, double metric);
/** The rate after a reduction. */
double reduced_rate(const NamedValues& fields, double rate, double least);

/** `values` for each of `groups`: one for all, or one each. Throws ValueError that names them. */
std::vector<double> one_each(const char* name, const NamedValues& given, std::size_t groups);

}  // namespace ocl::optim
