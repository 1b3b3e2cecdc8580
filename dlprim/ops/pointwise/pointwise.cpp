#include "dlprim/ops/pointwise/pointwise.h"

#include <algorithm>
#include <cmath>

#include "dlprim/core/layout.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

constexpr int simt_group = 256;
constexpr std::int64_t cpu_least_chunk =
    4096;  // elements; below it the launch of a work group costs more than its work

/** What decides the generated text beside the expression itself. */
struct Variant {
  DType compute;
  std::vector<PointwiseOperand> const& inputs;
  std::vector<Tensor> const& outputs;
  bool wide_index;

  std::string identity(const PointwiseExpression& expression) const {
    std::string id = "pointwise ";
    id.reserve(96);
    id.append(expression.identity).append(" in ").append(name(compute)).append(":");
    for (const PointwiseOperand& input : inputs)
      id.append(" ").append(std::holds_alternative<Scalar>(input) ? "number"
                                                                  : name(std::get<Tensor>(input).dtype));
    id.append(" ->");
    for (const Tensor& output : outputs) id.append(" ").append(name(output.dtype));
    if (wide_index) id.append(" 64");
    return id;
  }
};

std::string output_name(std::size_t i) {
  return concat("out", i);
}

// The type T of expressions: float for float16 and bfloat16, int for narrow integers.
bool computes_floating(DType compute) {
  return is_floating(compute);
}

/** Writes the two kernels of an expression: `flat` for one contiguous range, `strided` for everything else.
 */
class SourceWriter {
 public:
  SourceWriter(const PointwiseExpression& expression, const Variant& variant)
      : expression_(expression), variant_(variant) {
    for (std::size_t i = 0; i < variant.inputs.size(); ++i)
      if (const auto* tensor = std::get_if<Tensor>(&variant.inputs[i]))
        tensors_.push_back({expression.variables[i], tensor->dtype, false});
    for (std::size_t i = 0; i < variant.outputs.size(); ++i)
      tensors_.push_back({output_name(i), variant.outputs[i].dtype, true});
  }

  std::string source() const {
    const char* type = info(variant_.compute).compute_type;
    return concat(
        expanded_source("core/common.cl"), "typedef ", type, " T;\n#define T_IS_FLOATING ",
        computes_floating(variant_.compute), "\n#define T_IS_BOOL ", variant_.compute == DType::boolean,
        "\ntypedef ", variant_.wide_index ? "long" : "int", " index_t;\n#define OPERANDS ", tensors_.size(),
        "\n", expanded_source("ops/pointwise/functions.cl"), "\n", "#define PARAMETERS ", parameters(),
        "\n#define BIND_ALL ", binds(), "\n", element_macro(), expanded_source("ops/pointwise/pointwise.cl"));
  }

 private:
  struct NamedTensor {
    std::string name;
    DType dtype;
    bool is_output;
  };

  std::string parameters() const {
    std::string text;
    for (const NamedTensor& t : tensors_)
      text += concat("BUFFER(", t.is_output ? "" : "const ", info(t.dtype).storage_type, ", ", t.name,
                     "_data), ");
    for (const std::string& number : numbers()) text += concat("const T ", number, "_given, ");
    return text;
  }

  // The inputs that are numbers, and the parameters. Only an element's expression sees them by their names,
  // which may be those of functions that the kernel around it calls (clamp's min and max).
  std::vector<std::string> numbers() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < variant_.inputs.size(); ++i)
      if (std::holds_alternative<Scalar>(variant_.inputs[i])) names.push_back(expression_.variables[i]);
    names.insert(names.end(), expression_.parameters.begin(), expression_.parameters.end());
    return names;
  }

  std::string binds() const {
    std::string text;
    for (const NamedTensor& t : tensors_)
      text +=
          concat("BIND(", t.is_output ? "" : "const ", info(t.dtype).storage_type, ", ", t.name, "_data); ");
    return text;
  }

  // ELEMENT(AT): one evaluation; AT(k) is the index into the k-th tensor.
  std::string element_macro() const {
    std::string text = "#define ELEMENT(AT) { ";
    for (const std::string& number : numbers()) text += concat("const T ", number, " = ", number, "_given; ");
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if (!tensors_[k].is_output)
        text += concat("const T ", tensors_[k].name, " = LOAD_", name(tensors_[k].dtype), "(",
                       tensors_[k].name, "_data, AT(", k, ")); ");
    const std::size_t first_output = tensors_.size() - variant_.outputs.size();
    for (std::size_t i = 0; i < variant_.outputs.size(); ++i)
      text += concat("const T ", output_name(i), " = ", expression_.outputs[i], "; ");
    for (std::size_t i = 0; i < variant_.outputs.size(); ++i)
      text += concat("STORE_", name(variant_.outputs[i].dtype), "(", output_name(i), "_data, AT(",
                     first_output + i, "), ", output_name(i), "); ");
    return text + "}\n";
  }

  const PointwiseExpression& expression_;
  const Variant& variant_;
  std::vector<NamedTensor> tensors_;
};

