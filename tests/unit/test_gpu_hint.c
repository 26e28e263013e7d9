/* SPDX-License-Identifier: MIT */
/* Hints for GPUs that OpenCL does not show, on made-up systems: the driver that is missing, the variable, the node, the group. */
#include "cli/gpu_hint.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/temp.h"

typedef struct system_case {
    const char *title;
    const char *vendor;   /* of renderD128; NULL: none */
    const char *icd;      /* file of the folder of drivers; NULL: none */
    const char *given;    /* OCL_ICD_VENDORS, as a file or folder below the root */
    const char *filenames;
    const char *enabled;  /* RUSTICL_ENABLE */
    bool is_idle;         /* rusticl shows no device */
    const char *want;     /* %s: the folder dri */
} system_case;

#define GENERAL                                                                                                                       \
    "Mesa's rusticl shows devices only where RUSTICL_ENABLE names their drivers: RUSTICL_ENABLE=radeonsi, iris, nouveau or, on the " \
    "CPU, llvmpipe\n"

static const system_case cases[] = {
    {"Intel, nothing installed", "0x8086\n", NULL, NULL, NULL, NULL, false,
     "renderD128: Intel GPU without an OpenCL driver: install intel-opencl-icd, or mesa-opencl-icd and set RUSTICL_ENABLE=iris\n"},
    {"Intel, PoCL alone", "0x8086\n", "pocl.icd", NULL, NULL, NULL, false,
     "renderD128: Intel GPU without an OpenCL driver: install intel-opencl-icd, or mesa-opencl-icd and set RUSTICL_ENABLE=iris\n"},
    {"Intel, its driver", "0x8086\n", "intel.icd", NULL, NULL, NULL, false, ""},
    {"Intel, its driver of another name", "0x8086\n", "intel-neo.icd", NULL, NULL, NULL, false, ""},
    {"Intel, its driver by OCL_ICD_VENDORS", "0x8086\n", NULL, "own/intel.icd", NULL, NULL, false, ""},
    {"Intel, its driver by OCL_ICD_FILENAMES", "0x8086\n", NULL, NULL, "/x/libpocl.so:/opt/libintelocl.so", NULL, false, ""},
    {"Intel, idle rusticl", "0x8086\n", "rusticl.icd", NULL, NULL, NULL, true,
     "renderD128: Intel GPU without an OpenCL driver: set RUSTICL_ENABLE=iris for the installed mesa-opencl-icd, or install "
     "intel-opencl-icd\n"},
    {"Intel, rusticl enabled", "0x8086\n", "rusticl.icd", NULL, NULL, "llvmpipe,iris:0", false, ""},
    {"Intel, rusticl enabled for others", "0x8086\n", "rusticl.icd", NULL, NULL, "irises,llvmpipe", false,
     "renderD128: Intel GPU without an OpenCL driver: set RUSTICL_ENABLE=iris for the installed mesa-opencl-icd, or install "
     "intel-opencl-icd\n"},
    {"AMD, nothing installed", "0x1002\n", NULL, NULL, NULL, NULL, false,
     "renderD128: AMD GPU without an OpenCL driver: install mesa-opencl-icd and set RUSTICL_ENABLE=radeonsi\n"},
    {"AMD, idle rusticl", "0x1002\n", "rusticl.icd", NULL, NULL, NULL, true,
     "renderD128: AMD GPU without an OpenCL driver: set RUSTICL_ENABLE=radeonsi for the installed mesa-opencl-icd\n"},
    {"AMD, ROCm", "0x1002\n", "amdocl64.icd", NULL, NULL, NULL, false, ""},
    {"NVIDIA, nothing installed", "0x10de\n", NULL, NULL, NULL, NULL, false,
     "renderD128: NVIDIA GPU without an OpenCL driver: install nvidia-opencl-icd\n"},
    {"NVIDIA, its driver", "0x10de\n", "nvidia.icd", NULL, NULL, NULL, false, ""},
    {"a vendor that is not in the table", "0x1af4\n", NULL, NULL, NULL, NULL, false, ""},
    {"no number", "none\n", NULL, NULL, NULL, NULL, false, ""},
    {"no GPU, idle rusticl", NULL, "rusticl.icd", NULL, NULL, NULL, true, GENERAL},
    {"no GPU, rusticl enabled", NULL, "rusticl.icd", NULL, NULL, "llvmpipe", true, ""},
    {"no GPU", NULL, NULL, NULL, NULL, NULL, false, ""},
};

