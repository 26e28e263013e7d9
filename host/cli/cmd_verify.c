/* SPDX-License-Identifier: MIT */
/* clformer verify: checks whether this model, on this device, still makes the vectors of a file of embeddings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "jobs/fingerprint.h"
#include "console/progress.h"

/* Cosines stay above it in spite of rounding and reduced precision, and are far below it for another model, pooling or tokenizer. */
static const double least_cosine = 0.999;

static double cosine(const float *a, const float *b, size_t width)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < width; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : aa == bb ? 1 : 0;
}

static clf_status compare(const char *path, const cli_fingerprint *of_file, const cli_fingerprint *now)
{
    double least = 1;
    cli_line_clear();
    for (int i = 0; i < CLI_FIELD_COUNT; i++)
        if (strcmp(of_file->field[i], now->field[i]) != 0)
            printf("%s: \"%s\", now \"%s\"\n", cli_field_name((cli_field)i), of_file->field[i], now->field[i]);
    if (of_file->width != now->width)
        CLF_FAIL(CLF_FORMAT, "%s: vectors of %zu numbers, this model's have %zu", path, of_file->width, now->width);
    for (size_t i = 0; i < CLI_CANARIES; i++) {
        const double value = cosine(of_file->canaries + i * now->width, now->canaries + i * now->width, now->width);
        printf("cosine %.9f  %s\n", value, cli_canaries[i].data);
        if (!(value >= least))
            least = value;
    }
    if (!(least >= least_cosine))
        CLF_FAIL(CLF_FORMAT, "%s: the smallest cosine is %.9f: expected at least %g (the vectors are of another model or pooling)", path,
                 least, least_cosine);
    return CLF_OK;
}

static clf_status verify(cli_session *session, const char *path, const char *directory)
{
    clf_npy npy;
    cli_embedding options;
    bool found;
    cli_fingerprint of_file = CLI_FINGERPRINT_INIT, now = CLI_FINGERPRINT_INIT;
    clf_status st;
    CLF_TRY(clfi_npy_open(path, &npy));
    CLF_GOTO(cli_fingerprint_read(path, &npy, &of_file, &found));
    if (!found)
        CLF_GOTO(clfi_fail(CLF_NOT_FOUND, "%s has no fingerprint: %s.json is missing", path, path));
    CLF_GOTO(cli_fingerprint_options(path, &of_file, &options));
    cli_session_note_model(session, directory);
    CLF_GOTO(cli_session_open_model(session, directory));
    st = cli_fingerprint_take(session, &options, directory, &now);
    if (st == CLF_OK)
        st = cli_fingerprint_quantized(&now, of_file.field[CLI_FIELD_QUANTIZED], NULL); /* canaries never are */
    if (st == CLF_OK)
        st = cli_fingerprint_canaries(session, &options, &now);
    if (st == CLF_INVALID_ARGUMENT) /* the options are the file's, not the user's */
        CLF_GOTO(clfi_fail_prefix(CLF_FORMAT, "%s was not made by this model", path));
    if (st == CLF_OK)
        st = compare(path, &of_file, &now);
done:
    cli_fingerprint_free(&of_file);
    cli_fingerprint_free(&now);
    clfi_npy_close(&npy);
    return st;
}

int cmd_verify(const cli_command *self, int argc, char **argv)
{
    cli_session session = CLI_SESSION_INIT;
    const char *model = NULL;
    int positional;
    const cli_option table[] = {
        {"model", 'm', "MODEL_DIR", "model that should have made the file", CLI_INPUT, &model},
        CLI_SESSION_OPTIONS(session),
        CLI_MODEL_OPTIONS(session),
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && (positional != 1 || !model))
        st = cli_refuse(self, "expected one file and --model");
    if (st == CLF_OK)
        st = verify(&session, argv[0], model);
    return cli_embedding_end(&session, NULL, NULL, st);
}
