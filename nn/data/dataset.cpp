#include "nn/data/dataset.h"

#include "dlprim/core/error.h"

namespace ocl::data {

Subset::Subset(std::shared_ptr<const Dataset> dataset, std::vector<std::size_t> indices)
    : dataset_(std::move(dataset)), indices_(std::move(indices)) {
  for (const std::size_t index : indices_)
    dlprim::require<dlprim::IndexError>(index < dataset_->size(), "Subset: no sample ", index,
                                        " in a dataset of ", dataset_->size());
}

}  // namespace ocl::data
