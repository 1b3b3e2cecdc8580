#pragma once

#include "autograd/tensor/generator.h"
#include "nn/io/state_dict.h"
#include "nn/optim/grad_scaler.h"
#include "nn/optim/lr_scheduler.h"

namespace ocl {

/**
 * It holds whatever a training goes on from, each under a name, in one safetensors file:
 *
 *     ocl::Checkpoint().add("net", net).add("optimizer", optimizer).save("last.safetensors");
 *
 *     const auto last = ocl::Checkpoint::load("last.safetensors", device);
 *     last.restore("net", net).restore("optimizer", optimizer);
 *
 * Tensors have the names that they have in their object, behind the name and a dot; the numbers are JSON in
 * the file's metadata. An object that is restored goes on as if it had never stopped.
 */
class Checkpoint {
 public:
  /** Tensors are shared with the object, not copied: nothing steps before save(). Throws ValueError for a
   * name that is taken. */
  Checkpoint& add(const std::string& name, const nn::Module& module);
  Checkpoint& add(const std::string& name, const optim::Optimizer& optimizer);
  Checkpoint& add(const std::string& name, const optim::LRScheduler& schedule);
  Checkpoint& add(const std::string& name, const GradScaler& scaler);
  Checkpoint& add(const std::string& name, const Generator& generator);
  Checkpoint& add(const std::string& name, const std::string& text);
  Checkpoint& add(const std::string& name, const char* text) { return add(name, std::string(text)); }

  /** Throws FileError. A crash leaves no half-written file. */
  void save(const std::filesystem::path& path) const;
  /** Throws FileError where the file is missing or damaged. */
  static Checkpoint load(const std::filesystem::path& path, const Device& device = {});

  bool has(const std::string& name) const { return kinds_.count(name) != 0; }
  /** Each throws ValueError, and leaves the object as it is, where nothing of that name and kind is there or
   * where it does not fit: other parameters, another class of optimizer. */
  const Checkpoint& restore(const std::string& name, nn::Module& module) const;
  const Checkpoint& restore(const std::string& name, optim::Optimizer& optimizer) const;
  const Checkpoint& restore(const std::string& name, optim::LRScheduler& schedule) const;
  const Checkpoint& restore(const std::string& name, GradScaler& scaler) const;
  const Checkpoint& restore(const std::string& name, Generator& generator) const;
  std::string text(const std::string& name) const;

 private:
  /** Notes the name of something of a kind, and its numbers. */
  Checkpoint& note(const std::string& name, const char* kind, std::string numbers);
  void add_tensor(const std::string& name, const Tensor& tensor) { tensors_.emplace_back(name, tensor); }
  /** The numbers of what has that name. */
  const std::string& numbers_of(const std::string& name, const char* kind) const;
  /** The tensors whose names begin so, without that beginning. */
  StateDict tensors_of(const std::string& prefix) const;

  StateDict tensors_;
  std::map<std::string, std::string> kinds_, numbers_;
};

/** Files of one optimizer or one schedule, as torch::save and torch::load write and read them. */
void save(const optim::Optimizer& optimizer, const std::filesystem::path& path);
void load(optim::Optimizer& optimizer, const std::filesystem::path& path);
void save(const optim::LRScheduler& schedule, const std::filesystem::path& path);
void load(optim::LRScheduler& schedule, const std::filesystem::path& path);

}  // namespace ocl
