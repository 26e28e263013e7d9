/* SPDX-License-Identifier: MIT */
/* Implements the public einsum: checks, plans, runs and texts of plans. */
#include "op/einsum.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "op/einsum_print.h"
#include "op/gemm.h"

static clf_status parse_shapes(const char *equation, int count, const int *rank, const int64_t *const *dim, clf_einsum_form *out)
{
    clf_einsum_shape shapes[CLF_EINSUM_MAX_OPERANDS];
    if (count > 0 && (!rank || !dim))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the operands' ranks or sizes are NULL");
    for (int k = 0; k < count && k < CLF_EINSUM_MAX_OPERANDS; k++)
        shapes[k] = (clf_einsum_shape){rank[k], dim[k]};
    return clfi_einsum_parse(equation, shapes, count, out);
}

static clf_status parse_tensors(clf_context *context, const char *equation, const clf_tensor *const *operands, int count,
                                clf_einsum_form *out)
{
    clf_einsum_shape shapes[CLF_EINSUM_MAX_OPERANDS];
    if (count > 0 && !operands)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the array of operands is NULL");
    for (int k = 0; k < count && k < CLF_EINSUM_MAX_OPERANDS; k++) {
        if (!operands[k] || clfi_tensor_context(operands[k]) != context)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand %d is %s", k, operands[k] ? "of another context" : "NULL");
        shapes[k] = (clf_einsum_shape){clf_tensor_rank(operands[k]), clf_tensor_dim(operands[k])};
    }
    return clfi_einsum_parse(equation, shapes, count, out);
}

