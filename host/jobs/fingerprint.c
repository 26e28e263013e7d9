/* SPDX-License-Identifier: MIT */
/* Fills the fields of fingerprints of embeddings, and compares two fingerprints. */
#include "jobs/fingerprint.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "jobs/fingerprint_parts.h"
#include "jobs/model_hash.h"
#include "jobs/pool.h"
#include "runtime/context.h"

enum { QUOTED = 80, QUOTED_BEFORE = 20, QUOTE_BYTES = QUOTED + 8 };

const cli_field_row cli_fields[CLI_FIELD_COUNT] = {
#define X(id, name, is_number, binds, of_device) {name, is_number, binds, of_device},
    CLI_FINGERPRINT_FIELDS(X)
#undef X
};

/* Largest difference between canaries, relative to their largest number: rounding stays far below it, wrong results are above. */
static const double canary_bound = 1e-2;

const char *const cli_fields_otherwise[CLI_FIELD_COUNT] = {
    [CLI_FIELD_WEIGHTS] = "stored", [CLI_FIELD_QUANTIZED] = "no", [CLI_FIELD_FORCED] = "", [CLI_FIELD_TUNED] = "yes"};

#define CANARY(text)          \
    {                         \
        text, sizeof text - 1 \
    }
const clf_text cli_canaries[CLI_CANARIES] = {
    CANARY("The canary sang before the lamp went out."),
    CANARY("In 1869 the table of elements had 63 rows, gaps included."),
    CANARY("Why does warm air rise, and where does it go at night?"),
};

const char *cli_field_name(cli_field field)
{
    return cli_fields[field].name;
}

clf_status cli_fingerprint_set(cli_fingerprint *f, cli_field field, const char *text)
{
    free(f->field[field]);
    f->field[field] = NULL;
    return clfi_strdup(text, &f->field[field]);
}

clf_status cli_fingerprint_set_number(cli_fingerprint *f, cli_field field, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return cli_fingerprint_set(f, field, text);
}

static clf_status set_devices(const cli_session *session, cli_fingerprint *out)
{
    clf_str names = CLF_STR_INIT, drivers = CLF_STR_INIT;
    clf_status st;
    CLF_GOTO(cli_pool_device_names(session, &names, &drivers));
    CLF_GOTO(cli_fingerprint_set(out, CLI_FIELD_DEVICE, clfi_str_text(&names)));
    st = cli_fingerprint_set(out, CLI_FIELD_DRIVER, clfi_str_text(&drivers));
done:
    clfi_str_free(&names);
    clfi_str_free(&drivers);
    return st;
}

clf_status cli_fingerprint_take(const cli_session *session, const cli_embedding *options, const char *directory, cli_fingerprint *out)
{
    static const char *const poolings[CLF_POOLING_COUNT] = {[CLF_POOLING_MEAN] = "mean", [CLF_POOLING_CLS] = "cls",
                                                            [CLF_POOLING_MAX] = "max",   [CLF_POOLING_MEAN_SQRT_LEN] = "mean_sqrt_len",
                                                            [CLF_POOLING_LAST] = "last", [CLF_POOLING_WEIGHTED_MEAN] = "weighted_mean"};
    const clf_model_info *info = clf_model_get_info(session->model);
    const clf_embed_params params = cli_embed_params(options);
    CLF_TRY(cli_hash_model(directory, &out->field[CLI_FIELD_MODEL]));
    CLF_TRY(cli_hash_tokenizer(directory, &out->field[CLI_FIELD_TOKENIZER]));
    CLF_TRY(cli_session_check_model(session, directory)); /* after the hashes have read its files again */
    const bool as_model = params.pooling == CLF_AS_MODEL;
    const char *name = params.prompt_name ? params.prompt_name : clf_model_default_prompt_name(session->model);
    const char *prompt = params.prompt ? params.prompt : clf_model_prompt(session->model, name);
    size_t width;
    CLF_TRY(clf_model_embedding_width(session->model, &params, &width));
    CLF_TRY(
        cli_fingerprint_set(out, CLI_FIELD_POOLING,
                            as_model && info->poolings > 1 ? "several" : poolings[as_model ? info->pooling : (clf_pooling)params.pooling]));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_NORMALIZE,
                                (params.normalize == CLF_AS_MODEL ? info->normalize : params.normalize) ? "yes" : "no"));
    CLF_TRY(cli_fingerprint_set_number(out, CLI_FIELD_DIMENSIONS, (int64_t)width));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_PROMPT, prompt ? prompt : ""));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_QUANTIZED, cli_fields_otherwise[CLI_FIELD_QUANTIZED]));
    CLF_TRY(cli_fingerprint_set_number(out, CLI_FIELD_MAX_TOKENS, params.max_tokens ? (int64_t)params.max_tokens : info->max_tokens));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_PRECISION, clf_precision_name((clf_precision)session->precision)));
    CLF_TRY(
        cli_fingerprint_set(out, CLI_FIELD_WEIGHTS, info->weights == CLF_STORAGE_F16 ? "f16" : cli_fields_otherwise[CLI_FIELD_WEIGHTS]));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_FORCED, session->context->engines));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_TUNED, session->context->tuned_file ? "yes" : "no"));
    CLF_TRY(cli_fingerprint_set(out, CLI_FIELD_ENGINE, info->linear_engine));
    CLF_TRY(set_devices(session, out));
    return cli_fingerprint_set(out, CLI_FIELD_VERSION, clf_version());
}

