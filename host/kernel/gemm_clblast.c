/* SPDX-License-Identifier: MIT */
/* GEMM engine `clblast`: CLBlast (Nugteren 2018) computes the product, then our epilogue runs. Operands that CLBlast cannot read (other
 * storage types, no contiguous index) are copied to dense ones in the arena. Results that it cannot write go through a dense temporary.
 *
 * For large products CLBlast transposes and pads operands in additional launches unless they have the layout of its kernel. Two things
 * avoid that. Constant weights get a transposed copy at load (CLFI_GEMM_COLUMNS). The same product can be written as c = a b in row-major
 * or as c' = b' a' in column-major order: this engine takes the one for which CLBlast needs less scratch space. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <clblast_c.h>
#include <pthread.h>
#include <string.h>

#include "kernel/gemm_clblast.h"
#include "kernel/gemm_common.h"
#include "runtime/launch_budget.h"
#include "runtime/profile.h"
#include "runtime/rehearsal.h"
#include "runtime/slot.h"

/* CLBlast has one set of parameters per device for the whole process, so this record of them is global too. A product reads CLBlast's
 * parameters more than once (scratch space, build, launch), so the lock excludes changes meanwhile. */
static pthread_rwlock_t parameters_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
    cl_device_id device;
    clf_clblast_parameters parameters;
} applied[16];

/* CLBlast keeps compiled programs, and with them contexts, in static objects, whose destructors would run after the driver's. It can only
 * release all programs at once, and other contexts then have to compile theirs again. So they are released with the last context that used
 * CLBlast, or when they keep more than MOST_DEPARTED destroyed contexts alive. */
enum { MOST_DEPARTED = 8, PIECE_ROWS = 64, PIECE_COLUMNS = 64 };
static size_t users, departed;

static void enter(void)
{
    pthread_rwlock_wrlock(&parameters_lock);
    users++;
    pthread_rwlock_unlock(&parameters_lock);
}

static void leave(void)
{
    pthread_rwlock_wrlock(&parameters_lock); /* no product of another thread is under way */
    users--;
    departed++;
    if (users == 0 || departed > MOST_DEPARTED) {
        CLBlastClearCache();
        departed = 0;
    }
    pthread_rwlock_unlock(&parameters_lock);
}

/* A context's settings for CLBlast. */
typedef struct blas_state {
    bool is_user;
    const clf_clblast_parameters *parameters; /* NULL: CLBlast's own */
} blas_state;

static void clear_state(void *content)
{
    if (((blas_state *)content)->is_user)
        leave();
}

static const clf_slot_type blas_slot = {"CLBlast's parameters", sizeof(blas_state), clear_state};

clf_status clfi_clblast_use(const clf_context *context, const clf_clblast_parameters *parameters)
{
    blas_state *state;
    CLF_TRY(clfi_slot_get(context, &blas_slot, &state));
    state->parameters = parameters;
    return CLF_OK;
}

const clf_clblast_parameters *clfi_clblast_used(const clf_context *context)
{
    blas_state *state;
    return clfi_slot_get(context, &blas_slot, &state) == CLF_OK ? state->parameters : NULL;
}

/* The record for the context's device, or a free one; NULL when there is none. */
static clf_clblast_parameters *find_applied(const clf_context *context, bool may_take)
{
    for (size_t i = 0; i < COUNT(applied); i++) {
        if (applied[i].device == context->device.id)
            return &applied[i].parameters;
        if (!applied[i].device && may_take) {
            applied[i].device = context->device.id;
            return &applied[i].parameters;
        }
    }
    return NULL;
}

static bool is_applied(const clf_context *context, const clf_clblast_parameters *wanted)
{
    const clf_clblast_parameters *now = find_applied(context, false);
    bool is_same = now != NULL;
    for (int at = 0; is_same && at < CLFI_CLBLAST_KERNELS; at++)
        is_same = now->is_set[at] == wanted->is_set[at] &&
                  (!now->is_set[at] || memcmp(now->value[at], wanted->value[at], sizeof now->value[at]) == 0);
    return is_same;
}

