/* SPDX-License-Identifier: MIT */
/* Workloads "einsum": the equations of attention in each layout of the heads, by the GEMM engine that runs their matrix step; and
 * permutations and sums, which kernels of loops run.
 *
 * Operations are 2 per product if something is summed over, else 0. Bytes are those of the operands and of the result, once each.
 * Verified against float64 with the bound of clfi_ref_einsum_error and the loss of products at the context's precision: all elements of
 * small results, else a fixed random subset. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "clformer/einsum.h"
#include "op/gemm.h"
#include "runtime/context.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/peak.h"
#include "workload/reference_einsum.h"
#include "workload/reference_gemm.h"
#include "workload/verdict.h"

enum { SEED = 5, ELEMENTS_CHECKED = 4096, MOST_OPERANDS = 3, ENGINE_BYTES = 64 };

static const double small_case = 1 << 24; /* products; up to here the whole result is verified */

typedef struct einsum_case {
    const char *equation;
    struct {
        char label;
        int64_t size;
    } sizes[5]; /* ended by label 0 */
    bool is_quick;
} einsum_case;

/* Attention whose matrices are contiguous. */
static const char plain_scores[] = "bhid,bhjd->bhij", plain_contexts[] = "bhij,bhjd->bhid";

#define HEADS(N, H, I, J, D)                    \
    {                                           \
        {'b', N}, {'h', H}, {'i', I}, {'j', J}, \
        {                                       \
            'd', D                              \
        }                                       \
    }

static const einsum_case cases[] = {
    {"ibhd,jbhd->ijbh", HEADS(2, 12, 128, 128, 32), true},
    {"ijbh,jbhd->ibhd", HEADS(2, 12, 128, 128, 32), true},
    {"bihd,bjhd->bijh", HEADS(2, 12, 128, 128, 32), false},
    {"bijh,bjhd->bihd", HEADS(2, 12, 128, 128, 32), false},
    {plain_scores, HEADS(2, 12, 128, 128, 32), true},
    {plain_contexts, HEADS(2, 12, 128, 128, 32), true},
    {"ibhd,jbhd->ijbh", HEADS(32, 12, 128, 128, 32), false},
    {"ijbh,jbhd->ibhd", HEADS(32, 12, 128, 128, 32), false},
    {plain_scores, HEADS(32, 12, 128, 128, 32), false},
    {plain_contexts, HEADS(32, 12, 128, 128, 32), false},
    {"ibhd,jbhd->ijbh", HEADS(8, 8, 64, 64, 64), false},
    {"ijbh,jbhd->ibhd", HEADS(8, 8, 64, 64, 64), false},
    {"ibhd,jbhd->ijbh", HEADS(2, 8, 512, 512, 64), true},
    {"ijbh,jbhd->ibhd", HEADS(2, 8, 512, 512, 64), true},
    {"bihd,bjhd->bijh", HEADS(2, 8, 512, 512, 64), false},
    {"bijh,bjhd->bihd", HEADS(2, 8, 512, 512, 64), false},
    {plain_scores, HEADS(2, 8, 512, 512, 64), true},
    {plain_contexts, HEADS(2, 8, 512, 512, 64), true},
    {"ibhd,jbhd->ijbh", HEADS(1, 16, 1024, 1024, 64), false},
    {"ijbh,jbhd->ibhd", HEADS(1, 16, 1024, 1024, 64), false},
    {"ij->ji", {{'i', 512}, {'j', 512}}, true},
    {"ij->ji", {{'i', 4096}, {'j', 4096}}, false},
    {"ijk->kji", {{'i', 128}, {'j', 128}, {'k', 256}}, false},
    {"ij->i", {{'i', 32768}, {'j', 1024}}, false},
    {"ij->j", {{'i', 32768}, {'j', 1024}}, false},
    {"ij,j->ij", {{'i', 32768}, {'j', 1024}}, false},
};

/* Cases for the self-test: each way to run a step, at sizes that no tile divides. */
static const einsum_case small_cases[] = {
    {"ibhd,jbhd->ijbh", HEADS(2, 3, 9, 17, 32), false}, /* the attention equations: batches inside */
    {"ijbh,jbhd->ibhd", HEADS(2, 3, 9, 17, 32), false},
    {"bihd,bjhd->bijh", HEADS(2, 3, 9, 17, 32), false},
    {plain_scores, HEADS(2, 3, 9, 17, 32), false},
    {plain_contexts, HEADS(2, 3, 9, 17, 32), false},
    {"ij,jk,kl->il", {{'i', 33}, {'j', 40}, {'k', 21}, {'l', 19}}, false}, /* two steps */
    {"iij->j", {{'i', 13}, {'j', 9}}, false},                              /* a diagonal, summed */
    {"a,b,c->abc", {{'a', 7}, {'b', 5}, {'c', 33}}, false},                /* products without a sum */
    {"abc->", {{'a', 19}, {'b', 23}, {'c', 7}}, false},                    /* everything summed */
    {"ab->ba", {{'a', 67}, {'b', 131}}, false},                            /* permutations, which are exact */
    {"ab->ba", {{'a', 300}, {'b', 257}}, false},                           /* large enough for the kernels of permutations */
    {"abc->cab", {{'a', 3}, {'b', 65}, {'c', 33}}, false},
    {"abcd->dbca", {{'a', 17}, {'b', 3}, {'c', 5}, {'d', 40}}, false},
    {"abc->bac", {{'a', 5}, {'b', 7}, {'c', 64}}, false},
};

