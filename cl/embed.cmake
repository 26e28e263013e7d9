# SPDX-License-Identifier: MIT
# Writes OUTPUT, a C file that defines the clf_kernel_set SET: every kernel file of the list KERNELS as a byte array, named by
# folder and file.
set(arrays "")
set(rows "")
foreach(path ${KERNELS})
  get_filename_component(name ${path} NAME_WE)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  if(DEFINED seen_${name})
    message(FATAL_ERROR "two kernel files are called ${name}.cl: kernels include each other by that name")
  endif()
  set(seen_${name} TRUE)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${name}_cl[] = {\n${bytes}0x00};\n\n")
  string(APPEND rows "    {\"${folder}/${name}.cl\", (const char *)${name}_cl, sizeof ${name}_cl - 1},\n")
endforeach()
file(WRITE ${OUTPUT}.new
"/* Generated from cl/: do not edit. */
#include \"runtime/kernel_source.h\"

${arrays}static const clf_kernel_file files[] = {
${rows}};

extern const clf_kernel_set ${SET};
const clf_kernel_set ${SET} = {files, sizeof files / sizeof files[0]};
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
