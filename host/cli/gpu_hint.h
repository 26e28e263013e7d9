/* SPDX-License-Identifier: MIT */
/* Hints for the owner of a GPU that OpenCL does not show: the driver's package, its variable, the user's group or the
 * kernel's driver that is missing. */
#ifndef CLFI_CLI_GPU_HINT_H
#define CLFI_CLI_GPU_HINT_H

#include <stdbool.h>

#include "base/str.h"

/* Places in which the kernel and OpenCL's loader list devices; tests use others. */
typedef struct cli_gpu_places {
    const char *drm;            /* /sys/class/drm: renderD*, with device/vendor below */
    const char *dri;            /* /dev/dri: the nodes of the same names */
    const char *vendors;        /* /etc/OpenCL/vendors: .icd files of installed drivers */
    const char *given;          /* OCL_ICD_VENDORS, a folder or file that stands in place of that one, and OCL_ICD_FILENAMES; or NULL */
    const char *filenames;
    const char *rusticl_enable; /* RUSTICL_ENABLE or NULL */
    const char *pci;            /* /sys/bus/pci/devices: also GPUs that the kernel has no driver for; NULL: not looked at */
    const char *release;        /* of the running kernel, "6.1.0-28-amd64"; NULL: not known */
} cli_gpu_places;

cli_gpu_places cli_gpu_places_here(void);

/* A line for each GPU that the kernel knows and for each step that is missing, in the order in which the user takes them. has_idle_rusticl:
 * Mesa's platform is there and shows no device. For callers that found no usable GPU. */
clf_status cli_gpu_hints(const cli_gpu_places *places, bool has_idle_rusticl, clf_str *hints);

#endif
