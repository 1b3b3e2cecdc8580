# What the scripts of this folder have in common. Each sources it in the root of the tree, after it has set `target`,
# the name of the toolchain's file in cmake/toolchains. Then it sets
#   host_packages   the packages of Debian that this machine needs
#   cmake_options   options of the build beside those of all targets
# and has the functions usage, make_sysroot, which fills $sysroot with the target's headers and libraries, and
# make_launcher, which writes $folder/run: that runs a program for the target. At its end it calls build_and_test "$@".

source tools/build_environment.sh
unset CXX  # the toolchain file names the compiler

folder=$PWD/build/cross/$(basename "$0")
sysroot=$folder/sysroot
build=$folder/build
toolchain=$PWD/cmake/toolchains/$target.cmake

as_root() { if ((UID)); then sudo "$@"; else "$@"; fi; }

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == ?i* ]]; }

install_host_packages() {
  local missing=() package
  for package in "${host_packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  as_root apt-get update -qq
  as_root apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

build_runner() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" \
    -DCMAKE_CROSSCOMPILING_EMULATOR="$folder/run" -DTAPECL_BUILD_AUTOGRAD=OFF "${cmake_options[@]}"
  cmake --build "$build" --parallel "${JOBS:-$(nproc)}"
}

run_tests() {
  ctest --test-dir "$build" --output-on-failure
  local python=${PYTHON:-.venv/bin/python}
  if ! "$python" -c 'import ocl, pytest' 2>/dev/null; then
    echo "NOT TESTED: programs that Python makes, as $python has no ocl or no pytest (./setup.sh --tests)"
    return
  fi
  OCL_TEST_CROSS_BUILD=$build OCL_TEST_EMULATOR=$folder/run \
    "$python" -m pytest -v -o faulthandler_timeout=3600 tests/python/export/test_cross_builds.py
}

build_and_test() {
  local tests=yes
  while (($#)); do
    case $1 in
      --no-tests) tests=no ;;
      -h | --help) usage; exit 0 ;;
      *) usage >&2; exit 2 ;;
    esac
    shift
  done
  install_host_packages
  [[ -e $sysroot ]] || make_sysroot
  make_launcher
  build_runner
  if [[ $tests == yes ]]; then run_tests; fi
}
