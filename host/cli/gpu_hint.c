/* SPDX-License-Identifier: MIT */
/* Finds out why a GPU of the machine is not an OpenCL device, and what to install, for clformer devices. */
#include "cli/gpu_hint.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PATH_BYTES = 512, INTEL = 0x8086, DISPLAY_CLASS = 0x03 };

typedef struct gpu_vendor {
    unsigned id; /* PCI */
    const char *name;
    const char *package;     /* Debian's package of the vendor's own driver; NULL: none */
    const char *icd[2];      /* beginnings of the names of its .icd files */
    const char *mesa_driver; /* as RUSTICL_ENABLE calls it */
} gpu_vendor;

static const gpu_vendor vendors[] = {
    {INTEL, "Intel", "intel-opencl-icd", {"intel"}, "iris"},
    {0x1002, "AMD", NULL, {"amdocl"}, "radeonsi"},
    {0x10de, "NVIDIA", "nvidia-opencl-icd", {"nvidia"}, NULL},
};

/* Intel's GPUs that need another package or a newer kernel: PCI device numbers with their last digits masked. */
typedef struct intel_generation {
    unsigned mask, id;
    const char *name;
    int kernel; /* first Linux with a driver that needs no option, 100 major + minor; 0: every one */
} intel_generation;

/* Generations 8, 9 and 11 left intel-opencl-icd after 24.35 (github.com/intel/compute-runtime, LEGACY_PLATFORMS.md); their driver goes on
 * as intel-opencl-icd-legacy1, whose file is intel_legacy1.icd. Lunar Lake and Battlemage run without force_probe from Linux 6.12 on
 * ("drm/xe/bmg: Drop force_probe requirement"). */
static const intel_generation generations[] = {
    {0xff00, 0x1600, "Broadwell", 0},    {0xff00, 0x2200, "Cherryview", 0},   {0xff00, 0x1900, "Skylake", 0},
    {0xff00, 0x5900, "Kaby Lake", 0},    {0xff00, 0x3e00, "Coffee Lake", 0},  {0xff00, 0x9b00, "Comet Lake", 0},
    {0xff00, 0x5a00, "Apollo Lake", 0},  {0xff00, 0x3100, "Gemini Lake", 0},  {0xff00, 0x8a00, "Ice Lake", 0},
    {0xff00, 0x4500, "Elkhart Lake", 0}, {0xff00, 0x4e00, "Jasper Lake", 0},  {0xffff, 0x6420, "Lunar Lake", 612},
    {0xffff, 0x64a0, "Lunar Lake", 612}, {0xffff, 0x64b0, "Lunar Lake", 612}, {0xff00, 0xe200, "Battlemage", 612},
};

#define DROPPED_IN "24.39" /* the release of intel-opencl-icd that leaves out the generations before Tiger Lake */
#define OLDER_PACKAGE "intel-opencl-icd-legacy1 (or intel-opencl-icd where its release is below " DROPPED_IN ")"

static const intel_generation *generation_of(unsigned id)
{
    for (size_t i = 0; i < sizeof generations / sizeof *generations; i++)
        if ((id & generations[i].mask) == generations[i].id)
            return &generations[i];
    return NULL;
}

cli_gpu_places cli_gpu_places_here(void)
{
    static struct utsname system;
    return (cli_gpu_places){"/sys/class/drm",
                            "/dev/dri",
                            "/etc/OpenCL/vendors",
                            getenv("OCL_ICD_VENDORS"),
                            getenv("OCL_ICD_FILENAMES"),
                            getenv("RUSTICL_ENABLE"),
                            "/sys/bus/pci/devices",
                            uname(&system) == 0 ? system.release : NULL};
}

/* Reads the hexadecimal number of a device from a file of the kernel; 0: there is none. */
static unsigned device_number(const char *folder, const char *device, const char *name)
{
    char path[PATH_BYTES];
    unsigned number = 0;
    snprintf(path, sizeof path, "%s/%s/%s", folder, device, name);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%x", &number) != 1)
        number = 0;
    if (file)
        fclose(file);
    return number;
}

