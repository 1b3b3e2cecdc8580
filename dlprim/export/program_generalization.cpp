#include "dlprim/export/program_generalization.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <unordered_map>

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"
#include "dlprim/export/formula_search.h"
#include "dlprim/export/program_sizes.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/ops/random/random.h"

namespace dlprim {
namespace {

using Sizes = std::vector<std::int64_t>;

/** The least size that samples have. */
std::int64_t least_sampled(const ProgramSymbol& symbol) {
  return symbol.max < 3 ? symbol.min : std::max<std::int64_t>(symbol.min, 2);
}

/** All sizes within the bounds, if they are at most so many. */
std::vector<Sizes> all_sizes(const std::vector<ProgramSymbol>& symbols, std::size_t most) {
  std::vector<Sizes> all{{}};
  for (const ProgramSymbol& symbol : symbols) {
    const std::int64_t least = least_sampled(symbol), count = symbol.max - least + 1;
    if (count > static_cast<std::int64_t>(most) || all.size() * static_cast<std::size_t>(count) > most)
      return {};
    std::vector<Sizes> longer;
    for (const Sizes& sizes : all)
      for (std::int64_t size = least; size <= symbol.max; ++size) {
        longer.push_back(sizes);
        longer.back().push_back(size);
      }
    all = std::move(longer);
  }
  return all;
}

// ---- numbers

/** A number of a program, as a sample has it. */
struct SeenNumber {
  enum class Kind { size, other, offset_of_random };  // a tensor's size, any other
  Kind kind;
  std::variant<std::int64_t, double> value;
};

void see(const Tensor& tensor, std::vector<SeenNumber>& seen) {
  for (const std::int64_t size : tensor.shape) seen.push_back({SeenNumber::Kind::size, size});
  for (const std::int64_t stride : tensor.strides) seen.push_back({SeenNumber::Kind::other, stride});
  seen.push_back({SeenNumber::Kind::other, tensor.offset});
}

/** In the order of for_each_number. */
void see(const std::vector<Argument>& arguments, std::vector<SeenNumber>& seen) {
  const bool is_random = is_random_state(arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentValue& value = arguments[i].value;
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      seen.push_back(
          {is_random && i == 1 ? SeenNumber::Kind::offset_of_random : SeenNumber::Kind::other, *whole});
    else if (const auto* real = std::get_if<double>(&value))
      seen.push_back({SeenNumber::Kind::other, *real});
    else if (const auto* tensor = std::get_if<Tensor>(&value))
      see(*tensor, seen);
    else if (const auto* list = std::get_if<std::vector<Argument>>(&value))
      see(*list, seen);
  }
}

/** "x, size 1", of the number at `place`. */
std::string name_of_place(const std::vector<Argument>& arguments, std::size_t place,
                          const std::string& path) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const std::string own = argument.name.empty() ? concat(path, "[", i, "]")
                            : path.empty()        ? argument.name
                                                  : concat(path, ".", argument.name);
    std::vector<SeenNumber> seen;
    see(std::vector<Argument>{argument}, seen);
    if (place >= seen.size()) {
      place -= seen.size();
      continue;
    }
    if (const auto* list = std::get_if<std::vector<Argument>>(&argument.value))
      return name_of_place(*list, place, own);
    if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
      const auto rank = static_cast<std::size_t>(tensor->rank());
      return concat(own, place < rank       ? concat(", size ", place)
                         : place < 2 * rank ? concat(", stride ", place - rank)
                                            : ", offset");
    }
    return own;
  }
  return path;
}

std::string text_of_sizes(const Sizes& sizes, const std::vector<ProgramSymbol>& symbols) {
  std::string text;
  for (std::size_t i = 0; i < symbols.size(); ++i)
    text += concat(i ? ", " : "", symbols[i].name, "=", sizes[i]);
  return text;
}

