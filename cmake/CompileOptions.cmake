# Compiler flags of all folders of this project. Nothing here reaches a project
# that links the library.

# The bits of the results are a promise, so products and sums are never fused,
# in the tests' reference neither.
add_compile_options(-ffp-contract=off -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlap in every "text" + std::to_string(...), its bug
  # 105651, and on Arm takes vectors for uninitialized that are set and used
  # under one condition.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
if(ROPEWALK_WERROR)
  add_compile_options(-Werror)
endif()

# A shared library shows what ROPEWALK_EXPORT marks, and nothing else.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(ROPEWALK_ONLY_TARGETS)
  string(REGEX REPLACE "([A-Z0-9_]+)" "HWY_\\1" kept "${ROPEWALK_ONLY_TARGETS}")
  string(REPLACE "," "|" kept "${kept}")
  # Goes before the default of src/CMakeLists.txt.
  set(ROPEWALK_DISABLED_TARGETS "(~(${kept}))")
endif()

if(ROPEWALK_SANITIZE)
  add_compile_options(-fsanitize=${ROPEWALK_SANITIZE}
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ROPEWALK_SANITIZE})
  # A C program may pass any number as an enum, and the tests do so.
  add_compile_options(-fno-sanitize=enum)
  if(ROPEWALK_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC warns that TSan does not model the fences of Highway's thread pool.
    add_compile_options(-Wno-tsan)
  endif()
endif()

if(ROPEWALK_FUZZ)
  # What libFuzzer is guided by; only the fuzzers link the rest of it.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
