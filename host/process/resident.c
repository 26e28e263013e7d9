/* SPDX-License-Identifier: MIT */
/* Reads the resident memory from /proc/self (VmRSS, VmHWM; writing 5 to clear_refs resets the peak, proc(5)), else from getrusage. */
#include "process/resident.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

void clfi_resident_reset(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

/* A line "NAME: 123 kB" of /proc/self/status; 0: there is none. */
static unsigned long long read_kibibytes(const char *name)
{
    FILE *file = fopen("/proc/self/status", "r");
    const size_t length = strlen(name);
    unsigned long long kibibytes = 0;
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %llu kB", &kibibytes) == 1)
            break;
    if (file)
        fclose(file);
    return kibibytes;
}

size_t clfi_resident_bytes(void)
{
    return (size_t)read_kibibytes("VmRSS") * 1024;
}

size_t clfi_resident_peak_bytes(void)
{
    unsigned long long kibibytes = read_kibibytes("VmHWM");
    struct rusage usage;
    if (!kibibytes && getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0)
        kibibytes = (unsigned long long)usage.ru_maxrss; /* KiB on Linux */
    return (size_t)kibibytes * 1024;
}