/** The layout as kernels/pointwise.cl declares it. */
template <class Index>
std::vector<Index> packed_layout(const Layout& layout) {
  std::vector<Index> packed(max_rank * (1 + layout.strides.size()), 0);
  const std::size_t rank = layout.sizes.size();
  // Innermost first, so that a kernel peels dimensions off in order.
  for (std::size_t d = 0; d < max_rank; ++d)
    packed[d] = d < rank ? static_cast<Index>(layout.sizes[rank - 1 - d]) : 1;
  for (std::size_t k = 0; k < layout.strides.size(); ++k)
    for (std::size_t d = 0; d < rank; ++d)
      packed[max_rank * (1 + k) + d] = static_cast<Index>(layout.strides[k][rank - 1 - d]);
  return packed;
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

}  // namespace

void pointwise(Queue& queue, const PointwiseExpression& expression, DType compute,
               const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
               const std::vector<Tensor>& outputs) {
  const Dims& shape = outputs.front().shape;
  const std::int64_t numel = product(shape);
  if (numel == 0) return;

  std::vector<Tensor> tensors;
  std::vector<Dims> strides;
  std::vector<Scalar> numbers;
  const auto add_tensor = [&](const Tensor& t) {
    tensors.push_back(t);
    strides.push_back(t.strides);
  };
  for (const PointwiseOperand& input : inputs) {
    if (const auto* tensor = std::get_if<Tensor>(&input))
      add_tensor(tensor->shape == shape ? *tensor : tensor->expanded(shape));
    else
      numbers.push_back(std::get<Scalar>(input));
  }
  for (const Tensor& output : outputs) add_tensor(output);
  numbers.insert(numbers.end(), parameters.begin(), parameters.end());
  for (const Tensor& t : tensors)
    if (t.dtype == DType::float64) require_floating(t.dtype, queue.device(), expression.identity.c_str());

  const Layout layout = merged_layout(shape, strides);
  const bool flat = layout.is_flat();
  const Variant variant{compute, inputs, outputs, !layout.fits_32_bits()};
  const std::string identity = variant.identity(expression);
  const char* options = compute == DType::float64 ? "" : " -cl-single-precision-constant";
  Kernel& kernel = queue.device().programs().generated_kernel(
      identity, flat ? "pointwise_flat" : "pointwise_strided", options,
      [&] { return SourceWriter(expression, variant).source(); });

  const bool cpu = queue.device().info().runs_cpu_kernels();
  const Chunks chunks = cpu ? cpu_chunks(numel, queue.device().info().compute_units) : Chunks{numel, 1};
  const Range range = cpu ? Range::groups(1, chunks.count)
                          : Range::linear(numel, std::min(simt_group, queue.device().info().max_work_group));

  queue.launch_arguments(kernel, range, [&](auto&& set) {
    for (const Tensor& t : tensors) set(t);
    for (const Scalar& number : numbers) {
      if (compute == DType::float64)
        set(number.real());
      else if (is_floating(compute))
        set(static_cast<float>(number.real()));
      else if (compute == DType::int64)
        set(static_cast<cl_long>(number.integer()));
      else
        set(static_cast<cl_int>(std::clamp<std::int64_t>(number.integer(), INT32_MIN, INT32_MAX)));
    }
    const auto set_geometry = [&](auto index) {
      using Index = decltype(index);
      set(static_cast<Index>(numel));
      set(static_cast<Index>(chunks.size));
      if (!flat) set(packed_layout<Index>(layout));
    };
    if (variant.wide_index)
      set_geometry(cl_long{});
    else
      set_geometry(cl_int{});
  });
}

namespace {

const PointwiseExpression& identity_expression() {
  static const auto* expression = new PointwiseExpression{"copy", {"a"}, {}, {"a"}};
  return *expression;
}

// Converting goes through the wider kind, so that no value is lost on the way.
DType copy_compute_type(DType from, DType to) {
  return promote_types(from, to);
}

}  // namespace

void copy(Queue& queue, const Tensor& source, const Tensor& destination) {
  if (source.dtype == destination.dtype && source.shape == destination.shape && source.is_contiguous() &&
      destination.is_contiguous()) {
    // OpenCL refuses to copy memory to itself.
    if (source.storage == destination.storage && source.offset == destination.offset) return;
    return queue.copy(source, destination, static_cast<std::size_t>(source.numel()) * size_of(source.dtype));
  }
  pointwise(queue, identity_expression(), copy_compute_type(source.dtype, destination.dtype), {source}, {},
            {destination});
}

void fill(Queue& queue, const Tensor& destination, Scalar value) {
  const bool all_bits_zero = value.real() == 0 && !std::signbit(value.real()) && value.integer() == 0;
  if (all_bits_zero && destination.is_contiguous()) return queue.zero(destination);
  if (destination.dtype == DType::boolean) value = value.real() != 0;
  pointwise(queue, identity_expression(), destination.dtype, {value}, {}, {destination});
}

}  // namespace dlprim
