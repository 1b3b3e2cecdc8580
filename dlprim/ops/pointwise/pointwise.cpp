#include "dlprim/ops/pointwise/pointwise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <type_traits>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/layout.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/ops/pointwise/fusion.h"
#include "dlprim/ops/pointwise/pointwise_source.h"
#include "dlprim/ops/pointwise/powers.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/error_word.h"

namespace dlprim {
namespace {

constexpr std::int64_t cpu_least_chunk =
    4096;  // elements; below it the launch of a work group costs more than its work

/** The layout as pointwise.cl declares it, of the operands in `slots`; the strides of other slots are 0, and
 * so are what it divides by sizes with. */
template <class Index>
std::vector<Index> packed_layout(const Layout& layout, const std::vector<std::size_t>& slots,
                                 std::size_t slot_count) {
  std::vector<Index> packed(max_rank * (3 + slot_count), 0);
  const std::size_t rank = layout.sizes.size();
  // Innermost first, so that a kernel peels dimensions off in order.
  for (std::size_t d = 0; d < max_rank; ++d)
    packed[d] = d < rank ? static_cast<Index>(layout.sizes[rank - 1 - d]) : 1;
  for (std::size_t k = 0; k < layout.strides.size(); ++k)
    for (std::size_t d = 0; d < rank; ++d)
      packed[max_rank * (1 + slots[k]) + d] = static_cast<Index>(layout.strides[k][rank - 1 - d]);
  return packed;
}

/** Sets `factor` and `shift` of a layout, with which kernels of shape simt divide 32-bit numbers by its
 * sizes. */
void set_divisors(std::vector<cl_int>& packed) {
  cl_int* const factors = packed.data() + packed.size() - 2 * max_rank;
  cl_int* const shifts = factors + max_rank;
  for (std::size_t d = 0; d < max_rank; ++d) {
    const auto size = static_cast<std::uint64_t>(std::max(packed[d], 1));  // 0 where there is no element
    std::uint64_t power = 1;
    for (; power < size; power *= 2) ++shifts[d];
    factors[d] = static_cast<cl_int>(static_cast<std::uint32_t>(((power - size) << 32) / size + 1));
  }
}

struct Chunks {
  std::int64_t count, size;
};

// A CPU gets a few chunks per core: enough to balance, few enough that starting them costs nothing.
Chunks cpu_chunks(std::int64_t numel, int compute_units) {
  const std::int64_t wanted =
      std::min<std::int64_t>((numel + cpu_least_chunk - 1) / cpu_least_chunk, 4 * compute_units);
  const std::int64_t size = ((numel + wanted - 1) / wanted + 63) / 64 * 64;
  return {(numel + size - 1) / size, size};
}

/** `t`, or a converted copy of it. */
Tensor as_dtype(Queue& queue, const Tensor& t, DType dtype) {
  if (t.dtype == dtype) return t;
  Tensor converted = Tensor::empty(queue.device(), t.shape, dtype);
  copy(queue, t, converted);
  return converted;
}

/** The tensors and numbers of a call, in the order of the kernel's parameters. */
struct Arguments {
  std::vector<const Tensor*> inputs, outputs;
  std::vector<const Scalar*> numbers, parameters;
  unsigned are_numbers = 0;  // bit i: variable i is a number

  explicit Arguments(const PointwiseCall& call) {
    inputs.reserve(call.inputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (const auto* number = std::get_if<Scalar>(&call.inputs[i])) {
        are_numbers |= 1u << i;
        numbers.push_back(number);
      } else {
        inputs.push_back(&std::get<Tensor>(call.inputs[i]));
      }
    }
    for (const Tensor& output : call.outputs) outputs.push_back(&output);
    for (const Scalar& parameter : call.parameters) parameters.push_back(&parameter);
  }

  template <class Predicate>
  bool all_tensors(const Predicate& predicate) const {
    const auto holds = [&](const Tensor* t) { return predicate(*t); };
    return std::all_of(inputs.begin(), inputs.end(), holds) &&
           std::all_of(outputs.begin(), outputs.end(), holds);
  }
};

/** How the tensors are walked, and which of the program's slots each has. */
struct Walk {
  Layout layout;
  std::vector<std::size_t> slots;

  Walk(const Arguments& arguments, const Dims& shape, std::size_t input_slots) {
    std::vector<Dims> strides;
    for (const std::vector<const Tensor*>* tensors : {&arguments.inputs, &arguments.outputs})
      for (std::size_t k = 0; k < tensors->size(); ++k) {
        strides.push_back((*tensors)[k]->strides);
        slots.push_back((tensors == &arguments.outputs ? input_slots : 0) + k);
      }
    layout = elementwise_layout(shape, strides);
  }

