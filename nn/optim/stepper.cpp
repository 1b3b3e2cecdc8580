#include "nn/optim/stepper.h"

#include <algorithm>
#include <tuple>

#include "autograd/ops/complex.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/call.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "nn/optim/tensor_rules.h"

namespace ocl::optim {
namespace {

using dlprim::require;

/** How all tensors of a step lie: as the parameter, or without the gaps that it has in a larger tensor. */
Dims strides_of(const Tensor& parameter) {
  return dlprim::strides_like(parameter.data());
}

/** An option that groups have which were asked to (RuleOptimizer::keep_master_weights), and no constructor.
 */
bool keeps_masters(const Options& options) {
  return options.has("master_weights") && options.flag("master_weights");
}

/** Makes the tensors that are missing; whether the step has to write what they begin with. */
bool complete(Participant& p, const dlprim::StateRows& rows) {
  bool first = false;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    Tensor& state = p.tensors[k];
    if (state.defined()) {
      require_state_of(p.parameter, p.parameter.dtype(), rows[k].name, state);
      state = laid_out(state, strides_of(p.parameter));
      continue;
    }
    first = first || !rows[k].initial;
    state = rows[k].initial ? full_like(p.parameter, *rows[k].initial) : empty_like(p.parameter);
  }
  return first;
}

/** Complex numbers as their parts, which a step treats as parameters of their own (PyTorch does, too). */
Tensor parts_of(const Tensor& t) {
  return t.defined() && is_complex(t.dtype()) ? view_as_real(t.detach()) : t;
}

}  // namespace

DType state_dtype(const Options& options, const Tensor& parameter) {
  const bool has_master = keeps_masters(options) && is_floating(parameter.dtype());
  return has_master ? dlprim::compute_dtype(parameter.dtype()) : parameter.dtype();
}

void require_state_of(const Tensor& parameter, DType dtype, const char* name, const Tensor& state) {
  require(state.shape() == parameter.shape(), "expected ", name, " of shape ", parameter.shape(),
          " for its parameter, got ", state.shape());
  require(state.dtype() == dtype && state.device() == parameter.device(), "expected ", name, " of dtype ",
          dlprim::name(dtype), " on ", parameter.device()->name(), " for its parameter, got ",
          dlprim::name(state.dtype()), " on ", state.device()->name());
}

dlprim::StateRows Stepper::tensor_rows(const Options& options) const {
  dlprim::StateRows rows = rule_.tensors(options);
  if (keeps_masters(options)) rows.push_back({"master", std::nullopt});
  return rows;
}

void Stepper::step(std::size_t group, const Options& options, std::vector<Participant>& participants) {
  const auto has_complex = [](const Participant& p) { return p.parameter.is_complex(); };
  if (std::any_of(participants.begin(), participants.end(), has_complex))
    return step_parts(group, options, participants);
  if (!keeps_masters(options)) return update(group, options, participants);
  const NoGradGuard no_grad;
  std::vector<Participant> masters = participants;
  for (Participant& p : masters) {
    Tensor master = p.tensors.back();
    p.tensors.pop_back();
    const DType dtype = state_dtype(options, p.parameter);
    if (dtype == p.parameter.dtype()) continue;
    if (master.defined()) {
      require_state_of(p.parameter, dtype, "master", master);
    } else {
      master = to(p.parameter, dtype);
      for (Tensor& state : p.tensors)  // of steps before
        if (state.defined()) state = to(state, dtype);
    }
    p.parameter = master;
    p.gradient = to(p.gradient, dtype);
  }
  update(group, options, masters);
  for (std::size_t i = 0; i < participants.size(); ++i) {
    Participant &own = participants[i], &stepped = masters[i];
    own.numbers = stepped.numbers;
    own.tensors = stepped.tensors;
    const bool has_master = stepped.parameter.dtype() != own.parameter.dtype();
    own.tensors.push_back(has_master ? stepped.parameter : Tensor());
    if (has_master) own.parameter.copy_(stepped.parameter);
  }
}

