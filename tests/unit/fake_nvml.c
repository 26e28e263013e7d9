/* SPDX-License-Identifier: MIT */
/* A stand-in for NVIDIA's management library: one card at 0000:3b:00.0 whose energy grows by 250 millijoules at each look. FAKE_NVML_CARDS
 * changes the number of cards, FAKE_NVML_NO_ENERGY makes the card one that counts none. */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int card;
static unsigned long long energy_mj = 5000;

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned int *count);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out);
EXPORT const char *nvmlErrorString(int code);

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
    const char *cards = getenv("FAKE_NVML_CARDS");
    *count = cards ? (unsigned int)atoi(cards) : 1;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
    *device = &card;
    return index == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
    *device = &card;
    return strcmp(address, "0000:3b:00.0") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out)
{
    if (device != &card || getenv("FAKE_NVML_NO_ENERGY"))
        return NOT_SUPPORTED;
    *out = energy_mj;
    energy_mj += 250;
    return SUCCESS;
}

const char *nvmlErrorString(int code)
{
    return code == NOT_SUPPORTED ? "Not Supported" : code == NOT_FOUND ? "Not Found" : "Success";
}
