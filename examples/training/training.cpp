#include "training.h"

#include <cstdio>

#include "classifier.h"
#include "nets.h"
#include "plotting.h"
#include "trainer.h"

void run_training(const TrainingOptions& options) {
  const ocl::Device device(options.device);
  ocl::set_default_device(*device);
  ocl::manual_seed(options.seed);
  const Pictures pictures = load_pictures(options);
  const Preparation& preparation = pictures.preparation;
  const auto net = make_net(options.net, {static_cast<std::int64_t>(pictures.classes.size()),
                                          preparation.channels, preparation.side});
  net->to(device);
  Trainer trainer(net, pictures, options);
  const std::filesystem::path output = options.output;
  std::filesystem::create_directories(output);
  if (!can_plot()) std::printf("gnuplot is not installed: no curves are drawn\n");
  if (options.resume) {
    trainer.resume();
    write_record(trainer.rows(), output);
  }
  trainer.run([&](const std::vector<EpochRow>& rows, const std::string& time_left) {
    const EpochRow& row = rows.back();
    std::printf(
        "epoch %d/%d: training loss %.4f, test loss %.4f, top 1 %.2f %%, top 5 %.2f %%, %.0f images/s, %s "
        "left\n",
        row.epoch, options.epochs, row.train_loss, row.test_loss, row.test_top1, row.test_top5,
        row.images_per_second, time_left.c_str());
    std::fflush(stdout);
    write_record(rows, output);
  });
  const auto model = output / "model.safetensors";
  save_classifier({options.net, trainer.best(), pictures.classes, preparation}, model);
  std::printf("wrote %s\n", model.c_str());
}
