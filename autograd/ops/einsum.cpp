#include "autograd/ops/einsum.h"

#include <algorithm>
#include <cctype>

#include "autograd/ops/call.h"
#include "autograd/ops/join.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

using dlprim::require;

// Subscripts of dimensions: a letter, or a number for a dimension under the ellipsis, counted from its right.
using Labels = std::vector<int>;
constexpr int no_ellipsis = -1;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

int position(const Labels& labels, int label) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

/** The labels that `subscripts` give to dimensions, `covered` of them under its ellipsis. */
Labels parse(const std::string& subscripts, int covered) {
  Labels labels;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    if (subscripts[i] == '.') {
      require(covered != no_ellipsis && subscripts.compare(i, 3, "...") == 0,
              "einsum: found '.' that is not part of an ellipsis in '", subscripts, "'");
      for (int d = covered; d-- > 0;) labels.push_back(d);
      covered = no_ellipsis;
      i += 2;
    } else {
      require(std::isalpha(static_cast<unsigned char>(subscripts[i])) != 0, "einsum: invalid subscript '",
              subscripts[i], "', subscripts must be letters");
      labels.push_back(subscripts[i]);
    }
  }
  return labels;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

dlprim::Tensor diagonal_of(dlprim::Tensor t, int kept, int dropped) {
  t.strides[kept] += t.strides[dropped];
  t.shape.erase(dropped);
  t.strides.erase(dropped);
  return t;
}

/** The elements whose indices in two dimensions of one size agree; `dropped` > `kept` goes away. */
Tensor diagonal(const Tensor& a, int kept, int dropped) {
  require(a.size(kept) == a.size(dropped), "einsum: a subscript is repeated for dimensions of sizes ",
          a.size(kept), " and ", a.size(dropped));
  const Tensor chosen = contiguous(a);
  return record("diagonal", {chosen}, diagonal_of(chosen.data(), kept, dropped), [&] {
    return linear_gradient(
        "diagonal",
        [shape = a.shape(), kept, dropped](const Tensor& g) {
          const Tensor whole = zeros(shape.vector(), g.dtype(), g.device());
          dlprim::copy(g.device()->queue(), g.data(), diagonal_of(whole.data(), kept, dropped));
          return whole;
        },
        [kept, dropped](const Tensor& g) { return Tensor(diagonal_of(g.data(), kept, dropped)).clone(); });
  });
}

/** A tensor whose dimensions have names. */
struct Named {
  Tensor tensor;
  Labels labels;

  std::int64_t size(int label) const {
    return contains(labels, label) ? tensor.size(position(labels, label)) : 1;
  }
};

Named without_repeats(Named operand) {
  for (int kept = 0; kept < static_cast<int>(operand.labels.size()); ++kept)
    for (int d = static_cast<int>(operand.labels.size()) - 1; d > kept; --d)
      if (operand.labels[static_cast<std::size_t>(d)] == operand.labels[static_cast<std::size_t>(kept)]) {
        operand.tensor = diagonal(operand.tensor, kept, d);
        operand.labels.erase(operand.labels.begin() + d);
      }
  return operand;
}

/** Adds up the dimensions that nothing else needs. */
Named without_unneeded(const Named& operand, const Labels& needed) {
  DimList summed;
  Named result;
  for (std::size_t d = 0; d < operand.labels.size(); ++d) {
    if (contains(needed, operand.labels[d]))
      result.labels.push_back(operand.labels[d]);
    else
      summed.push_back(static_cast<std::int64_t>(d));
  }
  result.tensor = summed.empty() ? operand.tensor : sum(operand.tensor, summed);
  return result;
}

/** The dimensions in the order of `labels`, with size 1 for one that the operand lacks. */
Tensor arranged(const Named& operand, const Labels& labels) {
  std::vector<std::int64_t> order, shape;
  for (const int label : labels) {
    shape.push_back(operand.size(label));
    if (contains(operand.labels, label)) order.push_back(position(operand.labels, label));
  }
  return reshape(permute(operand.tensor, order), shape);
}

