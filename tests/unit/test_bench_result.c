/* SPDX-License-Identifier: MIT */
/* Result files: what is read, and that every fault is refused with its place, what was expected and what was found. */
#include "report/result.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/record.h"
#include "report/same_work.h"
#include "support/check.h"
#include "support/temp.h"

static const char good[] =
    "{\"schema\": \"clformer-bench\", \"schema_version\": 1, \"complete\": true, \"created\": \"2026-01-02T03:04:05Z\","
    "\"settings\": {\"suites\": [\"ops\"], \"quick\": false, \"seed\": 7, \"min_seconds\": 0.5, \"min_samples\": 4, \"warm_up\": 1},"
    "\"library\": {\"version\": \"0.1.0\", \"commit\": \"unknown\", \"clblast\": \"1.5.3\"},"
    "\"host\": {\"cpu\": \"C\", \"logical_cores\": 2, \"memory_bytes\": 1024, \"os\": \"Linux\", \"kernel\": \"6\"},"
    "\"models\": [{\"name\": \"M\", \"sha256\": \"00ff\", \"file_bytes\": 9}],"
    "\"devices\": [{\"id\": 3, \"name\": \"D\", \"platform\": \"P\", \"vendor\": \"V\", \"driver\": \"1\", \"opencl_c\": \"OpenCL C 1.2\","
    "  \"type\": \"GPU\", \"compute_units\": 4, \"memory_bytes\": 2048, \"unified_memory\": true, \"status\": \"measured\", \"reason\": "
    "\"\","
    "  \"limits\": {\"fp32_gflops\": 100.5}},"
    " {\"id\": 4, \"name\": \"E\", \"platform\": \"P\", \"vendor\": \"V\", \"driver\": \"1\", \"opencl_c\": \"\", \"type\": \"CPU\","
    "  \"compute_units\": 1, \"memory_bytes\": 2048, \"unified_memory\": false, \"status\": \"unsupported\", \"reason\": \"no compiler\"}],"
    "\"workloads\": [{\"id\": \"w\", \"suite\": \"ops\", \"op\": \"gemm\", \"work\": {\"m\": 1, \"dims\": [2, 3], \"seed\": 1}, \"flops\": "
    "6.0,"
    "  \"bytes\": 12.0, \"items\": 0.0, \"item\": null, \"limit\": \"fp32_gflops\"},"
    " {\"id\": \"v\", \"suite\": \"models\", \"op\": \"encoder\", \"work\": {}, \"flops\": 0, \"bytes\": 0, \"items\": 2, \"item\": "
    "\"texts\", \"limit\": null}],"
    "\"results\": [{\"workload\": \"w\", \"device\": 3, \"engine\": \"tiled\", \"status\": \"ok\", \"reason\": \"\", \"verified\": true,"
    "  \"max_error\": 1e-7, \"error_bound\": 1e-5, \"wall_ms\": [4.0, 1.0, 2.0, 3.0], \"device_ms\": [1, 1, 1, 2], \"round_samples\": [3, "
    "0, 1],"
    "  \"median_ms\": 2.5, \"p10_ms\": 1.3, \"p90_ms\": 3.7, \"device_median_ms\": 1.0, \"noisy\": true, \"rate\": 2.4e-6,"
    "  \"rate_unit\": \"GFLOP/s\", \"percent_of_limit\": 0.0, \"off_device\": [\"tokenizing\"], \"energy\": {\"joules_per_run\": null, "
    "\"method\":"
    "  \"not measured\"}, \"memory\": {\"weights_bytes\": 1, \"scratch_bytes\": 2, \"host_peak_bytes\": 3}},"
    " {\"workload\": \"v\", \"device\": 3, \"engine\": \"\", \"status\": \"failed\", \"reason\": \"wrong result\", \"verified\": false,"
    "  \"max_error\": null, \"error_bound\": null, \"wall_ms\": [], \"device_ms\": [], \"off_device\": []}],"
    "\"not_measured\": [{\"what\": \"energy\", \"why\": \"no counter\"}]}";

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
    if (!value)
        fail_msg("%s: %s", text, error.text);
    return value;
}

