#!/usr/bin/env bash
# Sets TapeCL up on Debian 12 or Ubuntu 24.04: installs what is missing, and trains a first network.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source tools/build_environment.sh

usage() {
  cat <<'TEXT'
Usage: ./setup.sh [--no-train] [--torch] [--tests] [--dev] [-- ARGUMENTS]

Installs the system packages that are missing, builds the Python package `ocl` into .venv, and trains
examples/mnist.py on ocl:0 for 3 epochs. Running it again does only what is left to do.

  --no-train   stop before the training
  --torch      also install PyTorch, if .venv has none, torchvision, and PyTorch's back end for OpenCL devices
               (docs/pytorch.md)
  --tests      also install what the tests need: pytest, PyTorch to compare with, ...
  --dev        also install the formatters and the stub generator
  ARGUMENTS    go to examples/mnist.py and win over the defaults, as in: ./setup.sh -- --device ocl:1

PYTHON names the interpreter that .venv is made from (default: python3).
PYTORCH is the release of PyTorch, as in: PYTORCH=2.14.1 ./setup.sh --torch (default: the one in .venv, else 2.13.0).
TEXT
}

system_packages=(
  g++ cmake ninja-build pkg-config git ca-certificates python3-dev python3-venv
  ocl-icd-opencl-dev opencl-clhpp-headers opencl-c-headers pocl-opencl-icd clinfo
  libclblast-dev libsqlite3-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libstb-dev libgtest-dev
)
optional_packages=(ccache)  # comes with the others, but is no reason to call apt
venv_python=.venv/bin/python

train=yes
torch=no
tests=no
extras=(build examples)
while (($#)); do
  case $1 in
    --no-train) train=no ;;
    --torch) torch=yes ;;
    --tests) tests=yes; extras+=(test) ;;
    --dev) extras+=(dev) ;;
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

# step NAME ADVICE: what begins now, and what to do should it fail.
step() {
  current_step=$1
  advice=$2
  printf '\n==> %s\n' "$current_step"
}

give_up() {
  ((BASH_SUBSHELL == 0)) || exit 1  # the shell above says it
  printf '\nsetup.sh: this step failed: %s\n%s\n' "$current_step" "$advice" >&2
  exit 1
}
trap give_up ERR

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == ?i* ]]; }

install_system_packages() {
  if ! command -v dpkg-query apt-get >/dev/null; then
    printf 'No apt here. These packages, by their Debian names, are expected: %s\n' "${system_packages[*]}"
    return
  fi
  local missing=() package
  for package in "${system_packages[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    echo "Everything is there."
    return
  fi
  echo "Missing: ${missing[*]}"

  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ((EUID != 0)); then
    advice="This needs root. Run as root: apt-get install ${missing[*]}"
    command -v sudo >/dev/null
    as_root=(sudo "${as_root[@]}")
  fi
  # A source that does not answer matters only when it was needed: the installation tells.
  "${as_root[@]}" apt-get -q update || echo "apt-get update complained; going on."
  for package in "${optional_packages[@]}"; do
    if ! is_installed "$package" && [[ -n $(apt-cache madison "$package") ]]; then
      missing+=("$package")
    fi
  done
  "${as_root[@]}" apt-get -q install -y --no-install-recommends "${missing[@]}"
}

