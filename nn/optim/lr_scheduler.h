#pragma once

#include "nn/optim/optimizer.h"
#include "nn/optim/schedule_rules.h"

namespace ocl::optim {

/** The saved state of a schedule, by torch's names, and the states of the schedules that it is made of. */
struct SchedulerState {
  Options values;
  std::vector<SchedulerState> schedulers;
};

/**
 * Base of the learning-rate schedules of torch.optim.lr_scheduler: call step() once an epoch, or once a batch
 * where the schedule counts those. A schedule starts from the rates that the groups have as "initial_lr", or
 * else as "lr", and multiplies what they have now, so that several schedules on one optimizer combine. The
 * optimizer must outlive it. One of your own gives get_lr(), and calls start() at the end of its constructor.
 */
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /** Moves to the next epoch and sets the rates. */
  virtual void step();
  /** Goes to an epoch directly. */
  virtual void step_to(double epoch);
  /** The first step, which a schedule's constructor ends with. */
  void start();
  /** The rate of each group as last set by this schedule. */
  std::vector<double> get_last_lr() const { return fields_.numbers("_last_lr"); }
  std::vector<double> base_lrs() const { return fields_.numbers("base_lrs"); }
  std::int64_t last_epoch() const { return static_cast<std::int64_t>(fields_.number("last_epoch")); }
  Optimizer& optimizer() const { return optimizer_; }

  virtual SchedulerState state_dict() const { return {fields_, {}}; }
  /** Takes over what `state` has. The rates themselves stand in the optimizer's state. Throws ValueError or
   * TypeError, and changes nothing, for a state that does not fit. */
  void load_state_dict(const SchedulerState& state) { take(checked(state)); }

 protected:
  friend class ComposedSchedule;
  friend class SequentialLR;
  friend class ChainedScheduler;

  /** Fields of a schedule, and functions among them. */
  class Fields : public Options {
   public:
    double call(const char* name, std::size_t index, double argument) const override;
    std::map<std::string, std::vector<std::function<double(double)>>> functions;
  };

  /** last_epoch -1: a fresh start. */
  explicit LRScheduler(Optimizer& optimizer, std::int64_t last_epoch = -1);
  /** Notes the groups' first rates, once. Throws ValueError when resuming and a group has no "initial_lr". */
  void note_base_rates();
  /** The rate of each group for last_epoch(), from those that the groups have. */
  virtual std::vector<double> get_lr() = 0;
  /** The rates, from the base rates alone. */
  virtual std::vector<double> closed_form_lr() { return get_lr(); }
  /** `state` completed by what it leaves out; throws unless this schedule can go on from it. */
  virtual SchedulerState checked(const SchedulerState& state) const;
  virtual void check(const Options&) const {}
  virtual void take(SchedulerState state);
  /** Takes back the first step, before another schedule's. */
  virtual void undo_first_step();
  /** The rates that the schedule starts from. */
  virtual std::vector<double> start_rates() const { return base_lrs(); }
  /** Goes to epoch 0, from the rates that the groups have now, as a schedule that is made. */
  virtual void start_anew();

  bool is_initial() const { return fields_.flag("_is_initial"); }
  /** The optimizer's groups; hold optimizer().mutex(). */
  Groups groups() const;
  std::vector<double> group_values(const char* option = "lr") const;
  void set_rates(const std::vector<double>& rates);
  void note_rates(const std::vector<double>& rates) { fields_.set("_last_lr", rates); }

  Fields fields_;

 private:
  Optimizer& optimizer_;
  bool has_noted_rates_ = false;
};

/** Settings of a schedule of schedules.def; the defaults are torch's. */
class ScheduleOptions : public Options {
 public:
  using Function = std::function<double(double)>;
  explicit ScheduleOptions(const ScheduleRule& of) : Options(dlprim::defaults_of(of.options)), rule(of) {}

  const ScheduleRule& rule;
  std::vector<Function> functions;
  std::int64_t resumes_at = -1;  // last_epoch

 protected:
  /** Takes values for the options in their order from number `index` on. */
  template <class First, class... More>
  void give(std::size_t index, const First& first, const More&... more) {
    if constexpr (std::is_invocable_v<First, double>)
      functions.push_back(first);
    else
      set(rule.options.at(index).name, Value(first));
    if constexpr (sizeof...(More) > 0) give(index + 1, more...);
  }
};

/** A schedule whose rates are a rule of schedules.def. */
class RuleSchedule : public LRScheduler {
 public:
  void step() override;
  void step_to(double epoch) override;

 protected:
  RuleSchedule(Optimizer& optimizer, const ScheduleOptions& given);
  std::vector<double> get_lr() override { return rates(false); }
  std::vector<double> closed_form_lr() override { return rates(true); }
  void check(const Options& fields) const override { rule_.check(fields); }
  void start_anew() override;

 private:
  std::vector<double> rates(bool closed_form);

  const ScheduleRule& rule_;
  std::vector<Options> group_settings_;  // that its making has put into the groups
};

// The classes of schedules.def, each with its options: `StepLR(optimizer, StepLROptions(30).gamma(0.5))`.
#define SETTER(option, type)    \
  auto& option(type value) {    \
    set(#option, Value(value)); \
    return *this;               \
  }
#define NUMBER(option, initial, condition) SETTER(option, double)
#define WHOLE(option, initial, condition) SETTER(option, std::int64_t)
#define GIVEN_NUMBER(option, condition) SETTER(option, double)
#define GIVEN_WHOLE(option, condition) SETTER(option, std::int64_t)
#define GIVEN_LIST(option) SETTER(option, std::vector<double>)
#define LIST(option, initial) SETTER(option, std::vector<double>) SETTER(option, double)
#define FLAG(option, initial) SETTER(option, bool)
#define TEXT(option, initial) SETTER(option, std::string)
#define MAYBE(option) SETTER(option, std::int64_t)
#define FUNCTION(option)                      \
  auto& option(Function function) {           \
    functions.push_back(std::move(function)); \
    return *this;                             \
  }
#define GIVEN_CALLABLE(option) FUNCTION(option)
#define MAYBE_CALLABLE(option) FUNCTION(option)
#define SCHEDULE(Name, documentation, settings, rate, closed)                                                \
  /** Settings of Name by name; the first ones may be given at once. */                                      \
  class Name##Options : public ScheduleOptions {                                                             \
   public:                                                                                                   \
    Name##Options() : ScheduleOptions(schedule_rule(#Name)) {}                                               \
    template <class First, class... More>                                                                    \
    Name##Options(const First& first, const More&... more) : Name##Options() {                               \
      give(0, first, more...);                                                                               \
    }                                                                                                        \
    auto& last_epoch(std::int64_t epoch) {                                                                   \
      resumes_at = epoch;                                                                                    \
      return *this;                                                                                          \
    }                                                                                                        \
    settings                                                                                                 \
  };                                                                                                         \
  class Name : public RuleSchedule {                                                                         \
   public:                                                                                                   \
    explicit Name(Optimizer& optimizer, const Name##Options& given = {}) : RuleSchedule(optimizer, given) {} \
    template <class First, class Second, class... More>                                                      \
    Name(Optimizer& optimizer, const First& first, const Second& second, const More&... more)                \
        : Name(optimizer, Name##Options(first, second, more...)) {}                                          \
  };
#include "nn/optim/schedules.def"
#undef SETTER
#undef FUNCTION

}  // namespace ocl::optim