std::int64_t joined_size(int label, const Named& a, const Named& b) {
  const std::int64_t x = a.size(label), y = b.size(label);
  require(x == y || x == 1 || y == 1, "einsum: operands do not broadcast: a subscript has sizes ", x, " and ",
          y);
  return x == 1 ? y : x;
}

/** The arranged operand, in three groups of dimensions that each become one; a size of 1 is broadcast. */
Tensor grouped(const Named& operand, const Named& other, const std::vector<Labels>& groups) {
  Labels order;
  std::vector<std::int64_t> whole, sizes;
  for (const Labels& group : groups) {
    Dims own;
    for (const int label : group) {
      order.push_back(label);
      own.push_back(joined_size(label, operand, other));
    }
    whole.insert(whole.end(), own.begin(), own.end());
    sizes.push_back(dlprim::product(own));
  }
  return reshape(expand(arranged(operand, order), whole), sizes);
}

/** The product of two operands, added up over what is not needed any more. */
Named joined(const Named& a, const Named& b, const Labels& needed) {
  Labels batch, left, right, contracted;
  for (const int label : a.labels) {
    const bool shared = contains(b.labels, label);
    (!shared ? left : contains(needed, label) ? batch : contracted).push_back(label);
    if (shared) joined_size(label, a, b);
  }
  for (const int label : b.labels)
    if (!contains(a.labels, label)) right.push_back(label);
  Labels labels = batch;
  labels.insert(labels.end(), left.begin(), left.end());
  labels.insert(labels.end(), right.begin(), right.end());
  if (contracted.empty()) return {arranged(a, labels) * arranged(b, labels), labels};
  std::vector<std::int64_t> shape;
  for (const int label : labels) shape.push_back(joined_size(label, a, b));
  const Tensor product =
      bmm(grouped(a, b, {batch, left, contracted}), grouped(b, a, {batch, contracted, right}));
  return {reshape(product, shape), labels};
}

}  // namespace

Tensor einsum(const std::string& equation, const TensorList& operands) {
  ENTER_OPERATOR(einsum, equation, operands);
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::vector<std::string> subscripts = split(text.substr(0, arrow));
  require(!operands.empty() && subscripts.size() == operands.size(), "einsum: ", subscripts.size(),
          " subscripts were given for ", operands.size(), " operands in '", equation, "'");

  std::vector<Named> named;
  int widest = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool ellipsis = subscripts[i].find("...") != std::string::npos;
    const int letters = static_cast<int>(subscripts[i].size()) - (ellipsis ? 3 : 0);
    const int covered = operands[i].dim() - letters;
    require(ellipsis ? covered >= 0 : covered == 0, "einsum: the subscripts '", subscripts[i],
            "' do not fit an operand of shape ", operands[i].shape());
    widest = std::max(widest, covered);
    named.push_back({operands[i], parse(subscripts[i], ellipsis ? covered : no_ellipsis)});
  }

  Labels output;
  if (arrow != std::string::npos) {
    output = parse(text.substr(arrow + 2), widest);
  } else {
    for (int d = widest; d-- > 0;) output.push_back(d);
    for (int letter = 'A'; letter <= 'z'; ++letter)
      if (std::count(text.begin(), text.end(), static_cast<char>(letter)) == 1) output.push_back(letter);
  }
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool known = std::any_of(named.begin(), named.end(),
                                   [&](const Named& n) { return contains(n.labels, output[i]); });
    require(known && position(output, output[i]) == static_cast<int>(i),
            "einsum: every output subscript must appear once in the output and in some operand, in '",
            equation, "'");
  }

  Named result;
  for (std::size_t i = 0; i < named.size(); ++i) {
    Labels later = output;
    for (std::size_t k = i + 1; k < named.size(); ++k)
      later.insert(later.end(), named[k].labels.begin(), named[k].labels.end());
    Labels needed = later;
    if (i > 0) needed.insert(needed.end(), result.labels.begin(), result.labels.end());
    const Named next = without_unneeded(without_repeats(named[i]), needed);
    result = i == 0 ? next : joined(result, next, later);
  }
  return arranged(result, output);
}

}  // namespace ocl