static const gpu_vendor *vendor_of(const char *drm, const char *node)
{
    const unsigned id = device_number(drm, node, "device/vendor");
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (vendors[i].id == id)
            return &vendors[i];
    return NULL;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether a folder of .icd files, or one such file in its place, names a driver. */
static bool holds_driver(const char *folder, const char *beginning)
{
    DIR *entries = folder ? opendir(folder) : NULL;
    bool found = folder && !entries && begins(last_name(folder), beginning);
    for (struct dirent *entry; !found && entries && (entry = readdir(entries));)
        found = begins(entry->d_name, beginning);
    if (entries)
        closedir(entries);
    return found;
}

/* Whether a list of libraries and .icd files, separated by colons, names a driver. */
static bool names_driver(const char *list, const char *beginning)
{
    for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ":"), at);
        const char *name = last_name(path);
        if (begins(name, beginning) || (begins(name, "lib") && begins(name + 3, beginning)))
            return true;
    }
    return false;
}

static bool has_driver(const cli_gpu_places *places, const char *beginning)
{
    return beginning && (holds_driver(places->vendors, beginning) || holds_driver(places->given, beginning) ||
                         names_driver(places->filenames, beginning) ||
                         (strcmp(beginning, "rusticl") == 0 && names_driver(places->filenames, "RusticlOpenCL")));
}

/* Whether RUSTICL_ENABLE names the driver. It is a list with commas; a driver may have numbers of devices after a colon. */
static bool is_enabled(const char *list, const char *driver)
{
    const size_t length = strlen(driver);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, driver, length) == 0 && strchr(",:", at[length]))
            return true;
    return false;
}

/* The generation of an Intel GPU that the driver's newer releases leave out; NULL: it is no such GPU. */
static const intel_generation *older_generation(const cli_gpu_places *places, const gpu_vendor *vendor, const char *node)
{
    const intel_generation *generation = vendor->id == INTEL ? generation_of(device_number(places->drm, node, "device/device")) : NULL;
    return generation && !generation->kernel ? generation : NULL;
}

/* Hints at the driver that is missing, or at the variable that enables it. */
static clf_status hint_driver(const cli_gpu_places *places, const gpu_vendor *vendor, const char *node, clf_str *hints)
{
    if (has_driver(places, vendor->icd[0]) || has_driver(places, vendor->icd[1]))
        return CLF_OK;
    const bool has_rusticl = vendor->mesa_driver && has_driver(places, "rusticl");
    if (has_rusticl && is_enabled(places->rusticl_enable, vendor->mesa_driver))
        return CLF_OK;
    const char *package = older_generation(places, vendor, node) ? OLDER_PACKAGE : vendor->package;
    CLF_TRY(clfi_str_appendf(hints, "%s: %s GPU without an OpenCL driver: ", node, vendor->name));
    if (has_rusticl)
        return clfi_str_appendf(hints, "set RUSTICL_ENABLE=%s for the installed mesa-opencl-icd%s%s\n", vendor->mesa_driver,
                                package ? ", or install " : "", package ? package : "");
    if (!vendor->mesa_driver)
        return clfi_str_appendf(hints, "install %s\n", package);
    return clfi_str_appendf(hints, "install %s%smesa-opencl-icd and set RUSTICL_ENABLE=%s\n", package ? package : "",
                            package ? ", or " : "", vendor->mesa_driver);
}

/* Whether this user can open the node. */
static bool is_open(const char *dri, const char *node)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dri, node);
    return faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0;
}

/* Hints at the package for an older GPU, if only the driver of newer ones is installed. */
static clf_status hint_generation(const cli_gpu_places *places, const gpu_vendor *vendor, const char *node, clf_str *hints)
{
    const intel_generation *generation = older_generation(places, vendor, node);
    if (!generation || !is_open(places->dri, node) || !has_driver(places, vendor->icd[0]) || has_driver(places, "intel_legacy"))
        return CLF_OK;
    return clfi_str_appendf(hints,
                            "%s: %s GPU, which intel-opencl-icd leaves out from release " DROPPED_IN " on: install "
                            "intel-opencl-icd-legacy1, or mesa-opencl-icd and set RUSTICL_ENABLE=iris\n",
                            node, generation->name);
}

