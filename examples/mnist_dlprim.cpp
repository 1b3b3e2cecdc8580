// Trains the net of examples/mnist.cpp on dlprim alone: no tape, no modules. Without arguments it trains on
// digits that it draws itself; DIR holds MNIST's four files, unpacked.
//
//     mnist_dlprim [DIR [DEVICE]]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "mnist_dlprim_net.h"

namespace {

using dlprim::Queue;
using dlprim::Tensor;
using Clock = std::chrono::steady_clock;

constexpr int side = 28, pixels = side * side;
constexpr std::size_t batch_size = 64;

struct Dataset {
  std::vector<float> images;  // [N, 28, 28]
  std::vector<std::int64_t> labels;
};

/** Digits of three by five squares, of some brightness, somewhere in the noise. */
Dataset draw_digits(std::size_t count, std::uint64_t seed) {
  // A row of squares is an octal digit, top row first.
  constexpr int digits[] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071222, 075757, 075717};
  constexpr int square = 4;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> noise(-0.5F, 0.5F), brightness(1, 3);
  std::uniform_int_distribution<int> digit(0, 9), left(0, side - 3 * square), top(0, side - 5 * square);
  Dataset set;
  for (std::size_t n = 0; n < count; ++n) {
    const int label = digit(random), x0 = left(random), y0 = top(random);
    const float light = brightness(random);
    set.labels.push_back(label);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const bool is_inside = x >= x0 && x < x0 + 3 * square && y >= y0 && y < y0 + 5 * square;
        const int bit = is_inside ? 14 - 3 * ((y - y0) / square) - (x - x0) / square : 15;
        set.images.push_back(noise(random) + (digits[label] >> bit & 1 ? light : 0));
      }
  }
  return set;
}

/** The bytes of an IDX file behind its header: two zeros, type, rank, and a word for every dimension. */
std::vector<unsigned char> read_idx(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t header = bytes.size() < 4 ? 4 : 4 + 4 * std::size_t{bytes[3]};
  if (bytes.size() < header || bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 8)
    throw std::runtime_error(path + " is no unpacked IDX file of bytes");
  return {bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end()};
}

Dataset read_mnist(const std::string& prefix) {
  const auto images = read_idx(prefix + "-images-idx3-ubyte"),
             labels = read_idx(prefix + "-labels-idx1-ubyte");
  if (images.size() != labels.size() * pixels)
    throw std::runtime_error(prefix + ": images and labels disagree");
  Dataset set{{}, {labels.begin(), labels.end()}};
  for (const unsigned char pixel : images)
    set.images.push_back((static_cast<float>(pixel) / 255 - 0.1307F) / 0.3081F);
  return set;
}

template <class T>
Tensor upload(Queue& queue, const T* values, const dlprim::Dims& shape) {
  const Tensor t = Tensor::empty(queue.device(), shape, dlprim::dtype_of<T>());
  dlprim::upload(queue, {values, static_cast<std::size_t>(t.numel()) * sizeof(T)}, t);
  return t;
}

Tensor upload_images(Queue& queue, const Dataset& set, std::size_t first, std::size_t count) {
  return upload(queue, &set.images[first * pixels], {static_cast<std::int64_t>(count), 1, side, side});
}
Tensor upload_labels(Queue& queue, const Dataset& set, std::size_t first, std::size_t count) {
  return upload(queue, &set.labels[first], {static_cast<std::int64_t>(count)});
}

void train(Queue& queue, mnist::Net& net, mnist::Optimizer& optimizer, const Dataset& set, int epoch) {
  const std::size_t steps = set.labels.size() / batch_size;
  const auto start = Clock::now();
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::size_t first = (step - 1) * batch_size;
    const Tensor logits = net.forward(upload_images(queue, set, first, batch_size), true);
    const mnist::Loss loss =
        mnist::cross_entropy(queue, logits, upload_labels(queue, set, first, batch_size));
    net.backward(loss.dlogits);
    optimizer.step();
    if (step % 10 != 0 && step != steps) continue;
    float value = 0;
    queue.read(loss.value, &value, sizeof value);  // waits for the device, so only here
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::printf("epoch %d: step %zu/%zu, loss %.4f, %.0f images/s\n", epoch, step, steps, value,
                static_cast<double>(step * batch_size) / seconds);
    std::fflush(stdout);
  }
}

/** The accuracy in percent. */
double test(Queue& queue, mnist::Net& net, const Dataset& set) {
  const std::size_t samples = set.labels.size();
  std::size_t hits = 0;
  for (std::size_t first = 0; first < samples; first += 1000) {
    const std::size_t count = std::min<std::size_t>(1000, samples - first);
    const Tensor logits = net.forward(upload_images(queue, set, first, count), false);
    const Tensor best = queue.scratch({logits.size(0)}, dlprim::DType::int64);
    dlprim::reduce_index(queue, dlprim::Extreme::max, logits, dlprim::dim_mask({1}, 2, "test"), {}, best);
    std::vector<std::int64_t> classes(count);
    queue.read(best, classes.data(), count * sizeof classes[0]);
    for (std::size_t i = 0; i < count; ++i) hits += classes[i] == set.labels[first + i] ? 1 : 0;
  }
  return 100 * static_cast<double>(hits) / static_cast<double>(samples);
}

void run(const std::string& directory, const std::string& device) {
  Queue& queue = dlprim::Device::get(device).queue();
  const bool draws = directory.empty();
  const Dataset training = draws ? draw_digits(4096, 1) : read_mnist(directory + "/train"),
                testing = draws ? draw_digits(1000, 2) : read_mnist(directory + "/t10k");
  mnist::Net net(queue, 1);
  mnist::Optimizer optimizer(queue, "Adam", {{"lr", 1e-3}}, net.parameters());
  double accuracy = 0;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    train(queue, net, optimizer, training, epoch);
    accuracy = test(queue, net, testing);
    std::printf("epoch %d: accuracy %.2f %%\n", epoch, accuracy);
  }
  std::printf("test accuracy %.2f %%\n", accuracy);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "ocl:0");
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "mnist_dlprim: %s\n", error.what());
    return 1;
  }
}