std::string name_of_call(const ExportedProgram& program, std::size_t i) {
  const ProgramCall& call = program.calls[i];
  std::string name = program.place_of_call(i);
  if (!call.operation.empty() && call.operation != call.primitive) name += concat(" (", call.operation, ")");
  if (!call.module.empty()) name += concat(" of ", call.module);
  return name;
}

// ---- differences beside numbers

class Difference {
 public:
  Difference(const ExportedProgram& a, const ExportedProgram& b, bool numbers)
      : a_(a), b_(b), numbers_(numbers) {
    for (const auto& [program, places] : {std::pair{&a_, &places_a_}, std::pair{&b_, &places_b_}})
      for (std::size_t i = 0; i < program->buffers.size(); ++i)
        places->emplace(program->buffers[i].storage.get(), i);
  }

  std::string text() {
    const std::size_t shared = std::min(a_.calls.size(), b_.calls.size());
    for (std::size_t i = 0; i < shared; ++i) {
      const ProgramCall &a = a_.calls[i], &b = b_.calls[i];
      if (a.primitive != b.primitive) return concat(name_of_call(a_, i), " is ", name_of_call(b_, i));
      if (std::string found = compare(a.arguments, b.arguments, ""); !found.empty())
        return concat(name_of_call(a_, i), ": ", found);
    }
    if (a_.calls.size() != b_.calls.size())
      return concat("there are ", a_.calls.size(), " calls of primitives, and ", b_.calls.size());
    if (a_.outputs.size() != b_.outputs.size())
      return concat("there are ", a_.outputs.size(), " results, and ", b_.outputs.size());
    for (std::size_t i = 0; i < a_.outputs.size(); ++i)
      if (std::string found = compare(a_.outputs[i].tensor, b_.outputs[i].tensor, "it"); !found.empty())
        return concat("the result ", a_.outputs[i].name, ": ", found);
    return buffers();
  }

 private:
  std::string buffers() const {
    if (a_.buffers.size() != b_.buffers.size()) return "other memory is used";
    for (std::size_t i = 0; i < a_.buffers.size(); ++i) {
      const ProgramBuffer &a = a_.buffers[i], &b = b_.buffers[i];
      if (a.kind != b.kind) return "memory is a constant, a state or neither";
      if (a.kind != ProgramBuffer::Kind::constant && a.kind != ProgramBuffer::Kind::state) continue;
      if (a.bytes != b.bytes)
        return concat("the constant ", a.name, " has ", a.bytes, " bytes, and ", b.bytes,
                      ": operators on the device have to make what depends on sizes");
      if (a.contents && b.contents && a.contents != b.contents && *a.contents != *b.contents)
        return concat("the constant ", a.name,
                      " has other elements: operators on the device have to make "
                      "what depends on sizes");
    }
    return {};
  }

  std::string compare(const Tensor& a, const Tensor& b, const std::string& path) const {
    if (a.dtype != b.dtype || a.rank() != b.rank())
      return concat(path, " is ", text_of_geometry(a), ", and ", text_of_geometry(b));
    const auto x = places_a_.find(a.storage.get()), y = places_b_.find(b.storage.get());
    if (x == places_a_.end() || y == places_b_.end() || x->second != y->second)
      return concat(path, " lies in other memory");
    return numbers_ && !(a.shape == b.shape && a.strides == b.strides && a.offset == b.offset)
               ? concat(path, " is ", text_of_geometry(a), " with strides ", a.strides, ", and ",
                        text_of_geometry(b), " with strides ", b.strides)
               : std::string();
  }

  std::string compare(const std::vector<Argument>& a, const std::vector<Argument>& b,
                      const std::string& path) const {
    if (a.size() != b.size()) return concat(path, " has ", a.size(), " entries, and ", b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string own = a[i].name.empty() ? concat(path, "[", i, "]")
                              : path.empty()    ? a[i].name
                                                : concat(path, ".", a[i].name);
      if (a[i].name != b[i].name) return concat(own, " is ", b[i].name);
      if (std::string found = compare(a[i].value, b[i].value, own); !found.empty()) return found;
    }
    return {};
  }