typedef struct einsum_state {
    clfi_op_run run;
    clf_einsum_form form;
    clf_einsum_plan *plan;
    clfi_operand operands[MOST_OPERANDS], out;
} einsum_state;

static int64_t size_of(const einsum_case *one, char label)
{
    for (size_t i = 0; i < COUNT(one->sizes) && one->sizes[i].label; i++)
        if (one->sizes[i].label == label)
            return one->sizes[i].size;
    return 1;
}

/* Shapes of the operands. */
typedef struct einsum_shapes {
    int rank[MOST_OPERANDS];
    int64_t dim[MOST_OPERANDS][CLF_MAX_RANK];
} einsum_shapes;

/* Reads the shapes from the labels before "->". Returns the number of operands. */
static int shapes_of(const einsum_case *one, einsum_shapes *out)
{
    int count = 1;
    memset(out, 0, sizeof *out);
    for (const char *at = one->equation; *at != '-'; at++) {
        if (*at == ',')
            count++;
        else
            out->dim[count - 1][out->rank[count - 1]++] = size_of(one, *at);
    }
    return count;
}

static clf_status make_plan(const einsum_case *one, clf_einsum_form *form, clf_einsum_plan **plan)
{
    einsum_shapes shapes;
    const int count = shapes_of(one, &shapes);
    const clf_einsum_shape of_form[MOST_OPERANDS] = {
        {shapes.rank[0], shapes.dim[0]}, {shapes.rank[1], shapes.dim[1]}, {shapes.rank[2], shapes.dim[2]}};
    CLF_TRY(clfi_einsum_parse(one->equation, of_form, count, form));
    return clf_einsum_plan_create(one->equation, count, shapes.rank, (const int64_t *const[]){shapes.dim[0], shapes.dim[1], shapes.dim[2]},
                                  CLF_EINSUM_NO_LIMIT, plan);
}

/* Whether the plan has a matrix step that this engine runs: the text of the plan then contains "gemm NAME". */
static clf_status uses_engine(clf_context *context, const clf_einsum_plan *plan, const char *engine, bool *out)
{
    char forced[ENGINE_BYTES], name[ENGINE_BYTES], text[4096];
    size_t length;
    char *const before = context->engines;
    snprintf(forced, sizeof forced, "gemm=%s", engine);
    snprintf(name, sizeof name, "gemm %s", engine);
    context->engines = forced;
    const clf_status st = clf_einsum_plan_print(context, plan, text, sizeof text, &length);
    context->engines = before;
    *out = st == CLF_OK && strstr(text, name);
    return st == CLF_UNSUPPORTED ? CLF_OK : st;
}

static clf_status engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    clf_einsum_form form;
    clf_einsum_plan *plan = NULL;
    clf_status st;
    *out = (clfi_engine_list){.count = 0};
    CLF_GOTO(make_plan(workload->parameters, &form, &plan));
    const clf_engine_table *table = workload->table;
    for (size_t i = 0; i < table->count && out->count < CLFI_ENGINE_MAX; i++) {
        const clf_engine *engine = &table->engines[i];
        bool is_used = false;
        CLF_GOTO(uses_engine(context, plan, engine->name, &is_used));
        const bool is_meant = engine->gemm->most_rows == 0 || size_of(workload->parameters, 'i') <= engine->gemm->most_rows;
        if (is_used && is_meant)
            out->names[out->count++] = engine->name;
    }
    if (out->count == 0)
        out->names[out->count++] = "";
done:
    clf_einsum_plan_destroy(plan);
    return st;
}

static clf_status enqueue(void *state)
{
    einsum_state *s = state;
    const clf_tensor *const operands[MOST_OPERANDS] = {s->operands[0].tensor, s->operands[1].tensor, s->operands[2].tensor};
    return clf_einsum_plan_run(s->run.context, s->plan, operands, s->form.operand_count, s->out.tensor);
}

static void release(void *state)
{
    einsum_state *s = state;
    if (!s)
        return;
    clf_einsum_plan_destroy(s->plan);
    for (int k = 0; k < MOST_OPERANDS; k++)
        clfi_operand_free(&s->operands[k]);
    clfi_operand_free(&s->out);
    free(s);
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    const einsum_case *one = workload->parameters;
    einsum_state *s = state;
    einsum_shapes shapes;
    clfi_random random = {SEED};
    const int count = shapes_of(one, &shapes);
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, "gemm", engine, enqueue));
    CLF_TRY(make_plan(one, &s->form, &s->plan));
    for (int k = 0; k < count; k++)
        CLF_TRY(clfi_operand_random(context, &random, shapes.rank[k], shapes.dim[k], -1, 1, &s->operands[k]));
    return clfi_operand_result(context, s->form.output_rank, s->form.output_dim, &s->out);
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(einsum_state), setup, state);
}

