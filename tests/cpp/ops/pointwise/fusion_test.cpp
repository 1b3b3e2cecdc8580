#include "dlprim/ops/pointwise/fusion.h"

#include <algorithm>
#include <functional>
#include <random>

#include "dlprim/core/memory_format.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/pending.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/threads.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** The setting, until the test ends. */
class WithFusion {
 public:
  explicit WithFusion(bool is_on) { set_fusion(is_on); }
  ~WithFusion() { set_fusion(before_); }

 private:
  bool before_ = fusion();
};

Tensor fresh(const Dims& shape, DType dtype = DType::float32) {
  return Tensor::empty(device(), shape, dtype);
}

Tensor random_tensor(std::mt19937& random, const Dims& shape) {
  return sample(random, DType::float32, shape, Placement::contiguous).tensor;
}

void call(const char* row, const std::vector<PointwiseOperand>& inputs, const Tensor& output,
          DType dtype = DType::float32) {
  const PointwiseOp& op = pointwise_op(row);
  std::vector<Scalar> parameters;
  for (const PointwiseParameter& parameter : op.parameters) parameters.emplace_back(parameter.default_value);
  pointwise(queue(), forward_expression(op), dtype, inputs, parameters, {output});
}

/** The kernels that `work` launches. */
std::vector<std::string> launches(const std::function<void()>& work) {
  queue().start_profiling();
  work();
  std::vector<std::string> names;
  for (const KernelRecord& record : queue().stop_profiling()) names.push_back(record.name);
  return names;
}

/** The kernels that `work` launches once its chains were met often enough to be built. */
std::vector<std::string> launches_when_known(const std::function<void()>& work) {
  for (std::size_t i = 0; i < meetings_before_fusion; ++i) {
    work();
    queue().finish();
  }
  return launches(work);
}

TEST(Fusion, LaunchesAChainAsOneWhenItIsMetAgain) {
  const WithFusion on(true);
  std::mt19937 random(1);
  const Tensor x = random_tensor(random, {7, 33}), s = random_tensor(random, {33});
  Tensor y;
  const auto work = [&] {
    const Tensor product = fresh({7, 33}), sum = fresh({7, 33});
    y = fresh({7, 33});
    call("mul", {x, s}, product);
    call("add", {product, Scalar(0.71)}, sum);
    call("hardswish", {sum}, y);
  };
  for (std::size_t i = 0; i < meetings_before_fusion; ++i) EXPECT_EQ(launches(work).size(), 3U);
  const std::vector<double> apart = download_values(y);
  const std::vector<std::string> together = launches(work);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together.front().rfind("chain_mul_add_hardswish", 0), 0U) << together.front();
  EXPECT_EQ(download_values(y), apart);
}

TEST(Fusion, IsOffWhereItIsTurnedOff) {
  const WithFusion off(false);
  std::mt19937 random(2);
  const Tensor x = random_tensor(random, {65}), y = fresh({65}), z = fresh({65});
  EXPECT_EQ(launches_when_known([&] {
              call("exp", {x}, y);
              call("neg", {y}, z);
            }).size(),
            2U);
}

TEST(Fusion, StoresWhatSomebodyStillHas) {
  const WithFusion on(true);
  std::mt19937 random(3);
  const Tensor x = random_tensor(random, {5, 9});
  Tensor kept, last;
  EXPECT_EQ(launches_when_known([&] {
              kept = fresh({5, 9});
              last = fresh({5, 9});
              const Tensor between = fresh({5, 9});
              call("add", {x, Scalar(2)}, kept);
              call("mul", {kept, x}, between);
              call("sub", {between, kept}, last);
            }).size(),
            1U);
  const std::vector<double> values = download_values(x), sums = download_values(kept),
                            found = download_values(last);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(sums[i], values[i] + 2);
    EXPECT_EQ(found[i], sums[i] * values[i] - sums[i]);
  }
}

TEST(Fusion, ComesBeforeWhateverReadsOrWritesItsMemory) {
  const WithFusion on(true);
  std::mt19937 random(4);
  for (std::size_t round = 0; round <= meetings_before_fusion; ++round) {
    const Tensor x = upload_as(DType::float32, {1, 2, 3, 4}, {4}), y = fresh({4}), z = fresh({4});
    call("add", {x, Scalar(1)}, y);
    call("mul", {y, y}, z);
    const std::vector<float> others{10, 20, 30, 40};
    queue().write(x, others.data(), sizeof(float) * others.size());  // after the chain
    EXPECT_EQ(download_values(z), (std::vector<double>{4, 9, 16, 25}));
    call("neg", {x}, y);
    call("neg", {y}, z);
    queue().zero(x);
    EXPECT_EQ(download_values(z), (std::vector<double>{10, 20, 30, 40}));
    call("add", {x, Scalar(1)}, y);
    call("add", {y, Scalar(1)}, z);
    const Tensor copied = fresh({4});
    queue().copy(z, copied, 16);
    EXPECT_EQ(download_values(copied), (std::vector<double>(4, 2)));
  }
}

