#!/usr/bin/env bash
# highway.sh ROPEWALK WORK HWY_DIR INCLUDES LIBRARY: where the configuration
# takes Highway from, and that it refuses one that is too old.
set -euo pipefail
ropewalk=$1 work=$2 hwy_dir=$3 includes=$4 library=$5
here=$(dirname "$0")
rm -rf "$work"
mkdir -p "$work/old/hwy"

# configure NAME SOURCE ARGUMENT...: the output goes to NAME.log.
configure() {
  local name=$1 source=$2
  shift 2
  cmake -S "$source" -B "$work/$name" -G Ninja "$@" >"$work/$name.log" 2>&1
}
expect() {
  tr '\n' ' ' <"$work/$1.log" | tr -s ' ' | grep -qF -- "$2" && return
  cat "$work/$1.log"
  echo "expected: $2" >&2
  exit 1
}

# A parent project that has Highway under either name.
configure imported "$here/embedded" -DROPEWALK="$ropewalk" \
  -DHIGHWAY=imported -DHIGHWAY_DIR="$hwy_dir"
configure target "$here/embedded" -DROPEWALK="$ropewalk" -DHIGHWAY=target \
  -DHIGHWAY_INCLUDES="$includes" -DHIGHWAY_LIBRARY="$library"

# One that is too old: as a target of the parent, and as a package.
printf '#define HWY_MAJOR 1\n#define HWY_MINOR 0\n' >"$work/old/hwy/highway.h"
if configure old_target "$here/embedded" -DROPEWALK="$ropewalk" \
  -DHIGHWAY=target -DHIGHWAY_INCLUDES="$work/old"; then
  echo "an old target was taken" >&2
  exit 1
fi
expect old_target "Highway must be 1.2 or later, but the target hwy of this project is 1.0"

touch "$work/old/hwy-config.cmake"
printf '%s\n' 'set(PACKAGE_VERSION 1.0.3)' 'set(PACKAGE_VERSION_COMPATIBLE NO)' \
  >"$work/old/hwy-config-version.cmake"
# The machine's own Highway must not step in, once the compiler is found.
printf 'set(CMAKE_FIND_USE_%s OFF)\n' CMAKE_SYSTEM_PATH SYSTEM_ENVIRONMENT_PATH \
  >"$work/old/lookup.cmake"
if ROPEWALK_CACHE=$work/none configure old_package "$ropewalk" \
  -Dhwy_DIR="$work/old" -DCMAKE_PROJECT_INCLUDE="$work/old/lookup.cmake"; then
  echo "an old package was taken" >&2
  exit 1
fi
expect old_package "Highway must be 1.2 or later, but CMake has found 1.0.3"
expect old_package "Run tools/setup"