/* Replaces what is at "results/0/rate" by a JSON text; NULL removes it. */
static void change(json_t *root, const char *path, const char *text)
{
    char key[64];
    json_t *at = root;
    for (;;) {
        const size_t length = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        if (!path[length])
            break;
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
        assert_non_null(at);
        path += length + 1;
    }
    if (json_is_array(at) && text)
        assert_int_equal(json_array_set_new(at, (size_t)atoi(key), parse(text)), 0);
    else if (json_is_array(at))
        assert_int_equal(json_array_remove(at, (size_t)atoi(key)), 0);
    else if (text)
        assert_int_equal(json_object_set_new(at, key, parse(text)), 0);
    else
        assert_int_equal(json_object_del(at, key), 0);
}

typedef struct broken_file {
    const char *path, *text; /* what is changed in the good file */
    clf_status status;
    const char *message; /* whole */
} broken_file;

static const broken_file broken[] = {
    {"schema", "\"other\"", CLF_FORMAT, "r.json: \"schema\": expected \"clformer-bench\", found string \"other\""},
    {"schema", NULL, CLF_FORMAT, "r.json: \"schema\": expected string, found nothing"},
    {"schema_version", "2", CLF_UNSUPPORTED,
     "r.json: \"schema_version\": expected 1, found 2 (another version of clformer wrote the file)"},
    {"schema_version", "\"1\"", CLF_FORMAT, "r.json: \"schema_version\": expected integer"},
    {"complete", "1", CLF_FORMAT, "r.json: \"complete\": expected true or false, found integer 1"},
    {"created", "\"\"", CLF_FORMAT, "r.json: \"created\": expected a string that is not empty, found string \"\""},
    {"settings", "[]", CLF_FORMAT, "r.json: \"settings\": expected object, found array of 0"},
    {"settings/suites", "[1]", CLF_FORMAT, "r.json: settings: \"suites\": expected an array of strings, found integer 1"},
    {"settings/quick", NULL, CLF_FORMAT, "r.json: settings: \"quick\": expected true or false, found nothing"},
    {"settings/min_samples", "0", CLF_FORMAT, "r.json: settings: \"min_samples\": expected"},
    {"settings/environment", "[]", CLF_FORMAT, "r.json: settings: \"environment\": expected object"},
    {"settings/environment", "{\"CLF_GRAPH\": 0}", CLF_FORMAT,
     "r.json: settings.environment: \"CLF_GRAPH\": expected a string, found integer 0"},
    {"library/commit", "3", CLF_FORMAT, "r.json: library: \"commit\": expected string, found integer 3"},
    {"host/logical_cores", "0", CLF_FORMAT, "r.json: host: \"logical_cores\": expected"},
    {"models", "{}", CLF_FORMAT, "r.json: \"models\": expected array, found object of 0"},
    {"models/0/name", NULL, CLF_FORMAT, "r.json: models[0]: \"name\": expected string, found nothing"},
    {"models/0/sha256", "5", CLF_FORMAT, "r.json: models[0]: \"sha256\": expected string, found integer 5"},
    {"devices/0", "17", CLF_FORMAT, "r.json: devices[0]: expected an object with \"id\", found integer 17"},
    {"devices/0/id", "-1", CLF_FORMAT, "r.json: devices[0]: \"id\": expected"},
    {"devices/1/id", "3", CLF_FORMAT, "r.json: devices[1]: \"id\": expected an id that no other device has, found integer 3"},
    {"devices/0/driver", "\"\"", CLF_FORMAT, "r.json: devices[0]: \"driver\": expected a string that is not empty, found string \"\""},
    {"devices/0/status", "\"good\"", CLF_FORMAT,
     "r.json: devices[0]: \"status\": expected \"measured\" or \"unsupported\", found string \"good\""},
    {"devices/1/reason", "\"\"", CLF_FORMAT, "r.json: devices[1]: \"reason\": expected a string that is not empty"},
    {"devices/0/limits/fp32_gflops", "0", CLF_FORMAT,
     "r.json: devices[0].limits: \"fp32_gflops\": expected a number from 1e-9 to 1e24, found integer 0"},
    {"devices/0/limits/fp32_gflops", "\"fast\"", CLF_FORMAT,
     "r.json: devices[0].limits: \"fp32_gflops\": expected a number from 1e-9 to 1e24, found string \"fast\""},
    {"workloads", NULL, CLF_FORMAT, "r.json: \"workloads\": expected array, found nothing"},
    {"workloads/0/id", "\"\"", CLF_FORMAT, "r.json: workloads[0]: \"id\": expected a string that is not empty"},
    {"workloads/1/id", "\"w\"", CLF_FORMAT, "r.json: workloads[1]: \"id\": expected an id that no other workload has, found string \"w\""},
    {"workloads/0/work", "null", CLF_FORMAT, "r.json: workloads[0]: \"work\": expected object, found null"},
    {"workloads/0/flops", "-6", CLF_FORMAT, "r.json: workloads[0]: \"flops\": expected"},
    {"results/0/workload", "\"x\"", CLF_FORMAT,
     "r.json: results[0]: \"workload\": expected the id of a workload in this file, found string \"x\""},
    {"results/0/device", "9", CLF_FORMAT, "r.json: results[0]: \"device\": expected the id of a device in this file, found integer 9"},
    {"results/0/status", "\"OK\"", CLF_FORMAT,
     "r.json: results[0]: \"status\": expected \"ok\", \"failed\" or \"unsupported\", found string \"OK\""},
    {"results/0/verified", "false", CLF_FORMAT, "r.json: results[0]: \"verified\": expected true, because status is \"ok\", found false"},
    {"results/0/max_error", "1", CLF_FORMAT,
     "r.json: results[0]: \"max_error\": expected no more than error_bound, because the row is verified, found integer 1"},
    {"results/0/wall_ms", "[]", CLF_FORMAT,
     "r.json: results[0]: \"device_ms\": expected no samples, or as many as wall_ms: 0, found array of 4"},
    {"results/0/wall_ms/2", "-1", CLF_FORMAT, "r.json: results[0]: \"wall_ms[2]\": expected a time from 1e-9 to 1e12 ms, found integer -1"},
    {"results/0/wall_ms/2", "null", CLF_FORMAT, "r.json: results[0]: \"wall_ms[2]\": expected a time from 1e-9 to 1e12 ms, found null"},
    {"results/0/wall_ms/2", "1e300", CLF_FORMAT, "r.json: results[0]: \"wall_ms[2]\": expected a time from 1e-9 to 1e12 ms, found real"},
    {"workloads/0/flops", "1e300", CLF_FORMAT, "r.json: workloads[0]: \"flops\": expected"},
    {"results/0/device_ms/3", NULL, CLF_FORMAT,
     "r.json: results[0]: \"device_ms\": expected no samples, or as many as wall_ms: 4, found array of 3"},
    {"results/0/median_ms", "2", CLF_FORMAT, "r.json: results[0]: \"median_ms\": expected 2.5, which the samples give, found integer 2"},
    {"results/0/p10_ms", "1.5", CLF_FORMAT, "r.json: results[0]: \"p10_ms\": expected 1.3, which the samples give, found real number 1.5"},
    {"results/0/p90_ms", NULL, CLF_FORMAT, "r.json: results[0]: \"p90_ms\": expected"},
    {"results/0/round_samples", "[3]", CLF_FORMAT,
     "r.json: results[0]: \"round_samples\": expected counts that add up to the samples of wall_ms, found array of 1"},
    {"results/0/round_samples", "[3, 2]", CLF_FORMAT,
     "r.json: results[0]: \"round_samples\": expected counts that add up to the samples of wall_ms, found integer 2"},
    {"results/0/round_samples", "[5, -1]", CLF_FORMAT, "r.json: results[0]: \"round_samples\": expected counts"},
    {"results/0/rate", "-1", CLF_FORMAT, "r.json: results[0]: \"rate\": expected"},
    {"results/0/rate", "2.5e-6", CLF_FORMAT,
     "r.json: results[0]: \"rate\": expected 2.4e-06, which the samples give, found real number 2.5e-06"},
    {"results/0/rate", "null", CLF_FORMAT, "r.json: results[0]: \"rate\": expected"},
    {"results/0/rate", NULL, CLF_FORMAT, "r.json: results[0]: \"rate\": expected"},
    {"results/0/rate_unit", "\"GB/s\"", CLF_FORMAT, "r.json: results[0]: \"rate\": expected 4.8e-06, which the samples give, found real"},
    {"results/0/rate_unit", "\"texts/s\"", CLF_FORMAT,
     "r.json: results[0]: \"rate_unit\": expected GB/s, GFLOP/s, GOP/s, us, or the workload's item/s, found string \"texts/s\""},
    {"results/0/rate_unit", NULL, CLF_FORMAT, "r.json: results[0]: \"rate_unit\": expected GB/s"},
    {"results/0/max_error", "null", CLF_FORMAT,
     "r.json: results[0]: \"max_error\": expected a number, because the row is verified, found null"},
    {"results/0/error_bound", NULL, CLF_FORMAT,
     "r.json: results[0]: \"error_bound\": expected a number, because the row is verified, found nothing"},
    {"results/0/off_device", "[7]", CLF_FORMAT, "r.json: results[0]: \"off_device\": expected an array of strings, found integer 7"},
    {"results/0/memory/weights_bytes", "-1", CLF_FORMAT, "r.json: results[0].memory: \"weights_bytes\": expected"},
    {"results/0/memory/scratch_bytes", "0.5", CLF_FORMAT, "r.json: results[0].memory: \"scratch_bytes\": expected"},
    {"results/0/energy/joules_per_run", "\"1\"", CLF_FORMAT, "r.json: results[0].energy: \"joules_per_run\": expected"},
    {"results/1/reason", "\"\"", CLF_FORMAT, "r.json: results[1]: \"reason\": expected a string that is not empty, found string \"\""},
    {"results/1/wall_ms", "[1.0]", CLF_FORMAT,
     "r.json: results[1]: \"wall_ms\": expected no samples, because the row is not verified, found array of 1"},
    {"not_measured/0/why", "\"\"", CLF_FORMAT, "r.json: not_measured[0]: \"why\": expected a string that is not empty"},
};

