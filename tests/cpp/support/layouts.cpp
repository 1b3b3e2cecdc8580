#include "tests/cpp/support/layouts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "dlprim/core/call.h"
#include "dlprim/export/primitive_table.h"

namespace testing_support {

using namespace dlprim;

// ---- drawing

std::int64_t Draw::size(std::int64_t most) {
  static constexpr std::int64_t sizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 65};
  const auto* end = std::upper_bound(std::begin(sizes), std::end(sizes), std::max<std::int64_t>(most, 1));
  return sizes[number(0, static_cast<int>(end - std::begin(sizes)) - 1)];
}

std::int64_t Draw::size_or_none(std::int64_t most) {
  return may_be_empty_ && coin() ? 0 : size(most);
}

Dims Draw::shape(int least_rank, int most_rank) {
  Dims shape = Dims::filled(number(least_rank, most_rank), 1);
  std::int64_t room = 600;
  // The last dimension is no likelier than others to be the long one.
  std::vector<int> order(static_cast<std::size_t>(shape.size()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random_);
  for (const int d : order) {
    shape[d] = size_or_none(std::min<std::int64_t>(room, 65));
    room /= std::max<std::int64_t>(shape[d], 1);
  }
  return shape;
}

Values Draw::between(double low, double high) {
  return [this, low, high] {
    return number(static_cast<int>(std::ceil(low * 8)), static_cast<int>(high * 8)) / 8.0;
  };
}

Values Draw::whole(std::int64_t low, std::int64_t high) {
  return [this, low, high] { return number(static_cast<int>(low), static_cast<int>(std::max(low, high))); };
}

const Tensor* Draw::operand(const char* name, Role role, DType dtype, const Dims& shape,
                            const Values& values) {
  Operand& made = operands_.emplace_back(Operand{name, role, dtype, shape});
  if (role == Role::input && number(0, 2) == 0) made.repeats = static_cast<unsigned>(number(0, 255));
  if (values)
    for_each_element(shape, [&](Dims at) {
      for (int d = 0; d < at.size(); ++d)
        if (made.repeats >> d & 1u) at[d] = 0;
      const std::size_t first = element_number(shape, at);
      made.values.push_back(first < made.values.size() ? made.values[first] : values());
    });
  std::vector<double> held = made.values;
  held.resize(static_cast<std::size_t>(product(shape)));
  made.plain = upload_as(dtype, held, shape);
  return &made.tensor;
}

const Tensor& Draw::plain(const Tensor* tensor) const {
  return std::find_if(operands_.begin(), operands_.end(),
                      [&](const Operand& o) { return &o.tensor == tensor; })
      ->plain;
}

// ---- laying out

namespace {

/** Where the elements of a tensor lie in its storage. */
enum class Lie { plain, offset, permuted, sliced, expanded, mixed };

constexpr const char* lie_name[] = {"plain", "offset", "permuted", "sliced", "expanded", "mixed"};
constexpr std::int64_t margin = 40;  // elements behind a tensor's last: more than any vector has

/** Bits of NaN, -1 and "true": whoever reads it shows it. */
constexpr char canary = static_cast<char>(0xff);

/** Strides of dimensions in the memory order `order` (innermost first), with `gap()` elements more than
 * needed from one to the next; 0 along those in `expanded`. */
template <class Gap>
Dims strides_in_order(const Dims& shape, const std::vector<int>& order, unsigned expanded, const Gap& gap) {
  Dims strides = Dims::filled(shape.size(), 0);
  std::int64_t stride = 1 + gap();
  for (const int d : order) {
    if (expanded >> d & 1u) continue;
    strides[d] = stride;
    stride = stride * std::max<std::int64_t>(shape[d], 1) + gap();
  }
  return strides;
}

/** A storage as the host sees it: before a call, or after. */
using Bytes = std::vector<char>;

/** An operand laid somehow, and the storage around it. */
struct Laid {
  Tensor storage;
  Bytes before;
  std::vector<std::int64_t> places;  // of the elements, in row-major order
};

Laid lay(std::mt19937& random, Operand& o, Lie lie, char filling) {
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const auto is = [&](Lie feature) { return lie == feature || (lie == Lie::mixed && draw(0, 1)); };
  const int rank = o.shape.size();
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  if (is(Lie::permuted)) std::shuffle(order.begin(), order.end(), random);
  const bool gaps = is(Lie::sliced);
  o.tensor = {};
  o.tensor.dtype = o.dtype;
  o.tensor.shape = o.shape;
  o.tensor.strides = strides_in_order(o.shape, order, is(Lie::expanded) ? o.repeats : 0,
                                      [&] { return gaps ? draw(0, 3) : 0; });
  o.tensor.offset = is(Lie::offset) ? draw(1, 19) : 0;
  o.layout = concat(o.name, " ", name(o.dtype), " ", o.shape, " ", lie_name[static_cast<int>(lie)],
                    ", strides ", o.tensor.strides, ", offset ", o.tensor.offset);

  Laid laid;
  const std::size_t bytes = size_of(o.dtype);
  const std::int64_t length = o.tensor.reach().second + margin;
  laid.before.assign(static_cast<std::size_t>(length) * bytes, canary);
  for_each_element(o.shape, [&](const Dims& at) {
    std::int64_t place = o.tensor.offset;
    for (int d = 0; d < rank; ++d) place += at[d] * o.tensor.strides[d];
    char* element = laid.before.data() + static_cast<std::size_t>(place) * bytes;
    if (o.role == Role::output)
      std::fill_n(element, bytes, filling);
    else
      encode(o.dtype, o.values[laid.places.size()], element);
    laid.places.push_back(place);
  });
  laid.storage = Tensor::empty(device(), {length}, o.dtype);
  queue().write(laid.storage, laid.before.data(), laid.before.size());
  o.tensor.storage = laid.storage.storage;
  return laid;
}

Bytes contents(const Tensor& t) {
  Bytes bytes(static_cast<std::size_t>(t.numel()) * size_of(t.dtype));
  queue().read(t, bytes.data(), bytes.size());
  return bytes;
}

/** Whether two results are one, but for the order that their terms may have been added in. */
bool same(double value, double expected, DType dtype) {
  if (std::isnan(expected)) return std::isnan(value);
  if (std::isinf(expected) || !is_floating(dtype)) return value == expected;
  return std::abs(value - expected) <= 64 * epsilon(dtype) * std::max(1.0, std::abs(expected));
}

/** Writes down the primitives that are called. */
struct Names : CallListener {
  std::set<std::string> heard;
  void enter(const Call& call) override {
    if (call.kind == Call::Kind::primitive) heard.insert(call.name);
  }
};

}  // namespace

// ---- calling

/** Whether the table of primitives (dlprim/export) knows what a call does with its tensors, and makes the
 * same call of its arguments as values. */
class AsValues final : public CallListener {
 public:
  AsValues(const char* function, const std::deque<Operand>& operands)
      : function_(function), operands_(operands) {}

  void enter(const Call& call) override {
    const Primitive* primitive = find_primitive(call.name);
    if (call.kind != Call::Kind::primitive || std::string(call.name) != function_ || !primitive || again)
      return;
    const std::vector<Argument> arguments = call.arguments();
    std::vector<std::string> names;
    for (const Argument& argument : arguments) names.push_back(argument.name);
    EXPECT_EQ(names, primitive->parameters);

    const Primitive::Tensors tensors = primitive->tensors(arguments);
    for (const Operand& operand : operands_) {
      if (operand.tensor.numel() == 0) continue;
      const bool reads = has(tensors.read, operand) || has(tensors.updated, operand);
      const bool writes = has(tensors.written, operand) || has(tensors.updated, operand);
      if (!reads && !writes) continue;  // another call of the case has it
      EXPECT_EQ(writes, operand.role != Role::input)
          << "primitives.def is wrong about writing " << operand.name;
      if (operand.role == Role::spoiled) continue;
      EXPECT_EQ(reads, operand.role != Role::output)
          << "primitives.def is wrong about reading " << operand.name;
    }
    ArgumentContext same{[](const Tensor& t) { return t; }, [](PhiloxState state) { return state; }};
    again = primitive->call(arguments, same);
  }

  std::shared_ptr<HeldCall> again;

 private:
  static bool has(const std::vector<Tensor>& tensors, const Operand& operand) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const Tensor& tensor) { return tensor.storage == operand.tensor.storage; });
  }

  const std::string function_;
  const std::deque<Operand>& operands_;
};