/* CLBlast looks up compiled programs by device and ignores parameters, so its programs must be cleared. */
static void apply_parameters(clf_context *context, blas_state *state)
{
    clf_clblast_parameters *record = find_applied(context, true);
    for (int at = 0; record && at < CLFI_CLBLAST_KERNELS; at++) {
        const clf_clblast_kernel *kernel = &clfi_clblast_kernels[at];
        if (!state->parameters->is_set[at])
            continue;
        const CLBlastStatusCode code = CLBlastOverrideParameters(context->device.id, kernel->name, CLBlastPrecisionSingle, kernel->count,
                                                                 (const char **)kernel->parameters, state->parameters->value[at]);
        if (code != CLBlastSuccess)
            clfi_log(context, CLF_LOG_ERROR, "CLBlast refused the tuned parameters of %s: status %d", kernel->name, (int)code);
    }
    CLBlastClearCache();
    if (record)
        *record = *state->parameters;
    else
        state->parameters = NULL;
}

/* Takes the lock for reading. A context without tuned parameters uses the current ones: CLBlast cannot restore its own. */
static void lock_parameters(clf_context *context, blas_state *state)
{
    pthread_rwlock_rdlock(&parameters_lock);
    if (!state->parameters || is_applied(context, state->parameters))
        return;
    pthread_rwlock_unlock(&parameters_lock);
    pthread_rwlock_wrlock(&parameters_lock);
    if (!is_applied(context, state->parameters))
        apply_parameters(context, state);
    pthread_rwlock_unlock(&parameters_lock);
    pthread_rwlock_rdlock(&parameters_lock);
}

/* A matrix as CLBlast takes it. */
typedef struct blas_matrix {
    clf_gemm_operand operand;
    CLBlastTranspose transpose;
    size_t ld;
} blas_matrix;

/* Whether the operand is a row-major or column-major matrix with a leading dimension. */
static bool as_blas(const clf_gemm_operand *operand, int64_t rows, int64_t columns, blas_matrix *out)
{
    if (operand->dtype != CLF_F32)
        return false;
    const int64_t row_ld = rows == 1 ? columns : operand->row_stride;
    if ((columns == 1 || operand->column_stride == 1) && row_ld >= columns) {
        *out = (blas_matrix){*operand, CLBlastTransposeNo, (size_t)row_ld};
        return true;
    }
    const int64_t column_ld = columns == 1 ? rows : operand->column_stride;
    if ((rows == 1 || operand->row_stride == 1) && column_ld >= rows) {
        *out = (blas_matrix){*operand, CLBlastTransposeYes, (size_t)column_ld};
        return true;
    }
    return false;
}

static clf_status readable(clf_context *context, const clf_gemm_args *args, const clf_gemm_operand *operand, int64_t rows, int64_t columns,
                           blas_matrix *out)
{
    clf_gemm_operand dense;
    if (as_blas(operand, rows, columns, out))
        return CLF_OK;
    CLF_TRY(clfi_gemm_pack_dense(context, args, operand, rows, columns, &dense));
    *out = (blas_matrix){dense, CLBlastTransposeNo, (size_t)columns};
    return CLF_OK;
}

/* *out: c itself if CLBlast can write it, else a dense temporary. */
static clf_status writable(clf_context *context, const clf_gemm_args *args, blas_matrix *out, bool *is_in_place)
{
    *is_in_place = args->column_block == 0 && as_blas(&args->c, args->m, args->n, out) && out->transpose == CLBlastTransposeNo;
    if (*is_in_place)
        return CLF_OK;
    clf_view view;
    CLF_TRY(clfi_view_temporary(context, CLF_F32, 3, (int64_t[]){clfi_gemm_batch_count(args), args->m, args->n}, &view));
    clf_gemm_operand c = {.buffer = view.buffer, .dtype = CLF_F32, .offset = view.offset, .row_stride = args->n, .column_stride = 1};
    int64_t step = args->m * args->n;
    for (int i = args->batch_rank - 1; i >= 0; i--) {
        c.batch_stride[i] = step;
        step *= args->batch[i];
    }
    *out = (blas_matrix){c, CLBlastTransposeNo, (size_t)args->n};
    return CLF_OK;
}