static void broken_files(void **state)
{
    (void)state;
    assert_true(COUNT(broken) >= 20);
    for (size_t i = 0; i < COUNT(broken); i++) {
        const broken_file *b = &broken[i];
        json_t *document = parse(good);
        clfi_result result;
        change(document, b->path, b->text);
        const clf_status st = clfi_result_take(document, "r.json", &result);
        CHECK(st == b->status && strncmp(clf_last_error(), b->message, strlen(b->message)) == 0, "%s = %s: want %s \"%s\", got %s \"%s\"",
              b->path, b->text ? b->text : "nothing", clf_status_id(b->status), b->message, clf_status_id(st),
              st == CLF_OK ? "" : clf_last_error());
        CHECK(!result.document && !result.rows && !result.path, "%s: not empty after a failure", b->path);
    }
}

static void two_rows_of_one(void **state)
{
    (void)state;
    json_t *document = parse(good), *rows = json_object_get(document, "results");
    clfi_result result;
    json_array_append(rows, json_array_get(rows, 0));
    CHECK_FAILS(clfi_result_take(document, "r.json", &result), CLF_FORMAT,
                "r.json: results[2]: expected one row for each engine, found a second one for workload \"w\", device 3, engine \"tiled\"");
}

static void no_object(void **state)
{
    (void)state;
    clfi_result result;
    CHECK_FAILS(clfi_result_take(parse("[1]"), "r.json", &result), CLF_FORMAT, "r.json: expected an object, found array of 1");
}

