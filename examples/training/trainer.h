#pragma once

#include "checkpoint.h"
#include "display.h"
#include "mixing.h"
#include "nn/data/data_loader.h"
#include "nn/nn.h"
#include "pictures.h"
#include "precision.h"
#include "record.h"

/** Trains a net by the options and keeps all that a training needs to go on from where it was killed. */
class Trainer {
 public:
  /** Throws ValueError for too few pictures. */
  Trainer(std::shared_ptr<ocl::nn::Module> net, const Pictures& pictures, const TrainingOptions& options);

  /** The epochs that are left; `after_epoch` sees the rows of all until then, and the time left. */
  void run(
      const std::function<void(const std::vector<EpochRow>&, const std::string& time_left)>& after_epoch);
  /** Takes over the newest checkpoint that is whole. Throws FileError where there is none, and ValueError
   * where the training was another. */
  void resume();
  /** The net that is tested and kept: the averaged net, if one is asked for. */
  const std::shared_ptr<ocl::nn::Module>& best() const { return average_ ? average_ : net_; }
  /** The record of all epochs that were trained. */
  const std::vector<EpochRow>& rows() const { return rows_; }

 private:
  EpochRow train_epoch();
  void test(EpochRow& row) const;
  ocl::Tensor loss_of(const ocl::Tensor& pictures, const ocl::Tensor& labels, std::size_t batch);
  void update();
  void save() const;
  double learning_rate() const;
  std::int64_t updates_in_epoch() const;
  std::size_t batches_of_update(std::size_t batch) const;
  std::size_t images_of_epoch() const;
  std::size_t images_after(std::size_t batches) const;
  std::size_t images_done(std::size_t batches) const;
  void start_clock();

  std::shared_ptr<ocl::nn::Module> net_, average_;
  TrainingOptions options_;
  ocl::Device device_;
  ocl::data::DataLoader train_;
  mutable ocl::data::DataLoader test_;
  std::unique_ptr<ocl::optim::Optimizer> optimizer_;
  Mixing mixing_;
  Precision precision_;
  int epoch_ = 0;             // whole ones
  std::int64_t updates_ = 0;  // of all epochs
  double loss_sum_ = 0;       // over the pictures of this epoch
  std::vector<EpochRow> rows_;
  TimeLeft time_left_;
};