class LayoutCheck {
 public:
  LayoutCheck(const LayoutCase& tested, unsigned seed) : tested_(tested), d_(seed), random_(seed) {
    tested.draw(d_);
  }

  void run() {
    const std::size_t count = d_.operands_.size();
    Names names;
    {
      const Listening listening(names);
      call(std::vector<Lie>(count, Lie::plain));
    }
    EXPECT_TRUE(names.heard.count(tested_.function)) << "the case does not call what it is named after";
    for (std::size_t i = 0; i < count; ++i)
      for (const Lie lie : {Lie::offset, Lie::permuted, Lie::sliced, Lie::expanded}) {
        std::vector<Lie> lies(count, Lie::plain);
        lies[i] = lie;
        if (changes_something(d_.operands_[i], lie)) call(lies);
      }
    constexpr int mixes = 6;
    for (int i = 0; i < mixes; ++i) {
      // A refusal of one tensor by an operator must not hide what it does with others.
      std::vector<Lie> lies(count, Lie::plain);
      for (Lie& lie : lies)
        if (std::uniform_int_distribution<int>(0, 1)(random_)) lie = i % 2 ? Lie::mixed : Lie::offset;
      call(lies);
    }
  }

 private:
  static bool changes_something(const Operand& o, Lie lie) {
    if (lie == Lie::expanded) return o.role == Role::input && o.repeats != 0 && !o.shape.empty();
    return lie != Lie::permuted || o.shape.size() > 1;
  }

