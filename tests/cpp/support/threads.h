#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "dlprim/core/error.h"

namespace testing_support {

/** Runs every action `times` times, each in a thread of its own. An Error is what a race may end in; all else
 * fails. */
inline void together(int times, const std::vector<std::function<void()>>& actions) {
  std::vector<std::thread> threads;
  for (const auto& action : actions)
    threads.emplace_back([&action, times] {
      for (int i = 0; i < times; ++i) try {
          action();
        } catch (const dlprim::Error&) {
        }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace testing_support