/* Checks element types, and that the output has the form's shape and can be written. */
static clf_status check_tensors(clf_context *context, const clf_einsum_form *form, const clf_tensor *const *operands, const clf_tensor *out)
{
    if (!out || clfi_tensor_context(out) != context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output is %s", out ? "of another context" : "NULL");
    for (int k = 0; k < form->operand_count; k++)
        if (!clfi_dtype_is_float(clf_tensor_dtype(operands[k])))
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand %d is %s, expected float32, float16 or bfloat16", k,
                     clf_dtype_name(clf_tensor_dtype(operands[k])));
    const clf_view *view = clfi_tensor_view(out);
    if (!clfi_dtype_is_float(view->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output is %s, expected float32, float16 or bfloat16", clf_dtype_name(view->dtype));
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    if (view->rank != form->output_rank || memcmp(view->dim, form->output_dim, (size_t)view->rank * sizeof *view->dim) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output is %s, expected %s", clfi_shape_text(view->rank, view->dim, have),
                 clfi_shape_text(form->output_rank, form->output_dim, want));
    const int repeated = clfi_view_repeated_axis(view);
    if (repeated >= 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the output repeats its memory along axis %d", repeated);
    return CLF_OK;
}

static clf_status run_tensors(clf_context *context, const clf_einsum_plan *plan, const clf_tensor *const *operands, const clf_tensor *out)
{
    const clf_view *views[CLF_EINSUM_MAX_OPERANDS];
    for (int k = 0; k < plan->form.operand_count; k++)
        views[k] = clfi_tensor_view(operands[k]);
    return clfi_einsum_run(context, plan, views, clfi_tensor_view(out));
}

clf_status clf_einsum(clf_context *context, const char *equation, const clf_tensor *const *operands, int count, clf_tensor *out)
{
    clf_einsum_form form;
    clf_einsum_plan plan;
    if (!context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the context is NULL");
    CLF_TRY(parse_tensors(context, equation, operands, count, &form));
    CLF_TRY(check_tensors(context, &form, operands, out));
    CLF_TRY(clfi_einsum_plan_make(&form, CLF_EINSUM_NO_LIMIT, &plan));
    return run_tensors(context, &plan, operands, out);
}

clf_status clf_einsum_output_shape(const char *equation, int count, const int *rank, const int64_t *const *dim, int *out_rank,
                                   int64_t *out_dim)
{
    clf_einsum_form form;
    if (!out_rank || !out_dim)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: out_rank or out_dim is NULL");
    CLF_TRY(parse_shapes(equation, count, rank, dim, &form));
    *out_rank = form.output_rank;
    memcpy(out_dim, form.output_dim, (size_t)form.output_rank * sizeof *out_dim);
    return CLF_OK;
}

clf_status clf_einsum_plan_create(const char *equation, int count, const int *rank, const int64_t *const *dim, int64_t memory_limit,
                                  clf_einsum_plan **out)
{
    clf_einsum_form form;
    clf_einsum_plan *plan = NULL;
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: out is NULL");
    CLF_TRY(parse_shapes(equation, count, rank, dim, &form));
    CLF_TRY(clfi_alloc(1, sizeof *plan, "einsum plan", &plan));
    clf_status st = clfi_einsum_plan_make(&form, memory_limit, plan);
    if (st == CLF_OK)
        st = clfi_einsum_lower_dense(plan);
    if (st == CLF_OK)
        *out = plan;
    else
        free(plan);
    return st;
}

void clf_einsum_plan_destroy(clf_einsum_plan *plan)
{
    if (!plan)
        return;
    free(plan->dense);
    free(plan);
}

int clf_einsum_plan_rank(const clf_einsum_plan *plan)
{
    return plan ? plan->form.output_rank : 0;
}

const int64_t *clf_einsum_plan_dim(const clf_einsum_plan *plan)
{
    return plan ? plan->form.output_dim : NULL;
}

double clf_einsum_plan_cost(const clf_einsum_plan *plan)
{
    return plan ? plan->cost : 0;
}

double clf_einsum_plan_largest(const clf_einsum_plan *plan)
{
    return plan ? plan->largest : 0;
}

clf_status clf_einsum_plan_run(clf_context *context, const clf_einsum_plan *plan, const clf_tensor *const *operands, int count,
                               clf_tensor *out)
{
    if (!context || !plan)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the %s is NULL", context ? "plan" : "context");
    const clf_einsum_form *form = &plan->form;
    if (count != form->operand_count)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPERAND_COUNT: the plan has %d %s, %d %s given", form->operand_count,
                 clfi_plural((uint64_t)form->operand_count, "operand", "operands"), count, clfi_plural((uint64_t)count, "was", "were"));
    if (!operands)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: the array of operands is NULL");
    char have[CLFI_SHAPE_TEXT_BYTES], want[CLFI_SHAPE_TEXT_BYTES];
    for (int k = 0; k < count; k++) {
        const clf_einsum_operand *operand = &form->operand[k];
        if (!operands[k] || clfi_tensor_context(operands[k]) != context)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand %d is %s", k, operands[k] ? "of another context" : "NULL");
        const clf_view *view = clfi_tensor_view(operands[k]);
        if (view->rank != operand->rank || memcmp(view->dim, operand->dim, (size_t)view->rank * sizeof *view->dim) != 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: operand %d is %s, the plan is for %s", k,
                     clfi_shape_text(view->rank, view->dim, have), clfi_shape_text(operand->rank, operand->dim, want));
    }
    CLF_TRY(check_tensors(context, form, operands, out));
    return run_tensors(context, plan, operands, out);
}

/* Appends "gemm packed", or only the kind of step if it is not a matrix product or there is no context. */
static clf_status name_engine(void *user, const clf_einsum_lowering *lowering, clf_str *out)
{
    clf_context *context = user;
    CLF_TRY(clfi_str_append_text(out, clfi_einsum_kind_name(lowering->kind)));
    if (!context || lowering->kind != CLFI_EINSUM_GEMM)
        return CLF_OK;
    const clf_einsum_memory memory[3] = {{NULL, CLF_F32, 0}, {NULL, CLF_F32, 0}, {NULL, CLF_F32, 0}};
    clf_gemm_args args;
    const char *name;
    clfi_einsum_gemm_args(&lowering->gemm, memory, &args);
    CLF_TRY(clfi_gemm_engine_name(context, &args, &name));
    return clfi_str_appendf(out, " %s", name);
}

clf_status clf_einsum_plan_print(clf_context *context, const clf_einsum_plan *plan, char *text, size_t capacity, size_t *length)
{
    if (!plan || !length || (!text && capacity > 0))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: plan, text or length is NULL");
    clf_str whole = CLF_STR_INIT;
    clf_einsum_strides strides;
    clfi_einsum_dense_strides(&plan->form, &strides);
    const clf_status st = clfi_einsum_print(plan, &strides, name_engine, context, &whole);
    if (st == CLF_OK) {
        const size_t copied = capacity == 0 ? 0 : whole.length < capacity ? whole.length : capacity - 1;
        if (copied)
            memcpy(text, whole.data, copied);
        if (capacity > 0)
            text[copied] = '\0';
        *length = whole.length;
    }
    clfi_str_free(&whole);
    return st;
}