  std::string compare(const ArgumentValue& a, const ArgumentValue& b, const std::string& path) const {
    const auto differ = [&] {
      return concat(path, " is ", text_of_value_for_people(a), ", and ", text_of_value_for_people(b));
    };
    if (a.index() != b.index()) return differ();
    if (const auto* list = std::get_if<std::vector<Argument>>(&a))
      return compare(*list, std::get<std::vector<Argument>>(b), path);
    if (const auto* tensor = std::get_if<Tensor>(&a)) return compare(*tensor, std::get<Tensor>(b), path);
    if (const auto* whole = std::get_if<std::int64_t>(&a))
      return numbers_ && *whole != std::get<std::int64_t>(b) ? differ() : std::string();
    if (const auto* real = std::get_if<double>(&a)) {
      const double other = std::get<double>(b);
      const bool is_same = *real == other || (std::isnan(*real) && std::isnan(other));
      return numbers_ && !is_same ? differ() : std::string();
    }
    return text_of_value_for_people(a) == text_of_value_for_people(b) ? std::string() : differ();
  }

  const ExportedProgram &a_, &b_;
  bool numbers_;
  std::unordered_map<const Storage*, std::size_t> places_a_, places_b_;
};

// ---- formulas

/** Puts formulas into the first of several programs. */
class Generalizing {
 public:
  Generalizing(const std::vector<ProgramSample>& samples, const std::vector<ProgramSymbol>& symbols,
               bool is_exhaustive, const ExportedProgram* known)
      : samples_(samples), symbols_(symbols), search_(symbols, sizes_of(samples), is_exhaustive) {
    if (!known) return;
    const auto know = [&](const std::vector<VaryingNumber>& varying) {
      for (const VaryingNumber& one : varying) search_.know(one.formula);
    };
    for (const std::vector<ProgramTensor>* list : {&known->inputs, &known->outputs})
      for (const ProgramTensor& each : *list) know(each.varying);
    for (const ProgramCall& call : known->calls) know(call.varying);
  }

  Generalization run() {
    Generalization made{samples_.front().program, {}, false};
    ExportedProgram& program = made.program;
    for (std::size_t s = 1; s < samples_.size() && fault_.empty(); ++s)
      if (const std::string found = difference_of_programs(samples_[0].program, samples_[s].program, false);
          !found.empty())
        fault_ = concat("the work differs with the sizes: ", found, ", with ",
                        text_of_sizes(samples_[0].sizes, symbols_), " and with ",
                        text_of_sizes(samples_[s].sizes, symbols_));
    program.symbols = symbols_;
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
      program.inputs[i].varying =
          formulas_of_tensor([i](const ExportedProgram& p) -> const Tensor& { return p.inputs[i].tensor; },
                             "input " + program.inputs[i].name);
    for (std::size_t i = 0; i < program.calls.size() && fault_.empty(); ++i)
      program.calls[i].varying = formulas_of_call(i);
    for (std::size_t i = 0; i < program.outputs.size(); ++i)
      program.outputs[i].varying =
          formulas_of_tensor([i](const ExportedProgram& p) -> const Tensor& { return p.outputs[i].tensor; },
                             "result " + program.outputs[i].name);
    program.random_formula = formula_of_advance();
    made.wants_samples = search_.wants_samples();
    if (fault_.empty()) finish(program);
    made.fault = fault_;
    return made;
  }

 private:
  static std::vector<Sizes> sizes_of(const std::vector<ProgramSample>& samples) {
    std::vector<Sizes> sizes;
    for (const ProgramSample& sample : samples) sizes.push_back(sample.sizes);
    return sizes;
  }

  template <class Name>
  void fail(const Name& name, const std::vector<std::vector<SeenNumber>>& seen, std::size_t place) {
    if (!fault_.empty()) return;
    fault_ = concat(name(), " depends on the sizes, and no formula was found for it:");
    for (std::size_t s = 0; s < seen.size() && s < 6; ++s)
      fault_ +=
          concat(s ? "; " : " ", std::visit([](auto number) { return concat(number); }, seen[s][place].value),
                 " with ", text_of_sizes(samples_[s].sizes, symbols_));
  }

