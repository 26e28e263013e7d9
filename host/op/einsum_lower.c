/* SPDX-License-Identifier: MIT */
/* Lowers einsum steps to loops or matrix products, for einsum plans and their runs. A pair of factors is a matrix product without copies
 * if its summed labels fuse into one k. The largest kept label that only the left (right) factor has becomes m (n). All other kept labels
 * become batch dimensions. A dense copy of a term can help if k does not fuse, or if m or n would be small. The candidates are compared
 * by a coarse model of a device's time. */
#include "op/einsum_lower.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

/* Model of time in nanoseconds; only the ratios matter. A launch costs some microseconds on every device, plain loops reach a few
 * per cent of a matrix engine, a copy moves some elements per nanosecond. */
static const double launch_ns = 8000, engine_flop_per_ns = 150, loop_flop_per_ns = 4, copy_elements_per_ns = 1;

const char *clfi_einsum_kind_name(clf_einsum_kind kind)
{
    static const char *const names[] = {"copy", "reduce", "product", "gemm", "contract"};
    return (size_t)kind < COUNT(names) ? names[kind] : "unknown";
}

/* Largest dimension of dim[0..rank), the innermost one among equals; -1 if there is none. */
static int largest_dim(const clf_einsum_dim *const *dim, int rank)
{
    int best = -1;
    for (int i = 0; i < rank; i++)
        if (best < 0 || dim[i]->size >= dim[best]->size)
            best = i;
    return best;
}

static void swap_factors(clf_einsum_dim *dim)
{
    const int64_t a = dim->stride[0];
    dim->stride[0] = dim->stride[1];
    dim->stride[1] = a;
}

/* Turns the loops of a pair into a matrix product. False: k is not one loop, or there are too many batches. *thin: only one free label
 * per factor fits into m or n, and others became batches, so m or n may be small. */
static bool match_gemm(const clf_einsum_loops *loops, clf_einsum_gemm *out, bool *thin)
{
    const clf_einsum_dim one = {.size = 1};
    const clf_einsum_dim *row[CLFI_EINSUM_MAX_LABELS] = {NULL}, *column[CLFI_EINSUM_MAX_LABELS] = {NULL};
    int rows = 0, columns = 0;
    if (loops->inputs != 2 || loops->summed_rank != 1)
        return false;
    memset(out, 0, sizeof *out);
    out->m = out->n = one;
    out->k = loops->summed[0];
    for (int i = 0; i < loops->kept_rank; i++) {
        const clf_einsum_dim *dim = &loops->kept[i];
        if (dim->stride[0] && !dim->stride[1])
            row[rows++] = dim;
        else if (!dim->stride[0] && dim->stride[1])
            column[columns++] = dim;
    }
    const int m = largest_dim(row, rows), n = largest_dim(column, columns);
    *thin = rows > 1 || columns > 1;
    for (int i = 0; i < loops->kept_rank; i++) {
        const clf_einsum_dim *dim = &loops->kept[i];
        if (m >= 0 && dim == row[m])
            out->m = *dim;
        else if (n >= 0 && dim == column[n])
            out->n = *dim;
        else if (out->batch_rank == CLFI_EINSUM_MAX_BATCH)
            return false;
        else
            out->batch[out->batch_rank++] = *dim;
    }
    /* Engines write columns (n) contiguously, so the free label with the smaller stride in the result becomes n. A lone free label becomes
     * n too: the vector is then the only row. */
    if ((m >= 0 && n >= 0 && out->m.stride[2] < out->n.stride[2]) || (m >= 0 && n < 0)) {
        const clf_einsum_dim rows_of_b = out->n;
        out->n = out->m;
        out->m = rows_of_b;
        out->swapped = true;
        swap_factors(&out->m);
        swap_factors(&out->n);
        swap_factors(&out->k);
        for (int i = 0; i < out->batch_rank; i++)
            swap_factors(&out->batch[i]);
    }
    return true;
}

static double gemm_time(const clf_einsum_gemm *g)
{
    double batches = 1;
    for (int i = 0; i < g->batch_rank; i++)
        batches *= (double)g->batch[i].size;
    const double m = (double)g->m.size, n = (double)g->n.size, k = (double)g->k.size;
    /* short dimensions waste part of a tile, and every product of a batch has a fixed cost */
    const double use = m / (m + 3) * (n / (n + 16)) * (k / (k + 16));
    return batches * (20 + 2 * m * n * k / (engine_flop_per_ns * use));
}

static double loops_time(const clf_einsum_access *access, const int64_t *size)
{
    return labels_size(access->labels, size) * access->inputs / loop_flop_per_ns;
}

/* Appends the labels of `set` to order[count..], by falling stride of term t; returns the new count. */
static int by_stride(const clf_einsum_access *access, clf_label_set set, int t, uint8_t *order, int count)
{
    const int first = count;
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        if (labels_has(set, label)) {
            int at = count++;
            for (; at > first && access->stride[t][order[at - 1]] < access->stride[t][label]; at--)
                order[at] = order[at - 1];
            order[at] = (uint8_t)label;
        }
    return count;
}

static clf_label_set labels_of(const clf_einsum_access *access, int t)
{
    clf_label_set set = labels_none();
    for (int label = 0; label < CLFI_EINSUM_MAX_LABELS; label++)
        if (labels_has(access->labels, label) && access->stride[t][label])
            labels_add(&set, label);
    return set;
}

