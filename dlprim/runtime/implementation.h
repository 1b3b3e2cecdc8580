#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dlprim/core/call_state.h"
#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/queue.h"

/**
 * \file Which kernel runs: one list a family of heavy operators.
 *
 *     Implementation<GemmProblem> gemm_cpu_tiles() { return {"cpu_tiles", can_take, expected_cost, run}; }
 *     const ImplementationList<GemmProblem> gemm_implementations("gemm", gemm_cpu_tiles(), gemm_clblast(),
 * …);
 *
 *     gemm_implementations.run(queue, problem);
 *
 * The implementation that was measured to be the fastest (measured_choices.h) runs, among those that can take
 * the problem. Without a measurement the one that is expected to be the cheapest runs, and the first among
 * equals. One whose kernels the driver refuses (RefusedKernelError) is left out from then on.
 */

namespace dlprim {

/** One way to compute the problems of a family. */
template <class Problem>
struct Implementation {
  /** An implementation that needs some kind of device says so: its name holds "cpu", "simt", "tensor" or
   * "group" (of warps). */
  const char* name;
  /** Whether it can: the device, the dtype, the precision, the layout, sizes. */
  bool (*can_take)(const DeviceInfo& device, const Problem& problem);
  /** Comparable within the list alone: for products, multiply-adds of the family's plain kernel that take as
   * long. Called only where it can. */
  double (*expected_cost)(const DeviceInfo& device, const Problem& problem);
  void (*run)(Queue& queue, const Problem& problem);
};

/** Implementation::can_take of kernels that are written for one shape, and need no more. */
template <class Problem>
bool runs_cpu_kernels(const DeviceInfo& device, const Problem&) {
  return device.runs_cpu_kernels();
}
template <class Problem>
bool runs_simt_kernels(const DeviceInfo& device, const Problem&) {
  return !device.runs_cpu_kernels();
}

/** The common part of all lists: names, and those that the user forces or bars. */
class ImplementationFamily {
 public:
  ImplementationFamily(const ImplementationFamily&) = delete;
  ImplementationFamily& operator=(const ImplementationFamily&) = delete;

  const char* name() const { return name_; }
  int count() const { return count_; }
  const char* implementation(int i) const { return names_[static_cast<std::size_t>(i)]; }
  /** The number of the implementation of that name; -1 for none. */
  int find(const std::string& implementation) const;

 protected:
  static constexpr int most = 64;  // bits of what is barred

  explicit ImplementationFamily(const char* name) : name_(name) {}
  ~ImplementationFamily() = default;
  void add(const char* implementation);
  /** Joins those that users may name. */
  void enlist();

  /** A bit for each implementation that is not to run: what the user bars, what the driver refuses, and what
   * is barred for the device. */
  std::uint64_t left_out(const DeviceInfo& device) const;
  bool is_barred(int i) const { return (barred_.load(std::memory_order_relaxed) >> i & 1) != 0; }
  bool is_barred_for(const DeviceInfo& device, int i) const;
  /** -1: none. */
  int forced() const { return forced_.load(std::memory_order_relaxed); }
  bool is_refused(int i) const { return (refused_.load(std::memory_order_relaxed) >> i & 1) != 0; }
  bool is_free(const DeviceInfo& device, int i) const { return (left_out(device) >> i & 1) == 0; }
  /** For the rest of the process, on every device, with a warning. */
  void leave_out(int i, const RefusedKernelError& error) const;
  [[noreturn]] void none_left(const DeviceInfo& device) const;

 private:
  friend void set_implementations(const std::string& choices);