static void check_case(const system_case *c, bool has_node)
{
    char root[TEMP_PATH_BYTES], path[3][TEMP_PATH_BYTES], given[TEMP_PATH_BYTES], want[1200];
    clf_str hints = CLF_STR_INIT;
    temp_directory_make(root);
    if (c->vendor)
        temp_file_below(root, "drm/renderD128/device/vendor", c->vendor, strlen(c->vendor));
    temp_file_below(root, "drm/card0/device/vendor", "0x8086\n", 7); /* no node of its own: counted by its render node alone */
    temp_file_below(root, has_node ? "dri/renderD128" : "dri/card0", "", 0);
    if (c->icd) {
        snprintf(path[0], sizeof path[0], "vendors/%s", c->icd);
        temp_file_below(root, path[0], "", 0);
    }
    if (c->given)
        temp_file_below(root, c->given, "", 0);
    const cli_gpu_places places = {temp_path(root, "drm", path[0]), temp_path(root, "dri", path[1]), temp_path(root, "vendors", path[2]),
                                   c->given ? temp_path(root, c->given, given) : NULL, c->filenames, c->enabled, NULL, NULL};
    CHECK_OK(cli_gpu_hints(&places, c->is_idle, &hints));
    const bool is_known = c->vendor && strtol(c->vendor, NULL, 16) > 0 && strtol(c->vendor, NULL, 16) != 0x1af4;
    snprintf(want, sizeof want, "%s", c->want);
    if (!has_node && is_known)
        snprintf(want + strlen(want), sizeof want - strlen(want),
                 "%s/renderD128 is missing: the kernel knows the GPU, but this system or container was not given its node\n", path[1]);
    CHECK(strcmp(clfi_str_text(&hints), want) == 0, "%s: \"%s\", not \"%s\"", c->title, clfi_str_text(&hints), want);
    clfi_str_free(&hints);
    temp_directory_remove(root);
}

static void test_systems(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_case(&cases[i], true);
        check_case(&cases[i], false);
    }
}

