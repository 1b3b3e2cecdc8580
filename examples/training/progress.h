#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline bool is_terminal() {
  return isatty(fileno(stdout)) != 0;
}

/** printf of a line: on a terminal one that the next rewrites, unless it is the last; plain lines elsewhere.
 */
[[gnu::format(printf, 2, 3)]] inline void print_progress(bool is_last, const char* format, ...) {
  const bool terminal = is_terminal();
  if (terminal) std::printf("\r\033[K");
  std::va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  if (is_last || !terminal) std::printf("\n");
  std::fflush(stdout);
}
