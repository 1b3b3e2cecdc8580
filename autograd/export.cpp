#include "autograd/export.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "autograd/ops/index.h"
#include "autograd/ops/inplace.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"
#include "dlprim/core/shapes_only.h"
#include "dlprim/export/passes/passes.h"
#include "dlprim/export/program_capture.h"
#include "dlprim/export/program_generalization.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/export/program_sizes.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"

namespace ocl {
namespace {

std::vector<dlprim::ProgramTensor> raw(const NamedTensors& tensors) {
  std::vector<dlprim::ProgramTensor> result;
  for (const auto& [name, tensor] : tensors)
    if (tensor.defined()) result.push_back({name, tensor.data()});
  return result;
}

using Contents = dlprim::ProgramCapture::Contents;

ExportedProgram capture(const std::function<NamedTensors()>& work, const NamedTensors& inputs,
                        const NamedTensors& named, Contents contents = Contents::reached,
                        NamedTensors* results = nullptr) {
  dlprim::ProgramCapture capture(raw(inputs), contents);
  try {
    const NamedTensors made = work();
    ExportedProgram program = capture.finish(raw(made), raw(named));
    if (results)  // before states are what they were, as results may be states
      for (const auto& [name, tensor] : made) results->emplace_back(name, tensor.detach().clone());
    capture.restore_states();
    return program;
  } catch (...) {
    capture.restore_states();
    throw;
  }
}

}  // namespace

ExportedProgram export_program(const std::function<NamedTensors()>& work, const NamedTensors& inputs,
                               const NamedTensors& named) {
  Generator& generator = default_generator(inputs.empty() ? Device() : inputs.front().second.device());
  const dlprim::PhiloxState state = generator.state();
  ExportedProgram program, again;
  try {
    program = capture(work, inputs, named);
    again = capture(work, inputs, named);
  } catch (...) {
    generator.set_state(state);
    throw;
  }
  generator.set_state(state);
  const std::string changed = changed_numbers(program, again, program.random_advance);
  dlprim::require<Error>(changed.empty(), "export: the work differs from one call to the next: ", changed);
  simplify_program(program);
  return program;
}

namespace {

using dlprim::ProgramSample;
using Sizes = std::vector<std::int64_t>;

/** Puts a device's generator back where it was, again and again. */
class KeptGenerator {
 public:
  explicit KeptGenerator(const Device& device)
      : generator_(default_generator(device)), state_(generator_.state()) {}
  ~KeptGenerator() { restore(); }
  void restore() { generator_.set_state(state_); }
  /** How far it has moved on. */
  std::uint64_t moved() const { return generator_.state().offset - state_.offset; }

