/* SPDX-License-Identifier: MIT */
/* Loaded with LD_PRELOAD: the CLF_TEST_FAIL_QUERY-th time that a device is asked for its type, the driver refuses; with CLF_TEST_CRASH set
 * it crashes where a context is made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                                                              size_t *needed)
{
    static int asked;
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    void *const symbol = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const char *number = getenv("CLF_TEST_FAIL_QUERY");
    memcpy(&real, &symbol, sizeof real); /* POSIX lets an object pointer hold a function's */
    if (what == CL_DEVICE_TYPE && value && number && ++asked == atoi(number))
        return CL_OUT_OF_HOST_MEMORY;
    return real(device, what, size, value, needed);
}

__attribute__((visibility("default"))) cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                                                                  const cl_device_id *devices,
                                                                  void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                                                  void *user, cl_int *status)
{
    cl_context (*real)(const cl_context_properties *, cl_uint, const cl_device_id *,
                       void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *);
    void *const symbol = dlsym(RTLD_NEXT, "clCreateContext");
    memcpy(&real, &symbol, sizeof real);
    if (getenv("CLF_TEST_CRASH"))
        *(volatile int *)user = 0; /* NULL: a fault that comes again where a handler of LLVM's returns, as raise() does not */
    return real(properties, count, devices, notify, user, status);
}