  bool only_reads_and_writes() const {
    return std::all_of(d_.operands_.begin(), d_.operands_.end(),
                       [](const Operand& o) { return o.role == Role::input || o.role == Role::output; });
  }

  static void restore(const Laid& laid) {
    if (!laid.before.empty()) queue().write(laid.storage, laid.before.data(), laid.before.size());
  }

  void call(const std::vector<Lie>& lies) {
    if (testing::Test::HasFailure()) return;  // one fault at a time
    const bool is_reference = !expected_;
    std::vector<Laid> laid;
    std::string layouts;
    for (std::size_t i = 0; i < lies.size(); ++i) {
      laid.push_back(lay(random_, d_.operands_[i], lies[i], is_reference ? char{0} : canary));
      layouts += "\n  " + d_.operands_[i].layout;
    }
    SCOPED_TRACE(concat(tested_.function, ", seed ", d_.seed(), layouts));
    d_.returned_.clear();
    try {
      AsValues as_values(tested_.function, d_.operands_);
      {
        std::optional<Listening> listening;
        if (is_reference) listening.emplace(as_values);
        d_.call_(queue());
      }
      if (as_values.again && only_reads_and_writes()) {
        for (std::size_t i = 0; i < laid.size(); ++i)
          if (d_.operands_[i].role == Role::output) restore(laid[i]);
        as_values.again->run(queue());
      }
    } catch (const ValueError& e) {
      return refused(laid, e);
    } catch (const TypeError& e) {
      return refused(laid, e);
    } catch (const IndexError& e) {
      return refused(laid, e);
    }
    compare(laid, is_reference);
  }

  void refused(const std::vector<Laid>& laid, const Error& error) {
    const bool is_contiguous = std::all_of(d_.operands_.begin(), d_.operands_.end(),
                                           [](const Operand& o) { return o.tensor.is_contiguous(); });
    EXPECT_FALSE(is_contiguous) << "refused contiguous tensors: " << error.what();
    for (std::size_t i = 0; i < laid.size(); ++i) {
      if (d_.operands_[i].role == Role::spoiled) continue;
      EXPECT_TRUE(contents(laid[i].storage) == laid[i].before)
          << "wrote to " << d_.operands_[i].name << " and then refused the call: " << error.what();
    }
  }

  /** The contents that a call has left in a tensor. */
  struct Result {
    std::string name;
    DType dtype;
    std::vector<double> values;
  };

  void compare(const std::vector<Laid>& laid, bool is_reference) {
    std::vector<Result> results;
    for (std::size_t i = 0; i < laid.size(); ++i) {
      const Operand& o = d_.operands_[i];
      results.push_back({o.name, o.dtype, check_storage(o, laid[i])});
      if (o.role == Role::spoiled) results.back().values.clear();
    }
    for (const Tensor& t : d_.returned_) results.push_back({"what it returned", t.dtype, download_values(t)});
    if (is_reference) {
      expected_ = std::move(results);
      return;
    }
    ASSERT_EQ(results.size(), expected_->size());
    for (std::size_t i = 0; i < results.size(); ++i) expect_same(results[i], (*expected_)[i]);
  }

  static void expect_same(const Result& result, const Result& expected) {
    ASSERT_EQ(result.values.size(), expected.values.size()) << result.name;
    for (std::size_t k = 0; k < result.values.size(); ++k)
      ASSERT_TRUE(same(result.values[k], expected.values[k], result.dtype))
          << result.name << ", element " << k << ": " << result.values[k] << " where plain tensors give "
          << expected.values[k];
  }

  /** The elements of an operand after a call that may have changed no other. */
  static std::vector<double> check_storage(const Operand& o, const Laid& laid) {
    Bytes after = contents(laid.storage);
    const std::size_t bytes = size_of(o.dtype);
    std::vector<double> values;
    for (const std::int64_t place : laid.places)
      values.push_back(decode(o.dtype, after.data() + static_cast<std::size_t>(place) * bytes));
    if (o.role != Role::input)
      for (const std::int64_t place : laid.places) {
        const auto first = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(place) * bytes);
        std::copy_n(laid.before.begin() + first, bytes, after.begin() + first);
      }
    const auto changed = std::mismatch(after.begin(), after.end(), laid.before.begin()).first;
    EXPECT_TRUE(changed == after.end())
        << "wrote to " << o.name << (o.role == Role::input ? ", an input," : " beside its elements,")
        << " at element " << static_cast<std::size_t>(changed - after.begin()) / bytes << " of its storage";
    return values;
  }

  const LayoutCase& tested_;
  Draw d_;
  std::mt19937 random_;
  std::optional<std::vector<Result>> expected_;  // of plain tensors
};

void check_layouts(const LayoutCase& tested, unsigned seed) {
  LayoutCheck(tested, seed).run();
}

}  // namespace testing_support
