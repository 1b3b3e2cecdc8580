#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "dlprim/core/call.h"
#include "dlprim/runtime/implementation.h"
#include "support/tensors.h"

namespace testing_support {

/** Gives set_implementations a text, until it ends. */
class ImplementationsSet {
 public:
  explicit ImplementationsSet(const std::string& choices) : before_(dlprim::get_implementations()) {
    dlprim::set_implementations(choices);
  }
  ~ImplementationsSet() { dlprim::set_implementations(before_); }
  ImplementationsSet(const ImplementationsSet&) = delete;
  ImplementationsSet& operator=(const ImplementationsSet&) = delete;

 private:
  std::string before_;
};

/** Counts how often an implementation was chosen on this thread. */
class CountChoices final : public dlprim::CallListener {
 public:
  CountChoices(std::string family, std::string name) : family_(std::move(family)), name_(std::move(name)) {}
  int count() const { return count_; }

  void enter(const dlprim::Call&) override {}
  void chose(const dlprim::ChosenImplementation& chosen, const std::string&) override {
    count_ += family_ == chosen.family && name_ == chosen.name ? 1 : 0;
  }

 private:
  std::string family_, name_;
  int count_ = 0;
  dlprim::Listening listening_{*this};
};

/** The description of an NVIDIA card of that compute capability (ten times it), to ask what it would take.
 */
inline dlprim::DeviceInfo nvidia_card(int compute_capability) {
  dlprim::DeviceInfo info = device().info();
  info.shape = dlprim::KernelShape::simt;
  info.compute_capability = compute_capability;
  info.compute_units = 108;
  info.max_work_group = 1024;
  info.local_memory = 48 << 10;
  return info;
}

/** Runs `checks` once with each implementation of a family forced. Those that the device cannot take at all
 * are named in the output; a family of which it takes none fails. */
template <class Checks>
void for_each_implementation(const std::string& family, const Checks& checks) {
  int taken = 0;
  for (const dlprim::ImplementationFamily* each : dlprim::implementation_families()) {
    if (family != each->name()) continue;
    for (int i = 0; i < each->count(); ++i) {
      SCOPED_TRACE(each->implementation(i));
      const ImplementationsSet forced(family + "=" + each->implementation(i));
      const CountChoices counted(family, each->implementation(i));
      checks();
      if (counted.count() == 0)
        std::printf("%s: %s takes nothing on this device\n", each->name(), each->implementation(i));
      else
        ++taken;
    }
  }
  EXPECT_GT(taken, 0) << "no implementation of " << family;
}

}  // namespace testing_support