  template <class Name>
  std::vector<VaryingNumber> formulas(const std::vector<std::vector<SeenNumber>>& seen, const Name& name) {
    std::vector<VaryingNumber> varying;
    for (const bool are_sizes : {true, false})  // strides are products of sizes
      for (std::size_t place = 0; place < seen.front().size() && fault_.empty(); ++place) {
        const SeenNumber& first = seen.front()[place];
        if ((first.kind == SeenNumber::Kind::size) != are_sizes) continue;
        const auto differs = [&](const std::vector<SeenNumber>& one) {
          return !(one[place].value == first.value) && !is_nan(one[place]);
        };
        if (first.kind != SeenNumber::Kind::offset_of_random &&
            std::none_of(seen.begin(), seen.end(), differs))
          continue;
        std::optional<NumberFormula> formula;
        if (std::holds_alternative<double>(first.value)) {
          std::vector<double> values;
          for (const auto& one : seen) values.push_back(std::get<double>(one[place].value));
          formula = search_.find_real(values);
        } else {
          FormulaSearch::Values values;
          for (const auto& one : seen) values.push_back(std::get<std::int64_t>(one[place].value));
          const auto whole = first.kind == SeenNumber::Kind::offset_of_random
                                 ? formula_of_offset(values)
                                 : search_.find(values, are_sizes);
          if (whole) formula = NumberFormula{*whole};
          if (whole && whole->constant()) continue;
        }
        if (!formula) return fail([&] { return name(place); }, seen, place), varying;
        varying.push_back({place, *formula});
      }
    std::sort(varying.begin(), varying.end(),
              [](const VaryingNumber& a, const VaryingNumber& b) { return a.place < b.place; });
    return varying;
  }

  static bool is_nan(const SeenNumber& number) {
    const auto* real = std::get_if<double>(&number.value);
    return real && std::isnan(*real);
  }

  template <class Get>
  std::vector<VaryingNumber> formulas_of_tensor(const Get& get, const std::string& what) {
    if (!fault_.empty()) return {};
    std::vector<std::vector<SeenNumber>> seen(samples_.size());
    for (std::size_t s = 0; s < samples_.size(); ++s) see(get(samples_[s].program), seen[s]);
    const Tensor& tensor = get(samples_.front().program);
    return formulas(seen, [&](std::size_t place) { return name_of_place({{what, tensor}}, place, ""); });
  }

  std::vector<VaryingNumber> formulas_of_call(std::size_t i) {
    std::vector<std::vector<SeenNumber>> seen(samples_.size());
    for (std::size_t s = 0; s < samples_.size(); ++s) see(samples_[s].program.calls[i].arguments, seen[s]);
    const ExportedProgram& program = samples_.front().program;
    const auto name = [&](std::size_t place) {
      return concat(name_of_call(program, i), ": argument ",
                    name_of_place(program.calls[i].arguments, place, ""));
    };
    std::vector<VaryingNumber> varying =
        at_place([&] { return name_of_call(program, i); }, [&] { return formulas(seen, name); });
    const auto is_draw = [](const SeenNumber& n) { return n.kind == SeenNumber::Kind::offset_of_random; };
    if (std::any_of(seen.front().begin(), seen.front().end(), is_draw)) note_draw(i);
    return varying;
  }

  /** The numbers of elements of a call that draws: it takes as many random numbers as one of its tensors has.
   */
  void note_draw(std::size_t call) {
    std::vector<FormulaSearch::Values> counts;
    for (const ProgramSample& sample : samples_) {
      const std::vector<Tensor> tensors = tensors_in(sample.program.calls[call].arguments);
      counts.resize(tensors.size());
      for (std::size_t t = 0; t < tensors.size(); ++t) counts[t].push_back(tensors[t].numel());
    }
    drawn_ = std::move(counts);
  }

