#include "trainer.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "autograd/generator.h"
#include "checkpoint.h"
#include "nn/utils/clip_grad.h"
#include "progress.h"

namespace {

namespace fs = std::filesystem;
namespace F = ocl::nn::functional;
using nlohmann::json;
using ocl::StateDict;
using ocl::Tensor;
using ocl::data::DataLoader;
using ocl::data::DataLoaderOptions;

std::unique_ptr<ocl::optim::Optimizer> make_optimizer(const ocl::TensorList& parameters,
                                                      const TrainingOptions& options) {
  if (options.optimizer == "sgd")
    return std::make_unique<ocl::optim::SGD>(
        parameters,
        ocl::optim::SGDOptions(options.lr).momentum(options.momentum).weight_decay(options.weight_decay));
  return std::make_unique<ocl::optim::AdamW>(
      parameters, ocl::optim::AdamWOptions(options.lr).weight_decay(options.weight_decay));
}

std::shared_ptr<const ocl::data::Dataset> beginning_of(
    const std::shared_ptr<const ocl::data::Dataset>& dataset, std::size_t count) {
  std::vector<std::size_t> indices(std::min(count, dataset->size()));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return std::make_shared<ocl::data::Subset>(dataset, indices);
}

void add_prefixed(StateDict& all, const std::string& prefix, const StateDict& part) {
  for (const auto& [name, tensor] : part) all.emplace_back(prefix + name, tensor);
}

StateDict without_prefix(const StateDict& all, const std::string& prefix) {
  StateDict part;
  for (const auto& [name, tensor] : all)
    if (name.compare(0, prefix.size(), prefix) == 0) part.emplace_back(name.substr(prefix.size()), tensor);
  return part;
}

}  // namespace

std::string TrainingOptions::fixed() const {
  return json{net,        data,       mnist,     fake_size, side,     mixup,        cutmix,  epochs,
              accumulate, batch_size, optimizer, lr,        momentum, weight_decay, warm_up, label_smoothing,
              ema,        clip,       seed,      dry_run}
      .dump();
}

Trainer::Trainer(std::shared_ptr<ocl::nn::Module> net, const Pictures& pictures,
                 const TrainingOptions& options)
    : net_(std::move(net)),
      average_(options.ema > 0 ? net_->clone() : nullptr),
      options_(options),
      device_(options.device),
      train_(options.dry_run ? beginning_of(pictures.train, 2 * options.batch_size * options.accumulate)
                             : pictures.train,
             DataLoaderOptions()
                 .batch_size(options.batch_size)
                 .shuffle(true)
                 .workers(options.workers)
                 .seed(options.seed),
             device_),
      test_(options.dry_run ? beginning_of(pictures.test, options.batch_size) : pictures.test,
            DataLoaderOptions().batch_size(options.batch_size).workers(options.workers), device_),
      optimizer_(make_optimizer(net_->parameters(), options)),
      mixing_(options.mixup, options.cutmix, options.seed) {}

std::int64_t Trainer::updates_in_epoch() const {
  return (static_cast<std::int64_t>(train_.size()) + options_.accumulate - 1) / options_.accumulate;
}

/** Rises in a line while warming up, then falls as half a cosine. */
double Trainer::learning_rate() const {
  const double per_epoch = static_cast<double>(updates_in_epoch()), warm = options_.warm_up * per_epoch;
  const double at = static_cast<double>(updates_), all = per_epoch * options_.epochs;
  if (at < warm) return options_.lr * (at + 1) / (warm + 1);
  constexpr double pi = 3.14159265358979323846;
  return options_.lr * 0.5 * (1 + std::cos(pi * (at - warm) / std::max(all - warm, 1.0)));
}