 private:
  Generator& generator_;
  dlprim::PhiloxState state_;
};

/** The gradients of leaves, which calls without elements would replace. */
class KeptGradients {
 public:
  explicit KeptGradients(const NamedTensors& tensors) {
    for (const auto& [name, tensor] : tensors)
      if (tensor.defined() && tensor.requires_grad()) kept_.emplace_back(tensor, tensor.grad());
  }
  ~KeptGradients() {
    for (auto& [tensor, gradient] : kept_) tensor.set_grad(gradient);
  }
  KeptGradients(const KeptGradients&) = delete;
  KeptGradients& operator=(const KeptGradients&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

/** Exports work for all sizes. */
class DynamicExport {
 public:
  using Work = std::function<NamedTensors(const std::vector<Tensor>&)>;

  DynamicExport(const Work& work, const NamedTensors& inputs, const std::vector<DynamicShape>& dynamic,
                const NamedTensors& named)
      : work_(work),
        inputs_(inputs),
        named_(named),
        generator_(inputs.empty() ? Device() : inputs.front().second.device()) {
    require(dynamic.size() == inputs.size(), "export: dynamic shapes of ", dynamic.size(),
            " inputs, of which there are ", inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (const auto& [dim, about] : dynamic[i]) note_symbol(i, dim, about);
    require(!symbols_.empty(), "export: no dimension is dynamic");
  }

  ExportedProgram run() {
    const ExportedProgram first = captured(example_, true);
    ExportedProgram again = captured(example_, true, false);
    std::uint64_t advance = 0;
    const std::string changed = changed_numbers(first, again, advance);
    dlprim::require<Error>(changed.empty(), "export: the work differs from one call to the next: ", changed);
    is_random_ = advance != 0;
    may_be_shapes_ = !is_random_ && is_same_without_elements(first);

    std::vector<ProgramSample> samples;
    dlprim::SampleSizes wanted =
        dlprim::sample_sizes(symbols_, may_be_shapes_ ? 12 + 4 * symbols_.size() : 8);
    if (!may_be_shapes_ && !wanted.is_all) wanted.sizes = small_sizes(8);
    // Two with elements, which show constants that differ; the first one's are the program's.
    std::vector<Sizes> real{smallest(wanted.sizes)};
    if (wanted.sizes.size() > 1) real.push_back(second_smallest(wanted.sizes, real[0]));
    for (const Sizes& sizes : real) samples.push_back({sizes, simplified(captured(sizes, true))});
    for (const Sizes& sizes : wanted.sizes)
      if (std::find(real.begin(), real.end(), sizes) == real.end())
        samples.push_back({sizes, simplified(captured(sizes, !may_be_shapes_))});

    std::vector<ProgramSample> edges;
    for (const Sizes& sizes : edges_of(samples.front().sizes))
      edges.push_back({sizes, simplified(captured(sizes, !may_be_shapes_))});

    dlprim::Generalization made = formulas_of(samples, edges, wanted.is_all);
    if (made.wants_samples || (!made.fault.empty() && !wanted.is_all)) {
      for (const Sizes& sizes : dlprim::more_sample_sizes(symbols_, may_be_shapes_ ? 64 : 12))
        samples.push_back({sizes, simplified(captured(sizes, !may_be_shapes_))});
      made = formulas_of(samples, edges, wanted.is_all);
    }
    dlprim::require<Error>(made.fault.empty(), "export: ", made.fault);
    check_program(made.program);
    for (const ProgramSample& edge : edges) check_edge(made.program, edge);
    return std::move(made.program);
  }

 private:
  void note_symbol(std::size_t input, int dim, const Dim& about) {
    const auto& [name, tensor] = inputs_[input];
    dlprim::require(dim >= 0 && dim < tensor.dim(), "export: dynamic shapes: input ", name, " has ",
                    tensor.dim(), " dimensions, and none of index ", dim);
    dlprim::require(dlprim::is_symbol_name(about.name), "export: dynamic shapes: '", about.name,
                    "' cannot be the name of a size");
    dlprim::require(0 <= about.min && about.min < about.max, "export: dynamic shapes: ", about.name,
                    " is from ", about.min, " to ", about.max, ", expected 0 <= min < max");
    const std::int64_t size = tensor.shape()[dim];
    dlprim::require(about.min <= size && size <= about.max, "export: dynamic shapes: dimension ", dim,
                    " of input ", name, " is ", size, ", and ", about.name, " is from ", about.min, " to ",
                    about.max);
    std::size_t i = 0;
    while (i < symbols_.size() && symbols_[i].name != about.name) ++i;
    if (i == symbols_.size()) {
      symbols_.push_back(about);
      example_.push_back(size);
    }
    dlprim::require(symbols_[i].min == about.min && symbols_[i].max == about.max,
                    "export: dynamic shapes: two sizes named ", about.name, " have different bounds");
    dlprim::require(example_[i] == size, "export: dynamic shapes: ", about.name, " is ", example_[i],
                    ", and ", size, " in dimension ", dim, " of input ", name);
    places_.push_back({input, dim, i});
  }

  /** A copy of an input with these sizes, of the same elements. */
  Tensor resized(std::size_t input, const Sizes& sizes) const {
    const NoGradGuard no_grad;
    const Tensor& given = inputs_[input].second;
    Tensor made = given.detach();
    for (const auto& place : places_) {
      const std::int64_t size = sizes[place.symbol], own = made.shape()[place.dim];
      if (place.input != input || size == own) continue;
      if (own == 0) {
        dlprim::Dims shape = made.shape();
        shape[place.dim] = size;
        made = zeros(Shape(shape.vector()), given.dtype(), given.device());
        continue;
      }
      std::vector<std::int64_t> indices;
      for (std::int64_t i = 0; i < size; ++i) indices.push_back(i % own);
      made = index_select(made, place.dim, ocl::tensor(indices, std::nullopt, given.device()));
    }
    const Tensor copied = empty(Shape(made.shape().vector()), given.dtype(), given.device());
    copied.detach().copy_(made);
    return Tensor(copied.data(), given.requires_grad());
  }

  NamedTensors inputs_of(const Sizes& sizes) const {
    NamedTensors inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs.emplace_back(inputs_[i].first, resized(i, sizes));
    return inputs;
  }

  /** The work's program for these sizes; without elements it computes nothing. */
  ExportedProgram captured(const Sizes& sizes, bool has_elements, bool restores = true,
                           NamedTensors* results = nullptr, NamedTensors* given = nullptr) {
    if (restores) generator_.restore();
    std::optional<dlprim::ShapesOnly> shapes_only;
    std::optional<KeptGradients> gradients;
    if (!has_elements) {
      shapes_only.emplace();
      gradients.emplace(named_);
    }
    const NamedTensors inputs = inputs_of(sizes);
    if (given) *given = inputs;
    std::vector<Tensor> tensors;
    for (const auto& each : inputs) tensors.push_back(each.second);
    ExportedProgram program;
    try {
      program = capture([&] { return work_(tensors); }, inputs, named_, Contents::whole, results);
    } catch (const std::exception& error) {  // Python's are no Error
      if (sizes == example_) throw;
      throw Error(dlprim::concat("export: the work fails with ", text_of(sizes), ": ", error.what()));
    }
    program.random_advance = generator_.moved();
    return program;
  }

  std::string text_of(const Sizes& sizes) const {
    std::string text;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      text += dlprim::concat(i ? ", " : "", symbols_[i].name, "=", sizes[i]);
    return text;
  }

  static ExportedProgram simplified(ExportedProgram program) {
    simplify_program(program);
    return program;
  }

  /** The program for all sizes; sizes of 0 and 1 count where work goes the same way there. */
  dlprim::Generalization formulas_of(const std::vector<ProgramSample>& samples,
                                     const std::vector<ProgramSample>& edges, bool is_exhaustive) const {
    std::vector<ProgramSample> all = samples;
    all.insert(all.end(), edges.begin(), edges.end());
    dlprim::Generalization made = generalized(all, symbols_, is_exhaustive);
    return made.fault.empty() || edges.empty() ? made : generalized(samples, symbols_, is_exhaustive);
  }

  bool is_same_without_elements(const ExportedProgram& program) {
    try {
      return dlprim::difference_of_programs(program, captured(example_, false), true).empty();
    } catch (const std::exception&) {
      return false;  // it needs elements, or fails anyway
    }
  }

  static std::int64_t work_of(const Sizes& sizes) {
    std::int64_t work = 1;
    for (const std::int64_t size : sizes)
      if (!dlprim::try_multiply(work, size, work)) return INT64_MAX;
    return work;
  }
  static Sizes smallest(const std::vector<Sizes>& all) {
    return *std::min_element(all.begin(), all.end(),
                             [](const Sizes& a, const Sizes& b) { return work_of(a) < work_of(b); });
  }
  static Sizes second_smallest(std::vector<Sizes> all, const Sizes& smallest) {
    all.erase(std::find(all.begin(), all.end(), smallest));
    return DynamicExport::smallest(all);
  }

  /** Sizes near the example's, for work that computes. */
  std::vector<Sizes> small_sizes(std::size_t count) const {
    std::vector<dlprim::ProgramSymbol> near = symbols_;
    for (std::size_t i = 0; i < near.size(); ++i)
      near[i].max = std::min(near[i].max, std::max<std::int64_t>(example_[i] + 8, near[i].min + 24));
    return dlprim::sample_sizes(near, count).sizes;
  }

  /** Sizes of 0 and 1, one by one and all at once. */
  std::vector<Sizes> edges_of(const Sizes& sizes) const {
    std::vector<Sizes> made;
    for (const std::int64_t size : {1, 0}) {
      Sizes all = sizes;
      for (std::size_t i = 0; i < symbols_.size(); ++i) {
        if (symbols_[i].min > size) continue;
        Sizes one = sizes;
        one[i] = all[i] = size;
        if (one != sizes) made.push_back(std::move(one));
      }
      if (all != sizes && std::find(made.begin(), made.end(), all) == made.end())
        made.push_back(std::move(all));
    }
    return made;
  }

  /** Where work takes another way with sizes of 0 or 1, results have to be the same up to roundings. */
  void check_edge(const ExportedProgram& program, const ProgramSample& edge) {
    const Sizes& sizes = edge.sizes;
    const std::string difference =
        difference_of_programs(edge.program, program_of_sizes(program, sizes), true);
    if (difference.empty()) return;
    NamedTensors expected, given;
    captured(sizes, true, true, &expected, &given);
    dlprim::Device& device = *given.front().second.device();
    dlprim::ProgramRunner runner(program, device);
    for (std::size_t i = 0; i < given.size(); ++i) runner.set_input_shape(i, given[i].second.shape());
    for (std::size_t i = 0; i < given.size(); ++i)
      copy(device.queue(), given[i].second.data(), runner.input(i));
    runner.run();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      dlprim::require<Error>(are_close(Tensor(runner.output(i)), expected[i].second),
                             "export: the work differs with the sizes: with ", text_of(sizes), " ",
                             difference, ", and the result ", expected[i].first,
                             " is another than the program's");
    }
  }

  /** Whether two results are the same: whole numbers to the bit, others as far as half their digits go. */
  static bool are_close(const Tensor& made, const Tensor& expected) {
    if (made.shape() != expected.shape() || made.dtype() != expected.dtype()) return false;
    if (!dlprim::is_floating(made.dtype())) return made.to_bytes() == expected.to_bytes();
    const NoGradGuard no_grad;
    const auto numbers = [](const Tensor& tensor) {
      const std::vector<char> bytes = tensor.detach().to(DType::float64).to_bytes();
      std::vector<double> values(bytes.size() / sizeof(double));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      return values;
    };
    const std::vector<double> a = numbers(made), b = numbers(expected);
    double greatest = 0;
    for (const double value : b)
      if (std::isfinite(value)) greatest = std::max(greatest, std::abs(value));
    const int digits = made.dtype() == DType::float64   ? 52
                       : made.dtype() == DType::float32 ? 23
                       : made.dtype() == DType::float16 ? 10
                                                        : 7;  // bfloat16
    const double tolerance = greatest * std::exp2(-digits / 2.0);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool is_same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
      if (!is_same && !(std::abs(a[i] - b[i]) <= tolerance)) return false;
    }
    return true;
  }

  struct Place {
    std::size_t input;
    int dim;
    std::size_t symbol;
  };

  const Work& work_;
  const NamedTensors& inputs_;
  const NamedTensors& named_;
  KeptGenerator generator_;
  std::vector<dlprim::ProgramSymbol> symbols_;
  Sizes example_;
  std::vector<Place> places_;
  bool is_random_ = false, may_be_shapes_ = false;
};

}  // namespace

ExportedProgram export_program(const std::function<NamedTensors(const std::vector<Tensor>&)>& work,
                               const NamedTensors& inputs, const std::vector<DynamicShape>& dynamic,
                               const NamedTensors& named) {
  return DynamicExport(work, inputs, dynamic, named).run();
}

}  // namespace ocl