  /** The formula of what the latest draw has taken. */
  std::optional<SizeFormula> formula_of_draw(const FormulaSearch::Values& taken) {
    for (const FormulaSearch::Values& counts : drawn_) {
      bool fits = true;
      for (std::size_t s = 0; s < taken.size(); ++s)
        fits = fits && philox_increment(counts[s]) == static_cast<std::uint64_t>(taken[s]);
      const auto count = fits ? search_.find(counts) : std::nullopt;
      if (!count) continue;
      constexpr std::int64_t group = 32;  // numbers of one step of philox_increment
      return SizeFormula::of(SizeFormula::Op::divide, *count + SizeFormula(group - 1), group) *
             SizeFormula(static_cast<std::int64_t>(philox_increment(group)));
    }
    return search_.find(taken);
  }

  /** Offsets of random numbers are the first one's and what draws since then have taken. */
  std::optional<SizeFormula> formula_of_offset(const FormulaSearch::Values& offsets) {
    if (draws_.empty()) {
      draws_ = first_draws_ = offsets;
      return SizeFormula(offsets.front());
    }
    FormulaSearch::Values taken;
    for (std::size_t s = 0; s < offsets.size(); ++s) {
      const std::uint64_t own =
          static_cast<std::uint64_t>(offsets[s]) - static_cast<std::uint64_t>(draws_[s]);
      taken.push_back(static_cast<std::int64_t>(own));
    }
    const auto formula = formula_of_draw(taken);
    if (!formula) return std::nullopt;
    draws_ = offsets;
    taken_formula_ = taken_formula_ + *formula;
    return SizeFormula(first_draws_.front()) + taken_formula_;
  }

  SizeFormula formula_of_advance() {
    if (draws_.empty() || !fault_.empty()) return 0;
    FormulaSearch::Values rest;
    for (std::size_t s = 0; s < samples_.size(); ++s)
      rest.push_back(static_cast<std::int64_t>(
          samples_[s].program.random_advance -
          (static_cast<std::uint64_t>(draws_[s]) - static_cast<std::uint64_t>(first_draws_[s]))));
    const auto formula = formula_of_draw(rest);
    if (!formula) {
      fault_ = "the count of random numbers depends on the sizes, and no formula was found for it";
      return 0;
    }
    return taken_formula_ + *formula;
  }

  /** The greatest sizes, and buffers that hold what these need. */
  void finish(ExportedProgram& program) const {
    for (ProgramBuffer& buffer : program.buffers)
      if (buffer.kind == ProgramBuffer::Kind::temporary || buffer.kind == ProgramBuffer::Kind::input)
        buffer.bytes = 0;
    std::unordered_map<const Storage*, ProgramBuffer*> buffers;
    for (ProgramBuffer& buffer : program.buffers) buffers.emplace(buffer.storage.get(), &buffer);
    const auto reach = [&](const Tensor& tensor, const std::vector<VaryingNumber>& varying,
                           std::size_t first) {
      ProgramBuffer& buffer = *buffers.at(tensor.storage.get());
      if (buffer.kind == ProgramBuffer::Kind::temporary || buffer.kind == ProgramBuffer::Kind::input)
        buffer.bytes = std::max(buffer.bytes, most_bytes_reached(tensor, varying, first, symbols_));
    };
    const Sizes greatest = greatest_sizes(program);
    for (std::vector<ProgramTensor>* list : {&program.inputs, &program.outputs})
      for (ProgramTensor& each : *list) {
        apply_sizes(each.tensor, each.varying, greatest);
        reach(each.tensor, each.varying, 0);
      }
    for (ProgramCall& call : program.calls) {
      apply_sizes(call.arguments, call.varying, greatest);
      std::size_t place = 0;
      reach_of_list(call.arguments, call.varying, place, reach);
    }
    program.random_advance = static_cast<std::uint64_t>(program.random_formula.value(greatest));
  }

