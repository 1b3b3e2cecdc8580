#include "autograd/distributed/process_group.h"

#include <functional>
#include <thread>

#include "autograd/ops/pointwise.h"
#include "autograd/tensor/creation.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;
using distributed::DistBackendError;
using distributed::ProcessGroup;
using distributed::ReduceOp;

namespace {

class ProcessGroups : public OnDevice {};

/** Runs `of_rank` in a thread for each rank of a new group; throws what the first of them threw. */
void with_ranks(int size, const std::function<void(ProcessGroup&)>& of_rank, double timeout = 60) {
  const int port = distributed::Socket::listen(0).local_port();
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        of_rank(*ProcessGroup::connect({{"127.0.0.1", port}, rank, size, distributed::Seconds(timeout)}));
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const DistBackendError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(ProcessGroups, RanksInThreadsReduce) {
  with_ranks(3, [](ProcessGroup& group) {
    EXPECT_TRUE(group.shares_memory_with((group.rank() + 1) % 3));
    for (const std::int64_t count : {0, 1, 5, 1'500'001}) {
      const Tensor t = full({count}, group.rank() + 1, DType::float32);
      const distributed::WorkHandle work = group.all_reduce(t);
      work->wait();
      EXPECT_TRUE(work->is_completed());
      EXPECT_EQ(t.to_vector(), Values(static_cast<std::size_t>(count), 6.0f));
      group.all_reduce(t, ReduceOp::avg)->wait();
      EXPECT_EQ(t.to_vector(), Values(static_cast<std::size_t>(count), 6.0f));
    }
  });
}

TEST_F(ProcessGroups, MessagesAndShares) {
  with_ranks(2, [](ProcessGroup& group) {
    const int other = 1 - group.rank();
    const Tensor own = full({3}, group.rank(), DType::float32), received = zeros({3});
    const distributed::WorkHandle sent = group.send(own, other), came = group.recv(received, other);
    sent->wait();
    came->wait();
    EXPECT_EQ(received.to_vector(), Values(3, static_cast<float>(other)));
    const TensorList all{zeros({3}), zeros({3})};
    group.all_gather(all, own)->wait();
    EXPECT_EQ(all[1].to_vector(), Values(3, 1.0f));
    const Tensor half = zeros({1});
    group.reduce_scatter(half, tensor(Values{1, 2}, {2}), ReduceOp::sum)->wait();
    EXPECT_EQ(half.item(), group.rank() == 0 ? 2.0f : 4.0f);
  });
}

TEST_F(ProcessGroups, SubgroupsAreForTheirMembers) {
  with_ranks(3, [](ProcessGroup& group) {
    const auto some = group.subgroup({2, 0});
    ASSERT_EQ(some != nullptr, group.rank() != 1);
    if (!some) return;
    EXPECT_EQ(some->rank(), group.rank() == 2 ? 0 : 1);
    EXPECT_EQ(some->global_ranks(), (std::vector<int>{2, 0}));
    const Tensor t = full({4}, group.rank(), DType::float32);
    some->broadcast(t, 0)->wait();
    EXPECT_EQ(t.to_vector(), Values(4, 2.0f));
    some->barrier();
  });
}

TEST_F(ProcessGroups, OtherCallsAreErrorsThatSayBoth) {
  with_ranks(2, [](ProcessGroup& group) {
    const std::string message = message_of([&] {
      const Tensor t = ones({3 + group.rank()});
      group.all_reduce(t)->wait();
    });
    EXPECT_NE(message.find("3 elements"), std::string::npos) << message;
    EXPECT_NE(message.find("4 elements"), std::string::npos) << message;
    EXPECT_EQ(message_of([&] { group.barrier(); }), message);  // it has failed for good
  });
}

TEST_F(ProcessGroups, ARankThatDoesNotComeIsNamed) {
  const std::string message = message_of([] {
    with_ranks(
        2,
        [](ProcessGroup& group) {
          if (group.rank() == 0)
            group.barrier();
          else
            std::this_thread::sleep_for(std::chrono::seconds(3));
        },
        1);
  });
  EXPECT_NE(message.find("rank 1 did not go on with barrier within the time-out of 1 s"), std::string::npos)
      << message;
}

TEST_F(ProcessGroups, ClosedGroupsRefuse) {
  with_ranks(1, [](ProcessGroup& group) {
    EXPECT_THROW(group.all_reduce(ones({3}, DType::int64), ReduceOp::avg), TypeError);
    EXPECT_THROW(group.broadcast(ones({3}), 1), ValueError);
    EXPECT_THROW(group.send(ones({3}), 0), ValueError);
    group.close();
    EXPECT_EQ(message_of([&] { group.barrier(); }), "the process group was destroyed");
  });
  EXPECT_THROW(ProcessGroup::connect({{"127.0.0.1", 1}, 2, 2}), ValueError);
}

}  // namespace
