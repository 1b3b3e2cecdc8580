#include "dlprim/export/program_capture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "dlprim/export/primitive_table.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

using Kind = ProgramBuffer::Kind;

/** All memory of a tensor's storage. */
Tensor all_bytes(const Tensor& tensor) {
  return {tensor.storage, DType::uint8, {static_cast<std::int64_t>(tensor.storage->bytes())}, {1}, 0};
}

std::string text_or_nothing(const char* text) {
  return text ? text : "";
}

}  // namespace

ProgramCapture::ProgramCapture(const std::vector<ProgramTensor>& inputs, Contents contents)
    : inputs_(inputs), contents_(contents) {
  for (const ProgramTensor& input : inputs) {
    Memory memory{Kind::input, all_bytes(input.tensor)};
    memory.reach = bytes_reached(input.tensor);
    memory.order = memory_.size();
    require(memory_.emplace(input.tensor.storage.get(), std::move(memory)).second, "export: input ",
            input.name, " shares memory with another input");
  }
  listening_ = std::make_unique<Listening>(*this);
}

ProgramCapture::~ProgramCapture() = default;

void ProgramCapture::stop() {
  listening_.reset();
}

std::vector<char> ProgramCapture::download(const Tensor& bytes) {
  if (!call_state.has_elements) return {};
  std::vector<char> contents(bytes.storage->bytes());
  downloads_ = true;
  bytes.device().queue().read(bytes, contents.data(), contents.size());
  downloads_ = false;
  return contents;
}

void ProgramCapture::reads() {
  if (downloads_) return;
  throw Error(
      "export: elements of a tensor are read on the host (item(), tolist(), bool(), numpy(), printing): what "
      "follows "
      "from them would be the same in each run of the program");
}

void ProgramCapture::escaped(const char* command) {
  if (!downloads_) escapes_.emplace_back(command);
}

void ProgramCapture::note(const Tensor& tensor, bool reads, bool writes) {
  const auto [found, is_new] = memory_.try_emplace(tensor.storage.get());
  Memory& memory = found->second;
  if (is_new) {
    memory.bytes = all_bytes(tensor);
    memory.order = memory_.size();
    memory.kind = reads ? Kind::constant : Kind::temporary;
    if (reads) memory.contents = download(memory.bytes);
  }
  if (writes && memory.kind == Kind::constant) memory.kind = Kind::state;
  const std::size_t reach = bytes_reached(tensor);
  require<Error>(memory.kind != Kind::input || reach <= memory.reach, "export: ", call_state.operation,
                 " reads memory that an input is a part of");
  memory.reach = std::max(memory.reach, reach);
}

void ProgramCapture::enter(const Call& call) {
  const bool is_outermost = call_state.primitives == 1;
  if (call.kind != Call::Kind::primitive || !is_outermost) return;
  const std::string operation = text_or_nothing(call_state.operation);
  std::vector<Argument> arguments = call.arguments();
  if (std::strcmp(call.name, "upload") == 0) {
    // The bytes come with the program, and go to their place in each run.
    const Tensor destination = std::get<Tensor>(arguments.back().value);
    uploads_.push_back({calls_.size(), destination});
    note(destination, false, true);
    calls_.push_back({"copy", {}, operation, text_or_nothing(call_state.module)});
    return;
  }
  const Primitive* primitive = find_primitive(call.name);
  require<Error>(primitive, "export: ", operation, " cannot be part of a program: the primitive ", call.name,
                 " depends on what the host knows of its data or devices");
  const Primitive::Tensors tensors = primitive->tensors(arguments);
  for (const Tensor& tensor : tensors.read) note(tensor, true, false);
  for (const Tensor& tensor : tensors.updated) note(tensor, true, true);
  for (const Tensor& tensor : tensors.written) note(tensor, false, true);
  calls_.push_back({call.name, std::move(arguments), operation, text_or_nothing(call_state.module)});
}

void ProgramCapture::leave(const Call& call) {
  if (call.kind != Call::Kind::primitive || call_state.primitives != 1 ||
      std::strcmp(call.name, "upload") != 0)
    return;
  // The uploaded elements get memory of their own.
  const auto& [place, destination] = uploads_.back();
  const Tensor source = Tensor::empty(destination.device(), destination.shape, destination.dtype);
  Memory memory{Kind::constant, all_bytes(source)};
  memory.reach = bytes_reached(source);
  memory.order = memory_.size() + 1;  // behind its destination
  if (call_state.has_elements) {
    downloads_ = true;
    memory.contents.resize(source.storage->bytes());
    destination.device().queue().read(destination, memory.contents.data(), memory.reach);
    downloads_ = false;
  }
  memory_.emplace(source.storage.get(), std::move(memory));
  calls_[place].arguments = {{"source", source}, {"destination", destination}};
}

