#pragma once

/**
 * \file The operator library: devices, memory, raw tensors, and the forward and backward of every operator.
 *
 * An operator is a plain function that enqueues its work, and writes to tensors that the caller has made:
 *
 *     #include <cstdio>
 *
 *     #include "dlprim/dlprim.h"
 *
 *     int main() {
 *       dlprim::Queue& queue = dlprim::Device::get("ocl:0").queue();
 *       const float values[] = {1, 2, 3, 4, 5, 6};
 *       const auto x = dlprim::Tensor::empty(queue.device(), {2, 3});  // float32
 *       const auto y = dlprim::Tensor::empty(queue.device(), x.shape);
 *       dlprim::upload(queue, {values, sizeof values}, x);
 *       dlprim::softmax_forward(queue, x, -1, y);
 *       float result[6];
 *       queue.read(y, result, sizeof result);  // waits
 *       for (const float probability : result) std::printf("%g\n", probability);
 *     }
 *
 * examples/mnist_dlprim.cpp trains a net. These rules hold wherever a header does not say otherwise:
 *
 *  - A function is PyTorch's of that name. Tensors that it reads come first, then options, then tensors that
 * it writes; a `const Tensor*` may be nullptr, for none.
 *  - Every element of a result is overwritten; gradients are not added up. Results overlap nothing else.
 *  - Shapes, dtypes and options that do not fit throw (core/error.h) before anything is enqueued. An error
 * that only a kernel sees (an out-of-range label) is thrown by the same thread's next Queue::read or finish.
 *  - Tensors have any strides and offset, or are refused before anything is written: where a header says that
 *    one is contiguous, that is checked.
 *  - Only Queue::read and finish wait. Work runs in the order of the calls, so a tensor may be dropped, and
 *    its memory used again, once the call that uses it has returned. Threads may call at the same time.
 *  - Equal calls give equal bits.
 */

#include "dlprim/core/call.h"
#include "dlprim/core/dims.h"
#include "dlprim/core/dlpack.h"
#include "dlprim/core/dtype.h"
#include "dlprim/core/error.h"
#include "dlprim/core/promotion.h"
#include "dlprim/core/recorder.h"
#include "dlprim/core/tensor.h"
#include "dlprim/export/program_capture.h"
#include "dlprim/export/program_file.h"
#include "dlprim/export/program_runner.h"
#include "dlprim/ops/attention/attention.h"
#include "dlprim/ops/box/nms.h"
#include "dlprim/ops/box/roi_align.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/conv/conv3d.h"
#include "dlprim/ops/creation/arange.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/ops/fft/fft.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/ops/gemm/linear.h"
#include "dlprim/ops/index/accumulate.h"
#include "dlprim/ops/index/count.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/nonzero.h"
#include "dlprim/ops/int8/int8.h"
#include "dlprim/ops/join/cat.h"
#include "dlprim/ops/linalg/cross.h"
#include "dlprim/ops/linalg/factors.h"
#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/loss/nll_loss.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/norm/local_response_norm.h"
#include "dlprim/ops/norm/row_norm.h"
#include "dlprim/ops/optim/fused.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "dlprim/ops/optim/rules.h"
#include "dlprim/ops/pointwise/glu.h"
#include "dlprim/ops/pointwise/isclose.h"
#include "dlprim/ops/pointwise/nan_to_num.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/ops/pointwise/pointwise_result.h"
#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/pool/max_pool.h"
#include "dlprim/ops/quantized/quantized_linear.h"
#include "dlprim/ops/random/exponential.h"
#include "dlprim/ops/random/multinomial.h"
#include "dlprim/ops/random/permutation.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/ops/reduce/reduce.h"
#include "dlprim/ops/reduce/reduce_backward.h"
#include "dlprim/ops/resample/grid_sample.h"
#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/pad.h"
#include "dlprim/ops/resample/unfold.h"
#include "dlprim/ops/rnn/network.h"
#include "dlprim/ops/rnn/rnn.h"
#include "dlprim/ops/scan/scan.h"
#include "dlprim/ops/softmax/softmax.h"
#include "dlprim/ops/sort/search.h"
#include "dlprim/ops/sort/sort.h"
#include "dlprim/runtime/device.h"
