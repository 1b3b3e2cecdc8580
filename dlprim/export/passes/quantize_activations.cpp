#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/int8_groups.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {
namespace {

using Kind = Int8Group::Kind;
using Activation = Int8Group::Activation;

/** The format whose numbers reach from the least to the greatest, and 0. */
Int8Format format_of(const ActivationRange& range, const std::string& of) {
  require(range.least <= range.greatest || std::isnan(range.least) || std::isnan(range.greatest),
          "quantize: calibration saw no data for ", of);
  require(std::isfinite(range.least) && std::isfinite(range.greatest), "quantize: ", of, " has numbers from ",
          range.least, " to ", range.greatest, " in calibration; finite ones expected");
  const double least = std::min(0.0f, range.least), greatest = std::max(0.0f, range.greatest);
  Int8Format format;
  format.scale = static_cast<float>((greatest - least) / 255);
  if (!(format.scale > 0)) return {};  // all are 0
  format.zero = static_cast<int>(std::clamp(std::nearbyint(-128 - least / format.scale), -128.0, 127.0));
  return format;
}

Int8Result result_of(const Int8Format& format, Activation activation) {
  Int8Result result{format};
  if (activation != Activation::none) result.low = format.zero;
  if (activation == Activation::relu6)
    result.high = static_cast<int>(
        std::min(127.0, std::nearbyint(6 / static_cast<double>(format.scale)) + format.zero));
  return result;
}

class Quantization {
 public:
  Quantization(ExportedProgram& program, const std::vector<ActivationRange>& ranges)
      : program_(program), groups_(int8_groups(program)) {
    const std::vector<Tensor> activations = int8_activations(groups_);
    require(!groups_.empty(), "quantize: the program has no call that could be one of int8");
    require(ranges.size() == activations.size(), "quantize: expected ranges of ", activations.size(),
            " activations, got ", ranges.size());
    for (const ProgramBuffer& buffer : program.buffers) {
      contents_[buffer.storage.get()] = buffer.contents;
      names_[buffer.storage.get()] = buffer.name;
    }
    for (const ProgramTensor& input : program.inputs) names_[input.tensor.storage.get()] = input.name;
    for (std::size_t i = 0; i < activations.size(); ++i)
      formats_[activations[i].storage.get()] = format_of(ranges[i], described(i, activations[i]));
    for (const Int8Group& group : groups_)
      if (group.kind == Kind::max_pool) formats_[group.result.storage.get()] = format(group.inputs.front());
    find_float_readers();
  }

  void run() {
    std::map<std::size_t, const Int8Group*> at;
    std::set<std::size_t> taken;
    for (const Int8Group& group : groups_) {
      at[*std::max_element(group.calls.begin(), group.calls.end())] = &group;
      taken.insert(group.calls.begin(), group.calls.end());
    }
    const std::vector<ProgramCall> calls = program_.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (const auto found = at.find(i); found != at.end())
        add(*found->second, calls);
      else if (!taken.count(i))
        calls_.push_back(calls[i]);
    }
    program_.calls = std::move(calls_);
  }

 private:
  std::string described(std::size_t i, const Tensor& activation) const {
    for (const Int8Group& group : groups_)
      if (group.result.storage == activation.storage) {
        const ProgramCall& core = program_.calls[group.core];
        return concat("the result of ", core.primitive, core.module.empty() ? "" : " in " + core.module);
      }
    const std::string& name = names_.at(activation.storage.get());
    return name.empty() ? concat("activation ", i) : "the input " + name;
  }

  const Int8Format& format(const Tensor& activation) const { return formats_.at(activation.storage.get()); }

  void find_float_readers() {
    std::set<std::size_t> taken;
    for (const Int8Group& group : groups_) taken.insert(group.calls.begin(), group.calls.end());
    for (std::size_t i = 0; i < program_.calls.size(); ++i) {
      if (taken.count(i)) continue;
      const auto tensors = find_primitive(program_.calls[i].primitive)->tensors(program_.calls[i].arguments);
      for (const Tensor& tensor : tensors.read) floats_.insert(tensor.storage.get());
    }
    for (const ProgramTensor& output : program_.outputs) floats_.insert(output.tensor.storage.get());
  }

