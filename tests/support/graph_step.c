/* SPDX-License-Identifier: MIT */
/* The kernels of graph steps, their launches and their expected numbers. */
#include "support/graph_step.h"

#include "base/alloc.h"
#include "runtime/launch.h"

enum { SMALL_GROUP = 64 };

#define FILE_OF(path, text)         \
    {                               \
        path, text, sizeof text - 1 \
    }

/* Every work-item of a step reads what another work-item wrote in the step before. In an exchange, work-items also read through local
 * memory. Its functions and structs have the names of those of a turn, to test that parts of a graph do not collide. */
static const clf_kernel_file files[] = {
    FILE_OF("any/turn.cl", "#include \"item.cl\"\n"
                           "typedef struct turn_pair { int by, unused; } turn_pair;\n"
                           "inline int helper(int x) { return x + FACTOR; }\n"
                           "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
                           "void turn(ITEM_PARAMETERS __global const int *x, __global int *y, int add, long4 four, turn_pair pair)\n"
                           "{\n"
                           "    const int at = (int)((get_global_id(2) * 3 + get_global_id(1)) * 60 + get_global_id(0));\n"
                           "    y[at] = helper(x[(at + pair.by) % 360]) + add + (int)(four.w >> 32);\n"
                           "}\n"),
    FILE_OF("any/exchange.cl", "#include \"group.cl\"\n"
                               "typedef struct turn_pair { int add, by, share, width, height; } turn_pair;\n"
                               "inline int helper(__local const int *value, int i) { return value[WG - 1 - i % WG] - FACTOR; }\n"
                               "__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))\n"
                               "void exchange(GROUP_PARAMETERS __global const int *restrict x, __global int *restrict y, turn_pair pair)\n"
                               "{\n"
                               "    LOCAL_ARRAY(int, value, WG, 16 * FACTOR)\n"
                               "    LOCAL_ARRAY(char, rest, REST + 1, 16 * FACTOR + 4 * WG)\n"
                               "    const int plane = (int)(get_group_id(2) * pair.height + get_group_id(1));\n"
                               "    const int item = (int)get_local_id(0), group = plane * pair.width + (int)get_group_id(0);\n"
                               "    value[item] = x[((int)get_global_id(0) + 7 * plane + pair.by) % 360];\n"
                               "    if (pair.share < 0) rest[REST] = 1;\n" /* never runs, but keeps the array */
                               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "    for (int i = item; i < pair.share; i += WG)\n"
                               "        y[group * pair.share + i] = helper(value, i) + pair.add;\n"
                               "}\n"),
    FILE_OF("any/alone.cl", "__kernel void alone(__global int *x)\n{\n    x[get_global_id(0)] *= 2;\n}\n"),
    FILE_OF("any/refuses.cl", "#include \"item.cl\"\n"
                              "#ifdef GRAPH_PART\n#error \"no part of a graph\"\n#endif\n"
                              "__kernel void refuses(ITEM_PARAMETERS __global int *x)\n{\n    x[get_global_id(0)] *= 2;\n}\n"),
};
static const clf_kernel_set own = {files, COUNT(files)};

static clf_kernel_spec spec_of(const char *file, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec(file, kernel);
    spec.own = &own;
    return spec;
}

clf_status graph_step_turn(clf_context *context, const clf_buffer *x, const clf_buffer *y, int step)
{
    const struct {
        cl_int by, unused;
    } pair = {1 + step % 7, 0};
    const cl_long4 four = {{1, 2, 3, (cl_long)(step % 5) << 32}};
    clf_kernel_spec spec = spec_of("turn.cl", "turn");
    clfi_spec_int(&spec, "FACTOR", step % 3); /* three parts of a graph, each with a function of the same name */
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_buffer(&launch, y);
    clfi_arg_int(&launch, step);
    clfi_arg_struct(&launch, "long4", &four, sizeof four);
    clfi_arg_struct(&launch, "turn_pair", &pair, sizeof pair);
    clfi_launch_work(&launch, 0, 2.0 * GRAPH_STEP_SIZE * sizeof(int));
    return clfi_launch_3d(&launch, (size_t[3]){GRAPH_STEP_SIZE / 6, 3, 2}, (size_t[3]){1, 1, 1});
}

void graph_step_turn_expected(const int *x, int *y, int step)
{
    for (int at = 0; at < GRAPH_STEP_SIZE; at++)
        y[at] = x[(at + 1 + step % 7) % GRAPH_STEP_SIZE] + step % 3 + step + step % 5;
}

int graph_step_group_items(const clf_context *context)
{
    return context->device.caps.graph_group > 1 ? context->device.caps.graph_group : SMALL_GROUP;
}

static int share_of(const graph_step_shape *shape)
{
    return GRAPH_STEP_SIZE / (shape->groups[0] * shape->groups[1] * shape->groups[2]);
}

clf_status graph_step_exchange(clf_context *context, const graph_step_shape *shape, const clf_buffer *x, const clf_buffer *y, int step)
{
    const struct {
        cl_int add, by, share, width, height;
    } pair = {step, 1 + step % 7, share_of(shape), shape->groups[0], shape->groups[1]};
    clf_kernel_spec spec = spec_of("exchange.cl", "exchange");
    clfi_spec_int(&spec, "FACTOR", step % 3);
    clfi_spec_int(&spec, "WG", shape->items);
    clfi_spec_int(&spec, "REST", shape->rest);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, x);
    clfi_arg_buffer(&launch, y);
    clfi_arg_struct(&launch, "turn_pair", &pair, sizeof pair);
    return clfi_launch_3d(&launch, (size_t[3]){(size_t)shape->groups[0], (size_t)shape->groups[1], (size_t)shape->groups[2]},
                          (size_t[3]){(size_t)shape->items, 1, 1});
}

void graph_step_exchange_expected(const graph_step_shape *shape, const int *x, int *y, int step)
{
    const int share = share_of(shape);
    for (int at = 0; at < GRAPH_STEP_SIZE; at++) {
        const int group = at / share, plane = group / shape->groups[0];
        const int item = shape->items - 1 - at % share % shape->items; /* the work-item that read what this one writes */
        y[at] = x[(group % shape->groups[0] * shape->items + item + 7 * plane + 1 + step % 7) % GRAPH_STEP_SIZE] - step % 3 + step;
    }
}

clf_status graph_step_simple(clf_context *context, const char *file, const char *kernel, const clf_buffer *x)
{
    const clf_kernel_spec spec = spec_of(file, kernel);
    clf_launch launch = clfi_launch(context, &spec);
    clfi_arg_buffer(&launch, x);
    return clfi_launch_1d(&launch, GRAPH_STEP_SIZE, 1);
}
