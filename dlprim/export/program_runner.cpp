#include "dlprim/export/program_runner.h"

#include <algorithm>

#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_sizes.h"
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
    : program_(std::move(program)), device_(device), sizes_(greatest_sizes(program_)) {
  check_program(program_);
  for (const ProgramTensor& input : program_.inputs) shapes_.push_back(input.tensor.shape);
  plan_arena();
  for (const ProgramBuffer& buffer : program_.buffers) {
    if (buffer.kind != Kind::constant && buffer.kind != Kind::state) continue;
    const auto storage = device.allocator().allocate_for_upload(buffer.bytes);
    memory_.emplace(buffer.storage.get(), storage);
    if (buffer.kind == Kind::constant) constants_.add(storage);
    if (buffer.bytes > 0)
      device.queue().write(bytes_of(storage, buffer.bytes), buffer.contents->data(), buffer.bytes);
  }
  prepare();
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

const ProgramRunner::Prepared* ProgramRunner::find_prepared() const {
  for (const Prepared& each : prepared_)
    if (each.sizes == sizes_) return &each;
  return nullptr;
}

ProgramRunner::Prepared& ProgramRunner::prepare() {
  const auto found =
      std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) { return p.sizes == sizes_; });
  if (found != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, found);
    return prepared_.front();
  }
  Prepared prepared{sizes_, {}, {}, program_.random_advance};
  ExportedProgram instance;  // of a dynamic program
  if (program_.is_dynamic()) {
    instance = program_of_sizes(program_, sizes_);
    check_program(instance);
    prepared.random_advance = instance.random_advance;
  }
  const std::vector<ProgramCall>& calls = program_.is_dynamic() ? instance.calls : program_.calls;
  const bool is_first = prepared_.empty();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    bool is_random = false;
    const auto make = [&] {
      return make_call(calls[i], [&](PhiloxState state) {
        is_random = true;
        return state;
      });
    };
    prepared.calls.push_back(at_place([i] { return concat("call ", i); }, make));
    if (is_random && is_first) random_calls_.push_back(i);
    if (is_random) prepared.program_calls.push_back(calls[i]);
  }
  prepared_.push_front(std::move(prepared));
  if (prepared_.size() > most_kept) prepared_.pop_back();
  return prepared_.front();
}

void ProgramRunner::draw(Prepared& prepared, const std::function<PhiloxState(PhiloxState)>& random) {
  for (std::size_t i = 0; i < random_calls_.size(); ++i)
    prepared.calls[random_calls_[i]] = make_call(prepared.program_calls[i], random);
}

Tensor ProgramRunner::at_sizes(const ProgramTensor& each) const {
  Tensor tensor = each.tensor;
  apply_sizes(tensor, each.varying, sizes_);
  return tensor;
}

void ProgramRunner::set_input_shape(std::size_t i, const Dims& shape) {
  put_sizes_of_input(program_, i, shape, sizes_);
  shapes_.at(i) = shape;
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
    if (each.name == name) return here(at_sizes(each));
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
  return {first.seed, first.offset + random_moved_};
}

void ProgramRunner::run_calls(const Prepared& prepared) {
  const ConstantForms::Use use(constants_);
  for (std::size_t i = 0; i < prepared.calls.size(); ++i)
    at_place([&] { return program_.place_of_call(i); }, [&] { prepared.calls[i]->run(device_.queue()); });
}

void ProgramRunner::keep_commands(Prepared& prepared) {
  // Runs come one after another, so that the graphs of all shapes share the memory that kernels need beside.
  auto graph = std::make_unique<CommandGraph>(device_, pool_);
  try {
    const CommandGraph::Capture capture(*graph);
    draw(prepared,
         [&](PhiloxState state) { return graph->draw([this, state] { return of_this_run(state); }); });
    run_calls(prepared);
  } catch (const Error&) {  // a call goes between host and device, and cannot be kept
    prepared.may_keep = false;
    return;
  }
  pool_ = graph->pool();
  prepared.graph = std::move(graph);
}

void ProgramRunner::run() {
  if (program_.is_dynamic()) sizes_ = sizes_of_inputs(program_, shapes_);
  Prepared& prepared = prepare();
  if (prepared.runs == 1 && prepared.may_keep && !capturing(device_)) keep_commands(prepared);
  if (prepared.graph) {
    prepared.graph->replay();
  } else {
    if (random_moved_ > 0) draw(prepared, [this](PhiloxState state) { return of_this_run(state); });
    run_calls(prepared);
  }
  ++prepared.runs;
  random_moved_ += prepared.random_advance;
}

namespace {

std::int64_t moved_on(std::int64_t offset, std::uint64_t by) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + by);
}

/** Moves the random numbers of a call on; `place` counts its numbers. */
void advance_random(std::vector<Argument>& arguments, std::vector<VaryingNumber>& varying, std::uint64_t by,
                    std::size_t& place) {
  if (is_random_state(arguments)) {
    auto& offset = std::get<std::int64_t>(arguments[1].value);
    offset = moved_on(offset, by);
    for (VaryingNumber& one : varying)
      if (one.place == place + 1)
        one.formula.numerator = one.formula.numerator + SizeFormula(static_cast<std::int64_t>(by));
    place += 2;
    return;
  }
  for (Argument& argument : arguments) {
    if (auto* list = std::get_if<std::vector<Argument>>(&argument.value)) {
      advance_random(*list, varying, by, place);
      continue;
    }
    std::vector<Argument> alone{argument};
    for_each_number(alone, [&](auto&) { ++place; });
  }
}

}  // namespace

ExportedProgram ProgramRunner::current_program() const {
  ExportedProgram now = program_;
  for (const std::size_t i : random_calls_) {
    std::size_t place = 0;
    advance_random(now.calls[i].arguments, now.calls[i].varying, random_moved_, place);
  }
  for (ProgramBuffer& buffer : now.buffers) {
    if (buffer.kind != Kind::state || buffer.bytes == 0) continue;
    std::vector<char> contents(buffer.bytes);
    device_.queue().read(bytes_of(memory_.at(buffer.storage.get()), buffer.bytes), contents.data(),
                         buffer.bytes);
    buffer.contents = std::make_shared<const std::vector<char>>(std::move(contents));
  }
  return now;
}

}  // namespace dlprim