/* One call of CLBlast. In column-major order the operands change places. */
typedef struct blas_call {
    CLBlastLayout layout;
    const blas_matrix *first, *second, *result;
    size_t m, n, k;
    size_t scratch_bytes;
} blas_call;

static clf_status call_in(clf_context *context, const clf_gemm_args *args, const blas_matrix *a, const blas_matrix *b, const blas_matrix *c,
                          bool is_column_major, blas_call *out)
{
    *out = is_column_major ? (blas_call){CLBlastLayoutColMajor, b, a, c, (size_t)args->n, (size_t)args->m, (size_t)args->k, 0}
                           : (blas_call){CLBlastLayoutRowMajor, a, b, c, (size_t)args->m, (size_t)args->n, (size_t)args->k, 0};
    const int64_t moved = args->batch_rank > 1; /* outer batches have offsets, and CLBlast reads in place only at 0 */
    const CLBlastStatusCode code = CLBlastSGemmTempBufferSize(
        out->layout, out->first->transpose, out->second->transpose, out->m, out->n, out->k, (size_t)(out->first->operand.offset + moved),
        out->first->ld, (size_t)(out->second->operand.offset + moved), out->second->ld, (size_t)(c->operand.offset + moved), c->ld,
        &context->queue, &out->scratch_bytes);
    if (code != CLBlastSuccess)
        CLF_FAIL(CLF_DEVICE, "CLBlast: size of scratch space: status %d", (int)code);
    return CLF_OK;
}

/* The call that copies less. */
static clf_status choose_call(clf_context *context, const clf_gemm_args *args, const blas_matrix *a, const blas_matrix *b,
                              const blas_matrix *c, blas_call *out)
{
    blas_call row_major;
    CLF_TRY(call_in(context, args, a, b, c, false, &row_major));
    CLF_TRY(call_in(context, args, a, b, c, true, out));
    if (row_major.scratch_bytes < out->scratch_bytes)
        *out = row_major;
    return CLF_OK;
}

/* *out: a sub-buffer of the arena with CLBlast's scratch space for one product; NULL: none is needed. The caller releases it. */
static clf_status scratch(clf_context *context, size_t bytes, cl_mem *out)
{
    *out = NULL;
    if (bytes == 0)
        return CLF_OK;
    const size_t unit = (size_t)context->device.caps.base_alignment_bytes;
    clf_region region;
    CLF_TRY(clfi_arena_alloc(context, bytes + unit, &region));
    const size_t origin = (region.offset_bytes + unit - 1) / unit * unit;
    cl_int error = CL_SUCCESS;
    *out = clCreateSubBuffer(region.buffer->memory, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                             &(cl_buffer_region){.origin = origin, .size = bytes}, &error);
    if (error != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "CLBlast: scratch space of %zu bytes: clCreateSubBuffer: %s (%d)", bytes, clfi_cl_name(error), error);
    return CLF_OK;
}

static int64_t outer_offset(const clf_gemm_args *args, const clf_gemm_operand *operand, const int64_t *index)
{
    int64_t offset = operand->offset;
    for (int i = 0; i + 1 < args->batch_rank; i++)
        offset += index[i] * operand->batch_stride[i];
    return offset;
}

