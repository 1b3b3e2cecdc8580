#include "dlprim/core/call.h"

#include <algorithm>

#include "dlprim/runtime/allocator.h"

namespace dlprim {

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> pieces(1);
  int nesting = 0;
  for (const char c : list) {
    nesting += c == '(' || c == '{' || c == '<' ? 1 : c == ')' || c == '}' || c == '>' ? -1 : 0;
    if (c == ',' && nesting == 0)
      pieces.emplace_back();
    else if (c != ' ' || !pieces.back().empty())
      pieces.back().push_back(c);
  }
  return pieces;
}

std::vector<std::string> split_names(std::string_view names) {
  const bool are_declared = !names.empty() && names.front() == '(';
  if (are_declared) names = names.substr(1, names.size() - 2);
  std::vector<std::string> parts = split_at_commas(names);
  for (std::string& part : parts) {
    if (are_declared) {
      part = part.substr(0, part.find(" = "));
      part = part.substr(part.rfind(' ') + 1);
    } else {
      part.erase(std::remove_if(part.begin(), part.end(), [](char c) { return c == ' ' || c == '*'; }),
                 part.end());
    }
    if (part == "this") part = "self";
  }
  return parts;
}

std::vector<Tensor> tensors_in(const std::vector<Argument>& arguments) {
  std::vector<Tensor> tensors;
  for (const Argument& argument : arguments) {
    if (const auto* tensor = std::get_if<Tensor>(&argument.value)) tensors.push_back(*tensor);
    if (const auto* list = std::get_if<std::vector<Argument>>(&argument.value))
      for (Tensor& tensor : tensors_in(*list)) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Tensor MemoryMap::of(Tensor tensor) {
  if (!make_ || !tensor.defined()) return tensor;
  std::shared_ptr<Storage>& storage = map_[tensor.storage.get()];
  if (!storage) storage = make_(tensor);
  tensor.storage = storage;
  return tensor;
}

void MemoryMap::put(const Tensor& original, const Tensor& replacement) {
  map_[original.storage.get()] = replacement.storage;
}

Listening::Listening(CallListener& listener) : listener_(listener) {
  if (!call_state.listeners) call_state.listeners = new std::vector<CallListener*>;
  call_state.listeners->push_back(&listener);
}

Listening::~Listening() {
  std::vector<CallListener*>& listeners = *call_state.listeners;
  listeners.erase(std::find(listeners.begin(), listeners.end(), &listener_));
  if (!listeners.empty()) return;
  delete call_state.listeners;
  call_state.listeners = nullptr;
}

void throw_no_elements(const char* what) {
  throw Error(std::string("shapes only: ") + what + ", and there are none");
}

void tell_of_choice(const ChosenImplementation& chosen, const std::string& reasons) {
  const std::vector<CallListener*> listeners = *call_state.listeners;
  for (CallListener* listener : listeners) listener->chose(chosen, reasons);
}

void tell_of_escape(const char* command) {
  for (CallListener* listener : *call_state.listeners) listener->escaped(command);
}

void tell_of_reading() {
  const std::vector<CallListener*> listeners = *call_state.listeners;
  for (CallListener* listener : listeners) listener->reads();
}

void CallScope::announce(const char* name, Call::Kind kind, std::function<std::vector<Argument>()> arguments,
                         std::function<std::shared_ptr<HeldCall>()> hold) {
  call_ = std::make_unique<Call>(Call{name, kind, call_state.depth - 1, std::move(arguments), {}});
  if (hold)
    call_->hold = [&] {
      if (!held_) held_ = hold();
      return held_;
    };
  const std::vector<CallListener*> listeners = *call_state.listeners;  // a listener may attach another
  for (CallListener* listener : listeners) listener->enter(*call_);
  call_->arguments = {};  // what they refer to may change from here on
  call_->hold = {};
}

void CallScope::retire() noexcept {
  if (!call_state.listeners) return;
  const std::vector<CallListener*> listeners = *call_state.listeners;
  for (CallListener* listener : listeners) listener->leave(*call_);
}

}  // namespace dlprim