/* Gives term t (0, 1 inputs, 2 result) a dense layout that suits the product: [batch][free][k] for the left input, [batch][k][free] for
 * the right one, and [batch][m][n] for the result. Labels in a group are ordered by their strides in another term that has them, so that
 * they fuse in both. Returns the number of elements. */
static double relay(clf_einsum_access *access, const int64_t *size, int t)
{
    const clf_label_set mine = labels_of(access, t);
    const clf_label_set other = labels_of(access, t == 2 ? 0 : 1 - t);
    const clf_label_set second = labels_of(access, 1);
    const clf_label_set summed = labels_minus(mine, access->kept);
    uint8_t order[CLFI_EINSUM_MAX_LABELS];
    int rank = 0;
    if (t == 2) {
        rank = by_stride(access, labels_and(mine, labels_and(other, second)), 0, order, rank);
        rank = by_stride(access, labels_minus(mine, second), 0, order, rank);
        rank = by_stride(access, labels_minus(mine, other), 1, order, rank);
    } else {
        const clf_label_set kept = labels_and(mine, access->kept);
        rank = by_stride(access, labels_and(kept, other), 2, order, rank);
        if (t == 0)
            rank = by_stride(access, labels_minus(kept, other), 2, order, rank);
        rank = by_stride(access, labels_and(summed, other), 1 - t, order, rank);
        rank = by_stride(access, labels_minus(summed, other), t, order, rank);
        if (t == 1)
            rank = by_stride(access, labels_minus(kept, other), 2, order, rank);
    }
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        access->stride[t][order[i]] = stride;
        stride *= size[order[i]];
    }
    return (double)stride;
}

/* Makes the matrix product after the terms in `mask` (bit t: term t) are copied, and returns its modelled time. INFINITY: there is none,
 * or a copy exceeds copy_limit. */
static double candidate(const clf_einsum_access *access, const int64_t *size, double copy_limit, int mask, clf_einsum_lowering *out,
                        bool *thin)
{
    clf_einsum_access relaid = *access;
    clf_einsum_loops loops;
    double time = launch_ns;
    out->kind = CLFI_EINSUM_GEMM;
    for (int t = 0; t < 3; t++)
        out->copied[t] = mask >> t & 1;
    for (int i = 0; i < 3; i++) {
        const int t = (i + 2) % 3; /* the result first: the inputs use the order of its labels */
        if (!out->copied[t])
            continue;
        const double elements = relay(&relaid, size, t);
        if (elements > copy_limit)
            return INFINITY;
        out->copy_elements[t] = (int64_t)elements;
        memcpy(out->copy_stride[t], relaid.stride[t], sizeof relaid.stride[t]);
        time += launch_ns + elements / copy_elements_per_ns;
    }
    clfi_einsum_loops_make(&relaid, size, &loops);
    if (!match_gemm(&loops, &out->gemm, thin))
        return INFINITY;
    return time + gemm_time(&out->gemm);
}

void clfi_einsum_lower(const clf_einsum_access *access, const int64_t *size, double copy_limit, clf_einsum_lowering *out)
{
    memset(out, 0, sizeof *out);
    clfi_einsum_loops_make(access, size, &out->loops);
    const bool sums = out->loops.summed_rank > 0;
    if (access->inputs == 1)
        out->kind = sums ? CLFI_EINSUM_REDUCE : CLFI_EINSUM_COPY;
    else
        out->kind = sums ? CLFI_EINSUM_CONTRACT : CLFI_EINSUM_PRODUCT;
    if (access->inputs != 2 || !sums)
        return;
    bool thin;
    double best = candidate(access, size, copy_limit, 0, out, &thin);
    if (!isinf(best) && !thin && out->gemm.m.size * out->gemm.n.size > 1)
        return;
    int choice = isinf(best) ? -1 : 0;
    const double loops = launch_ns + loops_time(access, size);
    for (int mask = 1; mask < 8; mask++) {
        const double time = candidate(access, size, copy_limit, mask, out, &thin);
        if (time < best) {
            best = time;
            choice = mask;
        }
    }
    if (choice < 0 || loops <= best) {
        out->kind = CLFI_EINSUM_CONTRACT;
        memset(out->copied, 0, sizeof out->copied);
        return;
    }
    candidate(access, size, copy_limit, choice, out, &thin);
}

const clf_einsum_lowering *clfi_einsum_lower_step(const clf_einsum_plan *plan, const clf_einsum_strides *strides, int index,
                                                  clf_einsum_lowered *room)
{
    clfi_einsum_step_access(plan, strides, index, &room->access);
    const clf_einsum_lowered *dense = plan->dense ? &plan->dense[index] : NULL;
    const size_t bytes = (size_t)(room->access.inputs + 1) * sizeof room->access.stride[0];
    if (dense && memcmp(dense->access.stride, room->access.stride, bytes) == 0)
        return &dense->lowering;
    clfi_einsum_lower(&room->access, plan->form.size, plan->limited ? plan->limit : INFINITY, &room->lowering);
    return &room->lowering;
}

clf_status clfi_einsum_lower_dense(clf_einsum_plan *plan)
{
    clf_einsum_strides strides;
    clf_einsum_lowered *dense;
    if (plan->step_count == 0)
        return CLF_OK;
    CLF_TRY(clfi_alloc((size_t)plan->step_count, sizeof *dense, "einsum plan's steps", &dense));
    clfi_einsum_dense_strides(&plan->form, &strides);
    for (int index = 0; index < plan->step_count; index++)
        clfi_einsum_lower_step(plan, &strides, index, &dense[index]);
    plan->dense = dense;
    return CLF_OK;
}
