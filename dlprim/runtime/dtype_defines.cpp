#include "dlprim/runtime/dtype_defines.h"

#include <array>

#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

Defines made_for(DType dtype) {
  const DTypeInfo& type = info(dtype);
  Defines defines;
  defines.set("STORAGE", type.storage_type).set("REAL", type.compute_type);
  defines.set("LOAD", interned(concat("LOAD_", type.name)));
  defines.set("STORE", interned(concat("STORE_", type.name)));
  if (real_dtype(dtype) != DType::float64) defines.add_option("-cl-single-precision-constant");
  return defines;
}

}  // namespace

Defines dtype_defines(DType dtype) {
  static const auto& of_dtypes = *[] {
    auto* all = new std::array<Defines, dtype_count>;
    for (std::size_t i = 0; i < all->size(); ++i) (*all)[i] = made_for(static_cast<DType>(i));
    return all;
  }();
  return of_dtypes[static_cast<std::size_t>(dtype)];
}

void require_floating(DType dtype, const Device& device, const char* op) {
  require<TypeError>(is_floating(dtype), op, ": expected a floating dtype, got ", name(dtype));
  require<DeviceError>(dtype != DType::float64 || device.info().fp64, op, ": float64 is not supported by ",
                       device.name(), " (", device.info().name, ")");
}

}  // namespace dlprim