TEST(Fusion, KeepsTheOrderOfWritesInPlace) {
  const WithFusion on(true);
  for (std::size_t round = 0; round <= meetings_before_fusion; ++round) {
    const Tensor x = upload_as(DType::float32, {1, 2, 3}, {3}), y = fresh({3}), z = fresh({3});
    call("mul", {x, Scalar(10)}, y);   // of x as it was
    call("add", {x, Scalar(1)}, x);    // in place
    call("mul", {x, Scalar(100)}, z);  // of x as it is
    call("add", {y, z}, y);
    EXPECT_EQ(download_values(x), (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(download_values(y), (std::vector<double>{210, 320, 430}));
    EXPECT_EQ(download_values(z), (std::vector<double>{200, 300, 400}));
  }
}

TEST(Fusion, KeepsMemoryThatACallInPlaceReads) {
  const WithFusion on(true);
  constexpr std::int64_t count = 1 << 20;  // large enough for memory to be given back
  const std::vector<double> twos(count, 2), sevens(count, 7), sixes(count, 6);
  for (std::size_t round = 0; round <= meetings_before_fusion; ++round) {
    const Tensor x = upload_as(DType::float32, twos, {count}), z = fresh({count}), last = fresh({count});
    {
      const Tensor y = upload_as(DType::float32, sevens, {count});
      call("sub", {y, x}, y);
      call("add", {y, Scalar(1)}, z);
    }
    call("mul", {z, x}, last);  // nobody else has y any more
    EXPECT_EQ(download_values(z), sixes);
  }
}

/** Tensors, and what programs of pointwise calls do with them. */
class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed), other_(fresh({3})) {}

  /** The values of all tensors that are left. */
  std::vector<std::vector<double>> run(int calls) {
    for (int i = 0; i < 4; ++i) tensors_.push_back(random_tensor(random_, {6, 10}));
    for (int i = 0; i < calls; ++i) step();
    std::vector<std::vector<double>> values;
    for (const Tensor& t : tensors_) {
      const Tensor packed = fresh(t.shape, t.dtype);
      copy(queue(), t, packed);
      values.push_back(download_values(packed));
    }
    return values;
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  Tensor& any() { return tensors_[below(tensors_.size())]; }

  /** A tensor of that shape: one that there is, a view of one, or one that broadcasts. */
  Tensor input(const Dims& shape) {
    const Tensor& t = any();
    if (t.shape == shape) return t;
    if (t.rank() == 2 && shape.size() == 2 && t.shape[0] >= shape[0] && t.shape[1] >= shape[1]) {
      Tensor part = t;
      part.offset += static_cast<std::int64_t>(below(static_cast<std::size_t>(t.shape[1] - shape[1] + 1))) *
                     t.strides[1];
      part.shape = shape;
      return part;
    }
    return random_tensor(random_, Dims{shape.back()}).expanded(shape);
  }

  void step() {
    const Tensor like = any();
    const Dims shape = like.shape;
    switch (below(9)) {
      case 0:  // in place
        return call("add", {like, Scalar(0.25)}, like);
      case 1: {  // part of a tensor, in place
        Tensor part = like;
        if (part.rank() < 1 || part.shape[part.rank() - 1] < 3) return;
        part.shape[part.rank() - 1] -= 1;
        part.offset += static_cast<std::int64_t>(below(2)) * part.strides[part.rank() - 1];
        return call("mul", {part, Scalar(0.5)}, part);
      }
      case 2:
        if (tensors_.size() > 3)
          tensors_.erase(tensors_.begin() + static_cast<std::ptrdiff_t>(below(tensors_.size())));
        return;
      case 3: {  // something that is no pointwise call
        queue().zero(other_);
        return;
      }
      case 4: {
        const Tensor condition = fresh(shape, DType::boolean);
        call("gt", {like, input(shape)}, condition);
        const Tensor chosen = fresh(shape);
        call("where", {condition, like, input(shape)}, chosen);
        tensors_.push_back(chosen);
        return;
      }
      case 5: {
        const PointwiseOp& mul = pointwise_op("mul");
        const Tensor a = fresh(shape), b = fresh(shape);
        pointwise_backward(queue(), mul, like, {input(shape), input(shape)}, {}, {}, {a, b});
        tensors_.push_back(below(2) ? a : b);
        return;
      }
      case 6: {  // transposed
        if (like.rank() != 2) return;
        Tensor turned = like.transposed();
        const Tensor result = fresh(turned.shape);
        call("add", {turned, input(turned.shape)}, result);
        tensors_.push_back(result);
        return;
      }
      default: {
        constexpr const char* rows[] = {"add", "sub", "mul", "maximum", "minimum"};
        const Tensor result = fresh(shape);
        call(rows[below(5)], {like, input(shape)}, result);
        if (below(2)) {
          const Tensor next = fresh(shape);
          call("hardtanh", {result}, next);
          tensors_.push_back(next);
          if (below(2)) return;
        }
        tensors_.push_back(result);
      }
    }
  }

  std::mt19937 random_;
  Tensor other_;
  std::vector<Tensor> tensors_;
};

TEST(Fusion, GivesTheBitsOfSeparateLaunchesForAnyProgram) {
  for (unsigned seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::vector<double>> apart;
    {
      const WithFusion off(false);
      apart = RandomPrograms(seed).run(40);
    }
    const WithFusion on(true);
    for (int round = 0; round < 2; ++round)
      ASSERT_EQ(RandomPrograms(seed).run(40), apart) << "round " << round;
  }
}

TEST(Fusion, ServesThreadsThatHandTensorsOn) {
  const WithFusion on(true);
  for (int round = 0; round < 20; ++round) {
    const Tensor x = upload_as(DType::float32, {1, 2, 3, 4, 5}, {5}), y = fresh({5});
    call("add", {x, Scalar(1)}, y);
    Tensor z = fresh({5});
    std::thread([&] { call("mul", {y, y}, z); }).join();
    const Tensor last = fresh({5});
    call("sub", {z, x}, last);
    EXPECT_EQ(download_values(last), (std::vector<double>{3, 7, 13, 21, 31}));
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 50; ++i) {
        const std::vector<double> values(17, t + i);
        const Tensor x = upload_as(DType::float32, values, {17}), y = fresh({17}), z = fresh({17});
        call("add", {x, Scalar(1)}, y);
        call("mul", {y, Scalar(2)}, z);
        if (download_values(z) != std::vector<double>(17, 2.0 * (t + i + 1))) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Fusion, IsKeptByGraphs) {
  const WithFusion on(true);
  const Tensor x = upload_as(DType::float32, {1, 2, 3}, {3}), y = fresh({3});
  const auto work = [&] {
    const Tensor between = fresh({3});
    call("add", {x, Scalar(3)}, between);
    call("mul", {between, between}, y);
  };
  launches_when_known(work);
  CommandGraph graph(device());
  {
    const CommandGraph::Capture capture(graph);
    work();
  }
  EXPECT_EQ(graph.size(), 1U) << graph.description();
  const std::vector<float> values{4, 5, 6};
  queue().write(x, values.data(), 12);
  graph.replay();
  EXPECT_EQ(download_values(y), (std::vector<double>{49, 64, 81}));
}

TEST(Fusion, CountsNoHandleOfItsOwnAmongTheHolders) {
  const WithFusion on(true);
  const Tensor x = upload_as(DType::float32, {1, 2}, {2}), y = fresh({2});
  call("neg", {x}, y);
  EXPECT_EQ(y.storage.use_count(), 2);
  EXPECT_EQ(holders(y.storage), 1);
  queue().finish();
  EXPECT_EQ(y.storage.use_count(), 1);
  EXPECT_EQ(holders(y.storage), 1);
}

TEST(Fusion, KeepsNoMemoryThatIsCountedOrAskedFor) {
  const WithFusion on(true);
  const Tensor x = upload_as(DType::float32, std::vector<double>(1 << 18, 2), {1 << 18});
  const std::uint64_t before = device().allocator().stats().allocated;
  {
    call("neg", {x}, fresh({1 << 18}));
  }
  EXPECT_EQ(device().allocator().stats().allocated, before);

  device().allocator().empty_cache();
  device().allocator().set_limit(device().allocator().stats().reserved + (4 << 20));
  for (int i = 0; i < 20; ++i) call("neg", {x}, fresh({1 << 18}));  // 1 MiB each
  device().allocator().set_limit(0);
}

TEST(Fusion, HoldsNoMemoryForWhatOnlyAChainReads) {
  const WithFusion on(true);
  constexpr std::int64_t count = 1 << 20;
  const Tensor x = upload_as(DType::float32, std::vector<double>(count, 1), {count});
  for (std::size_t round = 0; round <= meetings_before_fusion; ++round) {
    const std::uint64_t before = device().allocator().stats().allocated;
    device().allocator().reset_peaks();
    Tensor y = x;
    for (int i = 0; i < 12; ++i) {
      const Tensor next = fresh({count});
      call("add", {y, Scalar(1)}, next);
      y = next;
    }
    EXPECT_LE(device().allocator().stats().max_allocated - before, 4u * 4 * count);
    EXPECT_EQ(download_values(y), std::vector<double>(count, 13));
  }
}

TEST(Fusion, LaunchesAtOnceWhatOthersMaySee) {
  const WithFusion on(true);
  const Tensor x = upload_as(DType::float32, {1, 2}, {2}), y = fresh({2});
  y.storage->share();
  call("neg", {x}, y);
  EXPECT_EQ(y.storage.use_count(), 1);
  const Tensor z = fresh({2});
  call("neg", {x}, z);
  EXPECT_EQ(z.storage.use_count(), 2);
  z.storage->share();
  EXPECT_EQ(z.storage.use_count(), 1);
}

}  // namespace
