#include "record.h"

#include <sstream>

#include "dlprim/io/file.h"
#include "plotting.h"

namespace {

void write_csv(const std::vector<EpochRow>& rows, const std::filesystem::path& path) {
  std::ostringstream text;
  text << "epoch,update,lr,train_loss,images_per_second,test_loss,test_top1,test_top5\n";
  text.precision(10);
  for (const EpochRow& row : rows)
    text << row.epoch << ',' << row.update << ',' << row.lr << ',' << row.train_loss << ','
         << row.images_per_second << ',' << row.test_loss << ',' << row.test_top1 << ',' << row.test_top5
         << '\n';
  dlprim::io::OutputFile file(path);
  file.write(text.str().data(), text.str().size());
  file.finish();
}

void plot_curves(const std::vector<EpochRow>& rows, const std::filesystem::path& path) {
  const auto line = [&](const char* name, double EpochRow::* column) {
    Curves::Line points{name, {}, {}};
    for (const EpochRow& row : rows) {
      points.x.push_back(row.epoch);
      points.y.push_back(row.*column);
    }
    return points;
  };
  plot(
      {{"epoch", "loss", {line("training", &EpochRow::train_loss), line("test", &EpochRow::test_loss)}, true},
       {"epoch",
        "test accuracy (%)",
        {line("top 1", &EpochRow::test_top1), line("top 5", &EpochRow::test_top5)},
        true},
       {"epoch", "learning rate at its end", {line("", &EpochRow::lr)}, true}},
      path);
}

}  // namespace

void write_record(const std::vector<EpochRow>& rows, const std::filesystem::path& folder) {
  if (rows.empty()) return;
  write_csv(rows, folder / "log.csv");
  if (can_plot()) plot_curves(rows, folder / "curves.png");
}
