/* SPDX-License-Identifier: MIT */
/* The file of measured choices: written and read back, entries of other devices, other drivers, broken files; the nearest rule. The device
 * is made up. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "op/tuned.h"
#include "op/tuned_file.h"
#include "runtime/slot.h"
#include "support/check.h"
#include "support/temp.h"

#define NAME "Made-up \"device\""
#define PLATFORM "Platform"
#define DRIVER "1.0"
#define ENTRY(gemm, more) \
    "{\"name\": \"Made-up \\\"device\\\"\", \"platform\": \"Platform\", \"driver\": \"1.0\", \"gemm\": [" gemm "]" more "}"
#define DOCUMENT(entry) "{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": [" entry "]}"
#define RULE(engine, more) "{\"kind\": \"linear\", \"batch\": 1, \"m\": 128, \"n\": 384, \"k\": 384, \"engine\": \"" engine "\"" more "}"

static const clf_device_info info = {.name = NAME, .platform_name = PLATFORM, .driver_version = DRIVER};

typedef struct fixture {
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    clf_context context;
    char log[2048];
} fixture;

static void keep_line(void *user, clf_log_level level, const char *text)
{
    fixture *f = user;
    const size_t used = strlen(f->log);
    snprintf(f->log + used, sizeof f->log - used, "%d %s\n", (int)level, text);
}

/* A context without OpenCL: all that choosing looks at. */
static void set_context(fixture *f)
{
    f->context = (clf_context){
        .device = {.info = info, .caps = {.is_cpu = true, .vector_width = 16, .max_work_group_size = 256, .local_memory_bytes = 32768}},
        .engines = (char *)"",
        .tuned_file = f->path,
        .log = keep_line,
        .log_user = f,
        .log_level = CLF_LOG_DEBUG};
    f->log[0] = '\0';
}

static void clear_context(fixture *f)
{
    clfi_slots_clear(&f->context);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    temp_directory_make(f->directory);
    temp_path(f->directory, "tuned.json", f->path);
    set_context(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    clear_context(f);
    temp_directory_remove(f->directory);
    free(f);
    return 0;
}

static void write_text(fixture *f, const char *text)
{
    clear_context(f);
    set_context(f);
    CHECK_OK(clfi_file_write(f->path, text, strlen(text)));
}

/* Choices as the tuner makes them, whose rules are released. */
static clf_tuning own_copy(const clf_gemm_rule *rules, size_t count)
{
    clf_tuning tuning = {.count = count};
    CHECK_OK(clfi_alloc(count, sizeof *rules, "rules", &tuning.rules));
    memcpy(tuning.rules, rules, count * sizeof *rules);
    return tuning;
}

/* As clformer tune keeps one choice beside what is in the file; how many there are then. */
static size_t keep(const fixture *f, const clf_gemm_rule *rule)
{
    clf_tuning tuning = own_copy(rule, 1), old;
    json_t *entry;
    size_t dropped;
    CHECK_OK(clfi_tuning_read(f->path, &info, &old));
    CHECK_OK(clfi_tuning_keep_others(&tuning, &old, &dropped));
    assert_int_equal(dropped, 0);
    CHECK_OK(clfi_tuning_entry(&info, &tuning, &entry));
    CHECK_OK(clfi_tuned_file_store(f->path, &info, entry));
    const size_t count = tuning.count;
    json_decref(entry);
    clfi_tuning_clear(&tuning);
    clfi_tuning_clear(&old);
    return count;
}

/* Tuning for one precision keeps what was measured for others, once; a context is told the rule of its own. */
static void test_precisions(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"packed", "tiled", "gemv"};
    for (int round = 0; round < 2; round++) {
        for (int precision = CLF_PRECISION_HIGHEST; precision <= CLF_PRECISION_MEDIUM; precision++) {
            const clf_gemm_rule rule = {
                CLF_GEMM_LINEAR, (clf_precision)precision, 1, 128, 384, 384, clfi_engine_find(CLF_OP_GEMM, names[precision]), {{0}}, false};
            assert_int_equal(keep(f, &rule), round ? 3 : precision + 1);
        }
    }
    for (int precision = CLF_PRECISION_HIGHEST; precision <= CLF_PRECISION_MEDIUM; precision++) {
        clear_context(f);
        set_context(f);
        f->context.precision = (clf_precision)precision;
        const clf_gemm_rule *rule = clfi_tuned_rule(&f->context, CLF_GEMM_LINEAR, 1, 128, 384, 384);
        CHECK(rule && strcmp(rule->engine->name, names[precision]) == 0, "%s: %s", clf_precision_name((clf_precision)precision),
              rule ? rule->engine->name : "no rule");
    }
}