  template <class T>
  Tensor constant(const std::string& name, const Dims& shape, DType dtype, Device& device,
                  const std::vector<T>& elements) {
    const Tensor result = new_temporary(program_, device, shape, dtype);
    ProgramBuffer& buffer = program_.buffers.back();
    std::vector<char> contents(buffer.bytes);
    if (!contents.empty()) std::memcpy(contents.data(), elements.data(), contents.size());
    buffer.kind = ProgramBuffer::Kind::constant;
    buffer.name = name;
    buffer.contents = std::make_shared<const std::vector<char>>(std::move(contents));
    buffer.dtype = dtype;
    buffer.shape = shape;
    return result;
  }

  struct Weight {
    Tensor numbers, scales;
  };

  /** A weight with a scale for each of its rows, symmetric about 0. */
  const Weight& weight_of(const Tensor& weight) {
    const Storage* key = weight.storage.get();
    if (const auto found = weights_.find(key); found != weights_.end()) return found->second;
    const std::size_t rows = static_cast<std::size_t>(weight.shape[0]),
                      row = static_cast<std::size_t>(weight.numel()) / rows;
    std::vector<float> elements(rows * row), scales(rows);
    const auto& contents = contents_.at(key);
    const std::string& name = names_.at(key);
    require(contents && contents->size() == elements.size() * sizeof(float), "quantize: the weight ", name,
            " has no elements");
    std::memcpy(elements.data(), contents->data(), contents->size());
    std::vector<std::int8_t> numbers(elements.size());
    for (std::size_t o = 0; o < rows; ++o) {
      const float* const from = elements.data() + o * row;
      float greatest = 0;
      for (std::size_t i = 0; i < row; ++i) {
        require(std::isfinite(from[i]), "quantize: the weight ", name, " is not finite");
        greatest = std::max(greatest, std::abs(from[i]));
      }
      const float scale = greatest / 127;
      scales[o] = scale > 0 ? scale : 1;
      for (std::size_t i = 0; i < row; ++i)
        numbers[o * row + i] =
            static_cast<std::int8_t>(std::clamp(std::nearbyint(from[i] / scales[o]), -127.0f, 127.0f));
    }
    Device& device = weight.device();
    const Weight result{constant(name + ".int8", weight.shape, DType::int8, device, numbers),
                        constant(name + ".scales", {weight.shape[0]}, DType::float32, device, scales)};
    return weights_.emplace(key, result).first->second;
  }

  /** The numbers of an activation in int8, of that shape; a call makes them of those that come in float32. */
  Tensor stored(const Tensor& activation, const Dims& shape, const ProgramCall& reader) {
    const auto found = int8_.find(activation.storage.get());
    if (found != int8_.end()) return found->second.reshaped(shape);
    const Tensor numbers = new_temporary(program_, activation.device(), activation.shape, DType::int8);
    call("int8_quantize", {{"x", activation}, {"format", value_of(format(activation))}, {"y", numbers}},
         reader);
    int8_[activation.storage.get()] = numbers;
    return numbers.reshaped(shape);
  }

  void call(const char* primitive, std::vector<Argument> arguments, const ProgramCall& like) {
    calls_.push_back({primitive, std::move(arguments), like.operation, like.module});
  }

  void add(const Int8Group& group, const std::vector<ProgramCall>& calls) {
    ProgramCall like = calls[group.core];
    for (std::size_t i = 1; i < group.calls.size(); ++i)
      like.operation += ", " + calls[group.calls[i]].operation;
    const Tensor& x = group.inputs.front();
    const Int8Result result = result_of(format(group.result), group.activation);
    const Tensor y = new_temporary(program_, group.result.device(), group.result.shape, DType::int8);
    switch (group.kind) {
      case Kind::convolution:
      case Kind::linear:
        add_products(group, calls[group.core], like, result, y);
        break;
      case Kind::sum:
        add_sum(group, like, result, y);
        break;
      case Kind::max_pool:
        call("int8_max_pool2d",
             {{"x", stored(x, x.shape, like)},
              {"geometry", *argument_of(calls[group.core], "geometry")},
              {"y", y}},
             like);
        break;
      case Kind::average_pool:
        call("int8_adaptive_avg_pool2d",
             {{"x", stored(x, x.shape, like)},
              {"x_format", value_of(format(x))},
              {"result", value_of(result)},
              {"y", y}},
             like);
        break;
      case Kind::cat:
        add_cat(group, calls[group.core], like, result, y);
        break;
    }
    int8_[group.result.storage.get()] = y;
    if (floats_.count(group.result.storage.get()))
      call("int8_dequantize", {{"x", y}, {"format", value_of(result.format)}, {"y", group.result}}, like);
  }

