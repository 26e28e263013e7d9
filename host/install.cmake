# SPDX-License-Identifier: MIT
# Installs for `cmake --install`: program, man pages, shell completion, both libraries, public headers, CMake package, pkg-config file and
# licences. Target `uninstall` takes them away; `cpack -G DEB` makes packages of the three components. The static library has an
# export set of its own: its users need the libraries below it, users of the shared one do not.
include(CMakePackageConfigHelpers)
set(CLF_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/clformer)
set(CLF_NOTICES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/host/model/g2p/LICENSE.cmudict)

install(TARGETS clformer RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS clformer-compile RUNTIME DESTINATION ${CLF_COMPILER_DIR} COMPONENT library)
install(FILES ${CLF_MANUAL} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/host/cli/clformer-guide.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/host/cli/completion/clformer.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME clformer COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/host/cli/completion/_clformer DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/host/cli/recipes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/clformer COMPONENT program
        USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.sh")
install(FILES ${CLF_NOTICES} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/clformer COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/clformer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/include/clformer/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/clformer COMPONENT development)

foreach(kind shared static)
  install(TARGETS clformer_${kind} EXPORT clformer_${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT clformer_${kind} FILE clformer-${kind}.cmake NAMESPACE clformer:: DESTINATION ${CLF_CMAKE_DIR} COMPONENT development)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/host/clformer-config.cmake.in ${CMAKE_BINARY_DIR}/clformer-config.cmake
                              INSTALL_DESTINATION ${CLF_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/clformer-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/clformer-config.cmake ${CMAKE_BINARY_DIR}/clformer-config-version.cmake DESTINATION ${CLF_CMAKE_DIR}
        COMPONENT development)

# Directories that the user gave as absolute paths stay as they are; the others follow ${prefix}.
foreach(name LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${name}}")
    set(CLF_PC_${name} "${CMAKE_INSTALL_${name}}")
  else()
    set(CLF_PC_${name} "\${prefix}/${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/host/clformer.pc.in ${CMAKE_BINARY_DIR}/clformer.pc.prefixless @ONLY)
install(CODE "
  file(READ \"${CMAKE_BINARY_DIR}/clformer.pc.prefixless\" text)
  file(WRITE \"${CMAKE_BINARY_DIR}/clformer.pc\" \"prefix=\${CMAKE_INSTALL_PREFIX}\\n\${text}\")" COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/clformer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/host/uninstall.cmake VERBATIM)
  include(${PROJECT_SOURCE_DIR}/host/package.cmake)
endif()