/* Tuning for one model keeps what was measured for another's products; a rule for the same product goes. */
static void test_products(void **state)
{
    static const int64_t rows[2][3] = {{1, 128, 512}, {128, 512, 1024}};
    const clf_engine *const engines[] = {clfi_engine_find(CLF_OP_GEMM, "packed"), clfi_engine_find(CLF_OP_GEMM, "tiled")};
    static const struct {
        int64_t m;
        const char *engine;
    } want[] = {{128, "tiled"}, {512, "tiled"}, {1024, "tiled"}, {1, "packed"}};
    clf_tuning tuning[2];
    size_t dropped;
    (void)state;
    for (size_t model = 0; model < 2; model++) {
        clf_gemm_rule rules[3];
        for (size_t i = 0; i < 3; i++)
            rules[i] = (clf_gemm_rule){CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, rows[model][i], 384, 384, engines[model], {{0}}, false};
        tuning[model] = own_copy(rules, 3);
    }
    CHECK_OK(clfi_tuning_keep_others(&tuning[1], &tuning[0], &dropped));
    assert_int_equal(tuning[1].count, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++)
        CHECK(tuning[1].rules[i].m == want[i].m && strcmp(tuning[1].rules[i].engine->name, want[i].engine) == 0,
              "rule %zu: %lld rows by %s", i, (long long)tuning[1].rules[i].m, tuning[1].rules[i].engine->name);
    clfi_tuning_clear(&tuning[0]);
    clfi_tuning_clear(&tuning[1]);
}

static void test_round_trip(void **state)
{
    fixture *f = *state;
    clf_gemm_rule rules[] = {
        {CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 128, 384, 384, clfi_engine_find(CLF_OP_GEMM, "packed"), {{6, 2, 32}}, false},
        {CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 1, 384, 384, NULL, {{0}}, true},
        {CLF_GEMM_INTERLEAVED, CLF_PRECISION_HIGHEST, 96, 128, 128, 32, clfi_engine_find(CLF_OP_GEMM, "interleaved"), {{4, 0, 0}}, false},
    };
    clf_tuning tuning = {.rules = rules, .count = COUNT(rules)};
    tuning.clblast.is_set[CLFI_CLBLAST_ROUTINE] = true;
    tuning.clblast.value[CLFI_CLBLAST_ROUTINE][0] = 256;
    json_t *entry;
    CHECK_OK(clfi_tuning_entry(&info, &tuning, &entry));
    CHECK_OK(clfi_tuned_file_store(f->path, &info, entry));
    json_decref(entry);
    assert_int_equal(temp_directory_entries(f->directory), 1); /* no temporary left */

    assert_true(clfi_context_is_tuned(&f->context));
    const clf_gemm_rule *rule = clfi_tuned_rule(&f->context, CLF_GEMM_LINEAR, 1, 128, 384, 384);
    assert_non_null(rule);
    assert_string_equal(rule->engine->name, "packed");
    assert_false(rule->is_first_use);
    assert_int_equal(rule->tile.value[0], 6);
    assert_int_equal(rule->tile.value[1], 2);
    assert_int_equal(rule->tile.value[2], 32);
    rule = clfi_tuned_rule(&f->context, CLF_GEMM_LINEAR, 1, 1, 384, 384);
    assert_true(rule && !rule->engine && rule->m == 1 && rule->is_first_use);
    rule = clfi_tuned_rule(&f->context, CLF_GEMM_INTERLEAVED, 96, 128, 128, 32);
    assert_true(rule && strcmp(rule->engine->name, "interleaved") == 0);
    const clf_clblast_parameters *clblast = clfi_context_clblast_parameters(&f->context);
    assert_true(clblast && clblast->is_set[CLFI_CLBLAST_ROUTINE] && !clblast->is_set[CLFI_CLBLAST_XGEMM]);
    assert_int_equal(clblast->value[CLFI_CLBLAST_ROUTINE][0], 256);
}