/* A node that the user cannot open names its group, or its permissions where the group could not either. */
static void test_group(void **state)
{
    char root[TEMP_PATH_BYTES], path[2][TEMP_PATH_BYTES], node[TEMP_PATH_BYTES];
    (void)state;
    if (geteuid() == 0) { /* root opens everything */
        if (seteuid(65534) != 0)
            skip();
    }
    temp_directory_make(root);
    temp_file_below(root, "dri/renderD129", "", 0);
    temp_path(root, "dri/renderD129", node);
    const cli_gpu_places places = {temp_path(root, "drm", path[0]), temp_path(root, "dri", path[1]), "", NULL, NULL, NULL, NULL, NULL};
    for (int closed = 0; closed < 2; closed++) {
        clf_str hints = CLF_STR_INIT;
        assert_int_equal(chmod(node, closed ? 0400 : 0460), 0);
        CHECK_OK(cli_gpu_hints(&places, false, &hints));
        const char *want = closed ? "its permissions are 400" : "appears after \"sudo usermod -aG ";
        CHECK(strstr(clfi_str_text(&hints), want), "%s", clfi_str_text(&hints));
        clfi_str_free(&hints);
    }
    temp_directory_remove(root);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

typedef struct generation_case {
    const char *title;
    const char *device; /* PCI number of renderD128 and of the PCI device */
    const char *class;
    const char *icd;
    const char *release; /* of the kernel */
    bool has_driver;     /* the kernel's */
    const char *want;    /* with a node; a kernel without a driver makes none */
} generation_case;

#define LEGACY \
    " GPU, which intel-opencl-icd leaves out from release 24.39 on: install intel-opencl-icd-legacy1, or mesa-opencl-icd and set " \
    "RUSTICL_ENABLE=iris\n"

static const generation_case generation_cases[] = {
    {"Skylake with the new driver", "0x1912", "0x030000", "intel.icd", "6.1.0", true, "renderD128: Skylake" LEGACY},
    {"Ice Lake with the new driver", "0x8a52", "0x030000", "intel.icd", "6.1.0", true, "renderD128: Ice Lake" LEGACY},
    {"Skylake without a driver", "0x1912", "0x030000", "pocl.icd", "6.1.0", true,
     "renderD128: Intel GPU without an OpenCL driver: install intel-opencl-icd-legacy1 (or intel-opencl-icd where its release is below "
     "24.39), or mesa-opencl-icd and set RUSTICL_ENABLE=iris\n"},
    {"Tiger Lake without a driver", "0x9a49", "0x030000", "pocl.icd", "6.1.0", true,
     "renderD128: Intel GPU without an OpenCL driver: install intel-opencl-icd, or mesa-opencl-icd and set RUSTICL_ENABLE=iris\n"},
    {"Skylake with the old driver", "0x1912", "0x030000", "intel_legacy1.icd", "6.1.0", true, ""},
    {"Tiger Lake", "0x9a49", "0x030000", "intel.icd", "6.1.0", true, ""},
    {"Battlemage, an old kernel", "0xe20b", "0x030000", "intel.icd", "6.8.0-60-generic", false,
     "PCI device 0000:03:00.0: Battlemage GPU without a kernel driver: Linux 6.12 or newer has one, and 6.8.0-60-generic is running\n"},
    {"Lunar Lake, an old kernel", "0x64a0", "0x030000", "intel.icd", "5.15.0", false,
     "PCI device 0000:03:00.0: Lunar Lake GPU without a kernel driver: Linux 6.12 or newer has one, and 5.15.0 is running\n"},
    {"Battlemage, a new kernel", "0xe20b", "0x030000", "intel.icd", "6.12.1", false, ""},
    {"Battlemage, an old kernel with its driver", "0xe20b", "0x030000", "intel.icd", "6.11.0", true, ""},
    {"a sound card of such a number", "0xe20b", "0x040300", "intel.icd", "6.8.0", false, ""},
    {"a kernel of no number", "0xe20b", "0x030000", "intel.icd", "unknown", false, ""},
};

/* Hints for an Intel GPU by its generation. */
static void test_generations(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(generation_cases); i++) {
        const generation_case *c = &generation_cases[i];
        char root[TEMP_PATH_BYTES], path[4][TEMP_PATH_BYTES], icd[TEMP_PATH_BYTES];
        clf_str hints = CLF_STR_INIT;
        temp_directory_make(root);
        if (c->has_driver) {
            temp_file_below(root, "drm/renderD128/device/vendor", "0x8086\n", 7);
            temp_file_below(root, "drm/renderD128/device/device", c->device, strlen(c->device));
            temp_file_below(root, "dri/renderD128", "", 0);
            temp_file_below(root, "pci/0000:03:00.0/driver/module", "", 0);
        }
        temp_file_below(root, "pci/0000:03:00.0/vendor", "0x8086\n", 7);
        temp_file_below(root, "pci/0000:03:00.0/device", c->device, strlen(c->device));
        temp_file_below(root, "pci/0000:03:00.0/class", c->class, strlen(c->class));
        snprintf(icd, sizeof icd, "vendors/%s", c->icd);
        temp_file_below(root, icd, "", 0);
        const cli_gpu_places places = {.drm = temp_path(root, "drm", path[0]),
                                       .dri = temp_path(root, "dri", path[1]),
                                       .vendors = temp_path(root, "vendors", path[2]),
                                       .pci = temp_path(root, "pci", path[3]),
                                       .release = c->release};
        CHECK_OK(cli_gpu_hints(&places, false, &hints));
        CHECK(strcmp(clfi_str_text(&hints), c->want) == 0, "%s: \"%s\", not \"%s\"", c->title, clfi_str_text(&hints), c->want);
        clfi_str_free(&hints);
        temp_directory_remove(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_systems), cmocka_unit_test(test_generations), cmocka_unit_test(test_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
