/* SPDX-License-Identifier: MIT */
/* Hints for the owner of a GPU that OpenCL does not show: the driver's package, its variable, the user's group or the
 * kernel's driver that is missing. */
#ifndef CLFI_CLI_GPU_HINT_H
#define CLFI_CLI_GPU_HINT_H

#include <stdbool.h>

#include "base/str.h"

/* Places where the kernel and OpenCL's loader list devices and drivers; tests use others. */
typedef struct cli_gpu_places {
    const char *drm;            /* /sys/class/drm: renderD*, with device/vendor below */
    const char *dri;            /* /dev/dri: the nodes of the same names */
    const char *vendors;        /* /etc/OpenCL/vendors: .icd files of installed drivers */
    const char *given;          /* OCL_ICD_VENDORS, a folder or file that replaces that folder; NULL: not set */
    const char *filenames;      /* OCL_ICD_FILENAMES; NULL: not set */
    const char *rusticl_enable; /* RUSTICL_ENABLE; NULL: not set */
    const char *pci;            /* /sys/bus/pci/devices: also GPUs that the kernel has no driver for; NULL: not looked at */
    const char *release;        /* of the running kernel, "6.1.0-28-amd64"; NULL: not known */
} cli_gpu_places;

/* The places of this machine; their strings are static or the environment's. */
cli_gpu_places cli_gpu_places_here(void);

/* Appends a line for each GPU and each step that is missing, in the order in which the user takes the steps. For callers that found no
 * usable GPU. has_idle_rusticl: Mesa's platform is there and shows no device. Without a known GPU, and if RUSTICL_ENABLE is not
 * set, a line then names that variable. */
clf_status cli_gpu_hints(const cli_gpu_places *places, bool has_idle_rusticl, clf_str *hints);

#endif
