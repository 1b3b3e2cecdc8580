#pragma once

#include <string>
#include <vector>

/** A line or more over a common axis, as one of the pictures that plot() puts side by side. */
struct Curves {
  struct Line {
    std::string name;  // empty: none is shown
    std::vector<double> x, y;
  };
  std::string x_label, y_label;
  std::vector<Line> lines;
  bool has_points = false, is_logarithmic = false;
};

/** Whether gnuplot, which plot() needs, is installed. */
bool can_plot();
/** Draws a PNG file. Throws std::runtime_error where gnuplot cannot. */
void plot(const std::vector<Curves>& curves, const std::string& path);