  /** The steps that a CPU's kernel is made for (RowStep). It is made where rows are long, and nothing but
   * single elements and backward rows keeps the compiler from making vectors. */
  unsigned row_steps() const {
    constexpr std::int64_t long_row = 32;
    if (layout.sizes.empty() || layout.sizes.back() < long_row) return 0;
    unsigned steps = 0;
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const std::int64_t step = layout.strides[k].back();
      if (step < -1 || step > 1) return 0;
      if (step != 1) steps |= row_step(step == 0 ? RowStep::none : RowStep::backwards, slots[k]);
    }
    return steps;
  }
};

/** Whether a GPU moves the elements of flat tensors in vectors: where some have 16 bits, of which it moves
 * half as many at once as it could one by one. */
bool moves_vectors(const Arguments& arguments, std::int64_t numel) {
  bool has_16_bits = false;
  return numel % elements_per_item == 0 && arguments.all_tensors([&](const Tensor& t) {
    has_16_bits = has_16_bits || size_of(t.dtype) == 2;
    return has_vectors(t.dtype) && is_aligned_to(elements_per_item, t);
  }) && has_16_bits;
}

/** The number of a kernel among those that a program remembers, or one beyond: those are found by name. */
std::size_t number_of(const PointwiseForm& form, bool flat) {
  constexpr std::size_t plain = 4, vectors = plain, row_steps = vectors + 1;
  constexpr std::size_t row_forms = PointwiseProgram::remembered_kernels - row_steps;  // steps of two inputs
  if (!form.vectors && form.row_steps == 0) return (form.wide_index ? 2 : 0) + (flat ? 1 : 0);
  if (form.wide_index || form.row_steps > row_forms) return PointwiseProgram::remembered_kernels;
  return form.vectors ? vectors : row_steps + form.row_steps - 1;
}

DeviceCheck divisor_check(const PointwiseProgram& program) {
  static std::mutex mutex;
  static auto& checks = *new std::map<const PointwiseProgram*, DeviceCheck>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = checks.find(&program);
  if (found != checks.end()) return found->second;
  const DeviceCheck check = register_check(
      program.name() + ": ZeroDivisionError, a whole number was divided by zero: ", CheckError::division);
  return checks.emplace(&program, check).first->second;
}

}  // namespace

void launch_now(Queue& queue, const PointwiseCall& call) {
  const Arguments arguments(call);
  const PointwiseVariant variant{*call.expression, call.compute, arguments.are_numbers};
  const Dims& shape = call.outputs.front().shape;
  const PointwiseProgram& program = *variant.expression.program;
  const PointwiseSlots& slots = program.slots();
  if (!arguments.all_tensors([](const Tensor& t) { return real_dtype(t.dtype) != DType::float64; }))
    require_floating(DType::float64, queue.device(), program.name().c_str());
  std::optional<Walk> walk;  // of most calls there is nothing to be said
  if (!arguments.all_tensors([](const Tensor& t) { return t.is_contiguous(); }))
    walk.emplace(arguments, shape, slots.inputs);
  const bool flat = !walk || walk->layout.is_flat();
  const std::int64_t numel = product(shape);
  const DeviceInfo& device = queue.device().info();
  const bool cpu = device.runs_cpu_kernels();
  PointwiseForm form;
  // The last item of a kernel whose items take several elements counts beyond the last one.
  form.wide_index =
      (walk && !walk->layout.fits_32_bits()) || numel > max_kernel_int - elements_per_item * MAX_GROUP;
  if (cpu && !flat) form.row_steps = walk->row_steps();
  form.vectors = !cpu && flat && moves_vectors(arguments, numel);
  const auto find = [&]() -> Kernel& {
    return queue.device().programs().generated_kernel(
        concat("pointwise ", program.name(), " ", program.group(variant.dtype), form.wide_index ? " 64" : "",
               form.row_steps ? concat(" rows ", form.row_steps) : "", form.vectors ? " vectors" : ""),
        concat(program.name(), flat ? "_flat" : "_strided").c_str(),
        real_dtype(variant.dtype) == DType::float64 ? "" : " -cl-single-precision-constant",
        [&] { return pointwise_source(program, variant.dtype, form, device.fp64); });
  };
  const std::size_t number = number_of(form, flat);
  Kernel& kernel = number < PointwiseProgram::remembered_kernels
                       ? program.handle(variant.dtype, number).get(queue.device().index(), find)
                       : find();

  const Chunks chunks = cpu ? cpu_chunks(numel, device.compute_units) : Chunks{numel, 1};
  const Range range = cpu ? Range::groups(1, chunks.count)
                          : Range::linear(ceil_div(numel, elements_per_item),
                                          std::min<int>(MAX_GROUP, device.max_work_group));

  queue.launch_arguments(kernel, range, [&](auto&& set) {
    const auto set_tensors = [&](const std::vector<const Tensor*>& tensors, std::size_t count) {
      for (std::size_t k = 0; k < count; ++k) set(Optional{k < tensors.size() ? tensors[k] : nullptr});
    };
    const auto set_numbers = [&](const std::vector<const Scalar*>& numbers, std::size_t count) {
      for (std::size_t k = 0; k < count; ++k) {
        const Scalar number = k < numbers.size() ? *numbers[k] : Scalar(0);
        if (variant.dtype == DType::complex64)
          set(cl_float2{{static_cast<float>(number.real()), static_cast<float>(number.imaginary())}});
        else if (variant.dtype == DType::complex128)
          set(cl_double2{{number.real(), number.imaginary()}});
        else if (variant.dtype == DType::float64)
          set(number.real());
        else if (is_floating(variant.dtype))
          set(static_cast<float>(number.real()));
        else
          set(static_cast<cl_long>(number.integer()));
      }
    };
    const auto set_geometry = [&](auto index) {
      using Index = decltype(index);
      set(static_cast<Index>(numel));
      set(static_cast<Index>(chunks.size));
      if (flat) return;
      auto packed = packed_layout<Index>(walk->layout, walk->slots, slots.inputs + slots.outputs);
      if constexpr (std::is_same_v<Index, cl_int>)
        if (!cpu) set_divisors(packed);
      set(packed);
    };
    if (checks_divisors(program, variant.dtype)) set(divisor_check(program).spoiling(call.outputs.front()));
    set_tensors(arguments.inputs, slots.inputs);
    set_tensors(arguments.outputs, slots.outputs);
    set_numbers(arguments.numbers, slots.numbers);
    set_numbers(arguments.parameters, slots.parameters);
    set(static_cast<cl_int>(variant.id()));
    if (form.wide_index)
      set_geometry(cl_long{});
    else
      set_geometry(cl_int{});
  });
}