clf_status cli_fingerprint_canaries(cli_session *session, const cli_embedding *options, cli_fingerprint *fingerprint)
{
    const clf_embed_params params = cli_embed_params(options);
    CLF_TRY(clf_model_embedding_width(session->model, &params, &fingerprint->width));
    CLF_TRY(clfi_alloc(CLI_CANARIES * fingerprint->width, sizeof *fingerprint->canaries, "canaries", &fingerprint->canaries));
    const clf_status st = cli_pool_embed_few(session, options, cli_canaries, CLI_CANARIES, fingerprint->canaries);
    return st == CLF_OK ? st : clfi_fail_prefix(st, "the fingerprint's sentences");
}

clf_status cli_fingerprint_quantized(cli_fingerprint *fingerprint, const char *name, const float *ranges)
{
    const size_t numbers = 2 * fingerprint->width;
    CLF_TRY(cli_fingerprint_set(fingerprint, CLI_FIELD_QUANTIZED, name));
    if (!ranges)
        return CLF_OK;
    CLF_TRY(clfi_alloc(numbers, sizeof *ranges, "ranges", &fingerprint->ranges));
    memcpy(fingerprint->ranges, ranges, numbers * sizeof *ranges);
    return CLF_OK;
}

void cli_fingerprint_free(cli_fingerprint *fingerprint)
{
    for (size_t i = 0; i < CLI_FIELD_COUNT; i++) {
        free(fingerprint->field[i]);
        fingerprint->field[i] = NULL;
    }
    free(fingerprint->canaries);
    fingerprint->canaries = NULL;
    free(fingerprint->ranges);
    fingerprint->ranges = NULL;
    clfi_str_free(&fingerprint->texts);
}

clf_status cli_fingerprint_copy(const cli_fingerprint *from, cli_fingerprint *out)
{
    clf_status st = CLF_OK;
    *out = (cli_fingerprint)CLI_FINGERPRINT_INIT;
    for (size_t i = 0; st == CLF_OK && i < CLI_FIELD_COUNT; i++)
        st = cli_fingerprint_set(out, (cli_field)i, from->field[i]);
    out->width = from->width;
    if (st == CLF_OK)
        st = clfi_alloc(CLI_CANARIES * from->width, sizeof *out->canaries, "canaries", &out->canaries);
    if (st == CLF_OK)
        memcpy(out->canaries, from->canaries, CLI_CANARIES * from->width * sizeof *out->canaries);
    else
        cli_fingerprint_free(out);
    return st;
}

