#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "autograd/tape.h"
#include "autograd/tensor.h"

namespace ocl {
namespace {

constexpr std::int64_t summarize_above = 1000;  // elements, as torch.set_printoptions(threshold=…)
constexpr std::int64_t edge_items = 3;

/** How the elements of one tensor are written: the same width and form for all, as PyTorch's. */
class ElementFormat {
 public:
  ElementFormat(const std::vector<double>& values, DType dtype) : dtype_(dtype) {
    bool whole = true;
    double largest = 0, smallest = INFINITY;
    for (double v : values) {
      if (!std::isfinite(v)) continue;
      whole = whole && v == std::trunc(v);
      if (v != 0) {
        largest = std::max(largest, std::abs(v));
        smallest = std::min(smallest, std::abs(v));
      }
    }
    if (is_floating(dtype)) {
      scientific_ = whole ? largest >= 1e9
                          : (largest > 0 && (largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4));
      whole_ = whole && !scientific_;
    }
    for (double v : values) width_ = std::max(width_, text(v).size());
  }

  std::string padded(double value) const {
    const std::string written = text(value);
    return std::string(width_ - std::min(width_, written.size()), ' ') + written;
  }

 private:
  std::string text(double value) const {
    if (dtype_ == DType::boolean) return value != 0 ? "True" : "False";
    std::ostringstream out;
    if (!is_floating(dtype_)) {
      out << static_cast<std::int64_t>(value);
    } else if (!std::isfinite(value)) {
      out << (std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    } else if (whole_) {
      out << std::fixed << std::setprecision(0) << value << '.';
    } else {
      (scientific_ ? out << std::scientific : out << std::fixed) << std::setprecision(4) << value;
    }
    return out.str();
  }

  DType dtype_;
  bool scientific_ = false, whole_ = false;
  std::size_t width_ = 0;
};

class Printer {
 public:
  Printer(const Tensor& tensor)
      : shape_(tensor.shape()), values_(tensor.to_vector<double>()), format_(values_, tensor.dtype()) {
    summarize_ = tensor.numel() > summarize_above;
  }

  std::string text() const { return shape_.empty() ? trimmed(format_.padded(values_[0])) : level(0, 0); }

 private:
  static std::string trimmed(const std::string& s) { return s.substr(s.find_first_not_of(' ')); }

  // The part of the text for dimension `d` whose first element is number `start`.
  std::string level(int d, std::int64_t start) const {
    if (d == shape_.size()) return format_.padded(values_[static_cast<std::size_t>(start)]);
    std::int64_t step = 1;
    for (int i = d + 1; i < shape_.size(); ++i) step *= shape_[i];
    const bool innermost = d + 1 == shape_.size();
    const std::string separator =
        innermost ? ", "
                  : "," + std::string(static_cast<std::size_t>(shape_.size() - 1 - d), '\n') +
                        std::string(static_cast<std::size_t>(d) + 8, ' ');
    std::string text = "[";
    for (std::int64_t i = 0; i < shape_[d]; ++i) {
      if (i > 0) text += separator;
      if (summarize_ && shape_[d] > 2 * edge_items && i == edge_items) {
        text += "...";
        i = shape_[d] - edge_items - 1;
        continue;
      }
      text += level(d + 1, start + i * step);
    }
    return text + "]";
  }

  Dims shape_;
  std::vector<double> values_;
  ElementFormat format_;
  bool summarize_;
};

}  // namespace

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text = "tensor(" + (tensor.numel() == 0 ? "[]" : Printer(tensor).text());
  if (tensor.numel() == 0 && tensor.dim() > 1)
    text += dlprim::concat(", size=(", std::string(dlprim::concat(tensor.shape())).substr(1));
  text += ", device='" + tensor.data().device().name() + "'";
  const DType dtype = tensor.dtype();
  if (dtype != DType::float32 && dtype != DType::int64 && dtype != DType::boolean)
    text += std::string(", dtype=ocl.") + name(dtype);
  if (tensor.grad_fn())
    text += ", grad_fn=<" + tensor.grad_fn()->name() + ">";
  else if (tensor.requires_grad())
    text += ", requires_grad=True";
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace ocl
