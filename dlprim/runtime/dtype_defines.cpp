#include "dlprim/runtime/dtype_defines.h"

#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"

namespace dlprim {

Defines dtype_defines(DType dtype) {
  const DTypeInfo& type = info(dtype);
  Defines defines;
  defines.set("STORAGE", type.storage_type).set("REAL", type.compute_type);
  defines.set("LOAD", concat("LOAD_", type.name)).set("STORE", concat("STORE_", type.name));
  if (dtype != DType::float64) defines.add_option("-cl-single-precision-constant");
  return defines;
}

void require_floating(DType dtype, const Device& device, const char* op) {
  require<TypeError>(is_floating(dtype), op, ": expected a floating dtype, got ", name(dtype));
  require<DeviceError>(dtype != DType::float64 || device.info().fp64, op, ": float64 is not supported by ",
                       device.name(), " (", device.info().name, ")");
}

}  // namespace dlprim