namespace {

void require_tensor(const PointwiseCall& call) {
  const PointwiseExpression& expression = *call.expression;
  bool has_tensor = call.inputs.empty();
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const bool is_number = std::holds_alternative<Scalar>(call.inputs[i]);
    require(!is_number || (expression.may_be_number >> i & 1u), expression.program->name(), ": input ",
            expression.variables[i], " cannot be a number");
    has_tensor = has_tensor || !is_number;
  }
  require(has_tensor, expression.program->name(), ": expected a tensor among the inputs, got numbers only");
}

/** Gives the inputs the dtypes that the expression takes, and the outputs' shape. */
void prepare_inputs(Queue& queue, PointwiseCall& call) {
  const PointwiseVariant variant{*call.expression, call.compute, 0};
  const Dims& shape = call.outputs.front().shape;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (auto* const t = std::get_if<Tensor>(&call.inputs[i])) {
      if (t->dtype != variant.input_dtype(i)) *t = as_dtype(queue, *t, variant.input_dtype(i));
      if (t->shape != shape) *t = t->expanded(shape);
    }
}

/** Outputs of other dtypes are converted behind the launch. */
void evaluate(Queue& queue, PointwiseCall call) {
  if (product(call.outputs.front().shape) == 0) return;
  require_tensor(call);
  prepare_inputs(queue, call);
  const DType dtype = PointwiseVariant{*call.expression, call.compute, 0}.output_dtype();
  std::vector<std::pair<Tensor, Tensor>> conversions;
  for (Tensor& output : call.outputs)
    if (output.dtype != dtype) {
      conversions.emplace_back(Tensor::empty(queue.device(), output.shape, dtype), output);
      output = conversions.back().first;
    }
  if (!put_off(queue, call)) launch_now(queue, call);
  for (const auto& [computed, output] : conversions) copy(queue, computed, output);
}

}  // namespace

void pointwise(Queue& queue, const PointwiseExpression& expression, DType compute,
               const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
               const std::vector<Tensor>& outputs) {
  ENTER(pointwise, queue, expression, compute, inputs, parameters, outputs);
  require(inputs.size() == expression.variables.size() && parameters.size() == expression.parameters.size() &&
              outputs.size() == expression.outputs.size(),
          expression.name, ": expected ", expression.variables.size(), " inputs, ",
          expression.parameters.size(), " parameters and ", expression.outputs.size(), " outputs, got ",
          inputs.size(), ", ", parameters.size(), " and ", outputs.size());
  const int exponent = exponent_of(expression);
  const auto* const number =
      exponent < 0 ? nullptr : std::get_if<Scalar>(&inputs[static_cast<std::size_t>(exponent)]);
  const PointwiseExpression* const special = number ? special_power(expression, *number, compute) : nullptr;
  PointwiseCall call{special ? special : &expression, compute, inputs, parameters, outputs};
  if (special) call.inputs.erase(call.inputs.begin() + exponent);
  evaluate(queue, std::move(call));
}

void fill(Queue& queue, const Tensor& destination, Scalar value) {
  ENTER(fill, queue, destination, value);
  require_holds("fill", destination.dtype, value);
  const auto is_zero = [](double part) { return part == 0 && !std::signbit(part); };
  const bool all_bits_zero = is_zero(value.real()) && is_zero(value.imaginary()) && value.integer() == 0;
  if (all_bits_zero && is_dense(destination)) return queue.zero(destination);
  if (destination.dtype == DType::boolean) value = value.real() != 0 || value.imaginary() != 0;
  static const PointwiseExpression& filling = lone_expression("fill", {}, {"value"}, {"value"});
  pointwise(queue, filling, destination.dtype, {}, {value}, {destination});
}

}  // namespace dlprim
