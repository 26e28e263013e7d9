/* SPDX-License-Identifier: MIT */
/* The shim itself: what is beyond the limits of the device that it shows is refused, and what is within them is not. Run with the shim
 * loaded. */
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

static void expect(cl_int found, cl_int wanted, const char *what)
{
    if (found != wanted) {
        printf("FAIL: %s: %d, expected %d\n", what, found, wanted);
        failed = 1;
    }
}

int main(void)
{
    static const char *source = "__kernel void fill(__global float *a, __local float *b)\n"
                                "{ b[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = b[get_local_id(0) ^ 1]; }";
    cl_platform_id platform;
    cl_device_id device;
    cl_int code;
    size_t group = 0;
    cl_ulong local = 0, largest = 0;
    float values[2] = {0, 0};
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS) {
        printf("FAIL: no GPU is shown\n");
        return 1;
    }
    expect(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), CL_DEVICE_NOT_FOUND, "a CPU");
    clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    const cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
    expect(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS, "a program");
    const cl_kernel kernel = clCreateKernel(program, "fill", &code);
    const cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096 * sizeof(float), NULL, &code);
    expect(code, CL_SUCCESS, "a small buffer");
    clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)largest + 1, NULL, &code);
    expect(code, CL_INVALID_BUFFER_SIZE, "a buffer larger than the device allows");
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clSetKernelArg(kernel, 1, (size_t)local, NULL);
    expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &group, &group, 0, NULL, NULL), CL_SUCCESS, "a launch at the limits");
    const size_t more = group * 2, odd = group + 1;
    expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &more, &more, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE, "a group too large");
    expect(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, (size_t[]){group, 2}, (size_t[]){group, 2}, 0, NULL, NULL),
           CL_INVALID_WORK_GROUP_SIZE, "a group of two dimensions too large");
    expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &odd, &group, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE, "an uneven launch");
    clSetKernelArg(kernel, 1, (size_t)local + 4, NULL);
    expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &group, &group, 0, NULL, NULL), CL_OUT_OF_RESOURCES, "too much local memory");
    expect(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL), CL_SUCCESS, "reading");
    if (values[0] != 1 || values[1] != 1) {
        printf("FAIL: the kernel that is allowed did not run\n");
        failed = 1;
    }
    clReleaseMemObject(memory);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return failed;
}
