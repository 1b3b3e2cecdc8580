#include "dlprim/runtime/constant_forms.h"

#include "dlprim/runtime/command_graph.h"

namespace dlprim {
namespace {

thread_local ConstantForms* in_use = nullptr;

}  // namespace

ConstantForms::Use::Use(ConstantForms& forms) : before_(std::exchange(in_use, &forms)) {}

ConstantForms::Use::~Use() {
  in_use = before_;
}

Tensor form_of(Queue& queue, const Tensor& tensor, const char* kind, const std::vector<std::int64_t>& layout,
               const Dims& shape, DType dtype, const std::function<void(const Tensor& form)>& make) {
  const auto make_in = [&](const Tensor& form) {
    make(form);
    return form;
  };
  if (!in_use) return make_in(queue.scratch(shape, dtype));
  const auto constant = in_use->forms_.find(tensor.storage.get());
  if (constant == in_use->forms_.end()) return make_in(queue.scratch(shape, dtype));

  ConstantForms::Key key{kind, layout};
  key.second.push_back(tensor.offset);
  key.second.push_back(static_cast<std::int64_t>(tensor.dtype));
  auto& made = constant->second.made;
  const auto found = made.find(key);
  if (found != made.end()) return found->second;
  const CommandGraph::Pause not_captured;  // replays read it, and do not make it
  return made.emplace(std::move(key), make_in(Tensor::empty(queue.device(), shape, dtype))).first->second;
}

}  // namespace dlprim
