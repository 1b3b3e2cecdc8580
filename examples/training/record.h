#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

/** One line of log.csv. */
struct EpochRow {
  int epoch;
  std::int64_t update;
  double lr, train_loss, images_per_second, test_loss, test_top1, test_top5;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochRow, epoch, update, lr, train_loss, images_per_second, test_loss,
                                   test_top1, test_top5)

/** log.csv and, where there is gnuplot, curves.png: what a training leaves beside its weights. Throws
 * FileError. */
void write_record(const std::vector<EpochRow>& rows, const std::filesystem::path& folder);
