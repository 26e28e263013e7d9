/* SPDX-License-Identifier: MIT */
/* Reads the energy counter of an NVIDIA card through NVML, which is loaded at run time. It counts millijoules since the driver was
 * loaded (NVML API reference, nvmlDeviceGetTotalEnergyConsumption; Volta and newer). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/energy_counter.h"

enum { NVML_SUCCESS = 0 };

typedef void *nvml_device;

typedef struct nvml {
    void *library;
    nvml_device device;
    unsigned long long start_mj;
    bool is_initialized;
    int (*init)(void);
    int (*shutdown)(void);
    int (*device_count)(unsigned int *);
    int (*device_by_index)(unsigned int, nvml_device *);
    int (*device_by_address)(const char *, nvml_device *);
    int (*total_energy)(nvml_device, unsigned long long *);
    const char *(*error_text)(int);
} nvml;

static void nvml_close(void *state)
{
    nvml *n = state;
    if (n->is_initialized)
        n->shutdown();
    if (n->library)
        dlclose(n->library);
    free(n);
}

static clf_status nvml_read(void *state, double *joules)
{
    nvml *n = state;
    unsigned long long now;
    const int code = n->total_energy(n->device, &now);
    if (code != NVML_SUCCESS)
        CLF_FAIL(CLF_IO, "NVML: total energy: %s", n->error_text(code));
    if (now < n->start_mj)
        CLF_FAIL(CLF_IO, "NVML: the counter went back from %llu to %llu", n->start_mj, now);
    *joules = (double)(now - n->start_mj) * 1e-3;
    return CLF_OK;
}

/* Finds the functions of the library. memcpy stores dlsym's result as a function pointer, which POSIX allows and ISO C has no cast for. */
static clf_status resolve(nvml *n)
{
    const struct {
        const char *name;
        void *where;
    } symbols[] = {
        {"nvmlInit_v2", &n->init},
        {"nvmlShutdown", &n->shutdown},
        {"nvmlDeviceGetCount_v2", &n->device_count},
        {"nvmlDeviceGetHandleByIndex_v2", &n->device_by_index},
        {"nvmlDeviceGetHandleByPciBusId_v2", &n->device_by_address},
        {"nvmlDeviceGetTotalEnergyConsumption", &n->total_energy},
        {"nvmlErrorString", &n->error_text},
    };
    for (size_t i = 0; i < COUNT(symbols); i++) {
        void *symbol = dlsym(n->library, symbols[i].name);
        if (!symbol)
            CLF_FAIL(CLF_NOT_FOUND, "the library has no %s", symbols[i].name);
        memcpy(symbols[i].where, &symbol, sizeof symbol);
    }
    return CLF_OK;
}

static clf_status find_device(nvml *n, const clfi_energy_target *target)
{
    unsigned int count = 0;
    int code;
    if (target->pci_address[0]) {
        code = n->device_by_address(target->pci_address, &n->device);
        if (code != NVML_SUCCESS)
            CLF_FAIL(CLF_NOT_FOUND, "card %s: %s", target->pci_address, n->error_text(code));
        return CLF_OK;
    }
    code = n->device_count(&count);
    if (code == NVML_SUCCESS && count != 1)
        CLF_FAIL(CLF_NOT_FOUND, "%u cards, and the driver does not say which of them is the device", count);
    if (code == NVML_SUCCESS)
        code = n->device_by_index(0, &n->device);
    if (code != NVML_SUCCESS)
        CLF_FAIL(CLF_NOT_FOUND, "find the card: %s", n->error_text(code));
    return CLF_OK;
}

static clf_status open_library(const char *library, const clfi_energy_target *target, nvml *n)
{
    n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!n->library)
        CLF_FAIL(CLF_NOT_FOUND, "%s is not installed", library);
    CLF_TRY(resolve(n));
    int code = n->init();
    if (code != NVML_SUCCESS)
        CLF_FAIL(CLF_NOT_FOUND, "start: %s", n->error_text(code));
    n->is_initialized = true;
    CLF_TRY(find_device(n, target));
    code = n->total_energy(n->device, &n->start_mj);
    if (code != NVML_SUCCESS)
        CLF_FAIL(CLF_NOT_FOUND, "total energy: %s", n->error_text(code));
    return CLF_OK;
}

clf_status clfi_energy_nvml_open(const char *library, const clfi_energy_target *target, clfi_energy_counter *out)
{
    nvml *n;
    CLF_TRY(clfi_alloc(1, sizeof *n, "NVML", &n));
    const clf_status st = open_library(library, target, n);
    if (st != CLF_OK) {
        nvml_close(n);
        return clfi_fail_prefix(st, "NVML");
    }
    *out = (clfi_energy_counter){.method = "NVML", .read = nvml_read, .close = nvml_close, .state = n};
    return CLF_OK;
}