Tensor Trainer::loss_of(const Tensor& pictures, const Tensor& labels, std::size_t batch) {
  const auto [mixed, share] = mixing_(pictures, static_cast<std::size_t>(epoch_) * train_.size() + batch);
  const auto entropy = [&](const Tensor& scores, const Tensor& target) {
    return F::cross_entropy(scores, target, {}, -100, ocl::Reduction::mean, options_.label_smoothing);
  };
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
  if (options_.clip > 0) ocl::nn::utils::clip_grad_norm_(net_->parameters(), options_.clip);
  for (auto& group : optimizer_->param_groups()) group.options.set("lr", learning_rate());
  optimizer_->step();
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

void Trainer::report(std::size_t batch, double loss, double images_per_second) const {
  const double left = static_cast<double>((train_.size() - batch) * options_.batch_size) / images_per_second;
  print_progress(batch == train_.size(), "epoch %d: batch %zu/%zu, loss %.4f, %.0f images/s, %.0f s left",
                 epoch_ + 1, batch, train_.size(), loss, images_per_second, left);
}

/** Images per second. */
double Trainer::train_epoch() {
  net_->train();
  const auto start = Clock::now();
  std::size_t batch = train_.state().batches;
  const std::size_t first = batch;
  int gathered = 0;
  std::vector<Tensor> unread;
  const auto read_losses = [&] {
    for (const Tensor& loss : unread) losses_.push_back(loss.item<double>());
    unread.clear();
  };
  const auto speed = [&] {
    return static_cast<double>((batch - first) * options_.batch_size) / seconds_since(start);
  };
  for (const ocl::TensorList& pair : train_) {
    ++batch;
    const Tensor loss = loss_of(pair[0], pair[1], batch);
    (loss / options_.accumulate).backward();
    unread.push_back(loss.detach());
    if (++gathered < options_.accumulate && batch < train_.size()) continue;
    gathered = 0;
    update();
    if (updates_ % options_.log_interval == 0) {
      read_losses();  // waits for the device
      report(batch, losses_.back(), speed());
    }
    if (options_.checkpoint_every > 0 && updates_ % options_.checkpoint_every == 0 && batch < train_.size()) {
      read_losses();
      save();
    }
  }
  read_losses();
  report(batch, losses_.back(), speed());
  return speed();
}

EpochRow Trainer::test() const {
  const ocl::NoGradGuard no_grad;
  best()->eval();
  std::vector<Tensor> sums;  // of the loss, the hits and the hits among five, batch by batch
  std::int64_t pictures = 0;
  for (const ocl::TensorList& pair : test_) {
    const Tensor scores = scores_of(*best(), pair[0]).front();
    const Tensor ranked = ocl::topk(scores, std::min<std::int64_t>(5, scores.size(1)), 1).second;
    const Tensor hits = (ranked == ocl::unsqueeze(pair[1], 1)).to(ocl::DType::float32);
    sums.push_back(F::cross_entropy(scores, pair[1], {}, -100, ocl::Reduction::sum));
    sums.push_back(ocl::slice(hits, 1, 0, 1).sum());
    sums.push_back(hits.sum());
    pictures += pair[0].size(0);
  }
  double totals[3] = {};
  for (std::size_t i = 0; i < sums.size(); ++i) totals[i % 3] += sums[i].item<double>();
  const double count = static_cast<double>(pictures);
  return {epoch_, 0, totals[0] / count, 100 * totals[1] / count, 100 * totals[2] / count, 0};
}

void Trainer::run(const std::function<void(const std::vector<EpochRow>&)>& after_epoch) {
  while (epoch_ < options_.epochs) {
    const double images_per_second = train_epoch();
    ++epoch_;
    EpochRow row = test();
    row.train_loss =
        std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    row.images_per_second = images_per_second;
    losses_.clear();
    rows_.push_back(row);
    save();
    after_epoch(rows_);
  }
}

void Trainer::save() const {
  StateDict tensors;
  add_prefixed(tensors, "net.", net_->state_dict());
  if (average_) add_prefixed(tensors, "average.", average_->state_dict());
  json numbers = json::array();
  const auto state = optimizer_->state_dict();
  const auto& parameters = state.groups.front().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    for (const auto& [name, tensor] : parameters[i].tensors)
      tensors.emplace_back("optimizer." + std::to_string(i) + "." + name, tensor);
    numbers.push_back(parameters[i].numbers);
  }
  const auto place = train_.state();
  const auto random = ocl::default_generator(device_).state();
  const json progress{{"options", options_.fixed()},
                      {"epoch", epoch_},
                      {"updates", updates_},
                      {"losses", losses_},
                      {"rows", rows_},
                      {"optimizer", numbers},
                      {"loader", {place.seed, place.passes, place.batches}},
                      {"random", {random.seed, random.offset}}};
  write_checkpoint({tensors, progress}, options_.output);
}

void Trainer::resume() {
  const auto [tensors, progress] = read_checkpoint(options_.output, device_);
  if (progress.at("options") != options_.fixed())
    throw ocl::FileError(options_.output + " holds the checkpoint of a training with other options");
  net_->load_state_dict(without_prefix(tensors, "net."));
  if (average_) average_->load_state_dict(without_prefix(tensors, "average."));
  auto state = optimizer_->state_dict();
  auto& parameters = state.groups.front().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].numbers = progress.at("optimizer").at(i).get<std::map<std::string, double>>();
    for (const auto& [name, tensor] : without_prefix(tensors, "optimizer." + std::to_string(i) + "."))
      parameters[i].tensors[name] = tensor;
  }
  optimizer_->load_state_dict(state);
  epoch_ = progress.at("epoch");
  updates_ = progress.at("updates");
  losses_ = progress.at("losses").get<std::vector<double>>();
  rows_ = progress.at("rows").get<std::vector<EpochRow>>();
  const json& place = progress.at("loader");
  train_.set_state({place.at(0), place.at(1), place.at(2)});
  ocl::default_generator(device_).set_state({progress.at("random").at(0), progress.at("random").at(1)});
  std::printf("resumed in epoch %d, after %lld updates\n", epoch_ + 1, static_cast<long long>(updates_));
}
