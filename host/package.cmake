# SPDX-License-Identifier: MIT
# Debian packages by `cpack -G DEB`: clformer (the program), libclformer0 and libclformer-dev. The program is linked to the objects of the
# library; what compiles kernels for both is in the package of the library.
# The maintainer of a package is who makes it: DEBFULLNAME and DEBEMAIL, as Debian's own tools read them.
set(maintainer "clformer <clformer@clformer.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CLF_CONTACT "${maintainer}" CACHE STRING "Maintainer of packages, as NAME <MAIL>")
set(CPACK_PACKAGE_NAME clformer)
set(CPACK_PACKAGE_VENDOR clformer)
set(CPACK_PACKAGE_CONTACT "${CLF_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON) # clformer.pc names the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/host/package_debian.cmake)
set(CLF_SONAME_PACKAGE libclformer${PROJECT_VERSION_MAJOR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME clformer)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${CLF_SONAME_PACKAGE} (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Embeddings, search by meaning, reranking, classification, small language
models, translation, attention and einsum on CPUs and GPUs.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${CLF_SONAME_PACKAGE})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/triggers)
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION} (library)
The shared library, for programs that run Transformers on CPUs and GPUs
through OpenCL.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libclformer-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${CLF_SONAME_PACKAGE} (= ${PROJECT_VERSION}-1), opencl-c-headers")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
    "ocl-icd-opencl-dev, libclblast-dev, libjansson-dev, libutf8proc-dev, libpcre2-dev, libxxhash-dev") # for the static library
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION} (development files)
Headers, the static library, the CMake package and the pkg-config file.")
include(CPack)