void Stepper::step_parts(std::size_t group, const Options& options, std::vector<Participant>& participants) {
  std::vector<Participant> parts = participants;
  for (Participant& p : parts) {
    p.parameter = parts_of(p.parameter);
    p.gradient = parts_of(p.gradient);
    for (Tensor& state : p.tensors) state = parts_of(state);
  }
  step(group, options, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    participants[i].numbers = parts[i].numbers;
    participants[i].tensors = parts[i].tensors;
    if (!participants[i].parameter.is_complex()) continue;
    for (Tensor& state : participants[i].tensors)
      if (state.defined()) state = view_as_complex(state);
  }
}

void Stepper::update(std::size_t group, const Options& options, std::vector<Participant>& participants) {
  const NoGradGuard no_grad;
  if (!rule_.update) {
    for (Participant& p : participants) tensor_update(rule_.name, options, p);
    return;
  }
  const dlprim::StateRows rows = rule_.tensors(options);
  // Parameters that missed a step (no gradient) need other bias corrections.
  std::map<std::tuple<int, DType, bool, std::vector<double>>, std::vector<Participant*>> batches;
  for (Participant& p : participants) {
    require(!overlaps_itself(p.parameter.data()), rule_.name,
            ": expected parameters that have each element once in memory, got shape ", p.parameter.shape(),
            " with strides ", p.parameter.strides());
    const bool first = complete(p, rows);
    batches[{p.parameter.device()->index(), p.parameter.dtype(), first, p.numbers}].push_back(&p);
  }
  std::size_t number = 0;
  for (const auto& [key, batch] : batches)
    launch(batches_[{group, number++}], options, batch, std::get<2>(key));
}

dlprim::FusedUpdate Stepper::next_by_steps_on_device(Batch& kept, const Options& options,
                                                     const Participant& one, std::vector<double>& numbers) {
  if (!kept.step.defined() || kept.step.device() != one.parameter.device() || kept.counted != numbers[0])
    kept.step = full({1}, numbers[0], DType::float32, one.parameter.device());
  kept.step.add_(1);
  kept.counted = ++numbers[0];
  return rule_.update_by_steps_on_device(options);
}

void Stepper::launch(Batch& kept, const Options& options, const std::vector<Participant*>& participants,
                     bool first) {
  std::vector<double> numbers = participants.front()->numbers;
  const bool counts_on_device =
      rule_.update_by_steps_on_device && options.has("capturable") && options.flag("capturable");
  const dlprim::FusedUpdate update =
      counts_on_device ? next_by_steps_on_device(kept, options, *participants.front(), numbers)
                       : rule_.update(options, numbers, first);
  dlprim::Queue& queue = participants.front()->parameter.device()->queue();
  std::vector<dlprim::OptimizedParameter> raw;
  raw.reserve(participants.size());
  for (Participant* p : participants) {
    const Dims strides = strides_of(p->parameter);
    p->gradient = laid_out(p->gradient, strides);
    dlprim::OptimizedParameter& one = raw.emplace_back();
    one.parameter = laid_out(p->parameter, strides).data();  // a copy where it is cut out of a larger tensor
    one.gradient = p->gradient.data();
    one.state.reserve(p->tensors.size());
    for (const Tensor& t : p->tensors) one.state.push_back(t.data());
    if (counts_on_device) one.step = kept.step.data();
  }
  const dlprim::CallScope entered(rule_.name, dlprim::Call::Kind::operation, "parameters", raw);
  dlprim::fused_step(queue, kept.pack, raw, update);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const dlprim::Tensor& own = participants[i]->parameter.data();
    if (raw[i].parameter.storage != own.storage) dlprim::copy(queue, raw[i].parameter, own);
  }
  for (Participant* p : participants) {
    p->numbers = numbers;
    p->parameter.data().storage->bump_version();
    for (const Tensor& t : p->tensors) t.data().storage->bump_version();
  }
}

}  // namespace ocl::optim
