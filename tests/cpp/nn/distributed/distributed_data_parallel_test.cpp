#include "nn/distributed/distributed_data_parallel.h"

#include <thread>

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;
using distributed::ProcessGroup;
using nn::parallel::DistributedDataParallel;

namespace {

class DataParallel : public OnDevice {};

struct Net : nn::Module {
  nn::Child<nn::Linear> hidden = add<nn::Linear>("hidden", 3, 5);
  nn::Child<nn::BatchNorm1d> norm = add<nn::BatchNorm1d>("norm", 5);
  nn::Child<nn::Linear> out = add<nn::Linear>("out", 5, 2);
  Tensor forward(const Tensor& x) override { return out(ocl::tanh(norm(hidden(x)))); }
};

Tensor batch_of(int rank) {
  Values values;
  for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>((i * 7 + rank * 5) % 11) / 11);
  return tensor(values, {4, 3});
}

TEST_F(DataParallel, GradientsAreThoseOfAllBatches) {
  constexpr int size = 2;
  manual_seed(1);
  std::vector<std::shared_ptr<Net>> nets{std::make_shared<Net>(), std::make_shared<Net>()};
  const int port = distributed::Socket::listen(0).local_port();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const auto group = ProcessGroup::connect({{"127.0.0.1", port}, rank, size});
      DistributedDataParallel parallel(nets[static_cast<std::size_t>(rank)], group);
      {
        const auto alone = parallel.no_sync();
        parallel(batch_of(rank)).square().sum().backward();
      }
      parallel(batch_of(rank)).square().sum().backward();
      EXPECT_EQ(parallel.state_dict()[0].first, "module.hidden.weight");
      group->barrier();
    });
  for (std::thread& thread : threads) thread.join();

  std::vector<Values> sums;
  Net alone;
  alone.load_state_dict(nets[0]->state_dict());
  for (int rank = 0; rank < size; ++rank) {
    alone.zero_grad();
    for (int pass = 0; pass < 2; ++pass) alone(batch_of(rank)).square().sum().backward();
    const TensorList parameters = alone.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Values own = parameters[i].grad().to_vector();
      if (rank == 0) sums.push_back(own);
      if (rank == 1)
        for (std::size_t e = 0; e < own.size(); ++e) sums[i][e] = (sums[i][e] + own[e]) / 2;
    }
  }
  for (const auto& net : nets) {
    const TensorList parameters = net->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_EQ(parameters[i].grad().to_vector(), sums[i]);
    EXPECT_EQ(net->get_buffer("norm.running_mean").to_vector(),
              nets[0]->get_buffer("norm.running_mean").to_vector());
  }
}

TEST_F(DataParallel, RefusesModulesWithoutParameters) {
  const int port = distributed::Socket::listen(0).local_port();
  const auto group = ProcessGroup::connect({{"127.0.0.1", port}, 0, 1});
  EXPECT_THROW(DistributedDataParallel(std::make_shared<nn::ReLU>(), group), ValueError);
}

}  // namespace