/* A rule that is added serves at once and from the file, beside what another process wrote there; one of a first use replaces its like. */
static void test_added(void **state)
{
    fixture *f = *state;
    clf_gemm_rule rule = {CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 256, 384, 384, clfi_engine_find(CLF_OP_GEMM, "tiled"), {{0}}, true};
    const clf_tuning others = {.rules = &(clf_gemm_rule){CLF_GEMM_PRODUCT, CLF_PRECISION_HIGHEST, 1, 8, 8, 8, NULL, {{0}}, false},
                               .count = 1};
    json_t *entry;
    clf_str text = CLF_STR_INIT;
    bool is_all = true;
    assert_true(clfi_tuning_is_open(&f->context) && !clfi_context_is_tuned(&f->context));
    CHECK_OK(clfi_tuning_entry(&info, &others, &entry));
    CHECK_OK(clfi_tuned_file_store(f->path, &info, entry));
    json_decref(entry);
    CHECK_OK(clfi_tuning_add(&f->context, &rule));
    CHECK_OK(clfi_tuning_first_use_text(&f->context, &is_all, &text));
    assert_string_equal(clfi_str_text(&text), "256 x 384 x 384 tiled");
    assert_true(is_all); /* this context read the file before the other process wrote it */
    rule.engine = clfi_engine_find(CLF_OP_GEMM, "gemv");
    CHECK_OK(clfi_tuning_add(&f->context, &rule));
    clear_context(f);
    set_context(f);
    clfi_str_clear(&text);
    CHECK_OK(clfi_tuning_first_use_text(&f->context, &is_all, &text));
    assert_string_equal(clfi_str_text(&text), "256 x 384 x 384 gemv");
    assert_false(is_all);
    assert_non_null(clfi_tuned_rule(&f->context, CLF_GEMM_PRODUCT, 1, 8, 8, 8));
    clfi_str_free(&text);
}

static void test_closed(void **state)
{
    fixture *f = *state;
    write_text(f, "{");
    assert_false(clfi_tuning_is_open(&f->context));
}

/* The nearest rule of the kind, up to a factor of 4 in all; rows beyond the most that were measured with that weight
 * are taken as that many. */
static void test_nearest(void **state)
{
    static const struct {
        clf_gemm_kind kind;
        int64_t m, n, k, want; /* the rule's m; 0: none */
    } cases[] = {
        {CLF_GEMM_LINEAR, 128, 384, 384, 128},  {CLF_GEMM_LINEAR, 100, 384, 384, 128}, {CLF_GEMM_LINEAR, 20, 384, 384, 16},
        {CLF_GEMM_LINEAR, 128, 768, 768, 128},  {CLF_GEMM_LINEAR, 128, 769, 768, 0},   {CLF_GEMM_LINEAR, 60, 768, 384, 0},
        {CLF_GEMM_LINEAR, 4096, 384, 384, 128}, {CLF_GEMM_LINEAR, 1, 384, 384, 0},     {CLF_GEMM_PRODUCT, 128, 384, 384, 0},
        {CLF_GEMM_LINEAR, 0, 384, 384, 0},      {CLF_GEMM_LINEAR, 900, 4096, 384, 16}, {CLF_GEMM_LINEAR, 4, 4096, 384, 16},
        {CLF_GEMM_LINEAR, 3, 4096, 384, 0},
    };
    fixture *f = *state;
    write_text(f, DOCUMENT(ENTRY(
                      RULE("packed", "") ", {\"kind\": \"linear\", \"batch\": 1, \"m\": 16, \"n\": 384, \"k\": 384, \"engine\": \"gemv\"}, "
                                         "{\"kind\": \"linear\", \"batch\": 1, \"m\": 16, \"n\": 4096, \"k\": 384, \"engine\": \"tiled\"}",
                      "")));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const clf_gemm_rule *rule = clfi_tuned_rule(&f->context, cases[i].kind, 1, cases[i].m, cases[i].n, cases[i].k);
        CHECK((rule ? rule->m : 0) == cases[i].want, "case %zu: rule for %lld rows, want %lld", i, rule ? (long long)rule->m : 0,
              (long long)cases[i].want);
    }
}

