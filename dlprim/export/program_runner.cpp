#include "dlprim/export/program_runner.h"

#include <algorithm>

#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

using Kind = ProgramBuffer::Kind;

constexpr std::size_t arena_alignment = 256;  // of the widest vectors of kernels, and of cache lines

Tensor bytes_of(const std::shared_ptr<Storage>& storage, std::size_t bytes) {
  return {storage, DType::uint8, {static_cast<std::int64_t>(bytes)}, {1}, 0};
}

}  // namespace

ProgramRunner::ProgramRunner(ExportedProgram program, Device& device)
    : program_(std::move(program)), device_(device) {
  check_program(program_);
  plan_arena();
  for (const ProgramBuffer& buffer : program_.buffers) {
    if (buffer.kind != Kind::constant && buffer.kind != Kind::state) continue;
    const auto storage = device.allocator().allocate_for_upload(buffer.bytes);
    memory_.emplace(buffer.storage.get(), storage);
    if (buffer.bytes > 0)
      device.queue().write(bytes_of(storage, buffer.bytes), buffer.contents.data(), buffer.bytes);
  }
  make_calls();
}

void ProgramRunner::plan_arena() {
  std::unordered_map<const Storage*, std::size_t> places;
  std::vector<MemoryUse> uses;
  std::vector<const ProgramBuffer*> buffers;
  for (const ProgramBuffer& buffer : program_.buffers) {
    if (buffer.kind == Kind::constant || buffer.kind == Kind::state) continue;
    places.emplace(buffer.storage.get(), uses.size());
    buffers.push_back(&buffer);
    uses.push_back({std::max<std::size_t>(buffer.bytes, 1), SIZE_MAX, 0});
  }
  const auto use_at = [&](const Tensor& tensor, std::size_t step) {
    const auto found = places.find(tensor.storage.get());
    if (found == places.end()) return;
    MemoryUse& use = uses[found->second];
    use.first = std::min(use.first, step);
    use.last = std::max(use.last, step);
  };
  for (const ProgramTensor& input : program_.inputs) use_at(input.tensor, 0);
  for (std::size_t i = 0; i < program_.calls.size(); ++i)
    for_each_tensor(program_.calls[i].arguments, [&](const Tensor& tensor) { use_at(tensor, i + 1); });
  for (const ProgramTensor& output : program_.outputs) use_at(output.tensor, program_.calls.size() + 1);

  plan_ = plan_memory(uses, arena_alignment);
  if (uses.empty()) return;
  arena_ = device_.allocator().allocate(plan_.bytes);
  for (std::size_t i = 0; i < uses.size(); ++i)
    memory_.emplace(
        buffers[i]->storage.get(),
        std::make_shared<Storage>(device_, arena_->buffer(), arena_->byte_offset() + plan_.offsets[i],
                                  uses[i].bytes, nullptr, nullptr, Storage::any_command));
}

std::shared_ptr<HeldCall> ProgramRunner::make_call(const ProgramCall& call,
                                                   const std::function<PhiloxState(PhiloxState)>& random) {
  ArgumentContext context{[this](const Tensor& tensor) { return here(tensor); }, random};
  return find_primitive(call.primitive)->call(call.arguments, context);
}

void ProgramRunner::make_calls() {
  for (std::size_t i = 0; i < program_.calls.size(); ++i) {
    bool is_random = false;
    calls_.push_back(make_call(program_.calls[i], [&](PhiloxState state) {
      is_random = true;
      return state;
    }));
    if (is_random) random_calls_.push_back(i);
  }
}

void ProgramRunner::draw(const std::function<PhiloxState(PhiloxState)>& random) {
  for (const std::size_t i : random_calls_) calls_[i] = make_call(program_.calls[i], random);
}

Tensor ProgramRunner::here(const Tensor& tensor) const {
  Tensor result = tensor;
  result.storage = memory_.at(tensor.storage.get());
  return result;
}

Tensor ProgramRunner::named(const std::vector<ProgramTensor>& tensors, const std::string& name,
                            const char* what) const {
  std::string names;
  for (const ProgramTensor& each : tensors) {
    if (each.name == name) return here(each.tensor);
    names += (names.empty() ? "" : ", ") + each.name;
  }
  throw ValueError(
      concat("the program has no ", what, " named ", name, ", only ", names.empty() ? "none" : names));
}

Tensor ProgramRunner::input(const std::string& name) const {
  return named(program_.inputs, name, "input");
}

Tensor ProgramRunner::output(const std::string& name) const {
  return named(program_.outputs, name, "output");
}

Tensor ProgramRunner::state(const std::string& name) const {
  for (const ProgramBuffer& buffer : program_.buffers)
    if (buffer.name == name && !name.empty())
      return {memory_.at(buffer.storage.get()), buffer.dtype, buffer.shape, contiguous_strides(buffer.shape),
              0};
  throw ValueError(concat("the program has no state and no constant named ", name));
}

PhiloxState ProgramRunner::of_this_run(PhiloxState first) const {
  return {first.seed, first.offset + runs_ * program_.random_advance};
}

void ProgramRunner::run_calls() {
  for (const std::shared_ptr<HeldCall>& call : calls_) call->run(device_.queue());
}

void ProgramRunner::keep_commands() {
  auto graph = std::make_unique<CommandGraph>(device_);
  try {
    const CommandGraph::Capture capture(*graph);
    draw([&](PhiloxState state) { return graph->draw([this, state] { return of_this_run(state); }); });
    run_calls();
  } catch (const Error&) {  // a call goes between host and device, and cannot be kept
    may_keep_ = false;
    return;
  }
  graph_ = std::move(graph);
}

void ProgramRunner::run() {
  if (runs_ == 1 && may_keep_ && !capturing(device_)) keep_commands();
  if (graph_) {
    graph_->replay();
  } else {
    if (runs_ > 0) draw([this](PhiloxState state) { return of_this_run(state); });
    run_calls();
  }
  ++runs_;
}

namespace {

/** Moves the random numbers of a call on. */
void advance_random(std::vector<Argument>& arguments, std::uint64_t by) {
  if (is_random_state(arguments)) {
    auto& offset = std::get<std::int64_t>(arguments[1].value);
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + by);
    return;
  }
  for (Argument& argument : arguments)
    if (auto* list = std::get_if<std::vector<Argument>>(&argument.value)) advance_random(*list, by);
}

}  // namespace

ExportedProgram ProgramRunner::current_program() const {
  ExportedProgram now = program_;
  for (const std::size_t i : random_calls_)
    advance_random(now.calls[i].arguments, runs_ * program_.random_advance);
  for (ProgramBuffer& buffer : now.buffers)
    if (buffer.kind == Kind::state && buffer.bytes > 0)
      device_.queue().read(bytes_of(memory_.at(buffer.storage.get()), buffer.bytes), buffer.contents.data(),
                           buffer.bytes);
  return now;
}

}  // namespace dlprim
