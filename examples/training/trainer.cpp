#include "trainer.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "autograd/tensor/generator.h"
#include "classifier.h"

namespace {

namespace fs = std::filesystem;
namespace F = ocl::nn::functional;
using nlohmann::json;
using ocl::StateDict;
using ocl::Tensor;
using ocl::data::DataLoader;
using ocl::data::DataLoaderOptions;

/** Weight decay is for matrices and kernels: norms and biases, all vectors, have none. */
std::unique_ptr<ocl::optim::Optimizer> make_optimizer(const ocl::TensorList& parameters,
                                                      const TrainingOptions& options) {
  ocl::TensorList decayed, others;
  for (const Tensor& parameter : parameters) (parameter.dim() > 1 ? decayed : others).push_back(parameter);
  std::unique_ptr<ocl::optim::Optimizer> optimizer;
  if (options.optimizer == "sgd")
    optimizer = std::make_unique<ocl::optim::SGD>(decayed, ocl::optim::SGDOptions(options.lr)
                                                               .momentum(options.momentum)
                                                               .nesterov(options.momentum > 0)
                                                               .weight_decay(options.weight_decay));
  else
    optimizer = std::make_unique<ocl::optim::AdamW>(
        decayed, ocl::optim::AdamWOptions(options.lr).weight_decay(options.weight_decay));
  if (!others.empty()) optimizer->add_param_group(others, {{"weight_decay", 0.0}});
  return optimizer;
}

std::shared_ptr<const ocl::data::Dataset> beginning_of(
    const std::shared_ptr<const ocl::data::Dataset>& dataset, std::size_t count) {
  std::vector<std::size_t> indices(std::min(count, dataset->size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return std::make_shared<ocl::data::Subset>(dataset, indices);
}

std::shared_ptr<const ocl::data::Dataset> to_train_on(const Pictures& pictures,
                                                      const TrainingOptions& options) {
  const auto batches = static_cast<std::size_t>(2 * options.accumulate);
  return options.dry_run ? beginning_of(pictures.train, batches * options.batch_size) : pictures.train;
}

DataLoader make_train_loader(const std::shared_ptr<const ocl::data::Dataset>& dataset,
                             const TrainingOptions& options, const ocl::Device& device) {
  // Batch norm has nothing to learn from one picture: where that would be the last batch, it is left out.
  const bool is_one_left = options.batch_size > 1 && dataset->size() % options.batch_size == 1;
  DataLoader loader(dataset,
                    DataLoaderOptions()
                        .batch_size(options.batch_size)
                        .shuffle(true)
                        .drop_last(is_one_left)
                        .workers(options.workers)
                        .seed(options.seed),
                    device);
  dlprim::require(loader.size() > 0, dataset->size(), " pictures are too few to train on");
  return loader;
}

}  // namespace

Trainer::Trainer(std::shared_ptr<ocl::nn::Module> net, const Pictures& pictures,
                 const TrainingOptions& options)
    : net_(std::move(net)),
      average_(options.ema > 0 ? net_->clone() : nullptr),
      options_(options),
      device_(options.device),
      train_(make_train_loader(to_train_on(pictures, options), options, device_)),
      test_(options.dry_run ? beginning_of(pictures.test, options.batch_size) : pictures.test,
            DataLoaderOptions().batch_size(options.batch_size).workers(options.workers), device_),
      optimizer_(make_optimizer(net_->parameters(), options)),
      mixing_(options.mixup, options.cutmix, options.seed),
      precision_(options.amp) {
  start_clock();
}

std::int64_t Trainer::updates_in_epoch() const {
  return (static_cast<std::int64_t>(train_.size()) + options_.accumulate - 1) / options_.accumulate;
}

/** Fewer in the last update of a pass. */
std::size_t Trainer::batches_of_update(std::size_t batch) const {
  const auto accumulate = static_cast<std::size_t>(options_.accumulate);
  return std::min(accumulate, train_.size() - batch / accumulate * accumulate);
}

std::size_t Trainer::images_of_epoch() const {
  return images_after(train_.size());
}

std::size_t Trainer::images_after(std::size_t batches) const {
  return std::min(train_.dataset().size(), batches * options_.batch_size);
}

std::size_t Trainer::images_done(std::size_t batches) const {
  return static_cast<std::size_t>(epoch_) * images_of_epoch() + images_after(batches);
}

void Trainer::start_clock() {
  time_left_ = TimeLeft(images_done(train_.state().batches),
                        static_cast<std::size_t>(options_.epochs) * images_of_epoch());
}

/** Rises in a line while warming up; then it falls as half a cosine, or stays. */
double Trainer::learning_rate() const {
  const auto per_epoch = static_cast<double>(updates_in_epoch());
  const double warm = std::nearbyint(options_.warm_up * per_epoch), at = static_cast<double>(updates_);
  if (at < warm) return options_.lr * (at + 1) / (warm + 1);
  if (options_.schedule == "constant") return options_.lr;
  constexpr double pi = 3.14159265358979323846;
  const double share = (at - warm) / std::max(per_epoch * options_.epochs - warm, 1.0);
  return options_.lr * 0.5 * (1 + std::cos(pi * std::min(share, 1.0)));
}

Tensor Trainer::loss_of(const Tensor& pictures, const Tensor& labels, std::size_t batch) {
  const auto [mixed, share] = mixing_(pictures, static_cast<std::size_t>(epoch_) * train_.size() + batch);
  const auto entropy = [&](const Tensor& scores, const Tensor& target) {
    return F::cross_entropy(scores, target, {}, ocl::Reduction::mean, -100, options_.label_smoothing);
  };
  const auto autocast = precision_.autocast();
  Tensor loss;
  for (const Tensor& scores : scores_of(*net_, mixed)) {
    Tensor own = entropy(scores, labels);
    if (share < 1) own = own * share + entropy(scores, moved_on(labels)) * (1 - share);
    constexpr double auxiliary = 0.3;  // the weight that the Inception papers give their other classifiers
    loss = loss.defined() ? loss + own * auxiliary : own;
  }
  return loss;
}

void Trainer::update() {
  for (auto& group : optimizer_->param_groups()) group.options.set("lr", learning_rate());
  precision_.step(*optimizer_, *net_, options_.clip);
  optimizer_->zero_grad();
  ++updates_;
  if (!average_) return;
  const ocl::NoGradGuard no_grad;
  const StateDict now = net_->state_dict(), averages = average_->state_dict();
  for (std::size_t i = 0; i < now.size(); ++i) {
    Tensor average = averages[i].second;
    const Tensor& value = now[i].second;
    average.copy_(is_floating(value.dtype()) ? ocl::lerp(average, value, 1 - options_.ema) : value);
  }
}

EpochRow Trainer::train_epoch() {
  net_->train();
  std::size_t batch = train_.state().batches;
  Bar bar(dlprim::concat("epoch ", epoch_ + 1, "/", options_.epochs), images_of_epoch(), train_.size(),
          images_after(batch));
  std::vector<Tensor> unread;
  const auto read_losses = [&] {  // waits for the device
    for (const Tensor& loss : unread) loss_sum_ += loss.item<double>();
    unread.clear();
  };
  for (const ocl::TensorList& pair : train_) {
    const Tensor loss = loss_of(pair[0], pair[1], batch);
    precision_.backward(loss / static_cast<double>(batches_of_update(batch)));
    unread.push_back(loss.detach() * static_cast<double>(pair[0].size(0)));
    ++batch;
    const bool is_last = batch == train_.size();
    if (batch % static_cast<std::size_t>(options_.accumulate) != 0 && !is_last) continue;
    update();
    if (updates_ % options_.log_interval == 0 || is_last) {
      read_losses();
      bar.show(images_after(batch), batch, loss_sum_ / static_cast<double>(images_after(batch)),
               time_left_.after(images_done(batch)));
    }
    if (options_.checkpoint_every > 0 && updates_ % options_.checkpoint_every == 0 && !is_last) {
      read_losses();
      save();
    }
  }
  EpochRow row{};
  row.epoch = epoch_ + 1;
  row.update = updates_;
  row.lr = learning_rate();
  row.train_loss = loss_sum_ / static_cast<double>(images_of_epoch());
  row.images_per_second = bar.images_per_second();
  return row;
}

void Trainer::test(EpochRow& row) const {
  const ocl::NoGradGuard no_grad;
  const auto autocast = precision_.autocast();
  best()->eval();
  std::vector<Tensor> sums;  // of the loss, the hits and the hits among five, batch by batch
  for (const ocl::TensorList& pair : test_) {
    const Tensor scores = scores_of(*best(), pair[0]).front();
    const Tensor ranked = ocl::topk(scores, std::min<std::int64_t>(5, scores.size(1)), 1).second;
    const Tensor hits = (ranked == ocl::unsqueeze(pair[1], 1)).to(ocl::DType::float32);
    sums.push_back(F::cross_entropy(scores, pair[1], {}, ocl::Reduction::sum));
    sums.push_back(ocl::slice(hits, 1, 0, 1).sum());
    sums.push_back(hits.sum());
  }
  double totals[3] = {};
  for (std::size_t i = 0; i < sums.size(); ++i) totals[i % 3] += sums[i].item<double>();
  const auto count = static_cast<double>(test_.dataset().size());
  row.test_loss = totals[0] / count;
  row.test_top1 = 100 * totals[1] / count;
  row.test_top5 = 100 * totals[2] / count;
}

void Trainer::run(
    const std::function<void(const std::vector<EpochRow>&, const std::string& time_left)>& after_epoch) {
  while (epoch_ < options_.epochs) {
    EpochRow row = train_epoch();
    test(row);
    ++epoch_;
    loss_sum_ = 0;
    rows_.push_back(row);
    save();
    after_epoch(rows_, time_left_.after(images_done(0)));
  }
}

void Trainer::save() const {
  const auto place = train_.state();
  const json progress{{"options", options_.fixed()},
                      {"epoch", epoch_},
                      {"updates", updates_},
                      {"loss", loss_sum_},
                      {"rows", rows_},
                      {"loader", {place.seed, place.passes, place.batches}}};
  ocl::Checkpoint checkpoint;
  checkpoint.add("net", *net_)
      .add("optimizer", *optimizer_)
      .add("scaler", precision_.scaler())
      .add("random", ocl::default_generator(device_))
      .add("progress", progress.dump());
  if (average_) checkpoint.add("average", *average_);
  write_checkpoint(checkpoint, options_.output);
}

void Trainer::resume() {
  const ocl::Checkpoint checkpoint = read_checkpoint(options_.output, device_);
  const json progress = json::parse(checkpoint.text("progress"));
  options_.require_same(progress.at("options"));
  checkpoint.restore("net", *net_).restore("optimizer", *optimizer_);
  if (average_) checkpoint.restore("average", *average_);
  epoch_ = progress.at("epoch");
  updates_ = progress.at("updates");
  loss_sum_ = progress.at("loss");
  rows_ = progress.at("rows").get<std::vector<EpochRow>>();
  if (precision_.scaler().is_enabled()) checkpoint.restore("scaler", precision_.scaler());
  const json& place = progress.at("loader");
  train_.set_state({place.at(0), place.at(1), place.at(2)});
  checkpoint.restore("random", ocl::default_generator(device_));
  start_clock();
  std::printf("resumed in epoch %d, after %lld updates\n", epoch_ + 1, static_cast<long long>(updates_));
}
