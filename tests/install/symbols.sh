#!/usr/bin/env bash
# symbols.sh PREFIX: the shared library has a soname with a version, needs the
# C++ runtime alone (and Highway, where that is shared), and shows names of
# ropewalk only.
set -euo pipefail
library=$(find "$1" -name libropewalk.so)

readelf -d "$library" | grep -E 'SONAME.*libropewalk\.so\.[0-9]'
runtime='\[(lib(c|m|gcc_s|stdc\+\+|c\+\+|hwy|pthread)\.so|ld-linux)'
if readelf -d "$library" | grep NEEDED | grep -vE "$runtime"; then
  echo "the library needs something that it should not" >&2
  exit 1
fi
shown=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1)
grep -q '^_ZN8ropewalk' <<<"$shown"
if grep -vE '^(_Z(N|NK|T[ISV]N)8ropewalk|ropewalk_)' <<<"$shown"; then
  echo "the library shows names that it should hide" >&2
  exit 1
fi
