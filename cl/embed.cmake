# SPDX-License-Identifier: MIT
# Writes OUTPUT, a C file with every kernel file of the list KERNELS as a byte array, and the table that names them.
set(arrays "")
set(rows "")
foreach(path ${KERNELS})
  get_filename_component(name ${path} NAME_WE)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char ${name}_cl[] = {\n${bytes}0x00};\n\n")
  string(APPEND rows "    {\"${name}.cl\", (const char *)${name}_cl, sizeof ${name}_cl - 1},\n")
endforeach()
file(WRITE ${OUTPUT}.new
"/* Generated from cl/: do not edit. */
#include \"runtime/kernel_source.h\"

${arrays}const clf_kernel_file clfi_kernel_files[] = {
${rows}};
const size_t clfi_kernel_file_count = sizeof clfi_kernel_files / sizeof clfi_kernel_files[0];
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
