#include <gtest/gtest.h>

#include <cstddef>
#include <regex>
#include <set>

#include "dlprim/ops/attention/attention_shared.h"
#include "dlprim/ops/box/box_shared.h"
#include "dlprim/ops/conv/conv_shared.h"
#include "dlprim/ops/fft/fft_shared.h"
#include "dlprim/ops/gemm/gemm_cpu_shared.h"
#include "dlprim/ops/gemm/gemm_few_rows_shared.h"
#include "dlprim/ops/gemm/operand_pack_shared.h"
#include "dlprim/ops/gemm/product_join_shared.h"
#include "dlprim/ops/gemm/tensor_map_shared.h"
#include "dlprim/ops/index/index_shared.h"
#include "dlprim/ops/int8/int8_shared.h"
#include "dlprim/ops/linalg/cross_shared.h"
#include "dlprim/ops/linalg/factors_shared.h"
#include "dlprim/ops/loss/class_loss_shared.h"
#include "dlprim/ops/norm/norm_shared.h"
#include "dlprim/ops/optim/optim_shared.h"
#include "dlprim/ops/pointwise/transposition_shared.h"
#include "dlprim/ops/pool/pool_shared.h"
#include "dlprim/ops/quantized/quantized_shared.h"
#include "dlprim/ops/random/random_shared.h"
#include "dlprim/ops/resample/resample_shared.h"
#include "dlprim/ops/rnn/rnn_shared.h"
#include "dlprim/runtime/error_word_shared.h"
#include "dlprim/runtime/kernel_sources.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** A struct that kernels and host code share, and how it lies in the host's memory. */
struct SharedStruct {
  const char *file, *name, *last_member, *real;
  std::vector<std::int64_t> size_and_last_offset;
};

std::int64_t bytes(std::size_t n) {
  return static_cast<std::int64_t>(n);
}

#define ROW(file, Struct, OnHost, last, real)              \
  {                                                        \
    file, #Struct, #last, #real, {                         \
      bytes(sizeof(OnHost)), bytes(offsetof(OnHost, last)) \
    }                                                      \
  }
#define PLAIN(file, Struct, last) ROW(file, Struct, Struct, last, float)
#define OF_REAL(file, Struct, last) \
  ROW(file, Struct, Struct<float>, last, float), ROW(file, Struct, Struct<double>, last, double)

