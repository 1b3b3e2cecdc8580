#include <map>

#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "nn/module.h"

namespace ocl::nn {
namespace {

using dlprim::concat;

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += concat(text.empty() ? "" : ", ", '"', name, '"');
  return text;
}

/** `value` as a copy into `target` needs it. All that can fail is done here, before anything changes. */
Tensor ready_to_copy(const Tensor& value, const Tensor& target) {
  const Tensor ready = value.detach().to(target.device()).to(target.dtype()).contiguous();
  check_in_place("copy_", target, {ready});
  return ready;
}

/** `value` as what a module holds in the place of `held`. */
Tensor ready_to_hold(const Tensor& value, const Tensor& held) {
  return held.impl().is_parameter ? parameter(value.detach(), held.requires_grad()) : value;
}

/** A state dict as it is compared with a module, name by name. */
class Comparison {
 public:
  explicit Comparison(const StateDict& state) : given_(state.begin(), state.end()) {}

  /** Calls `prepare` with what is given under `key`, if it is there and has that shape. */
  template <class Prepare>
  void match(const std::string& key, const Dims& shape, const Prepare& prepare) {
    const Tensor value = take(key, shape);
    if (!value.defined()) return;
    if (value.shape() != shape) {
      problems_.push_back(concat("size mismatch for ", key, ": copying a param with shape ", value.shape(),
                                 " from checkpoint, the shape in current model is ", shape, "."));
      return;
    }
    const auto note = [&](const Error& error) {
      problems_.push_back(concat("While copying the parameter named \"", key,
                                 "\", whose dimensions in the model are ", shape,
                                 " and whose dimensions in the checkpoint are ", value.shape(),
                                 ", an exception occurred : ", error.what()));
    };
    try {
      prepare(value);
    } catch (const ValueError& error) {
      note(error);
    } catch (const TypeError& error) {
      note(error);
    } catch (const AutogradError& error) {
      note(error);
    }
  }

  /** The names without a match on either side. Throws ValueError for every problem met; with `strict` those
   * names are one. */
  IncompatibleKeys finish(const std::string& module, const StateDict& state, bool strict) {
    for (const auto& [key, value] : state)
      if (given_.count(key)) keys_.unexpected_keys.push_back(key);
    if (strict && !keys_.unexpected_keys.empty())
      problems_.insert(problems_.begin(),
                       concat("Unexpected key(s) in state_dict: ", quoted_list(keys_.unexpected_keys), ". "));
    if (strict && !keys_.missing_keys.empty())
      problems_.insert(problems_.begin(),
                       concat("Missing key(s) in state_dict: ", quoted_list(keys_.missing_keys), ". "));
    if (problems_.empty()) return keys_;
    std::string text = concat("Error(s) in loading state_dict for ", module, ":");
    for (const std::string& problem : problems_) text += "\n\t" + problem;
    throw ValueError(text);
  }

 private:
  /** A scalar may be given as a list of one, as PyTorch 0.3 wrote it. */
  Tensor take(const std::string& key, const Dims& shape) {
    const auto found = given_.find(key);
    if (found == given_.end() || !found->second.defined()) {
      keys_.missing_keys.push_back(key);
      return {};
    }
    const Tensor value = found->second;
    given_.erase(found);
    return shape.empty() && value.shape() == Dims{1} ? value.reshape({}) : value;
  }

  std::map<std::string, Tensor> given_;
  IncompatibleKeys keys_;
  std::vector<std::string> problems_;
};

std::string own_prefix(const std::string& path) {
  return path.empty() ? "" : path + '.';
}

}  // namespace

StateDict Module::own_state() const {
  const std::lock_guard locked(mutex_);
  StateDict own;
  for (const auto& [own_name, tensor] : parameters_)
    if (tensor.defined()) own.emplace_back(own_name, tensor);
  for (const auto& [own_name, tensor] : buffers_)
    if (tensor.defined() && !transient_.count(own_name)) own.emplace_back(own_name, tensor);
  return own;
}

StateDict Module::state_dict(const std::string& prefix) const {
  StateDict state;
  for (const auto& [path, module] : named_modules("", false)) {
    const std::string start = prefix + own_prefix(path);
    for (const auto& [own_name, value] : module->own_state())
      state.emplace_back(start + own_name, value.detach());
  }
  return state;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict, bool assign) {
  const NoGradGuard no_grad;
  Comparison comparison(state);
  std::vector<std::function<void()>> changes;  // made only when everything fits; none of them can fail
  for (const auto& [path, module] : named_modules("", false)) {
    const std::string start = own_prefix(path);
    for (const auto& [own_name, tensor] : module->own_state())
      comparison.match(
          start + own_name, tensor.shape(), [&, own = own_name, held = tensor](const Tensor& value) {
            if (assign)
              changes.push_back([target = module, own, held, ready = ready_to_hold(value, held)] {
                target->assign(own, held, ready);
              });
            else
              changes.push_back(
                  [to = held.detach(), ready = ready_to_copy(value, held)]() mutable { to.copy_(ready); });
          });
  }
  IncompatibleKeys keys = comparison.finish(name(), state, strict);
  for (const std::function<void()>& change : changes) change();
  return keys;
}

void Module::assign(const std::string& own_name, const Tensor& held, const Tensor& value) {
  if (held.impl().is_parameter)
    register_parameter(own_name, value);
  else
    register_buffer(own_name, value, !transient_.count(own_name));
}

}  // namespace ocl::nn
