#!/usr/bin/env bash
# Installs what TapeCL is built from into a manylinux_2_28 image (AlmaLinux 8), which has no packages of most of it:
# OpenCL's headers and loader, CLBlast and nlohmann-json from their tagged sources, SQLite and zlib from the image.
set -euo pipefail

dnf install -y sqlite-devel zlib-devel

sources=$(mktemp -d)
# build REPOSITORY TAG [CMAKE OPTION...]: installs that release to /usr/local.
build() {
  local repository=$1 tag=$2 folder=$sources/${1##*/}
  shift 2
  git clone --quiet --depth 1 --branch "$tag" "https://github.com/$repository" "$folder"
  cmake -S "$folder" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=/usr/local \
    -DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib64 -DBUILD_TESTING=OFF "$@"
  cmake --build "$folder/build" --parallel
  cmake --install "$folder/build"
}
release=v2024.10.24
build KhronosGroup/OpenCL-Headers "$release"
build KhronosGroup/OpenCL-ICD-Loader "$release"
build KhronosGroup/OpenCL-CLHPP "$release" -DBUILD_DOCS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTS=OFF
build CNugteren/CLBlast 1.6.3 -DTUNERS=OFF -DCLIENTS=OFF -DTESTS=OFF
build nlohmann/json v3.11.3 -DJSON_BuildTests=OFF
rm -r "$sources"
ldconfig /usr/local/lib64
