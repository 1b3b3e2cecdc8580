#pragma once

#include <nlohmann/json.hpp>

#include "classifier.h"
#include "mixing.h"
#include "nn/data/data_loader.h"
#include "pictures.h"

/** One line of log.csv. */
struct EpochRow {
  int epoch;
  double train_loss, test_loss, top1, top5, images_per_second;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochRow, epoch, train_loss, test_loss, top1, top5, images_per_second)

/** Trains a net by the options and keeps all that a training needs to go on from where it was killed. */
class Trainer {
 public:
  Trainer(std::shared_ptr<ocl::nn::Module> net, const Pictures& pictures, const TrainingOptions& options);

  /** The epochs that are left; `after_epoch` sees the rows of all until then. */
  void run(const std::function<void(const std::vector<EpochRow>&)>& after_epoch);
  /** Takes over the newest checkpoint that is whole. Throws FileError where there is none, and where the
   * training was another. */
  void resume();
  /** What is tested and kept: the averaged net, if one is asked for. */
  const std::shared_ptr<ocl::nn::Module>& best() const { return average_ ? average_ : net_; }

 private:
  double train_epoch();
  EpochRow test() const;
  ocl::Tensor loss_of(const ocl::Tensor& pictures, const ocl::Tensor& labels, std::size_t batch);
  void update();
  void save() const;
  double learning_rate() const;
  std::int64_t updates_in_epoch() const;
  void report(std::size_t batch, double loss, double images_per_second) const;

  std::shared_ptr<ocl::nn::Module> net_, average_;
  TrainingOptions options_;
  ocl::Device device_;
  ocl::data::DataLoader train_;
  mutable ocl::data::DataLoader test_;
  std::unique_ptr<ocl::optim::Optimizer> optimizer_;
  Mixing mixing_;
  int epoch_ = 0;               // whole ones
  std::int64_t updates_ = 0;    // of all epochs
  std::vector<double> losses_;  // of the batches of this epoch
  std::vector<EpochRow> rows_;
};
