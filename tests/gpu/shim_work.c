/* SPDX-License-Identifier: MIT */
/* The work of launches, kernel by kernel. */
#include "shim_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 1024, ARGUMENTS = 24, HEAD = 5, OPTION_BYTES = 8192 };

typedef struct known_kernel {
    cl_kernel handle;
    long values[ARGUMENTS]; /* integers of 32 and 64 bits */
    long head[HEAD];        /* the first longs of the last struct */
} known_kernel;

static known_kernel known[KERNELS];
static size_t known_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static known_kernel *find(cl_kernel handle)
{
    size_t i = 0;
    while (i < known_count && known[i].handle != handle)
        i++;
    if (i == known_count && known_count < KERNELS)
        known[known_count++].handle = handle;
    return i < KERNELS ? &known[i] : NULL;
}

void shim_work_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    if (index >= ARGUMENTS || !value)
        return;
    pthread_mutex_lock(&lock);
    known_kernel *at = find(kernel);
    if (at && size == sizeof(int)) {
        int number;
        memcpy(&number, value, sizeof number);
        at->values[index] = number;
    } else if (at && size == sizeof(long)) {
        memcpy(&at->values[index], value, size);
    } else if (at && size >= sizeof at->head) {
        memcpy(at->head, value, sizeof at->head);
    }
    pthread_mutex_unlock(&lock);
}

/* A launch: the kernel's options and arguments, and its share of the whole. */
typedef struct launch {
    char options[OPTION_BYTES];
    long values[ARGUMENTS], head[HEAD];
    double global[3], items, groups;
    double keys;
} launch;

/* The least that a kernel has to do: multiply-adds, and bytes of memory if each operand is read or written once. */
typedef struct least_work {
    double multiply_adds, bytes;
} least_work;

static double option(const launch *l, const char *name)
{
    const char *at = strstr(l->options, name);
    return at ? strtod(at + strlen(name), NULL) : 1;
}

