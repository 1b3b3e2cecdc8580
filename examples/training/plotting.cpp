#include "plotting.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

void draw(std::FILE* gnuplot, const Curves& curves) {
  std::fprintf(gnuplot, "set xlabel %s\nset ylabel %s\n%s logscale y\n", quoted(curves.x_label).c_str(),
               quoted(curves.y_label).c_str(), curves.is_logarithmic ? "set" : "unset");
  const char* const style = curves.has_points ? "linespoints pointtype 7" : "lines";
  const char* between = "plot ";
  for (const auto& line : curves.lines) {
    const std::string title = line.name.empty() ? "notitle" : "title " + quoted(line.name);
    std::fprintf(gnuplot, "%s'-' with %s %s", between, style, title.c_str());
    between = ", ";
  }
  std::fprintf(gnuplot, "\n");
  for (const auto& line : curves.lines) {
    for (std::size_t i = 0; i < line.x.size(); ++i) std::fprintf(gnuplot, "%g %g\n", line.x[i], line.y[i]);
    std::fprintf(gnuplot, "e\n");
  }
}

}  // namespace

bool can_plot() {
  return std::system("command -v gnuplot >/dev/null 2>&1") == 0;
}

void plot(const std::vector<Curves>& curves, const std::string& path) {
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) throw std::runtime_error("cannot start gnuplot");
  std::fprintf(gnuplot, "set terminal png size %zu,400\nset output %s\nset multiplot layout 1,%zu\n",
               500 * curves.size(), quoted(path).c_str(), curves.size());
  for (const Curves& each : curves) draw(gnuplot, each);
  if (pclose(gnuplot) != 0) throw std::runtime_error("gnuplot could not write " + path);
}