/* Computes the products of the innermost batch dimension at one index of the outer dimensions. */
static clf_status multiply(clf_context *context, const clf_gemm_args *args, const blas_call *call, const int64_t *index, cl_mem temporary)
{
    const int last = args->batch_rank - 1;
    const clf_gemm_operand *first = &call->first->operand, *second = &call->second->operand, *result = &call->result->operand;
    const size_t at_first = (size_t)outer_offset(args, first, index), at_second = (size_t)outer_offset(args, second, index),
                 at_result = (size_t)outer_offset(args, result, index);
    cl_event event = NULL;
    cl_event *event_out = context->profile ? &event : NULL;
    CLBlastStatusCode code;
    if (last >= 0 && args->batch[last] > 1)
        code = CLBlastSgemmStridedBatched(call->layout, call->first->transpose, call->second->transpose, call->m, call->n, call->k, 1.0f,
                                          first->buffer->memory, at_first, call->first->ld, (size_t)first->batch_stride[last],
                                          second->buffer->memory, at_second, call->second->ld, (size_t)second->batch_stride[last], 0.0f,
                                          result->buffer->memory, at_result, call->result->ld, (size_t)result->batch_stride[last],
                                          (size_t)args->batch[last], &context->queue, event_out);
    else
        code = CLBlastSgemmWithTempBuffer(call->layout, call->first->transpose, call->second->transpose, call->m, call->n, call->k, 1.0f,
                                          first->buffer->memory, at_first, call->first->ld, second->buffer->memory, at_second,
                                          call->second->ld, 0.0f, result->buffer->memory, at_result, call->result->ld, &context->queue,
                                          event_out, temporary);
    if (code != CLBlastSuccess)
        return clfi_context_fail(context, (cl_int)code, CLF_DEVICE, "CLBlast: gemm %lld x %lld x %lld", (long long)args->m,
                                 (long long)args->n, (long long)args->k);
    context->stats.kernels_launched++;
    return event ? clfi_profile_kernel(context->profile, "clblast_gemm", event) : CLF_OK;
}

static clf_status multiply_batches(clf_context *context, const clf_gemm_args *args, const blas_matrix *a, const blas_matrix *b,
                                   const blas_matrix *c)
{
    const int outer_rank = args->batch_rank > 0 ? args->batch_rank - 1 : 0;
    const bool is_batched = args->batch_rank > 0 && args->batch[args->batch_rank - 1] > 1;
    int64_t index[CLFI_GEMM_MAX_BATCH] = {0};
    cl_mem temporary = NULL;
    blas_call call;
    CLF_TRY(choose_call(context, args, a, b, c, &call));
    if (!is_batched)
        CLF_TRY(scratch(context, call.scratch_bytes, &temporary));
    clf_status st;
    for (;;) {
        st = multiply(context, args, &call, index, temporary);
        int dim = outer_rank - 1;
        while (dim >= 0 && ++index[dim] == args->batch[dim])
            index[dim--] = 0;
        if (st != CLF_OK || dim < 0)
            break;
    }
    if (temporary)
        clReleaseMemObject(temporary);
    return st;
}

bool clfi_gemm_clblast_supports(const clf_context *context, const void *call)
{
    (void)context;
    (void)call;
    return true;
}

static clf_status run(clf_context *context, const clf_gemm_args *args)
{
    const clf_gemm_operand b_operand = clfi_gemm_b_operand(args);
    blas_matrix a, b, c;
    bool is_in_place;
    CLF_TRY(readable(context, args, &args->a, args->m, args->k, &a));
    CLF_TRY(readable(context, args, &b_operand, args->k, args->n, &b));
    CLF_TRY(writable(context, args, &c, &is_in_place));
    CLF_TRY(multiply_batches(context, args, &a, &b, &c));
    if (is_in_place && !args->bias.buffer && !args->residual.buffer && args->activation == CLF_ACTIVATION_NONE && args->alpha == 1.0f)
        return CLF_OK;
    return clfi_gemm_epilogue(context, args, is_in_place ? &args->c : &c.operand, 1);
}

/* Upper estimate of the time of the whole product, in nanoseconds. */
static double estimate(const clf_context *context, const clf_gemm_args *args)
{
    clf_launch call = {.status = CLF_OK};
    clfi_gemm_work(&call, args);
    return clfi_budget_estimate(context, &call.work, (double)args->m * (double)args->n);
}

static int64_t part_of(int64_t size, double share, int64_t multiple)
{
    const int64_t part = (int64_t)((double)size * share) / multiple * multiple;
    return part < multiple ? multiple : part;
}

typedef enum piece_axis { BY_BATCH, BY_ROWS, BY_COLUMNS } piece_axis;

