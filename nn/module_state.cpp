#include <algorithm>
#include <map>

#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "nn/module.h"
#include "nn/walk.h"

namespace ocl {

bool StateDict::contains(const std::string& name) const {
  return std::any_of(begin(), end(), [&](const auto& entry) { return entry.first == name; });
}

const Tensor& StateDict::named(std::string_view name) const {
  for (const auto& [own_name, tensor] : *this)
    if (own_name == name) return tensor;
  throw ValueError(dlprim::concat("a state dict of ", size(), " tensors has none named '", name, "'"));
}

}  // namespace ocl

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

  /** The names of `state` and of the module that found no match. */
  IncompatibleKeys keys(const StateDict& state) const {
    IncompatibleKeys keys{missing_, {}};
    for (const auto& [key, value] : state)
      if (given_.count(key)) keys.unexpected_keys.push_back(key);
    return keys;
  }
  /** Entries that did not fit. */
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  /** A scalar may be given as a list of one, as PyTorch 0.3 wrote it. */
  Tensor take(const std::string& key, const Dims& shape) {
    const auto found = given_.find(key);
    if (found == given_.end() || !found->second.defined()) {
      missing_.push_back(key);
      return {};
    }
    const Tensor value = found->second;
    given_.erase(found);
    return shape.empty() && value.shape() == Dims{1} ? value.reshape({}) : value;
  }

  std::map<std::string, Tensor> given_;
  std::vector<std::string> missing_, problems_;
};

std::string own_prefix(const std::string& path) {
  return path.empty() ? "" : path + '.';
}

void append(std::vector<std::string>& list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

/** Throws ValueError for every problem met; with `strict` names without a match are two. */
void refuse(const std::string& module, const IncompatibleKeys& keys, std::vector<std::string> problems,
            bool strict) {
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (strict && !names.empty())
      problems.insert(problems.begin(), concat(what, " key(s) in state_dict: ", quoted_list(names), ". "));
  };
  add("Unexpected", keys.unexpected_keys);
  add("Missing", keys.missing_keys);
  if (problems.empty()) return;
  std::string text = concat("Error(s) in loading state_dict for ", module, ":");
  for (const std::string& problem : problems) text += "\n\t" + problem;
  throw ValueError(text);
}

}  // namespace

StateDict Module::own_state() const {
  if (const auto other = elsewhere()) return other->own_state();
  const std::lock_guard locked(mutex_);
  StateDict own;
  for (const auto& [own_name, tensor] : parameters_)
    if (tensor.defined()) own.emplace_back(own_name, tensor);
  for (const auto& [own_name, tensor] : buffers_)
    if (tensor.defined() && !transient_.count(own_name)) own.emplace_back(own_name, tensor);
  return own;
}

StateDict Module::state_dict(const std::string& prefix, bool keep_vars) const {
  if (const auto other = elsewhere()) return other->state_dict(prefix, keep_vars);
  StateDict state;
  save_state(state, prefix, keep_vars);
  return state;
}

void Module::save_state(StateDict& state, const std::string& prefix, bool keep_vars) const {
  const WalkLevel level(*this);
  for (const auto& hook : state_dict_pre_hooks_.hooks()) (*hook)(*this, prefix, keep_vars);
  for (const auto& [own_name, value] : own_state())
    state.emplace_back(prefix + own_name, keep_vars ? value : value.detach());
  for (const auto& [own_name, child] : named_children())
    child->save_state(state, prefix + own_name + '.', keep_vars);
  for (const auto& hook : state_dict_hooks_.hooks()) (*hook)(*this, state, prefix);
}

IncompatibleKeys Module::load_state_dict(StateDict state, bool strict, bool assign) {
  if (const auto other = elsewhere()) return other->load_state_dict(std::move(state), strict, assign);
  const NoGradGuard no_grad;
  LoadReport report;
  for (const auto& [path, module] : named_modules("", Duplicates::kept))
    for (const auto& hook : module->load_pre_hooks_.hooks())
      (*hook)(*module, state, own_prefix(path), report);
  Comparison comparison(state);
  std::vector<std::function<void()>> changes;  // made only when everything fits; none of them can fail
  for (const auto& [path, module] : named_modules("", Duplicates::kept)) {  // anew: hooks may have added some
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
  IncompatibleKeys keys = comparison.keys(state);
  append(keys.missing_keys, report.missing_keys);
  append(keys.unexpected_keys, report.unexpected_keys);
  append(report.errors, comparison.problems());
  refuse(name(), keys, report.errors, strict && !has_load_post_hooks());
  for (const std::function<void()>& change : changes) change();
  run_load_post_hooks(keys);
  refuse(name(), keys, {}, strict);
  return keys;
}

bool Module::rewrites_state_dicts() const {
  for (const auto& [path, module] : named_modules())
    if (!module->load_pre_hooks_.empty()) return true;
  return false;
}

bool Module::has_load_post_hooks() const {
  for (const auto& [path, module] : named_modules())
    if (!module->load_post_hooks_.empty()) return true;
  return false;
}

void Module::run_load_post_hooks(IncompatibleKeys& keys) {
  const WalkLevel level(*this);
  for (const auto& [own_name, child] : named_children()) child->run_load_post_hooks(keys);
  for (const auto& hook : load_post_hooks_.hooks()) (*hook)(*this, keys);
}

RemovableHandle Module::register_state_dict_pre_hook(StateDictPreHook hook) {
  if (const auto other = elsewhere()) return other->register_state_dict_pre_hook(std::move(hook));
  return state_dict_pre_hooks_.add(std::move(hook));
}
RemovableHandle Module::register_state_dict_post_hook(StateDictHook hook) {
  if (const auto other = elsewhere()) return other->register_state_dict_post_hook(std::move(hook));
  return state_dict_hooks_.add(std::move(hook));
}
RemovableHandle Module::register_load_state_dict_pre_hook(LoadStateDictPreHook hook) {
  if (const auto other = elsewhere()) return other->register_load_state_dict_pre_hook(std::move(hook));
  return load_pre_hooks_.add(std::move(hook));
}
RemovableHandle Module::register_load_state_dict_post_hook(LoadStateDictPostHook hook) {
  if (const auto other = elsewhere()) return other->register_load_state_dict_post_hook(std::move(hook));
  return load_post_hooks_.add(std::move(hook));
}

void Module::assign(const std::string& own_name, const Tensor& held, const Tensor& value) {
  if (held.impl().is_parameter)
    register_parameter(own_name, value);
  else
    register_buffer(own_name, value, !transient_.count(own_name));
}

}  // namespace ocl::nn