  const char* name_;
  int count_ = 0;
  std::array<const char*, most> names_{};
  mutable std::atomic<int> forced_{-1};
  mutable std::atomic<std::uint64_t> barred_{0}, refused_{0};
};

/** The families of this program, by name. */
std::vector<const ImplementationFamily*> implementation_families();

/**
 * Forces and bars implementations by name, for tests, measurement and bug reports. "gemm=clblast" takes
 * CLBlast wherever it can, "conv2d_forward=-cpu_direct" never takes that one. Several are separated by
 * commas, and families that are not named are free again. Throws ValueError for a family or an implementation
 * that does not exist.
 */
void set_implementations(const std::string& choices);
/** The setting that was made last. */
std::string get_implementations();
/** Throws ValueError for a family or an implementation that does not exist. */
void require_implementation(const std::string& family, const std::string& implementation);
/** Sets the environment variable OCL_IMPLEMENTATIONS, once a process: when the first device is opened. */
void apply_implementations_of_environment();

/** Marks the commands of a chosen implementation (CallState). */
class ChoiceScope {
 public:
  explicit ChoiceScope(const ChosenImplementation& chosen) : outer_(call_state.implementation) {
    call_state.implementation = &chosen;
  }
  ~ChoiceScope() { call_state.implementation = outer_; }
  ChoiceScope(const ChoiceScope&) = delete;
  ChoiceScope& operator=(const ChoiceScope&) = delete;

 private:
  const ChosenImplementation* outer_;
};

template <class Problem, class = void>
struct IsProduct : std::false_type {};
/** A problem that knows how many multiply-adds it takes. */
template <class Problem>
struct IsProduct<Problem, std::void_t<decltype(std::declval<const Problem&>().multiply_adds())>>
    : std::true_type {};

template <class Problem, class = void>
struct HasKey : std::false_type {};
/** A problem that says what it is measured by: `std::optional<ProblemKey> key() const`, nothing where a
 * second run would give another result. */
template <class Problem>
struct HasKey<Problem, std::void_t<decltype(std::declval<const Problem&>().key())>> : std::true_type {};

template <class Problem>
class ImplementationList : public ImplementationFamily {
 public:
  /** From implementations and several of them, in the order given. */
  template <class... Parts>
  explicit ImplementationList(const char* family, const Parts&... parts) : ImplementationFamily(family) {
    (append(parts), ...);
    enlist();
  }

  /** Throws ValueError for a name that no implementation has. */
  const Implementation<Problem>& named(const std::string& implementation) const {
    const int i = find(implementation);
    require(i >= 0, name(), ": no implementation is called ", implementation);
    return at(i);
  }

  /** The least cost among those that can take the problem; infinite where none can. */
  double least_cost(const DeviceInfo& device, const Problem& problem) const {
    return cheapest(device, problem).second;
  }

  void run(Queue& queue, const Problem& problem) const {
    if (!call_state.has_elements) return;
    double multiply_adds = 0;
    const bool is_counted = call_state.implementation && call_state.implementation->is_product;
    if constexpr (IsProduct<Problem>::value)
      if (call_state.listeners && !is_counted) multiply_adds = problem.multiply_adds();
    if constexpr (HasKey<Problem>::value)
      if (measures_choices.load(std::memory_order_relaxed) && !capturing(queue.device()))
        measure(queue, problem);
    for (;;) {
      const int i = choose(queue.device(), problem);
      // Told once, though the first choice may be refused.
      const ChosenImplementation chosen{name(), at(i).name, std::exchange(multiply_adds, 0),
                                        is_counted || IsProduct<Problem>::value};
      const ChoiceScope scope(chosen);
      if (call_state.listeners) tell_of_choice(chosen, reasons(queue.device(), problem));
      try {
        return at(i).run(queue, problem);
      } catch (const RefusedKernelError& error) {
        leave_out(i, error);
      }
    }
  }

 private:
  int choose(Device& on, const Problem& problem) const {
    const DeviceInfo& device = on.info();
    const int wanted = forced();
    if (wanted >= 0 && !is_refused(wanted) && at(wanted).can_take(device, problem)) return wanted;
    const int measured = measured_best(on, problem);
    if (measured >= 0 && is_free(device, measured) && at(measured).can_take(device, problem)) return measured;
    const int best = cheapest(device, problem).first;
    if (best < 0) none_left(device);
    return best;
  }

