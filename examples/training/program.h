#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>

/** The exit code of a program: 2, and one line, for arguments that it does not know and for what a user can
 * mend in files and devices. */
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, const char* name, const Run& run) {
  try {
    app.parse(argc, argv);
    run();
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 2;
  }
}
