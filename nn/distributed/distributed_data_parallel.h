#pragma once

#include <memory>

#include "nn/distributed/reducer.h"
#include "nn/module.h"

namespace ocl::nn::parallel {

/** torch.nn.parallel.DistributedDataParallel's options, with its defaults. */
struct DistributedDataParallelOptions {
  bool broadcast_buffers = true, init_sync = true;
  double bucket_cap_mb = 25;
  bool find_unused_parameters = false, static_graph = false;

  ReducerOptions reducer() const;
};

/**
 * A module whose gradients are averaged over the processes of a group while backward runs.
 *
 *     ocl::nn::parallel::DistributedDataParallel net(std::make_shared<Net>(), group);
 *     loss_of(net(images), labels).backward();  // the gradients are the same on all ranks now
 *
 * Its state dict has the module's names after "module.".
 */
class DistributedDataParallel : public Module {
 public:
  DistributedDataParallel(const std::shared_ptr<Module>& module,
                          const std::shared_ptr<distributed::ProcessGroup>& group,
                          const DistributedDataParallelOptions& options = {});

  Tensor forward(const Tensor& x) override;
  Value call(const Arguments& arguments) override;
  std::string name() const override { return "DistributedDataParallel"; }
  std::shared_ptr<Module> module() const { return own_module("module"); }

  /** While it lives, backward passes add up gradients on each rank alone. */
  class NoSync {
   public:
    explicit NoSync(Reducer& reducer) : reducer_(reducer), before_(reducer.synchronizes()) {
      reducer_.set_synchronizes(false);
    }
    ~NoSync() { reducer_.set_synchronizes(before_); }
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    Reducer& reducer_;
    const bool before_;
  };
  NoSync no_sync() { return NoSync(*reducer_); }

 private:
  std::shared_ptr<Reducer> reducer_;
};

}  // namespace ocl::nn::parallel
