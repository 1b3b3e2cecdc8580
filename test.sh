#!/usr/bin/env bash
# Builds the library and runs the C++ and the Python tests, both even if the first fail.
# Arguments go to pytest, as in: ./test.sh -k conv2d, or ./test.sh -m slow. Two processes share each suite, as compilers
# of kernels use a core each; ./test.sh --numprocesses 0 runs Python's in one. The first crash ends the run: where
# pytest-xdist starts another process in its place, both wait for ever.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

source tools/build_environment.sh
CMAKE_ARGS="${CMAKE_ARGS:-} -DTAPECL_WARNINGS_AS_ERRORS=ON" ./setup.sh --torch --tests --no-train

cpp=0 python=0
{ cmake --preset release && cmake --build --preset release && ctest --preset release --verbose; } || cpp=1
if ((cpp)); then  # what pytest's last lines repeat (tests/python/conftest.py)
  log=build/release/Testing/Temporary/LastTest.log
  export CPP_FAILURES=$(printf 'The C++ part failed:\n'
    grep --text --no-messages --after-context=8 ': Failure$\|^\[  FAILED  \]\|^Test Failed\|Timeout' $log | head -100)
fi
.venv/bin/python -m pytest --numprocesses 2 --dist loadfile --max-worker-restart 0 "$@" || python=1
exit $((cpp || python))