static piece_axis axis_of(const clf_gemm_args *args)
{
    if (args->batch_rank > 0 && args->batch[args->batch_rank - 1] > 1)
        return BY_BATCH;
    return args->m > PIECE_ROWS ? BY_ROWS : BY_COLUMNS;
}

/* Pieces have a multiple of so many batches, rows or columns. */
static int64_t unit_of(const clf_gemm_args *args, piece_axis axis)
{
    return axis == BY_BATCH ? 1 : axis == BY_ROWS ? PIECE_ROWS : args->column_block > 0 ? args->column_block : PIECE_COLUMNS;
}

static int64_t *size_of(clf_gemm_args *args, piece_axis axis)
{
    return axis == BY_BATCH ? &args->batch[args->batch_rank - 1] : axis == BY_ROWS ? &args->m : &args->n;
}

static int64_t stride_of(const clf_gemm_args *args, const clf_gemm_operand *operand, piece_axis axis)
{
    return axis == BY_BATCH ? operand->batch_stride[args->batch_rank - 1] : axis == BY_ROWS ? operand->row_stride : operand->column_stride;
}

/* `count` batches, rows or columns of the product from `first` on. */
static clf_gemm_args piece_of(const clf_gemm_args *args, piece_axis axis, int64_t first, int64_t count)
{
    clf_gemm_args piece = *args;
    const bool is_in_blocks = axis == BY_COLUMNS && args->column_block > 0;
    piece.b = clfi_gemm_b_operand(args);
    piece.weight = NULL;
    if (axis != BY_COLUMNS)
        piece.a.offset += first * stride_of(args, &args->a, axis);
    if (axis != BY_ROWS)
        piece.b.offset += first * stride_of(args, &piece.b, axis);
    if (axis == BY_COLUMNS)
        piece.bias.offset += first * args->bias.column_stride;
    piece.c.offset += is_in_blocks ? first / args->column_block * args->block_stride : first * stride_of(args, &args->c, axis);
    piece.residual.offset += first * stride_of(args, &args->residual, axis);
    *size_of(&piece, axis) = count;
    return piece;
}

/* CLBlast cannot cut a launch, so a product that would exceed the budget is computed some batches at a time. If a single one exceeds it,
 * that is computed some rows at a time, and at last some columns. */
static clf_status run_pieces(clf_context *context, const clf_gemm_args *args)
{
    const piece_axis axis = axis_of(args);
    clf_gemm_args whole = *args;
    const int64_t size = *size_of(&whole, axis);
    const double ns = clfi_budget_is_set(context) ? estimate(context, args) : 0, share = context->budget.limit_ns / ns;
    const int64_t part = ns > context->budget.limit_ns ? part_of(size, share, unit_of(args, axis)) : size;
    if (part >= size) {
        if (ns > 0)
            clfi_budget_note(context, "clblast_gemm", ns);
        return run(context, args);
    }
    for (int64_t first = 0; first < size; first += part) {
        const clf_arena_mark mark = clfi_arena_top(context);
        const clf_gemm_args piece = piece_of(args, axis, first, size - first < part ? size - first : part);
        const clf_status st = run_pieces(context, &piece);
        clfi_arena_release(context, mark);
        CLF_TRY(st);
    }
    return CLF_OK;
}

clf_status clfi_gemm_clblast_run(clf_context *context, const void *call)
{
    const clf_gemm_args *args = call;
    blas_state *state;
    if (context->rehearsal) {
        clfi_rehearsal_note_foreign(context);
        return CLF_OK;
    }
    CLF_TRY(clfi_context_interrupt(context));
    CLF_TRY(clfi_slot_get(context, &blas_slot, &state));
    if (!state->is_user) {
        enter();
        state->is_user = true;
    }
    const clf_arena_mark mark = clfi_arena_top(context);
    lock_parameters(context, state);
    const clf_status st = run_pieces(context, args);
    pthread_rwlock_unlock(&parameters_lock);
    clfi_arena_release(context, mark);
    return st;
}