/* Measurements with other parameters of CLBlast do not count for these. */
static void test_precisions_of_clblast(void **state)
{
    static const char *const names[] = {"clblast", "tiled"};
    clf_gemm_rule rules[COUNT(names)];
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        rules[i] = (clf_gemm_rule){
            CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, 128 << i, 384, 384, clfi_engine_find(CLF_OP_GEMM, names[i]), {{0}}, false};
    for (int is_other = 0; is_other < 2; is_other++) {
        const clf_tuning old = {.rules = rules, .count = COUNT(rules), .clblast = {.is_set = {true}}};
        clf_tuning tuning = {.clblast = {.is_set = {true}}};
        size_t dropped;
        tuning.clblast.value[0][0] = (size_t)is_other;
        CHECK_OK(clfi_tuning_keep_others(&tuning, &old, &dropped));
        assert_int_equal(tuning.count, is_other ? 1 : 2);
        assert_int_equal(dropped, is_other);
        clfi_tuning_clear(&tuning);
    }
}

/* Entries of other devices stay, and the newest of the device itself with other drivers and numbers of units. */
static void test_entries(void **state)
{
    fixture *f = *state;
    const clf_device_info others[] = {
        {.name = "Other", .platform_name = PLATFORM, .driver_version = DRIVER},
        {.name = NAME, .platform_name = "Other", .driver_version = DRIVER},
        {.name = NAME, .platform_name = PLATFORM, .driver_version = "0.9"},
        {.name = NAME, .platform_name = PLATFORM, .driver_version = DRIVER, .compute_units = 7},
        {.name = NAME, .platform_name = PLATFORM, .driver_version = DRIVER},
    };
    const clf_tuning nothing = {.count = 0};
    for (size_t i = 0; i < COUNT(others); i++) {
        json_t *entry, *found;
        bool is_other;
        CHECK_OK(clfi_tuning_entry(&others[i], &nothing, &entry));
        CHECK_OK(clfi_tuned_file_store(f->path, &others[i], entry));
        json_decref(entry);
        CHECK_OK(clfi_tuned_file_find(f->path, &info, &is_other, &found));
        CHECK((found != NULL) == (i == 4) && is_other == (i == 2 || i == 3), "after entry %zu: found %d, other %d", i, found != NULL,
              is_other);
        json_decref(found);
    }
    for (size_t i = 0; i < COUNT(others); i++) {
        json_t *found;
        CHECK_OK(clfi_tuned_file_find(f->path, &others[i], NULL, &found));
        CHECK(found != NULL, "entry %zu is lost", i);
        json_decref(found);
    }
    for (size_t i = 0; i < 2; i++) {
        const clf_device_info newer = {.name = NAME, .platform_name = PLATFORM, .driver_version = i ? "1.2" : "1.1"};
        json_t *entry, *found;
        CHECK_OK(clfi_tuning_entry(&newer, &nothing, &entry));
        CHECK_OK(clfi_tuned_file_store(f->path, &newer, entry));
        json_decref(entry);
        CHECK_OK(clfi_tuned_file_find(f->path, &others[2], NULL, &found));
        CHECK((found != NULL) == (i == 0), "the oldest of %zu: found %d", 4 + i, found != NULL);
        json_decref(found);
        CHECK_OK(clfi_tuned_file_find(f->path, &others[3], NULL, &found));
        CHECK(found != NULL, "the second oldest of %zu is lost", 4 + i);
        json_decref(found);
    }
}

/* Two processes that add to the file at once: the lock of the first holds the second back. */
static void test_lock(void **state)
{
    fixture *f = *state;
    const int lock = clfi_tuned_file_lock(f->path);
    assert_true(lock >= 0);
    const int other = open(f->directory, O_RDONLY);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
    clfi_tuned_file_unlock(lock);
    assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
    close(other);
}

