#include "dlprim/runtime/implementation.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "dlprim/runtime/barred_implementations.h"

namespace dlprim {
namespace {

/** One "family=name" or "family=-name". */
struct Wish {
  std::string family, implementation;
  bool bars;
};

std::vector<Wish> wishes_of(const std::string& choices) {
  std::vector<Wish> wishes;
  std::istringstream items(choices);
  for (std::string item; std::getline(items, item, ',');) {
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    require(equals != std::string::npos, "set_implementations: expected family=name or family=-name, got '",
            item, "'");
    std::string wanted = item.substr(equals + 1);
    const bool bars = !wanted.empty() && wanted.front() == '-';
    wishes.push_back({item.substr(0, equals), wanted.substr(bars ? 1 : 0), bars});
  }
  return wishes;
}

/** Never destroyed: threads that outlive main may ask. */
struct Registry {
  std::mutex mutex;
  std::map<std::string, const ImplementationFamily*> families;
  std::string choices;
};
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

int index_of(const ImplementationFamily& family, const std::string& name) {
  if (const int found = family.find(name); found >= 0) return found;
  std::string known;
  for (int i = 0; i < family.count(); ++i) known.append(" ").append(family.implementation(i));
  throw ValueError(
      concat("set_implementations: ", family.name(), " has no implementation '", name, "'; it has:", known));
}

const ImplementationFamily& family_of(const std::string& name) {
  const auto& families = registry().families;
  const auto found = families.find(name);
  if (found != families.end()) return *found->second;
  std::string known;
  for (const auto& [other, family] : families) known.append(" ").append(other);
  throw ValueError(
      concat("set_implementations: no family of implementations is named '", name, "'; there are:", known));
}

}  // namespace

void ImplementationFamily::add(const char* implementation) {
  names_.at(static_cast<std::size_t>(count_++)) = implementation;
}

int ImplementationFamily::find(const std::string& implementation) const {
  for (int i = 0; i < count_; ++i)
    if (implementation == names_[static_cast<std::size_t>(i)]) return i;
  return -1;
}

void ImplementationFamily::enlist() {
  const std::lock_guard locked(registry().mutex);
  registry().families.emplace(name_, this);
}

void ImplementationFamily::leave_out(int i, const RefusedKernelError& error) const {
  warn_once(concat(name_, " goes on without its implementation ", implementation(i), ": ", error.what()));
  refused_.fetch_or(std::uint64_t{1} << i, std::memory_order_relaxed);
}

std::uint64_t ImplementationFamily::left_out(const DeviceInfo& device) const {
  return barred_.load(std::memory_order_relaxed) | refused_.load(std::memory_order_relaxed) |
         (device.barred ? device.barred->of(*this) : 0);
}

bool ImplementationFamily::is_barred_for(const DeviceInfo& device, int i) const {
  return device.barred && (device.barred->of(*this) >> i & 1) != 0;
}

void ImplementationFamily::none_left(const DeviceInfo& device) const {
  std::string barred;
  for (int i = 0; i < count(); ++i)
    if (is_barred_for(device, i)) barred.append(barred.empty() ? "" : ", ").append(implementation(i));
  throw DeviceError(concat("no implementation of ", name_, " is left that can take this problem; set: '",
                           get_implementations(), "'",
                           barred.empty() ? "" : concat("; barred for this device as faulty: ", barred)));
}

std::vector<const ImplementationFamily*> implementation_families() {
  const std::lock_guard locked(registry().mutex);
  std::vector<const ImplementationFamily*> families;
  for (const auto& [name, family] : registry().families) families.push_back(family);
  return families;
}

void set_implementations(const std::string& choices) {
  struct Settings {
    int forced = -1;
    std::uint64_t barred = 0;
  };
  const std::lock_guard locked(registry().mutex);
  std::map<const ImplementationFamily*, Settings> settings;
  for (const auto& [name, family] : registry().families) settings[family];
  for (const Wish& wish : wishes_of(choices)) {
    const ImplementationFamily& family = family_of(wish.family);
    const int i = index_of(family, wish.implementation);
    if (wish.bars)
      settings[&family].barred |= std::uint64_t{1} << i;
    else
      settings[&family].forced = i;
  }
  for (const auto& [family, setting] : settings) {
    family->forced_.store(setting.forced, std::memory_order_relaxed);
    family->barred_.store(setting.barred, std::memory_order_relaxed);
  }
  registry().choices = choices;
}

std::string get_implementations() {
  const std::lock_guard locked(registry().mutex);
  return registry().choices;
}

void require_implementation(const std::string& family, const std::string& implementation) {
  const std::lock_guard locked(registry().mutex);
  static_cast<void>(index_of(family_of(family), implementation));
}

void apply_implementations_of_environment() {
  static const bool applied = [] {
    if (const char* choices = std::getenv("OCL_IMPLEMENTATIONS")) set_implementations(choices);
    return true;
  }();
  static_cast<void>(applied);
}

}  // namespace dlprim