  /** Its number, -1 for none, and its cost. */
  std::pair<int, double> cheapest(const DeviceInfo& device, const Problem& problem) const {
    int best = -1;
    double least = std::numeric_limits<double>::infinity();
    const std::uint64_t out = left_out(device);
    for (int i = 0; i < count(); ++i) {
      if ((out >> i & 1) != 0 || !at(i).can_take(device, problem)) continue;
      const double cost = at(i).expected_cost(device, problem);
      if (best < 0 || cost < least) best = i, least = cost;
    }
    return {best, least};
  }

  int measured_best(Device& device, const Problem& problem) const {
    if constexpr (HasKey<Problem>::value) {
      MeasuredChoices& choices = device.measured_choices();
      if (choices.are_none()) return -1;
      if (const auto key = problem.key()) return choices.find(*this, *key);
    }
    return -1;
  }

  /** Measures what can take the problem, if there is a choice, unless that has been done. */
  void measure(Queue& queue, const Problem& problem) const {
    constexpr double hopeless = 16;         // times the least cost
    constexpr std::size_t least_tried = 2;  // what small problems cost on a wide device is a guess
    constexpr double noise = 0.97;          // of a time: no reason to leave what is expected
    MeasuredChoices& choices = queue.device().measured_choices();
    const auto key = problem.key();
    if (!key || choices.find(*this, *key) >= 0) return;
    const DeviceInfo& device = queue.device().info();
    std::vector<std::pair<double, int>> by_cost;
    for (int i = 0; i < count(); ++i)
      if (is_free(device, i) && at(i).can_take(device, problem))
        by_cost.emplace_back(at(i).expected_cost(device, problem), i);
    if (by_cost.size() < 2) return;
    std::sort(by_cost.begin(), by_cost.end());  // of equals the first, as in cheapest()
    const auto [least_cost, expected] = by_cost.front();
    MeasuredChoice best{name(), key->text(), {}, 0, at(expected).name, 0};
    for (std::size_t tried = 0; tried < by_cost.size(); ++tried) {
      const auto [cost, i] = by_cost[tried];
      if (tried >= least_tried && cost > hopeless * least_cost) break;
      try {
        const ChosenImplementation chosen{name(), at(i).name};
        const ChoiceScope scope(chosen);
        const double seconds = measured_seconds(queue, [&] { at(i).run(queue, problem); });
        if (i == expected) best.expected_seconds = seconds;
        if (best.implementation.empty() || seconds < best.seconds)
          best.implementation = at(i).name, best.seconds = seconds;
      } catch (const RefusedKernelError& error) {
        leave_out(i, error);
      } catch (const OutOfMemoryError&) {  // of its scratch memory: no choice here
      }
    }
    if (best.implementation.empty()) return;
    if (best.expected_seconds > 0 && best.seconds > noise * best.expected_seconds)
      best.implementation = best.expected, best.seconds = best.expected_seconds;
    choices.keep(*key, best);
  }

  const Implementation<Problem>& at(int i) const { return list_[static_cast<std::size_t>(i)]; }

  std::string reasons(Device& on, const Problem& problem) const {
    const DeviceInfo& device = on.info();
    const int measured = measured_best(on, problem);
    std::string text;
    for (int i = 0; i < count(); ++i) {
      text.append(i ? ", " : "").append(at(i).name);
      if (i == forced()) text.append(" forced");
      if (is_barred(i)) text.append(" barred");
      if (is_barred_for(device, i)) text.append(" barred for this device");
      if (is_refused(i)) text.append(" refused");
      if (i == measured) text.append(" measured best");
      if (!at(i).can_take(device, problem))
        text.append(" cannot");
      else
        text.append(concat(" ", at(i).expected_cost(device, problem)));
    }
    return text;
  }

  void append(const Implementation<Problem>& implementation) {
    add(implementation.name);
    list_.push_back(implementation);
  }
  template <std::size_t count>
  void append(const std::array<Implementation<Problem>, count>& several) {
    for (const auto& implementation : several) append(implementation);
  }
  void append(const std::vector<Implementation<Problem>>& several) {
    for (const auto& implementation : several) append(implementation);
  }
  template <std::size_t count>
  void append(const Implementation<Problem> (&several)[count]) {
    for (const auto& implementation : several) append(implementation);
  }

  std::vector<Implementation<Problem>> list_;
};

}  // namespace dlprim