static void test_other_driver(void **state)
{
    fixture *f = *state;
    write_text(f, "{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": [{\"name\": \"Made-up \\\"device\\\"\", "
                  "\"platform\": \"Platform\", \"driver\": \"0.9\", \"gemm\": []}]}");
    assert_false(clfi_context_is_tuned(&f->context));
    assert_non_null(strstr(f->log, "1 ")); /* a remark, no error */
    assert_non_null(strstr(f->log, "another driver"));
}

static void test_absent(void **state)
{
    fixture *f = *state;
    assert_false(clfi_context_is_tuned(&f->context));
    assert_string_equal(f->log, "");
    f->context.tuned_file = NULL;
    clfi_slots_clear(&f->context);
    assert_false(clfi_context_is_tuned(&f->context));
    assert_null(clfi_context_clblast_parameters(&f->context));
}

static const struct {
    const char *text, *part;
} broken[] = {
    {"", ":"},
    {"{", "line 1"},
    {"[]", "object"},
    {"{\"schema\": \"other\", \"schema_version\": 1, \"devices\": []}", "expected \"clformer-tuned\""},
    {"{\"schema\": \"clformer-tuned\", \"schema_version\": 2, \"devices\": []}", "schema_version"},
    {"{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": {}}", "devices"},
    {"{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": [7]}", "name"},
    {"{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": [{\"name\": \"x\", \"platform\": \"y\", \"driver\": 1}]}",
     "driver"},
    {"{\"schema\": \"clformer-tuned\", \"schema_version\": 1, \"devices\": [{\"name\": \"x\\u0000\", \"platform\": \"y\", \"driver\": "
     "\"1\"}]}",
     "name"},
    {DOCUMENT("{\"name\": \"Made-up \\\"device\\\"\", \"platform\": \"Platform\", \"driver\": \"1.0\"}"), "gemm"},
    {DOCUMENT(ENTRY("7", "")), "kind"},
    {DOCUMENT(ENTRY("{\"kind\": \"square\"}", "")), "kind \"square\""},
    {DOCUMENT(ENTRY("{\"kind\": \"linear\", \"batch\": 1, \"m\": 0, \"n\": 1, \"k\": 1, \"engine\": \"packed\"}", "")), "\"m\""},
    {DOCUMENT(ENTRY("{\"kind\": \"linear\", \"batch\": 1, \"m\": 1e30, \"n\": 1, \"k\": 1, \"engine\": \"packed\"}", "")), "\"m\""},
    {DOCUMENT(ENTRY(RULE("packed", ", \"tile\": {\"rows\": 9223372036854775807}"), "")), "rows"},
    {DOCUMENT(ENTRY(RULE("packed", ", \"tile\": [8]"), "")), "tile"},
    {DOCUMENT(ENTRY(RULE("default", ", \"tile\": {\"rows\": 8}"), "")), "default engine"},
    {DOCUMENT(ENTRY("", ", \"clblast\": {\"Xnothing\": {}}")), "Xnothing"},
    {DOCUMENT(ENTRY("", ", \"clblast\": {\"GemmRoutine\": {}}")), "parameters"},
    {DOCUMENT(ENTRY("", ", \"clblast\": {\"GemmRoutine\": {\"XGEMM_MIN_INDIRECT_SIZE\": -1}}")), "XGEMM_MIN_INDIRECT_SIZE"},
    {DOCUMENT(ENTRY("", ", \"clblast\": {\"GemmRoutine\": {\"XGEMM_MIN_INDIRECT_SIZE\": 0}}")), "do not go together"},
    {DOCUMENT(ENTRY(
         "", ", \"clblast\": {\"XgemmDirect\": {\"KWID\": 2, \"MDIMAD\": 8, \"MDIMCD\": 8, \"NDIMBD\": 8, \"NDIMCD\": 8, \"PADA\": 1, "
             "\"PADB\": 1, \"VWMD\": 4, \"VWND\": 4, \"WGD\": 8}}")),
     "XgemmDirect"},
};

/* Each is told once in the log, changes nothing, and is not overwritten. */
static void test_broken(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < COUNT(broken); i++) {
        write_text(f, broken[i].text);
        CHECK(!clfi_context_is_tuned(&f->context), "file %zu is taken", i);
        assert_null(clfi_tuned_rule(&f->context, CLF_GEMM_LINEAR, 1, 128, 384, 384));
        CHECK(strncmp(f->log, "0 tuned choices are ignored: ", 29) == 0 && strstr(f->log, broken[i].part),
              "file %zu: log \"%s\", want \"%s\"", i, f->log, broken[i].part);
        CHECK(strchr(f->log, '\n') == strrchr(f->log, '\n'), "file %zu: told more than once: %s", i, f->log);
    }
    json_t *entry;
    const clf_tuning nothing = {.count = 0};
    clf_str left = CLF_STR_INIT;
    CHECK_OK(clfi_tuning_entry(&info, &nothing, &entry));
    write_text(f, "[]");
    CHECK_FAILS(clfi_tuned_file_store(f->path, &info, entry), CLF_FORMAT, "object");
    CHECK_OK(clfi_file_read(f->path, 100, &left));
    assert_string_equal(clfi_str_text(&left), "[]");
    clfi_str_free(&left);
    json_decref(entry);
}

/* A rule of another version, or of a device with more memory, is dropped alone; the others stay. */
static void test_foreign(void **state)
{
    static const char *const files[] = {
        DOCUMENT(ENTRY(RULE("warp", "") ", " RULE("packed", ""), "")),
        DOCUMENT(ENTRY(RULE("packed", ", \"tile\": {\"rows\": 9}") ", " RULE("packed", ""), "")),
        DOCUMENT(ENTRY(RULE("packed", ", \"tile\": {\"side\": 8}") ", " RULE("packed", ""), "")),
        DOCUMENT(ENTRY(RULE("clblast", ", \"tile\": {\"rows\": 8}") ", " RULE("packed", ""), "")),
        DOCUMENT(ENTRY(
            RULE("tiled", ", \"tile\": {\"item_m\": 8, \"item_n\": 8, \"slice\": 32, \"wg_m\": 16, \"wg_n\": 16}") ", " RULE("packed", ""),
            "")),
    };
    fixture *f = *state;
    for (size_t i = 0; i < COUNT(files); i++) {
        write_text(f, files[i]);
        const clf_gemm_rule *rule = clfi_tuned_rule(&f->context, CLF_GEMM_LINEAR, 1, 128, 384, 384);
        CHECK(rule && strcmp(rule->engine->name, "packed") == 0, "file %zu: %s", i, rule ? rule->engine->name : "no rule");
        CHECK(strstr(f->log, "1 of 2 tuned choices are ignored"), "file %zu: log \"%s\"", i, f->log);
    }
}

/* And it is still there for that version when this one has added a rule or tuned, until something else is chosen for its product. */
static void test_foreign_stays(void **state)
{
    static const struct {
        int64_t m;
        bool is_tuned, stays;
    } cases[] = {{256, false, true}, {256, true, true}, {128, false, false}, {128, true, false}};
    fixture *f = *state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        clf_gemm_rule rule = {
            CLF_GEMM_LINEAR, CLF_PRECISION_HIGHEST, 1, cases[i].m, 384, 384, clfi_engine_find(CLF_OP_GEMM, "packed"), {{0}}, false};
        clf_str left = CLF_STR_INIT;
        write_text(f, DOCUMENT(ENTRY(RULE("warp", ", \"lanes\": 5"), ", \"model\": \"mine\"")));
        if (cases[i].is_tuned) {
            assert_int_equal(keep(f, &rule), 1);
        } else {
            rule.is_first_use = true;
            CHECK_OK(clfi_tuning_add(&f->context, &rule));
        }
        CHECK_OK(clfi_file_read(f->path, 4096, &left));
        CHECK(strstr(clfi_str_text(&left), "packed"), "case %zu: the rule is not in %s", i, clfi_str_text(&left));
        CHECK(strstr(clfi_str_text(&left), "mine"), "case %zu: the model is gone from %s", i, clfi_str_text(&left));
        CHECK(!strstr(clfi_str_text(&left), "warp") == !cases[i].stays && !strstr(clfi_str_text(&left), "lanes") == !cases[i].stays,
              "case %zu: the foreign rule %s: %s", i, cases[i].stays ? "is gone" : "stays", clfi_str_text(&left));
        clfi_str_free(&left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(test_precisions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nearest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_added, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closed, setup, teardown),
        cmocka_unit_test(test_precisions_of_clblast),
        cmocka_unit_test(test_products),
        cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_driver, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