static void too_many(void **state)
{
    (void)state;
    json_t *document = parse(good), *gaps = json_array();
    clfi_result result;
    for (int i = 0; i < 20001; i++)
        json_array_append_new(gaps, json_null());
    json_object_set_new(document, "not_measured", gaps);
    CHECK_FAILS(clfi_result_take(document, "r.json", &result), CLF_FORMAT,
                "r.json: \"not_measured\": expected at most 20000 elements, found 20001");
}

static void files(void **state)
{
    (void)state;
    char directory[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], message[TEMP_PATH_BYTES + 64];
    clfi_result result;
    temp_directory_make(directory);
    CHECK_FAILS(clfi_result_read(temp_path(directory, "missing.json", path), &result), CLF_NOT_FOUND, path);
    temp_file(directory, "cut.json", good, sizeof good / 2, path);
    snprintf(message, sizeof message, "%s: line 1, column ", path);
    CHECK_FAILS(clfi_result_read(path, &result), CLF_FORMAT, message);
    CHECK_OK(clfi_result_read(temp_file(directory, "good.json", good, sizeof good - 1, path), &result));
    assert_string_equal(result.path, path);
    clfi_result_free(&result);
    temp_directory_remove(directory);
}

/* The schema of a fact in result.schema.json; NULL: it has none. */
static const json_t *schema_of(const json_t *schema, const clfi_row_fact *fact)
{
    const json_t *properties = json_object_get(json_object_get(json_object_get(schema, "$defs"), "result"), "properties");
    if (fact->group[0])
        properties = json_object_get(json_object_get(properties, fact->group), "properties");
    return json_object_get(properties, fact->key);
}

