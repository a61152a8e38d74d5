# Makes find_package(GTest) work in a cross build too: there the installed
# libraries are for the wrong processor, so it is built from Debian's sources.
if(CMAKE_CROSSCOMPILING)
  include(FetchContent)
  set(INSTALL_GTEST OFF)
  FetchContent_Declare(GTest SYSTEM SOURCE_DIR /usr/src/googletest
                       OVERRIDE_FIND_PACKAGE)
endif()
