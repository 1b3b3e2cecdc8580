#pragma once

#include <deque>
#include <functional>
#include <string>

#include "dlprim/runtime/queue.h"
#include "tests/cpp/support/elements.h"

// One call of a function on the same values in tensors of every layout: it gives the numbers that it gives
// for plain tensors and touches nothing else, or it refuses the tensors before it has written anything.
namespace testing_support {

/** The use of a tensor by a function: reads it, writes it, goes on with what is there, or may leave anything
 * there. */
enum class Role { input, output, updated, spoiled };

/** Gives the value of one element after another. */
using Values = std::function<double()>;

/** A tensor of a case: its values, and where they lie in the call at hand. */
struct Operand {
  std::string name;
  Role role;
  dlprim::DType dtype;
  dlprim::Dims shape;
  unsigned repeats = 0;          // bit d: the values do not differ along dimension d
  std::vector<double> values{};  // row-major; none of an output
  dlprim::Tensor tensor{};       // as it lies in the call at hand
  dlprim::Tensor plain{};        // contiguous, and never given to a call by the harness
  std::string layout{};          // for messages
};

/** The source from which a case draws its sizes, options and tensors; the same seed draws the same. */
class Draw {
 public:
  explicit Draw(unsigned seed) : seed_(seed), random_(seed), may_be_empty_(seed % 4 == 3) {}

  unsigned seed() const { return seed_; }
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool coin() { return number(0, 1) != 0; }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[number(0, static_cast<int>(choices.size()) - 1)];
  }

  /** A size up to `most`, often beside the width of a vector or tile. */
  std::int64_t size(std::int64_t most = 65);
  /** A number that in one draw of four is often 0. */
  std::int64_t size_or_none(std::int64_t most = 65);
  /** A shape of some hundred elements, of sizes that may be 0. */
  dlprim::Dims shape(int least_rank, int most_rank);
  /** float32, or float16 in one draw of eight. */
  dlprim::DType floating() { return number(0, 7) ? dlprim::DType::float32 : dlprim::DType::float16; }

  /** Multiples of 1/8; whole numbers. */
  Values between(double low, double high);
  Values whole(std::int64_t low, std::int64_t high);

  using Shape = dlprim::Dims;
  const dlprim::Tensor* input(const char* name, const Shape& shape, const Values& values) {
    return operand(name, Role::input, dlprim::DType::float32, shape, values);
  }
  const dlprim::Tensor* input(const char* name, const Shape& shape,
                              dlprim::DType dtype = dlprim::DType::float32) {
    return operand(name, Role::input, dtype, shape, between(-2, 2));
  }
  const dlprim::Tensor* indices(const char* name, const Shape& shape, std::int64_t bound,
                                dlprim::DType dtype = dlprim::DType::int64) {
    return operand(name, Role::input, dtype, shape, whole(0, bound - 1));
  }
  const dlprim::Tensor* output(const char* name, const Shape& shape,
                               dlprim::DType dtype = dlprim::DType::float32) {
    return operand(name, Role::output, dtype, shape, {});
  }
  const dlprim::Tensor* updated(const char* name, const Shape& shape,
                                dlprim::DType dtype = dlprim::DType::float32) {
    return operand(name, Role::updated, dtype, shape, between(0.5, 2));
  }
  const dlprim::Tensor* operand(const char* name, Role role, dlprim::DType dtype, const Shape& shape,
                                const Values& values);
  /** The elements of `tensor`, in a contiguous tensor of its own. */
  const dlprim::Tensor& plain(const dlprim::Tensor* tensor) const;

  /** The call under test. */
  void calls(std::function<void(dlprim::Queue&)> call) { call_ = std::move(call); }
  /** Within the call: a tensor that the function returned, to be compared too. */
  void returned(const dlprim::Tensor& tensor) { returned_.push_back(tensor); }

 private:
  friend class LayoutCheck;

  unsigned seed_;
  std::mt19937 random_;
  bool may_be_empty_;
  std::deque<Operand> operands_;
  std::function<void(dlprim::Queue&)> call_;
  std::vector<dlprim::Tensor> returned_;
};

/** A function of dlprim and how it is called. */
struct LayoutCase {
  const char* function;
  void (*draw)(Draw& d);
};
using LayoutCases = std::vector<LayoutCase>;
inline std::ostream& operator<<(std::ostream& out, const LayoutCase& c) {
  return out << c.function;
}

/** Draws the case and calls it in many layouts; fails with what was wrong in the first of them that was. */
void check_layouts(const LayoutCase& tested, unsigned seed);

}  // namespace testing_support
