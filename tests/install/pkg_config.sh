#!/usr/bin/env bash
# pkg_config.sh PREFIX COMPILER: builds the stranger's program by pkg-config.
set -euo pipefail
prefix=$1 compiler=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name ropewalk.pc)")
export PKG_CONFIG_PATH
read -ra flags < <(pkg-config --cflags --libs ropewalk)
library=$(pkg-config --variable=libdir ropewalk)

"$compiler" -std=c++20 "$here/rotate.cc" -o "$work/shared" "${flags[@]}"
LD_LIBRARY_PATH=$library "$work/shared"

# The static library by the flags of --static, with the shared one out of reach.
read -ra flags < <(pkg-config --static --cflags --libs ropewalk)
flags=("${flags[@]/#-lropewalk/-l:libropewalk.a}")
"$compiler" -std=c++20 "$here/rotate.cc" -o "$work/static" "${flags[@]}"
LD_LIBRARY_PATH='' "$work/static"

version=$(sed -n 's/#define ROPEWALK_VERSION_STRING "\(.*\)"/\1/p' \
  "$prefix/include/ropewalk/version.h")
[ "$(pkg-config --modversion ropewalk)" = "$version" ]