/* Errors are differences of elements of the result. */
static clf_status verify(void *state, clfi_verdict *out)
{
    einsum_state *s = state;
    clfi_random random = {SEED + 1};
    const double terms = clfi_ref_einsum_terms(&s->form), products = (double)(s->form.operand_count - 1);
    const clfi_ref_loss loss = clfi_ref_gemm_loss(s->run.context->precision);
    const double relative = clfi_ref_einsum_error(s->form.operand_count, terms) + products * loss.relative;
    const size_t elements = s->form.output_elements, most = (double)elements * terms <= small_case ? elements : ELEMENTS_CHECKED;
    double *operand[MOST_OPERANDS] = {NULL};
    size_t *places = NULL;
    clf_status st;
    CLF_GOTO(clfi_op_run_fresh(s, &s->out));
    for (int k = 0; k < s->form.operand_count; k++)
        CLF_GOTO(clfi_operand_widen(&s->operands[k], &operand[k]));
    CLF_GOTO(clfi_alloc(elements, sizeof *places, "reference", &places));
    const size_t count = clfi_random_places(&random, elements, most, places);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (size_t i = 0; i < count; i++) {
        double magnitude;
        const double want = clfi_ref_einsum_element(&s->form, (const double *const *)operand, places[i], &magnitude);
        clfi_verdict_add(out, (double)s->out.host[places[i]], want, relative * magnitude + products * loss.of_term * terms);
    }
done:
    free(places);
    for (int k = 0; k < MOST_OPERANDS; k++)
        free(operand[k]);
    return st;
}

static const clfi_workload_type type = {
    .engines = engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = release};

/* Writes the shapes as in "2x12x128x32,2x12x128x32". */
static void describe_shapes(const einsum_shapes *shapes, int count, char *text, size_t size)
{
    size_t used = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < shapes->rank[k]; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "x" : k ? "," : "", (long long)shapes->dim[k][i]);
}

static clf_status plain_peer(const clfi_workload *workload, clfi_workload_list *list);

static clf_status add(clfi_workload_list *list, const einsum_case *one)
{
    clf_einsum_form form;
    clf_einsum_plan *plan = NULL;
    einsum_shapes shapes;
    char text[64], times[CLFI_CHAIN_TEXT];
    const int count = shapes_of(one, &shapes);
    CLF_TRY(make_plan(one, &form, &plan));
    clf_einsum_plan_destroy(plan);
    double values = (double)form.output_elements;
    for (int k = 0; k < count; k++) {
        double elements = 1;
        for (int i = 0; i < shapes.rank[k]; i++)
            elements *= (double)shapes.dim[k][i];
        values += elements;
    }
    const double terms = clfi_ref_einsum_terms(&form), flops = count > 1 && terms > 1 ? 2 * terms * (double)form.output_elements : 0;
    const int chain = clfi_op_chain(flops, flops > 0 ? 0 : values * sizeof(float));
    clfi_workload workload = {.op = "einsum",
                              .flops = chain * flops,
                              .bytes = chain * values * sizeof(float),
                              .limit = flops > 0 ? "fp32_gflops" : clfi_peak_copy_limit(values * sizeof(float)),
                              .table = &clfi_engine_tables[CLF_OP_GEMM],
                              .type = &type};
    if (flops <= 0)
        workload.peer = clfi_peak_copy_peer;
    else if (strcmp(one->equation, plain_scores) != 0 && strcmp(one->equation, plain_contexts) != 0)
        workload.peer = plain_peer;
    describe_shapes(&shapes, count, text, sizeof text);
    snprintf(workload.id, sizeof workload.id, "einsum/f32/%s/%s%s", one->equation, text, clfi_op_chain_text(chain, times));
    json_t *work = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:s}", "op", "einsum", "equation", one->equation, "shapes", text,
                             "storage", "f32", "arithmetic", "f32", "chain", chain, "seed", SEED, "data", "uniform");
    return clfi_op_workload_add(list, &workload, work, one, sizeof *one);
}

/* `peer` of attention in other layouts: the same products with contiguous matrices. */
static clf_status plain_peer(const clfi_workload *workload, clfi_workload_list *list)
{
    einsum_case plain = *(const einsum_case *)workload->parameters;
    plain.equation = strchr(strchr(plain.equation, '>'), 'd') ? plain_contexts : plain_scores;
    return add(list, &plain);
}

clf_status clfi_einsum_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!quick || cases[i].is_quick)
            CLF_TRY(add(list, &cases[i]));
    return CLF_OK;
}

clf_status clfi_einsum_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        CLF_TRY(add(list, &small_cases[i]));
    return CLF_OK;
}