clf_status cli_fingerprint_options(const char *path, const cli_fingerprint *of_file, cli_embedding *out)
{
    /* in the order of --pooling */
    static const char *const names[] = {"cls", "max", "mean", "mean_sqrt_len", "last", "weighted_mean", "several"};
    *out = (cli_embedding)CLI_EMBEDDING_INIT;
    out->pooling = (int)COUNT(names);
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(of_file->field[CLI_FIELD_POOLING], names[i]) == 0)
            out->pooling = (int)i;
    if (out->pooling == (int)COUNT(names))
        CLF_FAIL(CLF_FORMAT, "%s.json: pooling: expected cls, max, mean, mean_sqrt_len, last, weighted_mean or several, found \"%s\"", path,
                 of_file->field[CLI_FIELD_POOLING]);
    out->dimensions = (size_t)strtoull(of_file->field[CLI_FIELD_DIMENSIONS], NULL, 10);
    out->prompt = of_file->field[CLI_FIELD_PROMPT];
    out->normalize = strcmp(of_file->field[CLI_FIELD_NORMALIZE], "yes") == 0;
    out->max_tokens = (size_t)strtoull(of_file->field[CLI_FIELD_MAX_TOKENS], NULL, 10);
    return CLF_OK;
}

static bool is_inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80; /* a continuation byte of UTF-8 */
}

/* Quotes a text for a message: all of it, or if `text` or `other` is long, the part around their first difference. */
static const char *quote(const char *text, const char *other, char out[QUOTE_BYTES])
{
    size_t from = 0;
    while (text[from] && text[from] == other[from])
        from++;
    from = strlen(text) <= QUOTED && strlen(other) <= QUOTED ? 0 : from > QUOTED_BEFORE ? from - QUOTED_BEFORE : 0;
    while (from && is_inside(text[from]))
        from--;
    size_t size = strlen(text + from);
    const bool is_cut = size > QUOTED;
    for (size = is_cut ? QUOTED : size; is_cut && size && is_inside(text[from + size]);)
        size--;
    snprintf(out, QUOTE_BYTES, "%s%.*s%s", from ? "..." : "", (int)size, text + from, is_cut ? "..." : "");
    return out;
}

clf_status cli_fingerprint_same_work(const char *that, const cli_fingerprint *before, const cli_fingerprint *now, bool on_one_device)
{
    char a[QUOTE_BYTES], b[QUOTE_BYTES];
    for (size_t i = 0; i < CLI_FIELD_COUNT; i++)
        if ((on_one_device || !cli_fields[i].of_device) && strcmp(before->field[i], now->field[i]) != 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s another %s: \"%s\", here \"%s\"", that, cli_fields[i].name,
                     quote(before->field[i], now->field[i], a), quote(now->field[i], before->field[i], b));
    return CLF_OK;
}

clf_status cli_fingerprint_same_canaries(const char *who, const cli_fingerprint *own, const char *whose, const cli_fingerprint *wanted)
{
    double largest = 0, difference = 0;
    for (size_t i = 0; own->width == wanted->width && i < CLI_CANARIES * own->width; i++) {
        largest = fmax(largest, fabs((double)wanted->canaries[i]));
        const double apart = fabs((double)own->canaries[i] - (double)wanted->canaries[i]);
        if (!(apart <= difference)) /* NaN stays: fmax would drop it */
            difference = apart;
        if (isnan(difference))
            break;
    }
    if (own->width != wanted->width || !(difference <= canary_bound * largest))
        CLF_FAIL(CLF_FORMAT, "%s: its device (%s) and %s (%s) give different embeddings of the test sentences: they differ by %g", who,
                 own->field[CLI_FIELD_DEVICE], whose, wanted->field[CLI_FIELD_DEVICE], difference);
    return CLF_OK;
}

clf_status cli_fingerprint_match(const char *path, const cli_fingerprint *of_file, const cli_fingerprint *now)
{
    char a[QUOTE_BYTES], b[QUOTE_BYTES];
    for (size_t i = 0; i < CLI_FIELD_COUNT; i++)
        if (cli_fields[i].binds && strcmp(of_file->field[i], now->field[i]) != 0)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: its embeddings cannot be compared with this model's: %s was \"%s\" and is \"%s\" now", path,
                     cli_fields[i].name, quote(of_file->field[i], now->field[i], a), quote(now->field[i], of_file->field[i], b));
    return CLF_OK;
}
