#include "made_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>

using ocl::data::Image;
using ocl::data::Random;

namespace {

/** Whether a point of the plane belongs to the shape, which reaches from -1 to 1. */
using Shape = bool (*)(double x, double y);

struct NamedShape {
  const char* name;
  Shape contains;
};
constexpr NamedShape shapes[] = {
    {"circle", [](double x, double y) { return x * x + y * y <= 1; }},
    {"cross",
     [](double x, double y) {
       const double a = std::abs(x), b = std::abs(y);
       return std::min(a, b) <= 1.0 / 3 && std::max(a, b) <= 1;
     }},
    {"diamond", [](double x, double y) { return std::abs(x) / 0.7 + std::abs(y) <= 1; }},
    {"ring",
     [](double x, double y) {
       const double distance = std::hypot(x, y);
       return distance >= 0.75 && distance <= 1;
     }},
    {"square", [](double x, double y) { return std::max(std::abs(x), std::abs(y)) <= 0.8; }},
    {"triangle", [](double x, double y) { return y <= 0.8 && std::abs(x) <= (y + 1) / 2; }},
};

using Colour = std::array<int, Image::channels>;

/** A number of mean 0 and deviation 1, by Box and Muller: <random> draws others with each standard library.
 */
double normal(Random& random) {
  constexpr double pi = 3.14159265358979323846;
  const double distance = std::sqrt(-2 * std::log(1 - random.uniform()));
  return distance * std::cos(2 * pi * random.uniform());
}

}  // namespace

const std::vector<std::string>& made_classes() {
  static const auto& names = *[] {
    auto* all = new std::vector<std::string>;
    for (const NamedShape& shape : shapes) all->emplace_back(shape.name);
    return all;
  }();
  return names;
}

MadePicture made_picture(int side, std::uint64_t number) {
  Random random{number};
  const std::size_t label = random.integer(std::size(shapes));
  Colour ground, colour;
  for (std::size_t c = 0; c < ground.size(); ++c) {
    ground[c] = static_cast<int>(random.integer(256));
    colour[c] = (ground[c] + 80 + static_cast<int>(random.integer(96))) % 256;
  }
  const double radius = side * random.uniform(0.2, 0.35);
  const double centre_x = random.uniform(radius, side - radius),
               centre_y = random.uniform(radius, side - radius);
  Image image(side, side);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const bool inside =
          shapes[label].contains((x + 0.5 - centre_x) / radius, (y + 0.5 - centre_y) / radius);
      for (std::size_t c = 0; c < ground.size(); ++c) {
        const double value = inside ? colour[c] : ground[c] + 20 * normal(random);
        image.row(y)[static_cast<std::size_t>(x) * ground.size() + c] =
            static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
      }
    }
  return {std::move(image), static_cast<std::int64_t>(label)};
}