  template <class Reach>
  static void reach_of_list(const std::vector<Argument>& arguments, const std::vector<VaryingNumber>& varying,
                            std::size_t& place, const Reach& reach) {
    for (const Argument& argument : arguments) {
      if (const auto* list = std::get_if<std::vector<Argument>>(&argument.value)) {
        reach_of_list(*list, varying, place, reach);
      } else if (const auto* tensor = std::get_if<Tensor>(&argument.value)) {
        reach(*tensor, varying, place);
        place += 2 * static_cast<std::size_t>(tensor->rank()) + 1;
      } else {
        place += std::holds_alternative<std::int64_t>(argument.value) ||
                         std::holds_alternative<double>(argument.value)
                     ? 1
                     : 0;
      }
    }
  }

  const std::vector<ProgramSample>& samples_;
  const std::vector<ProgramSymbol>& symbols_;
  FormulaSearch search_;
  std::string fault_;
  FormulaSearch::Values draws_,
      first_draws_;            // the offset of the latest draw of each sample, and of the first
  SizeFormula taken_formula_;  // what draws have taken since the first
  std::vector<FormulaSearch::Values> drawn_;  // numbers of elements of the latest draw's tensors
};

}  // namespace

SampleSizes sample_sizes(const std::vector<ProgramSymbol>& symbols, std::size_t count) {
  if (std::vector<Sizes> all = all_sizes(symbols, count); !all.empty()) return {std::move(all), true};
  std::mt19937_64 random(0);
  std::set<Sizes> taken;
  Sizes greatest, least;
  for (const ProgramSymbol& symbol : symbols) {
    greatest.push_back(symbol.max);
    least.push_back(least_sampled(symbol));
  }
  SampleSizes made{{greatest}, false};
  taken.insert(greatest);
  for (std::size_t tries = 0; made.sizes.size() < count && tries < 100 * count; ++tries) {
    Sizes sizes;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      sizes.push_back(least[i] + static_cast<std::int64_t>(
                                     random() % static_cast<std::uint64_t>(symbols[i].max - least[i] + 1)));
    // Equal sizes may take a way of their own, as where shapes are broadcast; so nearly all differ.
    const bool are_different = std::set<std::int64_t>(sizes.begin(), sizes.end()).size() == sizes.size();
    if ((are_different || tries > 50 * count) && taken.insert(sizes).second) made.sizes.push_back(sizes);
  }
  return made;
}

std::vector<std::vector<std::int64_t>> more_sample_sizes(const std::vector<ProgramSymbol>& symbols,
                                                         std::size_t count) {
  std::vector<Sizes> made;
  const std::vector<Sizes> others = sample_sizes(symbols, 2).sizes;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::int64_t least = least_sampled(symbols[i]), span = symbols[i].max - least + 1;
    const std::int64_t width = std::min<std::int64_t>(static_cast<std::int64_t>(count), span);
    for (std::int64_t k = 0; k < width; ++k) {
      Sizes sizes = others.back();
      sizes[i] = least + (span - width) / 2 + k;
      made.push_back(std::move(sizes));
    }
  }
  return made;
}

std::string difference_of_programs(const ExportedProgram& a, const ExportedProgram& b, bool numbers) {
  return Difference(a, b, numbers).text();
}

Generalization generalized(const std::vector<ProgramSample>& samples,
                           const std::vector<ProgramSymbol>& symbols, bool is_exhaustive,
                           const ExportedProgram* known) {
  return Generalizing(samples, symbols, is_exhaustive, known).run();
}

ExportedProgram changed_for_all_sizes(const ExportedProgram& program,
                                      const std::function<void(ExportedProgram&)>& change) {
  const SampleSizes wanted = sample_sizes(program.symbols, 8 + 4 * program.symbols.size());
  std::vector<ProgramSample> samples;
  for (const Sizes& sizes : wanted.sizes) {
    samples.push_back({sizes, program_of_sizes(program, sizes)});
    change(samples.back().program);
  }
  Generalization made = generalized(samples, program.symbols, wanted.is_all, &program);
  require<Error>(made.fault.empty(), "a pass over a dynamic program: ", made.fault);
  return std::move(made.program);
}

}  // namespace dlprim
