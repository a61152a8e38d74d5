#!/usr/bin/env bash
# symbols.sh PREFIX: the shared library has a soname with a version, and shows
# names of ropewalk only (and those of templates of the standard library).
set -euo pipefail
library=$(find "$1" -name libropewalk.so)

readelf -d "$library" | grep -E 'SONAME.*libropewalk\.so\.[0-9]'
if readelf -d "$library" | grep -E 'NEEDED' | grep -vE 'lib(c|m|gcc_s|stdc\+\+|c\+\+|hwy|pthread)\.so|ld-linux'; then
  echo "the library needs something that it should not" >&2
  exit 1
fi
shown=$(nm --dynamic --defined-only --format=posix "$library" | cut -d ' ' -f 1)
grep -q '^_ZN8ropewalk' <<<"$shown"
if grep -vE '^_ZNK?8ropewalk|^_ZT[ISV]N8ropewalk|^_ZNK?St|^_ZT[ISV]St|^_ZZNK?St|^_ZSt|^_ZGVZ?NK?St' <<<"$shown"; then
  echo "the library shows names that it should hide" >&2
  exit 1
fi
