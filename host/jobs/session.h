/* SPDX-License-Identifier: MIT */
/* Shared by the commands that use a device: options, context, models, and the reports of --stats and --trace. */
#ifndef CLFI_JOBS_SESSION_H
#define CLFI_JOBS_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "console/background.h"
#include "console/options.h"
#include "clformer/model.h"

typedef struct cli_session {
    const char *device, *engines, *trace;
    int precision; /* index into highest|high|medium */
    int stats;
    int weights;       /* a clf_storage: index into stored|f16 */
    int cache;         /* the same: index into f32|f16|q8_0 */
    size_t sequences;  /* texts that are generated together (clf_model_params); 0: the default */
    int no_tuned;      /* choices that clformer tune measured are not used */
    int background;    /* other programs come first (console/background.h) */
    uint64_t start_ns; /* when the session was opened (clfi_now_ns) */
    uint64_t load_ns;  /* time spent on opening models */
    clf_context *context;
    clf_model *model;                       /* NULL until cli_session_open_model */
    char model_stamp[CLFI_HASH_TEXT_BYTES]; /* of the model's files before it was opened (jobs/model_hash.h); "": not known */
    const char *reranker_directory;         /* of a cross-encoder that is opened beside the model; NULL: none */
    clf_model *reranker;                    /* NULL: the model itself scores pairs */
    clf_session *work;                      /* on the model; NULL if the model is only described */
    clf_session *scoring;                   /* on the model that scores pairs; may be `work` */
    bool has_notes;                         /* those about the first model's files were printed */
    struct cli_pool *pool;                  /* processes of several devices (jobs/pool.h); NULL: one device, in this process */
    void (*stop_pool)(struct cli_pool *);   /* NULL where there is none */
    unsigned product_precisions;            /* of the pool's processes, as in clf_context_stats */
} cli_session;

#define CLI_SESSION_INIT                   \
    {                                      \
        .precision = CLF_PRECISION_HIGHEST \
    }

/* The rows for a command's option table; `s` is the cli_session variable. */
#define CLI_SESSION_OPTIONS(s) CLI_SESSION_OPTIONS_OF(s, "index, platform:device, part of a name, cpu or gpu (see clformer devices)")

/* The same for a command that jobs/pool.h spreads over devices. */
#define CLI_POOL_SESSION_OPTIONS(s)                                                                                                      \
    CLI_SESSION_OPTIONS_OF(s, "index, platform:device, part of a name, cpu or gpu (see clformer devices); several separated by commas, " \
                              "or all: one process for each device")

#define CLI_SESSION_OPTIONS_OF(s, which)                                                                                  \
    {"device", 'd', "D", which, CLI_TEXT, &(s).device}, CLI_BACKGROUND_OPTION((s).background),                            \
        {"engine", 0, "OP=NAME", "force engines, for example gemm=tiled", CLI_TEXT, &(s).engines},                        \
        {"no-tuned", 0, NULL, "ignore the choices that clformer tune keeps for this device", CLI_FLAG, &(s).no_tuned},    \
        {"precision", 0, "highest|high|medium", "precision of matrix products", CLI_CHOICE, &(s).precision},              \
        {"stats", 0, NULL, "report times, tokens/s, memory and time per kernel on standard error", CLI_FLAG, &(s).stats}, \
    {                                                                                                                     \
        "trace", 0, "FILE", "write a Chrome trace of kernels and host phases", CLI_FILE, &(s).trace                       \
    }

/* Options of commands that open a model. */
#define CLI_MODEL_OPTIONS(s)                                                                                                           \
    {                                                                                                                                  \
        "weights", 0, "stored|f16", "type of matrices on the device: as in the model, or rounded to float16", CLI_CHOICE, &(s).weights \
    }

/* Options of commands that keep keys and values. */
#define CLI_CACHE_OPTIONS(s)                                                                        \
    {                                                                                               \
        "cache", 0, "f32|f16|q8_0", "type of keys and values on the device", CLI_CHOICE, &(s).cache \
    }

/* Writes the names of a set of precisions (bits 1 << clf_precision) into out [size]: "highest, medium", or "none". */
void cli_precisions_text(unsigned precisions, char *out, size_t size);

/* For a use of a command that needs no device. INVALID_ARGUMENT, "WHAT: --NAME needs <needed>": one of CLI_SESSION_OPTIONS is given. */
clf_status cli_session_refuse_options(const cli_session *session, const char *what, const char *needed);

/* The parameters for opening the session's models. */
clf_model_params cli_session_model_params(const cli_session *session);

/* Opens the context on the session's device; cli_session_close releases it. Failures as clf_context_create. */
clf_status cli_session_open(cli_session *session);

/* Records the state of a model's files for cli_session_check_model. Call it before the model is opened. */
void cli_session_note_model(cli_session *session, const char *directory);

/* IO: a file of the open model was replaced or changed since cli_session_note_model. */
clf_status cli_session_check_model(const cli_session *session, const char *directory);

/* Opens the session, unless it is open, then the model, which replaces an earlier one, and the reranker. UNSUPPORTED also: the reranker's
 * head does not have exactly one label. */
clf_status cli_session_open_model(cli_session *session, const char *directory);

/* The same without weights (clfi_model_describe), when other processes compute; linear_engine: the engine that they use. */
clf_status cli_session_describe_model(cli_session *session, const char *directory, const char *linear_engine);

/* The model that scores pairs of texts. */
clf_model *cli_session_scorer(const cli_session *session);

/* Writes --trace and --stats (embed: totals of the calls, NULL = none), then releases everything. Always call it. */
clf_status cli_session_close(cli_session *session, const clf_embed_stats *embed);

#endif