/* Every field of the list is described, and comes back from a file as it was written; what is not known stays unknown. */
static void facts(void **state)
{
    clfi_row_facts written, found;
    json_t *object = json_object(), *empty = json_object(),
           *schema = json_loadb(clfi_result_schema, (size_t)(clfi_result_schema_end - clfi_result_schema), 0, NULL);
    (void)state;
    assert_non_null(schema);
    for (size_t i = 0; i < clfi_row_fact_count; i++) {
        const clfi_row_fact *fact = &clfi_row_fact_list[i];
        const char *wanted = fact->kind == CLFI_FACT_BYTES ? "integer" : "number";
        const json_t *type = json_object_get(schema_of(schema, fact), "type");
        const char *name = json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);
        CHECK(name && strcmp(name, wanted) == 0, "%s: the schema says %s, want %s", fact->key, name ? name : "nothing", wanted);
        CHECK(fact->unknown != CLFI_FACT_NULL || json_is_array(type), "%s may be null, which the schema forbids", fact->key);
        *clfi_row_fact_value(&written, fact) = (double)(i + 1);
    }
    CHECK_OK(clfi_row_facts_write(&written, true, object));
    CHECK_OK(clfi_row_facts_read(object, "row", CLFI_RESULT_MOST, &found));
    for (size_t i = 0; i < clfi_row_fact_count; i++)
        CHECK(clfi_row_fact_get(&found, &clfi_row_fact_list[i]) == (double)(i + 1), "%s: %g", clfi_row_fact_list[i].key,
              clfi_row_fact_get(&found, &clfi_row_fact_list[i]));
    clfi_row_facts_clear(&written);
    CHECK_OK(clfi_row_facts_write(&written, false, empty));
    CHECK_OK(clfi_row_facts_read(empty, "row", CLFI_RESULT_MOST, &found));
    for (size_t i = 0; i < clfi_row_fact_count; i++) {
        const clfi_row_fact *fact = &clfi_row_fact_list[i];
        const double value = clfi_row_fact_get(&found, fact);
        const json_t *group = fact->group[0] ? json_object_get(empty, fact->group) : empty;
        const bool is_there = json_object_get(group, fact->key) != NULL;
        CHECK(fact->unknown == CLFI_FACT_ZERO ? value == 0 : isnan(value), "%s: %g where nothing is known", fact->key, value);
        CHECK(is_there == (fact->unknown == CLFI_FACT_NULL || fact->unknown == CLFI_FACT_ZERO), "%s: %s", fact->key,
              is_there ? "there" : "absent");
    }
    json_decref(object);
    json_decref(empty);
    json_decref(schema);
}