/* Hints at a newer kernel for a GPU for which the running one has no driver. */
static clf_status hint_kernel(const cli_gpu_places *places, const char *device, clf_str *hints)
{
    char path[PATH_BYTES];
    int major = 0, minor = 0;
    const intel_generation *generation =
        device_number(places->pci, device, "vendor") == INTEL && device_number(places->pci, device, "class") >> 16 == DISPLAY_CLASS
            ? generation_of(device_number(places->pci, device, "device"))
            : NULL;
    snprintf(path, sizeof path, "%s/%s/driver", places->pci, device);
    if (!generation || access(path, F_OK) == 0 || !places->release || sscanf(places->release, "%d.%d", &major, &minor) != 2 ||
        100 * major + minor >= generation->kernel)
        return CLF_OK;
    return clfi_str_appendf(hints, "PCI device %s: %s GPU without a kernel driver: Linux %d.%d or newer has one, and %s is running\n",
                            device, generation->name, generation->kernel / 100, generation->kernel % 100, places->release);
}

/* Hints at a missing node, as in a container that was not given it. */
static clf_status hint_node(const char *dri, const char *node, clf_str *hints)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", dri, node);
    if (access(path, F_OK) == 0)
        return CLF_OK;
    return clfi_str_appendf(hints, "%s is missing: the kernel knows the GPU, but this system or container was not given its node\n", path);
}

/* Hints at the group that may open the node if this user may not: render on Debian, video on older systems. */
static clf_status hint_group(const char *dri, const char *node, clf_str *hints)
{
    char path[PATH_BYTES];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", dri, node);
    if (stat(path, &info) != 0 || is_open(dri, node))
        return CLF_OK;
    const struct group *group = getgrgid(info.st_gid);
    if (!group || (info.st_mode & (S_IRGRP | S_IWGRP)) != (S_IRGRP | S_IWGRP))
        return clfi_str_appendf(hints, "%s cannot be opened by this user: its permissions are %03o\n", path,
                                (unsigned)info.st_mode & 0777u);
    return clfi_str_appendf(hints,
                            "%s cannot be opened by this user; its GPU appears after \"sudo usermod -aG %s $USER\" and a new login\n", path,
                            group->gr_name);
}

static int is_render_node(const struct dirent *entry)
{
    return begins(entry->d_name, "renderD");
}

/* Hints for each render node. is_drm: at missing drivers and nodes, for the nodes that the kernel lists; else at groups, for the nodes in
 * /dev/dri. *found becomes true if any GPU is of a vendor in the table. */
static clf_status each_node(const cli_gpu_places *places, bool is_drm, bool *found, clf_str *hints)
{
    struct dirent **nodes;
    clf_status st = CLF_OK;
    const int count = scandir(is_drm ? places->drm : places->dri, &nodes, is_render_node, alphasort);
    for (int i = 0; i < count; i++) {
        const char *node = nodes[i]->d_name;
        const gpu_vendor *vendor = is_drm ? vendor_of(places->drm, node) : NULL;
        if (vendor && st == CLF_OK) {
            *found = true;
            st = hint_driver(places, vendor, node, hints);
            if (st == CLF_OK)
                st = hint_generation(places, vendor, node, hints);
            if (st == CLF_OK)
                st = hint_node(places->dri, node, hints);
        } else if (!is_drm && st == CLF_OK) {
            st = hint_group(places->dri, node, hints);
        }
        free(nodes[i]);
    }
    if (count >= 0)
        free(nodes);
    return st;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static clf_status each_pci_device(const cli_gpu_places *places, clf_str *hints)
{
    struct dirent **devices;
    clf_status st = CLF_OK;
    const int count = places->pci ? scandir(places->pci, &devices, is_visible, alphasort) : -1;
    for (int i = 0; i < count; i++) {
        if (st == CLF_OK)
            st = hint_kernel(places, devices[i]->d_name, hints);
        free(devices[i]);
    }
    if (count >= 0)
        free(devices);
    return st;
}

clf_status cli_gpu_hints(const cli_gpu_places *places, bool has_idle_rusticl, clf_str *hints)
{
    bool found = false;
    CLF_TRY(each_pci_device(places, hints));
    CLF_TRY(each_node(places, true, &found, hints));
    CLF_TRY(each_node(places, false, &found, hints));
    if (!has_idle_rusticl || found || places->rusticl_enable)
        return CLF_OK;
    return clfi_str_append_text(
        hints, "Mesa's rusticl shows devices only where RUSTICL_ENABLE names their drivers: RUSTICL_ENABLE=radeonsi, iris, nouveau "
               "or, on the CPU, llvmpipe\n");
}
