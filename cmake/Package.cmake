# What `cmake --install` lays down: headers, both libraries, the command line,
# and how other projects find them (find_package and pkg-config).
include(CMakePackageConfigHelpers)
set(ropewalk_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ropewalk)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ropewalk
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/ropewalk.h  # for C
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Two export sets: only the static library asks for Highway.
foreach(kind static shared)
  install(TARGETS ropewalk_${kind} EXPORT ropewalk-${kind})
  install(EXPORT ropewalk-${kind} NAMESPACE ropewalk::
          DESTINATION ${ropewalk_package_folder})
endforeach()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/ropewalk-config.cmake.in ropewalk-config.cmake
  INSTALL_DESTINATION ${ropewalk_package_folder}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(ropewalk-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ropewalk-config.cmake
              ${PROJECT_BINARY_DIR}/ropewalk-config-version.cmake
        DESTINATION ${ropewalk_package_folder})

# The .pc file finds its prefix from its own place, so the tree can be moved.
file(RELATIVE_PATH ropewalk_pc_to_prefix
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ropewalk.pc.in ropewalk.pc.in @ONLY)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/ropewalk.pc
     INPUT ${PROJECT_BINARY_DIR}/ropewalk.pc.in)
install(FILES ${PROJECT_BINARY_DIR}/ropewalk.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
