/* SPDX-License-Identifier: MIT */
/* The functions that the shim stands before. */
#ifndef CLF_TEST_GPU_SHIM_REAL_H
#define CLF_TEST_GPU_SHIM_REAL_H

#include <CL/cl.h>
#include <dlfcn.h>
#include <string.h>

/* A line of CLF_TEST_GPU_LOG. */
__attribute__((format(printf, 1, 2))) void shim_note(const char *format, ...);

#define EXPORT __attribute__((visibility("default")))

/* The function that the program would have called: POSIX lets an object pointer hold a function's. */
#define REAL(function)                                    \
    __typeof__(function) *real;                           \
    {                                                     \
        void *const symbol = dlsym(RTLD_NEXT, #function); \
        memcpy(&real, &symbol, sizeof real);              \
    }

#endif
