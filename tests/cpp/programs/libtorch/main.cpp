#include "idioms.h"

int main(int, char** arguments) {
  folder() = arguments[1];
  std::cout.precision(9);
  for (const Idiom& idiom : idioms()) {
    std::cout << "## " << idiom.name << '\n';
    try {
      idiom.run();
    } catch (const std::exception& error) {
      std::cout << "EXCEPTION " << error.what() << '\n';
    }
  }
}
