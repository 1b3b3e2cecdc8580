#pragma once

#include <string>

#include "progress.h"

/** The rest of a training's time, from its pace since it was started or resumed, tests included. */
class TimeLeft {
 public:
  TimeLeft() = default;
  TimeLeft(std::size_t done, std::size_t total) : start_(done), total_(total) {}
  /** Hours, minutes and seconds, when so many of all pictures are done. */
  std::string after(std::size_t done) const;

 private:
  std::size_t start_ = 0, total_ = 0;
  Clock::time_point since_ = Clock::now();
};

/** An epoch's bar with images per second; lines where the output is no terminal. */
class Bar {
 public:
  Bar(std::string title, std::size_t images, std::size_t batches, std::size_t images_done);
  void show(std::size_t images_done, std::size_t batch, double loss, const std::string& time_left);
  double images_per_second() const;

 private:
  std::string title_;
  std::size_t images_, batches_, first_, done_;
  Clock::time_point since_ = Clock::now();
};
