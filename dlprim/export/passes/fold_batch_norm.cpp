#include <algorithm>
#include <map>
#include <optional>

#include "dlprim/export/argument_reader.h"
#include "dlprim/export/passes/call_parts.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/primitive_table.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/ops/pointwise/table.h"
#include "dlprim/runtime/allocator.h"

namespace dlprim {
namespace {

/** Whether a call's weight has a row for each channel of its result, which its bias is added to. */
bool has_channels_of_weight(const ProgramCall& call) {
  return call.primitive == "conv2d_forward" || call.primitive == "conv3d_forward" ||
         call.primitive == "linear_forward";
}

class BatchNormFolding {
 public:
  explicit BatchNormFolding(ExportedProgram& program) : program_(program) {
    for (const ProgramBuffer& buffer : program.buffers)
      if (buffer.kind == ProgramBuffer::Kind::constant) constants_[buffer.storage.get()] = true;
    for (const ProgramTensor& output : program.outputs) ++uses_[output.tensor.storage.get()];
    for (ProgramCall& call : program.calls) {
      const Primitive::Tensors tensors = find_primitive(call.primitive)->tensors(call.arguments);
      const bool is_constant = !tensors.read.empty() && are_constant(tensors.read);
      for (const Tensor& tensor : tensors.written) {
        const bool is_new = !uses_.count(tensor.storage.get());
        constants_[tensor.storage.get()] = is_constant && is_new;
      }
      for (const Tensor& tensor : tensors.updated) constants_[tensor.storage.get()] = false;
      for_each_tensor_of(tensors, [&](const Tensor& tensor) { ++uses_[tensor.storage.get()]; });
    }
  }

  void run() {
    for (ProgramCall& call : program_.calls) {
      if (call.primitive != "batch_norm_forward" || !fold(call)) calls_.push_back(std::move(call));
    }
    program_.calls = std::move(calls_);
  }

 private:
  template <class Visit>
  static void for_each_tensor_of(const Primitive::Tensors& tensors, const Visit& visit) {
    for (const std::vector<Tensor>* list : {&tensors.read, &tensors.written, &tensors.updated})
      for (const Tensor& tensor : *list) visit(tensor);
  }

  bool is_constant(const Tensor& tensor) const {
    const auto found = constants_.find(tensor.storage.get());
    return !tensor.defined() || (found != constants_.end() && found->second);
  }
  bool are_constant(const std::vector<Tensor>& tensors) const {
    return std::all_of(tensors.begin(), tensors.end(),
                       [&](const Tensor& tensor) { return is_constant(tensor); });
  }

  /** The call among those behind which the norm stands that gives it its input, to nobody else. */
  ProgramCall* producer_of(const ProgramCall& norm) {
    const Tensor& x = tensor_of(norm, "x");
    if (uses_[x.storage.get()] != 2) return nullptr;
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
      const Tensor& y = tensor_of(*call, "y");
      if (!has_channels_of_weight(*call) || y.storage != x.storage) continue;
      const bool is_same = y.offset == x.offset && y.numel() == x.numel() && y.rank() >= 2 && x.rank() >= 2 &&
                           y.shape[0] == x.shape[0] && y.shape[1] == x.shape[1] && y.is_contiguous() &&
                           x.is_contiguous() && tensor_of(norm, "y").is_contiguous();
      return is_same ? &*call : nullptr;
    }
    return nullptr;
  }

  bool fold(const ProgramCall& norm) {
    ProgramCall* const producer = producer_of(norm);
    if (!producer || !may_wait(calls_, static_cast<std::size_t>(producer - calls_.data()))) return false;
    const Tensor weight = tensor_of(*producer, "weight"), bias = tensor_of(*producer, "bias");
    const Tensor mean = tensor_of(norm, "mean"), invstd = tensor_of(norm, "invstd");
    const Tensor gain = tensor_of(norm, "weight"), shift = tensor_of(norm, "bias");
    if (!are_constant({weight, bias, mean, invstd, gain, shift})) return false;
    ProgramCall folded = std::move(*producer);
    calls_.erase(calls_.begin() + (producer - calls_.data()));

    // y = (x - mean) scale + shift, where x = weight of the input + bias.
    Dims rows;
    for (int d = 0; d < weight.rank(); ++d) rows.push_back(d == 0 ? weight.shape[0] : 1);
    const Tensor scale = gain.defined() ? apply("mul", {invstd, gain}, mean.dtype) : invstd;
    set_tensor(folded, "weight", apply("mul", {weight, scale.reshaped(rows)}, weight.dtype));
    Tensor moved = bias.defined() ? apply("sub", {bias, mean}, mean.dtype) : apply("neg", {mean}, mean.dtype);
    moved = apply("mul", {moved, scale}, shift.defined() ? mean.dtype : weight.dtype);
    if (shift.defined()) moved = apply("add", {moved, shift}, weight.dtype);
    set_tensor(folded, "bias", moved);

    ArgumentContext context = own_arguments();
    const auto epilogue = read_argument<Epilogue>(norm.arguments.back().value, context);
    const Tensor &x = tensor_of(norm, "x"), &y = tensor_of(norm, "y");
    const bool is_last = !epilogue.any();
    if (is_last) set_tensor(folded, "y", y.reshaped(tensor_of(folded, "y").shape));
    if (!norm.module.empty()) folded.module += (folded.module.empty() ? "" : ", ") + norm.module;
    calls_.push_back(std::move(folded));
    if (!is_last) finish(epilogue, x, y, norm);
    return true;
  }

  /** The calls of a norm's epilogue on what is normalised already. */
  void finish(const Epilogue& epilogue, Tensor x, const Tensor& y, const ProgramCall& norm) {
    const auto add = [&](const PointwiseOp& op, const std::vector<Tensor>& inputs, const Tensor& result) {
      calls_.push_back(pointwise_call(op, inputs, result));
      calls_.back().module = norm.module;
      x = result;
    };
    if (epilogue.addend)
      add(pointwise_op("add"), {x, *epilogue.addend},
          epilogue.activation ? new_temporary(program_, y.device(), y.shape, y.dtype) : y);
    if (epilogue.activation) add(*epilogue.activation, {x}, y);
  }

  /** A new temporary with the row's result, of the first input's shape. */
  Tensor apply(const char* row, const std::vector<Tensor>& inputs, DType dtype) {
    const Tensor& first = inputs.front();
    const Tensor result = new_temporary(program_, first.device(), first.shape, dtype);
    calls_.push_back(pointwise_call(pointwise_op(row), inputs, result));
    return result;
  }

  ExportedProgram& program_;
  std::map<const Storage*, bool> constants_;  // and what follows from them
  std::map<const Storage*, int> uses_;        // as arguments and as results
  std::vector<ProgramCall> calls_;
};

}  // namespace

void fold_batch_norm(ExportedProgram& program) {
  BatchNormFolding(program).run();
}

}  // namespace dlprim