  void add_products(const Int8Group& group, const ProgramCall& core, const ProgramCall& like,
                    const Int8Result& result, const Tensor& y) {
    const Tensor &x = tensor_of(core, "x"), &bias = tensor_of(core, "bias");
    const Tensor& weight = tensor_of(core, "weight");
    const Dims shape = tensor_of(core, "y").shape;
    const bool is_linear = group.kind == Kind::linear;
    const std::int64_t out = weight.shape[0];
    const Dims rows_in{x.numel() / weight.size(-1), weight.size(-1)}, rows_out{y.numel() / out, out};
    const Weight& stored_weight = weight_of(weight);
    const auto optional = [](const Tensor& tensor) {
      return tensor.defined() ? ArgumentValue(tensor) : ArgumentValue();
    };
    const Dims y_shape = is_linear ? rows_out : shape;
    const Tensor addend = group.addend.defined() ? stored(group.addend, y_shape, like) : Tensor{};
    std::vector<Argument> arguments{
        {"x", stored(x, is_linear ? rows_in : x.shape, like)},
        {"x_format", value_of(format(x))},
        {"weight", stored_weight.numbers},
        {"scales", stored_weight.scales},
        {"bias", optional(bias)},
        {"addend", optional(addend)},
        {"addend_format", value_of(group.addend.defined() ? format(group.addend) : Int8Format{})}};
    if (!is_linear) arguments.push_back({"geometry", *argument_of(core, "geometry")});
    arguments.push_back({"result", value_of(result)});
    arguments.push_back({"y", y.reshaped(y_shape)});
    call(is_linear ? "int8_linear" : "int8_conv2d", std::move(arguments), like);
  }

  void add_sum(const Int8Group& group, const ProgramCall& like, const Int8Result& result, const Tensor& y) {
    const Tensor &a = group.inputs.front(), &b = group.inputs.back();
    const bool is_sum = group.inputs.size() == 2;
    const Tensor left = stored(a, y.shape, like);
    call("int8_add",
         {{"a", left},
          {"a_format", value_of(format(a))},
          {"b", is_sum ? ArgumentValue(stored(b, y.shape, like)) : ArgumentValue()},
          {"b_format", value_of(is_sum ? format(b) : Int8Format{})},
          {"result", value_of(result)},
          {"y", y}},
         like);
  }

  void add_cat(const Int8Group& group, const ProgramCall& core, const ProgramCall& like,
               const Int8Result& result, const Tensor& y) {
    std::vector<Argument> tensors;
    for (const Tensor& input : group.inputs) {
      Tensor part = stored(input, input.shape, like);
      if (!(format(input) == result.format)) {
        const Tensor converted = new_temporary(program_, input.device(), input.shape, DType::int8);
        call("int8_add",
             {{"a", part},
              {"a_format", value_of(format(input))},
              {"b", ArgumentValue()},
              {"b_format", value_of(Int8Format{})},
              {"result", value_of(result)},
              {"y", converted}},
             like);
        part = converted;
      }
      tensors.push_back({"", part});
    }
    call("cat", {{"tensors", tensors}, {"dim", *argument_of(core, "dim")}, {"result", y}}, like);
  }

  ExportedProgram& program_;
  std::vector<Int8Group> groups_;
  std::map<const Storage*, std::shared_ptr<const std::vector<char>>> contents_;
  std::map<const Storage*, std::string> names_;
  std::map<const Storage*, Int8Format> formats_;
  std::map<const Storage*, Tensor> int8_;
  std::map<const Storage*, Weight> weights_;
  std::set<const Storage*> floats_;  // activations that other calls, or the caller, read in float32
  std::vector<ProgramCall> calls_;
};

}  // namespace

void quantize_activations(ExportedProgram& program, const std::vector<ActivationRange>& ranges) {
  require(!program.is_dynamic(), "quantize_activations: a program of given shapes expected");
  Quantization(program, ranges).run();
  fuse_pointwise(program);
}

}  // namespace dlprim