static void contents(void **state)
{
    (void)state;
    clfi_result r;
    CHECK_OK(clfi_result_take(parse(good), "r.json", &r));
    assert_true(r.complete && !r.settings.quick && r.settings.seed == 7 && r.settings.warm_up == 1);
    assert_string_equal(r.library.clblast, "1.5.3");
    assert_true(r.model_count == 1 && strcmp(r.models[0].hash_kind, "sha256") == 0 && strcmp(r.models[0].hash, "00ff") == 0);
    assert_int_equal(r.device_count, 2);
    assert_null(r.devices[0].reason);
    assert_string_equal(r.devices[1].reason, "no compiler");
    assert_true(within(clfi_result_limit(&r.devices[0], "fp32_gflops"), 100.5, 0) &&
                isnan(clfi_result_limit(&r.devices[1], "fp32_gflops")));
    assert_int_equal(r.workload_count, 2);
    assert_true(r.workloads[0].flops == 6 && !r.workloads[0].item && strcmp(r.workloads[1].item, "texts") == 0 && !r.workloads[1].limit);
    assert_int_equal(r.row_count, 2);
    const clfi_result_row *row = &r.rows[0];
    assert_true(row->workload == 0 && row->device == 0 && row->status == CLFI_RESULT_OK && row->noisy);
    assert_true(row->wall_ms.count == 4 && row->wall_ms.values[0] == 4 && row->device_ms.count == 4);
    assert_true(row->round_count == 2 && row->round_samples[0] == 3 && row->round_samples[1] == 1);
    assert_true(within(row->wall.median, 2.5, 1e-12) && within(row->wall.p10, 1.3, 1e-12) && within(row->wall.p90, 3.7, 1e-12));
    assert_true(within(row->device_median_ms, 1, 1e-12) && isnan(row->facts.joules_per_run));
    assert_true(row->facts.weights_bytes == 1 && row->facts.scratch_bytes == 2 && row->facts.host_peak_bytes == 3);
    assert_true(r.rows[1].status == CLFI_RESULT_FAILED && r.rows[1].workload == 1 && isnan(r.rows[1].wall.median));
    assert_string_equal(r.not_measured[0].why, "no counter");
    clfi_result_free(&r);
    clfi_result_free(&r); /* empty is fine */
}

/* A run that was interrupted may leave a verified row without samples; one that is complete may not. */
static void interrupted(void **state)
{
    (void)state;
    clfi_result result;
    json_t *document = parse(good);
    change(document, "results/0/wall_ms", "[]");
    change(document, "results/0/device_ms", "[]");
    CHECK_FAILS(clfi_result_take(json_deep_copy(document), "r.json", &result), CLF_FORMAT,
                "r.json: results[0]: \"wall_ms\": expected samples, because the run is complete, found array of 0");
    change(document, "complete", "false");
    CHECK_OK(clfi_result_take(document, "r.json", &result));
    assert_int_equal(result.rows[0].wall_ms.count, 0);
    clfi_result_free(&result);
}

typedef struct different_work {
    const char *path, *text, *message; /* NULL: the same work */
} different_work;

static const different_work differences[] = {
    {"workloads/0/work/m", "2", "a.json and b.json measured different work: w: work.m: integer 1 against integer 2"},
    {"workloads/0/work/m", "1.0", NULL},
    {"workloads/0/work/m", NULL, "w: work.m: integer 1 against nothing"},
    {"workloads/0/work/dims/1", "4", "w: work.dims[1]: integer 3 against integer 4"},
    {"workloads/0/work/dims", "[2]", "w: work.dims: array of 2 against array of 1"},
    {"workloads/0/work/dtype", "\"f16\"", "w: work.dtype: nothing against string \"f16\""},
    {"workloads/1/flops", "7", "v: flops: integer 0 against integer 7"},
    {"workloads/1/item", "\"words\"", "v: item: string \"texts\" against string \"words\""},
    {"models/0/sha256", "\"00fe\"", "model M.sha256: string \"00ff\" against string \"00fe\""},
    {"models/0/name", "\"N\"", NULL},
    {"workloads/1/op", "\"other\"", NULL},
    {"library/commit", "\"abc\"", NULL},
    {"created", "\"later\"", NULL},
};

static void same_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(differences); i++) {
        json_t *document = parse(good);
        clfi_result a, b;
        change(document, differences[i].path, differences[i].text);
        CHECK_OK(clfi_result_take(parse(good), "a.json", &a));
        CHECK_OK(clfi_result_take(document, "b.json", &b));
        if (differences[i].message)
            CHECK_FAILS(clfi_check_same_work(&a, &b), CLF_INVALID_ARGUMENT, differences[i].message);
        else
            CHECK_OK(clfi_check_same_work(&a, &b));
        clfi_result_free(&a);
        clfi_result_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_files), cmocka_unit_test(two_rows_of_one), cmocka_unit_test(no_object),
        cmocka_unit_test(too_many),     cmocka_unit_test(files),           cmocka_unit_test(facts),
        cmocka_unit_test(contents),     cmocka_unit_test(interrupted),     cmocka_unit_test(same_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
