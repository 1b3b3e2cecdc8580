#include "dlprim/ops/join/cat.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {
namespace {

/** The first that says what rank the result has. */
const Tensor& leading(const std::vector<Tensor>& tensors) {
  require(!tensors.empty(), "cat: expected a non-empty list of tensors");
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [](const Tensor& t) { return !is_neutral_in_cat(t.shape); });
  return found == tensors.end() ? tensors.front() : *found;
}

}  // namespace

CatResult cat_result(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const Dims& first = leading(tensors).shape;
  require(first.size() > 0, "cat: zero-dimensional tensors cannot be concatenated");
  const int d = wrap_dim(dim, first.size(), "cat");
  CatResult result{first, tensors.front().dtype};
  result.shape[d] = 0;
  for (const Tensor& part : tensors) {
    result.dtype = promote_types(result.dtype, part.dtype);
    if (is_neutral_in_cat(part.shape)) continue;
    require(part.rank() == first.size(), "cat: tensors must have the same number of dimensions, got ",
            first.size(), " and ", part.rank());
    for (int i = 0; i < first.size(); ++i)
      require(i == d || part.shape[i] == first[i], "cat: sizes must match except in dimension ", d, ", got ",
              first, " and ", part.shape);
    require(try_add(result.shape[d], part.shape[d], result.shape[d]), "cat: sizes in dimension ", d,
            " add up to more than 64 bits count");
  }
  return result;
}

void cat(Queue& queue, const std::vector<Tensor>& tensors, std::int64_t dim, const Tensor& result) {
  ENTER(cat, queue, tensors, dim, result);
  const Dims shape = cat_result(tensors, dim).shape;
  require(result.shape == shape, "cat: expected a result of shape ", shape, ", got ", result.shape);
  const int d = wrap_dim(dim, shape.size(), "cat");
  Tensor place = result;
  for (const Tensor& part : tensors) {
    if (part.numel() == 0) continue;
    place.shape[d] = part.shape[d];
    copy(queue, part, place);
    place.offset += part.shape[d] * result.strides[d];
  }
}

}  // namespace dlprim