ExportedProgram ProgramCapture::finish(const std::vector<ProgramTensor>& outputs,
                                       const std::vector<ProgramTensor>& named) {
  stop();
  require<Error>(escapes_.empty(), "export: '", escapes_.empty() ? "" : escapes_.front(),
                 "' was enqueued outside of any operator, and would be missing");
  for (const ProgramTensor& output : outputs) note(output.tensor, true, false);

  std::unordered_map<const Storage*, const ProgramTensor*> names;
  for (const ProgramTensor& tensor : named) names.emplace(tensor.tensor.storage.get(), &tensor);

  std::vector<std::pair<const Storage*, const Memory*>> ordered;
  for (const auto& [storage, memory] : memory_) ordered.emplace_back(storage, &memory);
  std::sort(ordered.begin(), ordered.end(),
            [](const auto& a, const auto& b) { return a.second->order < b.second->order; });

  ExportedProgram program;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> stand_ins;
  std::set<std::string> taken;
  for (const auto& [storage, memory] : ordered) {
    ProgramBuffer buffer;
    buffer.kind = memory->kind;
    buffer.bytes = memory->reach;
    buffer.storage = std::make_shared<Storage>(storage->device(), buffer.bytes);
    stand_ins.emplace(storage, buffer.storage);
    if (buffer.kind == Kind::constant || buffer.kind == Kind::state) {
      const auto found = names.find(storage);
      const Tensor* tensor = found != names.end() ? &found->second->tensor : nullptr;
      buffer.name = tensor ? found->second->name : concat("constant_", program.buffers.size());
      const bool is_whole =
          tensor && tensor->is_contiguous() && tensor->offset == 0 && bytes_reached(*tensor) >= buffer.bytes;
      if (is_whole)
        buffer.bytes = bytes_reached(*tensor);
      else if (contents_ == Contents::whole)
        buffer.bytes = storage->bytes();
      buffer.dtype = is_whole ? tensor->dtype : DType::uint8;
      buffer.shape = is_whole ? tensor->shape : Dims{static_cast<std::int64_t>(buffer.bytes)};
      if (memory->contents.size() >= buffer.bytes)  // not where there are shapes only
        buffer.contents = std::make_shared<const std::vector<char>>(
            memory->contents.begin(), memory->contents.begin() + static_cast<std::ptrdiff_t>(buffer.bytes));
      buffer.storage = std::make_shared<Storage>(storage->device(), buffer.bytes);
      stand_ins[storage] = buffer.storage;
      while (!taken.insert(buffer.name).second) buffer.name += "_";
    }
    program.buffers.push_back(std::move(buffer));
  }

  const auto to_stand_in = [&](Tensor& tensor) { tensor.storage = stand_ins.at(tensor.storage.get()); };
  program.calls = calls_;
  for (ProgramCall& call : program.calls) for_each_tensor(call.arguments, to_stand_in);
  program.inputs = inputs_;
  program.outputs = outputs;
  for (std::vector<ProgramTensor>* list : {&program.inputs, &program.outputs})
    for (ProgramTensor& each : *list) to_stand_in(each.tensor);
  return program;
}

void ProgramCapture::restore_states() {
  stop();
  for (const auto& [storage, memory] : memory_)
    if (memory.kind == Kind::state)
      memory.bytes.device().queue().write(memory.bytes, memory.contents.data(), memory.contents.size());
}

namespace {

/** Finds where two calls differ. */
class Comparison {
 public:
  std::string difference;  // the first one
  std::uint64_t advance = 0;

  void compare(const ProgramCall& a, const ProgramCall& b) {
    call_ = &a;
    if (a.primitive != b.primitive || a.arguments.size() != b.arguments.size())
      return report(concat("was called, then ", b.primitive));
    compare(a.arguments, b.arguments, "");
  }

 private:
  void report(const std::string& what) {
    if (difference.empty())
      difference =
          concat(call_->operation,
                 call_->operation == call_->primitive ? "" : concat(" (", call_->primitive, ")"), ": ", what);
  }

  void compare(const std::vector<Argument>& a, const std::vector<Argument>& b, const std::string& path) {
    if (is_random_state(a) && is_random_state(b)) {
      const auto offset = [](const std::vector<Argument>& state) {
        return std::get<std::int64_t>(state[1].value);
      };
      const auto moved = static_cast<std::uint64_t>(offset(b)) - static_cast<std::uint64_t>(offset(a));
      if (std::get<std::int64_t>(a[0].value) != std::get<std::int64_t>(b[0].value) ||
          (advance != 0 && moved != advance))
        report("random numbers do not go on evenly from one run to the next");
      advance = moved;
      return;
    }
    if (a.size() != b.size()) return report(concat(path, " had ", a.size(), " entries, then ", b.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
      compare(a[i].value, b[i].value,
              a[i].name.empty() ? concat(path, "[", i, "]")
              : path.empty()    ? a[i].name
                                : concat(path, ".", a[i].name));
  }

  void compare(const ArgumentValue& a, const ArgumentValue& b, const std::string& path) {
    if (a.index() != b.index()) return report(concat(path, " was of another kind"));
    if (const auto* list = std::get_if<std::vector<Argument>>(&a))
      return compare(*list, std::get<std::vector<Argument>>(b), path);
    if (const auto* tensor = std::get_if<Tensor>(&a)) {
      const auto& other = std::get<Tensor>(b);
      if (tensor->dtype != other.dtype || !(tensor->shape == other.shape))
        report(concat(path, " was ", name(tensor->dtype), tensor->shape, ", then ", name(other.dtype),
                      other.shape));
      return;
    }
    const auto* number = std::get_if<double>(&a);
    const auto* other = std::get_if<double>(&b);
    const bool is_same = number ? *number == *other || (std::isnan(*number) && std::isnan(*other))
                                : text_of_value_for_people(a) == text_of_value_for_people(b);
    if (!is_same)
      report(concat(path, " was ", text_of_value_for_people(a), ", then ", text_of_value_for_people(b)));
  }

  const ProgramCall* call_ = nullptr;
};

}  // namespace

std::string changed_numbers(const ExportedProgram& first, const ExportedProgram& second,
                            std::uint64_t& advance) {
  Comparison comparison;
  const std::size_t shared = std::min(first.calls.size(), second.calls.size());
  for (std::size_t i = 0; i < shared && comparison.difference.empty(); ++i)
    comparison.compare(first.calls[i], second.calls[i]);
  advance = comparison.advance;
  if (comparison.difference.empty() && first.calls.size() != second.calls.size())
    return concat("the work had ", first.calls.size(), " calls of primitives, then ", second.calls.size());
  return comparison.difference;
}

}  // namespace dlprim