/* Bytes of an element, by the option that names its type. */
static double bytes_of(const launch *l, const char *name)
{
    const char *at = strstr(l->options, name), *type = at ? at + strlen(name) : "float";
    return strncmp(type, "half", 4) == 0 || strncmp(type, "ushort", 6) == 0 ? 2 : 4;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static least_work tiled(const launch *l)
{
    return (least_work){l->items * option(l, "-DITEM_M=") * option(l, "-DITEM_N=") * (double)l->values[3], 0};
}

static least_work dots(const launch *l)
{
    return (least_work){l->groups * option(l, "-DROWS=") * option(l, "-DCOLUMNS=") * (double)l->values[2], 0};
}

static least_work columns(const launch *l)
{
    return (least_work){l->items * option(l, "-DROWS=") * (double)l->values[2], 0};
}

static least_work blocks(const launch *l)
{
    return (least_work){l->items / option(l, "-DLANES=") * option(l, "-DROWS=") * (double)l->values[2] * (1 + option(l, "-DIS_GATED=")), 0};
}

/* A work-item computes a tile: ROWS rows of a panel's columns. */
static least_work packed(const launch *l)
{
    return (least_work){l->items * option(l, "-DROWS=") * option(l, "-DVECTORS=") * option(l, "-DWIDTH=") * (double)l->values[2], 0};
}

static least_work staged(const launch *l)
{
    const least_work tile = packed(l);
    return (least_work){tile.multiply_adds * option(l, "-DTILES="), 0};
}

/* Several tiles of rows, all columns, WIDTH products of the batch. */
static least_work interleaved(const launch *l)
{
    const double rows = option(l, "-DROWS=") * (double)l->values[6], columns = (double)l->values[1];
    return (least_work){l->items * rows * columns * (double)l->values[2] * option(l, "-DWIDTH="), 0};
}

static least_work interleave(const launch *l)
{
    return (least_work){0, 8 * l->items * option(l, "-DWIDTH=") * (double)l->values[1] * (double)l->values[3]};
}

/* CLBlast's kernels have the sizes of the whole product in front. */
static least_work clblast(const launch *l)
{
    return (least_work){(double)l->values[0] * (double)l->values[1] * (double)l->values[2], 0};
}

static least_work attention(const launch *l)
{
    return (least_work){l->groups * 4 * option(l, "-DITEMS_Q=") * option(l, "-DROW_VECTORS=") * l->keys *
                            (option(l, "-DHEAD=") + option(l, "-DHEAD_V=")),
                        0};
}

static least_work attention_by_items(const launch *l)
{
    return (least_work){l->items * l->keys * (option(l, "-DHEAD=") + smaller(option(l, "-DCHUNK="), option(l, "-DHEAD_V="))), 0};
}

/* Argument 15: keys of a work-group at most. */
static least_work cached_attention(const launch *l)
{
    return (least_work){l->groups * 2 * option(l, "-DHEAD=") * (double)l->values[15], 0};
}

static least_work cached_merge(const launch *l)
{
    return (least_work){0, 4 * l->groups * option(l, "-DHEAD=") * (double)l->values[2]};
}

static least_work score(const launch *l)
{
    return (least_work){l->items * (double)l->values[13], 0};
}

static least_work context(const launch *l)
{
    return (least_work){l->items * option(l, "-DWIDTH=") * 4 * (double)l->values[14], 0};
}

static least_work epilogue(const launch *l)
{
    return (least_work){0, 8 * l->items};
}

/* Rows of `length` elements, several in a work-group: each is read and written once. */
static least_work rows(const launch *l, long length)
{
    const double lanes = option(l, "-DLANES="), elements = l->groups * option(l, "-DWG=") / lanes * (double)length;
    return (least_work){elements, elements * (bytes_of(l, "-DX_T=") + bytes_of(l, "-DY_T="))};
}

static least_work softmax(const launch *l)
{
    return rows(l, l->values[17]);
}

static least_work softmax_by_items(const launch *l)
{
    const double elements = l->items * (double)l->values[17];
    return (least_work){elements, elements * (bytes_of(l, "-DX_T=") + bytes_of(l, "-DY_T="))};
}

static least_work norm(const launch *l)
{
    return rows(l, l->values[13]);
}

static least_work log_softmax(const launch *l)
{
    return rows(l, l->values[7]);
}

static least_work exp_sum(const launch *l)
{
    return (least_work){l->groups * (double)l->values[0], 4 * l->groups * (double)l->values[0]};
}

static least_work row_check(const launch *l)
{
    return (least_work){0, 4 * l->items * (double)l->values[1]};
}

/* As if one sequence had all tokens. */
static least_work pooling(const launch *l)
{
    const double elements = l->global[0] * option(l, "-DWIDTH=") * (double)l->values[3];
    return (least_work){elements, elements * bytes_of(l, "-DX_T=")};
}

static least_work top_k(const launch *l)
{
    return (least_work){0, 4 * l->groups * smaller((double)l->values[4], (double)l->values[5])};
}

/* Keys of 8 bytes and floats. */
static least_work search_runs(const launch *l)
{
    return (least_work){0, 12 * l->items * option(l, "-DRUN=")};
}

static least_work search_step(const launch *l)
{
    return (least_work){0, 16 * l->items};
}

/* The walk's head: work-items, and the elements of each. */
static least_work einsum_map(const launch *l)
{
    const double elements = smaller(l->global[0], (double)l->head[0]) * (double)l->head[1];
    return (least_work){elements, 4 * elements};
}

/* The walk's head: work-items, the elements of each, and in position 3 the products of each element. */
static least_work einsum_sum(const launch *l)
{
    return (least_work){smaller(l->global[0], (double)l->head[0]) * l->global[1] * (double)l->head[1] * (double)l->head[3], 0};
}

/* A tile of 32 x 32 elements that a work-group exchanges. */
static least_work exchange(const launch *l)
{
    return (least_work){0, l->groups * 32 * 32 * (bytes_of(l, "-DIN_T=") + bytes_of(l, "-DOUT_T="))};
}

static least_work pack_rows(const launch *l)
{
    return (least_work){0, l->items * option(l, "-DBLOCK_K=") * option(l, "-DBLOCK_ROWS=") *
                               (bytes_of(l, "-DFROM_T=") + bytes_of(l, "-DTO_T="))};
}

/* Argument 11: columns of a panel. */
static least_work pack_panels(const launch *l)
{
    return (least_work){0, l->items * option(l, "-DBLOCK_K=") * (double)l->values[11] * bytes_of(l, "-DTO_T=")};
}

static least_work map(const launch *l)
{
    const double elements = l->items * option(l, "-DCHUNK=") * option(l, "-DWIDTH=");
    return (least_work){elements, elements * 8};
}

static least_work each(const launch *l)
{
    return (least_work){l->items, 8 * l->items};
}

/* A word of bits for a key, from a byte for each of 32 queries. */
static least_work keep(const launch *l)
{
    return (least_work){0, l->items * (4 + 32 * option(l, "-DHAS_MASK="))};
}

static least_work dropout(const launch *l)
{
    return (least_work){0, 32 * l->items};
}

static least_work rotary(const launch *l)
{
    return (least_work){0, 16 * l->items * option(l, "-DITEM_PAIRS=")};
}

static least_work store_cache(const launch *l)
{
    const double share = l->global[0] / (double)(l->values[10] ? l->values[10] : 1);
    return (least_work){0, 8 * share * l->global[1] * (double)l->values[8] * (double)l->values[9]};
}

static least_work table_rows(const launch *l)
{
    return (least_work){0, 4 * l->items * option(l, "-DITEM_COLUMNS=")};
}

static least_work rate(const launch *l)
{
    return (least_work){l->items * 16 * (double)l->values[1], 0};
}

static least_work rate_copy(const launch *l)
{
    return (least_work){0, 32 * l->items};
}

static least_work nothing(const launch *l)
{
    (void)l;
    return (least_work){0, 0};
}

/* Products and attention on matrix units are missing: no timed device has a unit. Their launchers state the work by the functions that the
 * launchers of `tiled` and `group` use. */
static const struct {
    const char *kernel; /* the beginning of its name; the first that fits counts */
    least_work (*least)(const launch *l);
} works[] = {
    {"gemm_tiled", tiled},
    {"gemm_gemv_dot", dots},
    {"gemm_gemv_columns", columns},
    {"gemm_blocks", blocks},
    {"gemm_packed", packed},
    {"gemm_staged", staged},
    {"gemm_interleaved", interleaved},
    {"gemm_interleave", interleave},
    {"gemm_epilogue", epilogue},
    {"gemm_pack_rows", pack_rows},
    {"gemm_pack_panels", pack_panels},
    {"gemm_pack_bias", each},
    {"Xgemm", clblast},
    {"attention_group", attention},
    {"attention_generic", attention_by_items},
    {"attention_scores", score},
    {"attention_context", context},
    {"attention_keep", keep},
    {"attention_dropout", dropout},
    {"cached_attention_group", cached_attention},
    {"cached_attention_merge", cached_merge},
    {"softmax_group", softmax},
    {"softmax_generic", softmax_by_items},
    {"layer_norm_group", norm},
    {"rms_norm_group", norm},
    {"l2_normalize_group", norm},
    {"log_softmax_group", log_softmax},
    {"exp_sum", exp_sum},
    {"row_check", row_check},
    {"embedding_group", each},
    {"weight_rows", table_rows},
    {"pooling_columns", pooling},
    {"top_k_group", top_k},
    {"search_runs", search_runs},
    {"search_bound", each},
    {"search_", search_step},
    {"einsum_map", einsum_map},
    {"einsum_sum", einsum_sum},
    {"permute_group", exchange},
    {"activation_vector", map},
    {"activation_strided", each},
    {"combine", map},
    {"soft_cap", each},
    {"rotary", rotary},
    {"kv_cache_store", store_cache},
    {"rate_multiply_add", rate},
    {"rate_copy", rate_copy},
    {"probe_", nothing}, /* few work-groups */
    {"peak_", nothing},  /* of bench, which chooses their work by the time that they take */
};

static void fill(launch *l, cl_device_id device, cl_kernel kernel, const size_t global[3], const size_t local[3])
{
    cl_program program = NULL;
    const char *keys = getenv("CLF_TEST_GPU_KEYS");
    memset(l, 0, sizeof *l);
    l->items = l->groups = 1;
    l->keys = keys ? strtod(keys, NULL) : 0;
    for (int i = 0; i < 3; i++) {
        l->global[i] = (double)global[i];
        l->items *= (double)global[i];
        l->groups *= (double)global[i] / (double)(local[i] ? local[i] : 1);
    }
    if (clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) == CL_SUCCESS)
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof l->options - 1, l->options, NULL);
    pthread_mutex_lock(&lock);
    const known_kernel *at = find(kernel);
    if (at) {
        memcpy(l->values, at->values, sizeof l->values);
        memcpy(l->head, at->head, sizeof l->head);
    }
    pthread_mutex_unlock(&lock);
}

double shim_work_ms(const shown_device *d, cl_device_id device, cl_kernel kernel, const char *name, const size_t global[3],
                    const size_t local[3])
{
    const double per_ms = 0.5 * d->compute_units * d->unit_lanes * d->clock_mhz * 1e3;
    launch l;
    size_t i = 0;
    while (i < sizeof works / sizeof *works && strncmp(works[i].kernel, name, strlen(works[i].kernel)) != 0)
        i++;
    if (!(per_ms > 0))
        return 0;
    if (i == sizeof works / sizeof *works)
        return -1;
    fill(&l, device, kernel, global, local);
    const least_work least = works[i].least(&l);
    const double compute_ms = least.multiply_adds / per_ms, memory_ms = least.bytes / (d->gib_per_second * 0x1p30 / 1e3);
    return compute_ms > memory_ms ? compute_ms : memory_ms;
}