check_opencl() {
  local devices
  devices=$(clinfo --list)
  echo "$devices"
  [[ $devices == *Device\ \#* ]]
}

make_environment() {
  local python=${PYTHON:-python3}
  "$python" -c 'import sys; assert sys.version_info >= (3, 10), "Python 3.10 or newer is needed"'
  local identity='import sys; print(sys.base_prefix, sys.version)'
  if "$venv_python" -m pip --version >/dev/null 2>&1 &&
    [[ -z ${PYTHON:-} || $("$venv_python" -c "$identity") == "$("$python" -c "$identity")" ]]; then
    echo "Using .venv"
  else
    echo "Making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
  fi
}

pip_install() { "$venv_python" -m pip install --disable-pip-version-check "$@"; }

# requirements LIST...: these lists of pyproject.toml, without torch, which install_torch sees to.
requirements() {
  "$venv_python" - "$@" <<'PYTHON'
import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

with open("pyproject.toml", "rb") as file:
    pyproject = tomllib.load(file)
lists = {"build": pyproject["build-system"]["requires"], **pyproject["project"]["optional-dependencies"]}
print(*(line for name in sys.argv[1:] for line in lists[name] if line != "torch"), sep="\n")
PYTHON
}

install_requirements() {
  local lines
  lines=$(requirements "${extras[@]}")
  mapfile -t lines <<<"$lines"
  pip_install --quiet "${lines[@]}"
  if [[ $torch == yes ]]; then
    install_torch
  elif [[ $tests == yes ]]; then
    install_torch ||
      echo "WARNING: PyTorch could not be installed: the tests that compare with it will be skipped." >&2
  fi
  if [[ $tests == yes ]]; then
    install_model_files
  fi
}

installed_torch() { "$venv_python" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null; }

imports_torchvision() { TORCH_DEVICE_BACKEND_AUTOLOAD=0 "$venv_python" -c 'import torchvision' 2>/dev/null; }

# The release that PYTORCH names, any build of it, and the torchvision of that release, which pip's resolver finds. A
# build that is in .venv already stays: put the smaller one for CPUs there first where pip's default is one for CUDA.
install_torch() {
  local found wanted
  found=$(installed_torch) || found=
  wanted=${PYTORCH:-${found:-2.13.0}}
  [[ $wanted == *+* || ${found%+*} != "$wanted" ]] || wanted=$found
  if [[ $found == "$wanted" ]] && imports_torchvision; then return; fi
  if pip_install --quiet "torch==$wanted" torchvision && imports_torchvision; then return; fi
  # What the index has is for another build of PyTorch. The tests read its Python files; whatever imports it breaks.
  [[ $tests == yes ]] || "$venv_python" -m pip uninstall --quiet --yes torchvision
  pip_install --quiet "torch==$wanted" || return
  echo "WARNING: the index has no torchvision for PyTorch $(installed_torch), which examples/torch_imagenet.py needs:" \
    "take both from one index." >&2
}

# The tests take PyTorch's numbers for the truth, run model files of these, and train in their loops.
install_model_files() {
  install_alone timm==1.0.31 vit-pytorch==1.26.11 einops==0.8.2
  install_alone transformers==5.23.0 accelerate==1.15.0 diffusers==0.42.1 lightning==2.6.6 torchmetrics==1.9.0 \
    lightning-utilities==0.15.3 tokenizers==0.23.3 huggingface_hub==2.4.0 regex==2026.11.19 psutil==7.2.2 \
    PyYAML==6.0.4 httpx2==2.16.2 httpcore2==2.16.2 anyio==4.16.0 click==8.5.1 idna==3.20 h11==0.16.0 \
    truststore==0.10.5 requests==2.34.2 urllib3==2.8.0 certifi==2026.10.19.post1 charset-normalizer==3.5.2 \
    importlib_metadata==10.2.0 zipp==4.1.2
}

# install_alone PACKAGE...: those that are missing, without what they depend on, among it another build of PyTorch.
install_alone() {
  local missing
  missing=$("$venv_python" - "$@" <<'PYTHON'
import importlib.metadata
import sys

for package in sys.argv[1:]:
    try:
        importlib.metadata.version(package.partition("==")[0])
    except importlib.metadata.PackageNotFoundError:
        print(package)
PYTHON
  )
  [[ -n $missing ]] || return 0
  mapfile -t missing <<<"$missing"
  pip_install --quiet --no-deps "${missing[@]}" ||
    echo "WARNING: these could not be installed: the tests of them will be skipped: ${missing[*]}" >&2
}

# Takes another compiler where $CXX builds nothing that runs beside PyTorch's C++ runtime.
choose_compiler_for_torch() {
  local compiler fault
  for compiler in "$CXX" /usr/bin/g++ /usr/bin/clang++; do
    if fault=$("$venv_python" python/torch_ocl/check_compiler.py "$compiler" 2>&1); then
      if [[ $compiler != "$CXX" ]]; then
        echo "Taking $compiler for PyTorch's back end."
        export CXX=$compiler
      fi
      return
    fi
    echo "$fault" >&2
  done
  return 1
}

# show_progress LOG: keeps what a build prints in LOG, and says how far the build is at each tenth of its files.
show_progress() {
  local line percent shown=0
  : >"$1"
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$1"
    if [[ $line =~ ^[[:space:]]*\[([0-9]+)/([0-9]+)\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      if ((percent >= shown + 10)); then
        shown=$((percent - percent % 10))
        printf '%3d %% of %s files compiled, %d:%02d min since the start\n' \
          "$percent" "${BASH_REMATCH[2]}" $((SECONDS / 60)) $((SECONDS % 60))
      fi
    fi
  done
}

# install_package FOLDER MODULE SOURCE...: the package in FOLDER, unless nothing of its sources has changed.
install_package() {
  local folder=$1 module=$2 stamp=.venv/.installed-$2
  shift 2
  if [[ -f $stamp ]] && "$venv_python" -c "import $module" 2>/dev/null &&
    [[ -z $(find CMakeLists.txt cmake "$@" -newer "$stamp" -print -quit) ]]; then
    echo "No source has changed since the last installation."
    return
  fi
  touch "$stamp.begun"  # the time before the build, so that an edit during it counts as newer
  # Built against the requirements in .venv, whose paths stay the same: the next build is incremental.
  local log=.venv/build-$module.log
  if ! pip_install --verbose --no-build-isolation "$folder" 2>&1 | show_progress "$log"; then
    grep --after-context=20 --max-count=3 'error:\|Error\b\|FAILED' "$log" || tail -n 40 "$log"
    echo "All that the build printed is in $log."
    return 1
  fi
  "$venv_python" -c "import $module"
  mv "$stamp.begun" "$stamp"
}

step "System packages" "apt's own message above says why. Install by hand: ${system_packages[*]}"
install_system_packages

step "OpenCL devices" "No OpenCL device was found. docs/devices.md says how to get an OpenCL implementation."
check_opencl

step "Python environment .venv" \
  "Set PYTHON to a Python 3.10 or newer that has the venv module, or remove .venv should it be damaged."
make_environment

step "Python packages: ${extras[*]}" "pip's own message above says why. Is the package index reachable?"
install_requirements

step "The package ocl (the first build takes some minutes)" \
  "The compiler's or CMake's message is above. After an update of the system, remove build/ and try again."
install_package . ocl pyproject.toml dlprim autograd nn python/CMakeLists.txt python/bindings python/ocl

if [[ $torch == yes ]]; then
  step "The package tapecl-torch (some minutes)" \
    "The compiler's or CMake's message is above. docs/pytorch.md says which PyTorch it needs. Where CMake goes on with a compiler of an earlier run: rm -r build/torch-*"
  choose_compiler_for_torch
  # It belongs to the PyTorch that it was built with.
  torch_version=$(installed_torch)
  [[ $(cat .venv/.torch-version 2>/dev/null) == "$torch_version" ]] || rm -f .venv/.installed-torch_ocl
  install_package python/torch_ocl torch_ocl dlprim python/torch_ocl
  echo "$torch_version" >.venv/.torch-version
fi

if [[ $train == yes ]]; then
  step "Training examples/mnist.py" \
    "Another device may do: ./setup.sh -- --device ocl:1 (devices are numbered as in the list above, from 0)."
  "$venv_python" examples/mnist.py --device ocl:0 --epochs 3 "$@"
else
  printf '\nDone. Train a first network: %s examples/mnist.py\n' "$venv_python"
fi