const SharedStruct shared_structs[] = {
    PLAIN("runtime/error_word_shared.h", ErrorWord, value),
    PLAIN("ops/attention/attention_shared.h", AttentionExtents, is_causal),
    PLAIN("ops/attention/attention_shared.h", MaskStrides, inner_size),
    PLAIN("ops/attention/attention_shared.h", OperandStrides, column),
    PLAIN("ops/attention/attention_shared.h", FlashExtents, blocks),
    OF_REAL("ops/box/box_shared.h", KernelRegions, out),
    PLAIN("ops/conv/conv_shared.h", ConvShape, dilation_w),
    PLAIN("ops/conv/conv_shared.h", ConvGather, padded_depth),
    PLAIN("ops/conv/conv_shared.h", ConvMappedWeight, part_boxes),
    PLAIN("ops/conv/conv_shared.h", ConvStrip, start_w),
    PLAIN("ops/conv/conv_shared.h", ConvWinograd, pitch),
    PLAIN("ops/conv/conv_shared.h", Stencil, y_base),
    PLAIN("ops/conv/conv_shared.h", Phases, pad_w),
    PLAIN("ops/conv/conv_shared.h", Scatter, slice),
    PLAIN("ops/conv/conv_shared.h", ConvDepth, tap),
    PLAIN("ops/fft/fft_shared.h", FftSide, has_factors),
    PLAIN("ops/fft/fft_shared.h", FftLines, writes_along_lines),
    PLAIN("ops/linalg/cross_shared.h", CrossShape, y),
    PLAIN("ops/linalg/factors_shared.h", MatrixSteps, column),
    PLAIN("ops/gemm/gemm_cpu_shared.h", GemmCpuSizes, goes_along_rows),
    PLAIN("ops/gemm/gemm_few_rows_shared.h", FewRows, has_bias),
    PLAIN("ops/gemm/operand_pack_shared.h", OperandPack, size_w),
    PLAIN("ops/gemm/operand_pack_shared.h", OperandRound, padded_depth),
    PLAIN("ops/gemm/product_join_shared.h", ProductJoin, has_bias),
    PLAIN("ops/gemm/tensor_map_shared.h", TensorMapShape, bytes),
    PLAIN("ops/gemm/tensor_map_shared.h", MappedProduct, part_boxes),
    PLAIN("ops/index/index_shared.h", Places, wraps),
    PLAIN("ops/index/index_shared.h", KeySums, none),
    PLAIN("ops/index/index_shared.h", TrueShape, dim_stride),
    PLAIN("ops/loss/class_loss_shared.h", LossRows, positions),
    OF_REAL("ops/loss/class_loss_shared.h", LossLabels, has_probabilities),
    PLAIN("ops/norm/norm_shared.h", BatchNormExtents, parts),
    OF_REAL("ops/norm/norm_shared.h", StatisticsOptions, momentum),
    PLAIN("ops/norm/norm_shared.h", RowNormExtents, weights),
    PLAIN("ops/norm/norm_shared.h", LocalResponseExtents, after),
    OF_REAL("ops/norm/norm_shared.h", LocalResponseOptions, k),
    OF_REAL("ops/optim/optim_shared.h", Coefficients, of),
    PLAIN("ops/pool/pool_shared.h", PoolWindow, adaptive),
    PLAIN("ops/pool/pool_shared.h", PoolDivisor, of_all),
    PLAIN("ops/pointwise/transposition_shared.h", Transposition, destination_strides),
    PLAIN("ops/int8/int8_shared.h", Int8Finish, has_addend),
    PLAIN("ops/int8/int8_shared.h", Int8Conv, dilation_w),
    PLAIN("ops/int8/int8_shared.h", Int8Planes, is_plain),
    PLAIN("ops/int8/int8_shared.h", Int8Windows, dilation_w),
    PLAIN("ops/quantized/quantized_shared.h", QuantizedShape, groups),
    PLAIN("ops/quantized/quantized_shared.h", QuantizedPart, columns),
    PLAIN("ops/random/random_shared.h", DropoutRows, runs),
    PLAIN("ops/resample/resample_shared.h", KernelPadding, reflect),
    OF_REAL("ops/resample/resample_shared.h", KernelInterpolation, linear),
    PLAIN("ops/resample/resample_shared.h", KernelBlocks, stride),
    PLAIN("ops/resample/resample_shared.h", KernelGrid, order),
    PLAIN("ops/rnn/rnn_shared.h", RnnStepSizes, carry_row),
};

std::vector<std::int64_t> layout_on_device(const SharedStruct& s) {
  const auto source = [&] {
    return concat(expanded_source(s.file),
                  "__kernel void layout(__global long *out, const ulong start) {\n  ", s.name,
                  " x;\n  out[start] = sizeof(", s.name, ");\n  out[start + 1] = (__private char *)&x.",
                  s.last_member, " - (__private char *)&x;\n}\n");
  };
  Kernel& kernel = device().programs().generated_kernel(concat("test layout of ", s.name, " of ", s.real),
                                                        "layout", concat(" -DREAL=", s.real).c_str(), source);
  const Tensor out = Tensor::empty(device(), {2}, DType::int64);
  queue().launch(kernel, Range::linear(1, 1), out);
  return download<std::int64_t>(out);
}

}  // namespace

TEST(Shared, StructsLieAlikeOnHostAndDevice) {
  for (const SharedStruct& s : shared_structs) {
    if (s.real == std::string("double") && !device().info().fp64) continue;
    EXPECT_EQ(layout_on_device(s), s.size_and_last_offset) << s.name << " of " << s.real;
  }
}

TEST(Shared, EveryStructIsCompared) {
  std::set<std::string> compared;
  for (const SharedStruct& s : shared_structs) compared.insert(s.name);
  const std::regex declaration(R"(\n\} (\w+);|\nREAL_STRUCT\((\w+)\))");
  const std::string ending = "_shared.h";
  for (const auto& [file, text] : kernel_sources()) {
    if (file.size() < ending.size() || file.substr(file.size() - ending.size()) != ending) continue;
    const std::string source = text;
    for (std::sregex_iterator found(source.begin(), source.end(), declaration), end; found != end; ++found)
      EXPECT_EQ(compared.count((*found)[1].str() + (*found)[2].str()), 1u) << (*found)[0] << " of " << file;
  }
}
