#include "autograd/tensor/print.h"
#include "autograd/tape/node_name.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "autograd/ops/complex.h"
#include "autograd/ops/join.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"

namespace ocl {
namespace {

/** printf for one number. */
template <class Number>
std::string printed(const char* format, int precision, Number value) {
  const int length = std::snprintf(nullptr, 0, format, precision, value);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

/** The elements of one tensor as text: the same width and form for all, as PyTorch's. */
class Elements {
 public:
  explicit Elements(const Tensor& tensor) : dtype_(tensor.dtype()), options_(print_options()) {
    if (is_complex(dtype_)) {
      const NoGradGuard no_grad;
      parts_.reserve(2);
      parts_.emplace_back(real(tensor));
      parts_.emplace_back(imag(tensor));
      width_ = parts_[0].width() + parts_[1].width() + 1;
    } else if (is_floating(dtype_)) {
      real_ = tensor.to_vector<double>();
      choose_form();
    } else {
      integer_ = tensor.to_vector<std::int64_t>();
      for (std::size_t i = 0; i < integer_.size(); ++i) width_ = std::max(width_, text(i).size());
    }
  }

  std::size_t width() const { return width_; }
  std::string padded(std::size_t i) const {
    if (!parts_.empty()) {
      const std::string imaginary = parts_[1].text(i);
      return parts_[0].padded(i) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
    }
    const std::string written = text(i);
    return std::string(width_ - std::min(width_, written.size()), ' ') + written;
  }

 private:
  void choose_form() {
    double largest = 0, smallest = INFINITY;
    for (const double v : real_) {
      if (!std::isfinite(v) || v == 0) continue;
      whole_ = whole_ && v == std::ceil(v);
      largest = std::max(largest, std::abs(v));
      smallest = std::min(smallest, std::abs(v));
    }
    if (largest == 0) return;
    scientific_ = options_.sci_mode.value_or(largest / smallest > 1000 || largest > 1e8 || smallest < 1e-4);
    for (std::size_t i = 0; i < real_.size(); ++i)
      if (std::isfinite(real_[i]) && real_[i] != 0) width_ = std::max(width_, text(i).size());
  }

  std::string text(std::size_t i) const {
    if (dtype_ == DType::boolean) return integer_[i] ? "True" : "False";
    if (!is_floating(dtype_)) return std::to_string(integer_[i]);
    const double value = real_[i];
    if (std::isnan(value)) return "nan";
    if (scientific_) return printed("%.*e", options_.precision, value);
    if (!whole_) return printed("%.*f", options_.precision, value);
    return printed("%.*f", 0, value) + (std::isfinite(value) ? "." : "");
  }

  const DType dtype_;
  const PrintOptions options_;
  std::vector<Elements> parts_;  // of complex numbers: the real and the imaginary parts
  std::vector<double> real_;
  std::vector<std::int64_t> integer_;
  bool scientific_ = false, whole_ = true;
  std::size_t width_ = 1;
};

/** Without the middle of every long dimension. */
Tensor ends_of(Tensor tensor, std::int64_t edge) {
  const NoGradGuard no_grad;
  for (int d = 0; d < tensor.dim(); ++d)
    if (const std::int64_t size = tensor.size(d); size - edge > edge)
      tensor = cat({narrow(tensor, d, 0, edge), narrow(tensor, d, size - edge, edge)}, d);
  return tensor;
}

class Printer {
 public:
  explicit Printer(const Tensor& tensor)
      : options_(print_options()),
        summarize_(tensor.numel() > options_.threshold),
        shape_(tensor.shape()),
        shown_(summarize_ ? ends_of(tensor, options_.edgeitems) : tensor),
        elements_(shown_) {}

  std::string text() const { return shape_.empty() ? elements_.padded(0) : block(0, 0, indent); }

  static constexpr std::int64_t indent = 7;  // of what stands after "tensor("

 private:
  bool leaves_out(int d) const { return summarize_ && shape_[d] - options_.edgeitems > options_.edgeitems; }

  // The part of the text for dimension `d` whose first element is number `start` of those shown.
  std::string block(int d, std::int64_t start, std::int64_t column) const {
    std::int64_t step = 1;
    for (int i = d + 1; i < shape_.size(); ++i) step *= shown_.shape()[i];
    const bool innermost = d + 1 == shape_.size();
    std::vector<std::string> parts;
    for (std::int64_t i = 0; i < shown_.shape()[d]; ++i) {
      if (leaves_out(d) && i == options_.edgeitems) parts.push_back(innermost ? " ..." : "...");
      const std::int64_t at = start + i * step;
      parts.push_back(innermost ? elements_.padded(static_cast<std::size_t>(at))
                                : block(d + 1, at, column + 1));
    }
    const auto lines = static_cast<std::size_t>(innermost ? 1 : shape_.size() - 1 - d);
    const std::string new_line =
        "," + std::string(lines, '\n') + std::string(static_cast<std::size_t>(column) + 1, ' ');
    const std::int64_t element_width = static_cast<std::int64_t>(elements_.width()) + 2;
    const std::int64_t per_line =
        innermost ? std::max<std::int64_t>(1, (options_.linewidth - column) / element_width) : 1;
    std::string text = "[";
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) text += static_cast<std::int64_t>(i) % per_line == 0 ? new_line : ", ";
      text += parts[i];
    }
    return text + "]";
  }

  const PrintOptions options_;
  const bool summarize_;
  const Dims shape_;
  const Tensor shown_;
  const Elements elements_;
};

std::vector<std::string> suffixes_of(const Tensor& tensor) {
  std::vector<std::string> suffixes{"device='" + tensor.data().device().name() + "'"};
  const DType dtype = tensor.dtype();
  const bool is_default = dtype == DType::float32 || dtype == DType::int64 || dtype == DType::boolean;
  if (tensor.numel() == 0 && tensor.dim() != 1) {
    std::string sizes;
    for (int d = 0; d < tensor.dim(); ++d) sizes += (d ? ", " : "") + std::to_string(tensor.shape()[d]);
    suffixes.push_back("size=(" + sizes + ")");
  }
  if (!is_default || (tensor.numel() == 0 && dtype != DType::float32))
    suffixes.push_back(std::string("dtype=ocl.") + name(dtype));
  if (tensor.grad_fn())
    suffixes.push_back("grad_fn=<" + shown_name(*tensor.grad_fn()) + ">");
  else if (tensor.requires_grad())
    suffixes.push_back("requires_grad=True");
  return suffixes;
}

}  // namespace

PrintOptions& print_options() {
  static PrintOptions options;
  return options;
}

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text = "tensor(" + (tensor.numel() == 0 ? "[]" : Printer(tensor).text());
  const auto width = static_cast<std::size_t>(print_options().linewidth);
  std::size_t last_line = text.size() - (text.rfind('\n') + 1) + 2;  // as PyTorch counts
  for (const std::string& suffix : suffixes_of(tensor)) {
    if (last_line + suffix.size() + 2 > width) {
      text += ",\n" + std::string(Printer::indent, ' ') + suffix;
      last_line = Printer::indent + suffix.size();
    } else {
      text += ", " + suffix;
      last_line += suffix.size() + 2;
    }
  }
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << to_string(tensor);
}

}  // namespace ocl
