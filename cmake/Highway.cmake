# Defines the target hwy::hwy: the parent project's, else an installed Highway,
# else the one that tools/setup has put into the cache folder, else (if asked
# for) one that tools/setup fetches now, or where it cannot, a download.

set(ropewalk_highway_needs 1.2)

# The folder where tools/setup builds Highway for a processor.
function(ropewalk_highway_cache result)
  set(cache "$ENV{ROPEWALK_CACHE}")
  if(NOT cache AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache "$ENV{XDG_CACHE_HOME}/ropewalk")
  elseif(NOT cache)
    set(cache "$ENV{HOME}/.cache/ropewalk")
  endif()
  set(folder "${cache}/highway-1.2.0")
  if(CMAKE_CROSSCOMPILING)
    string(APPEND folder "-${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

# Sets `result` to the version that the headers in `folders` state, "" if none.
function(ropewalk_highway_version result folders)
  set(version "")
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
    foreach(header base.h highway.h)
      if(NOT version AND EXISTS "${folder}/hwy/${header}")
        file(STRINGS "${folder}/hwy/${header}" lines
             REGEX "^#define HWY_(MAJOR|MINOR) [0-9]+")
        string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
        list(JOIN numbers "." version)
      endif()
    endforeach()
  endforeach()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

if(TARGET hwy AND NOT TARGET hwy::hwy)
  add_library(hwy::hwy ALIAS hwy)
endif()

if(NOT TARGET hwy::hwy)
  ropewalk_highway_cache(ropewalk_highway_folder)
  # One that is too old, such as Debian 12's, is passed over.
  find_package(hwy ${ropewalk_highway_needs} CONFIG QUIET
               PATHS "${ropewalk_highway_folder}")
endif()

if(NOT TARGET hwy::hwy AND ROPEWALK_FETCH_HIGHWAY AND
   NOT CMAKE_CROSSCOMPILING)
  execute_process(
    COMMAND ${PROJECT_SOURCE_DIR}/tools/setup highway
    RESULT_VARIABLE ropewalk_setup_failed)
  if(NOT ropewalk_setup_failed)
    find_package(hwy ${ropewalk_highway_needs} CONFIG QUIET
                 PATHS "${ropewalk_highway_folder}")
  endif()
endif()

if(NOT TARGET hwy::hwy AND ROPEWALK_FETCH_HIGHWAY)
  include(FetchContent)
  set(HWY_ENABLE_CONTRIB OFF)
  set(HWY_ENABLE_EXAMPLES OFF)
  set(HWY_ENABLE_TESTS OFF)
  set(HWY_ENABLE_INSTALL OFF)
  # The same archive, with the same checksum, as in tools/setup.
  FetchContent_Declare(highway SYSTEM
    URL https://github.com/google/highway/archive/refs/tags/1.2.0.tar.gz
    URL_HASH SHA256=7e0be78b8318e8bdbf6fa545d2ecb4c90f947df03f7aadc42c1967f019e63343)
  FetchContent_MakeAvailable(highway)
  add_library(hwy::hwy ALIAS hwy)
endif()

if(NOT TARGET hwy::hwy)
  if(hwy_CONSIDERED_VERSIONS)
    list(GET hwy_CONSIDERED_VERSIONS 0 found)
    list(GET hwy_CONSIDERED_CONFIGS 0 where)
    set(found "found ${found} (${where})")
  else()
    set(found "found none")
  endif()
  message(FATAL_ERROR
    "Highway must be ${ropewalk_highway_needs} or later, but CMake has ${found}. "
    "Run tools/setup, or name an installed one with -Dhwy_DIR=, or let CMake "
    "download it with -DROPEWALK_FETCH_HIGHWAY=ON.")
endif()

# A parent project's target has passed no version check yet. Older versions do
# not round when they narrow to bf16, so they would give other bits.
get_target_property(ropewalk_highway_includes hwy::hwy
                    INTERFACE_INCLUDE_DIRECTORIES)
ropewalk_highway_version(ropewalk_highway_found "${ropewalk_highway_includes}")
if(ropewalk_highway_found AND
   ropewalk_highway_found VERSION_LESS ropewalk_highway_needs)
  message(FATAL_ERROR
    "Highway must be ${ropewalk_highway_needs} or later, but the target hwy of "
    "this project is ${ropewalk_highway_found}.")
endif()
