# SPDX-License-Identifier: MIT
# What Debian wants in every package, put into the folders that cpack packs: copyright, changelog, compressed manual pages.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
get_filename_component(source "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
file(READ ${source}/LICENSE licence)
file(READ ${source}/host/model/g2p/LICENSE.cmudict dictionary)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

function(compress file)
  execute_process(COMMAND gzip -9 -n -f "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component program library development)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component})
  if(NOT package OR NOT IS_DIRECTORY ${root})
    continue()
  endif()
  set(folder ${root}/usr/share/doc/${package})
  file(REMOVE ${folder}/LICENSE ${folder}/LICENSE.cmudict) # both are in the copyright
  file(WRITE ${folder}/copyright "clformer\n\n${licence}\nThe pronunciation model that is built in was trained on the CMU pronouncing "
       "dictionary:\n\n${dictionary}")
  file(WRITE ${folder}/changelog.Debian "clformer (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Release ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${folder}/changelog.Debian)
  file(GLOB pages ${root}/usr/share/man/man*/*.[0-9])
  foreach(page ${pages})
    compress(${page})
  endforeach()
endforeach()
