# SPDX-License-Identifier: MIT
# What `cmake --install` puts in place: program, both libraries, public headers, CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

install(TARGETS clformer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS clformer_shared EXPORT clformer_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/clformer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/include/clformer/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/clformer)
