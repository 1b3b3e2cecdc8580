#include "display.h"

#include <algorithm>
#include <cmath>

std::string TimeLeft::after(std::size_t done) const {
  const double pace = seconds_since(since_) / static_cast<double>(std::max<std::size_t>(done - start_, 1));
  const long seconds = std::lround(pace * static_cast<double>(total_ - done));
  char text[64];
  std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return text;
}

Bar::Bar(std::string title, std::size_t images, std::size_t batches, std::size_t images_done)
    : title_(std::move(title)), images_(images), batches_(batches), first_(images_done), done_(images_done) {}

double Bar::images_per_second() const {
  return static_cast<double>(done_ - first_) / seconds_since(since_);
}

void Bar::show(std::size_t images_done, std::size_t batch, double loss, const std::string& time_left) {
  done_ = images_done;
  const bool is_last = batch == batches_;
  if (!is_terminal())
    return print_progress(is_last, "%s: batch %zu/%zu, loss %.4f, %.0f images/s, %s left", title_.c_str(),
                          batch, batches_, loss, images_per_second(), time_left.c_str());
  constexpr std::size_t width = 24;
  const std::size_t filled = width * done_ / std::max<std::size_t>(images_, 1);
  const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
  print_progress(is_last, "%s [%s] %zu/%zu images, %.0f images/s, loss %.4f, %s left", title_.c_str(),
                 bar.c_str(), done_, images_, images_per_second(), loss, time_left.c_str());
}
