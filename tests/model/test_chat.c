/* SPDX-License-Identifier: MIT */
/* Conversations as requests: the prompt is the template's text, answers are those of the prompts alone, and end where turns end. */
#include "clformer/chat.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/request.h"
#include "support/check.h"
#include "support/device.h"
#include "support/temp.h"

enum { TOKENS = 6, TEXT_BYTES = 512, POSITIONS = 96 };

typedef struct told {
    char text[2][TEXT_BYTES];
    clf_finish finish[2];
    clf_request *cancelled; /* at the first token of any request */
} told;

static int tell(void *user, const clf_generated *step)
{
    told *t = user;
    assert_true(step->prompt < 2 && strlen(t->text[step->prompt]) + step->text.size < TEXT_BYTES);
    strncat(t->text[step->prompt], step->text.data, step->text.size);
    if (step->token < 0)
        t->finish[step->prompt] = step->finish;
    clf_request_cancel(t->cancelled);
    return 0;
}

typedef struct fixture {
    char folder[TEMP_PATH_BYTES];
    clf_model *model;
    clf_session *session;
} fixture;

/* The tiny model, whose vocabulary is letters, with a template. */
static fixture open_with(clf_context *context, const char *template)
{
    static const char *const files[] = {"config.json", "model.safetensors", "tokenizer.json"};
    char source[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
    fixture f;
    temp_directory_make(f.folder);
    for (size_t i = 0; i < COUNT(files); i++)
        assert_int_equal(symlink(temp_path(CLF_TEST_DATA "/generation/llama", files[i], source), temp_path(f.folder, files[i], path)), 0);
    if (template)
        temp_file(f.folder, "chat_template.jinja", template, strlen(template), path);
    CHECK_OK(clf_model_open(context, f.folder, NULL, &f.model));
    CHECK_OK(clf_session_create(f.model, NULL, &f.session));
    return f;
}

static void close_model(const fixture *f)
{
    clf_session_destroy(f->session);
    clf_model_destroy(f->model);
    temp_directory_remove(f->folder);
}

static clf_message message(const char *role, const char *text)
{
    return (clf_message){role, {text, strlen(text)}};
}

/* Continues the text that the template writes, by clf_session_generate. */
static void continue_alone(const fixture *f, const char *prompt, const clf_generate_params *params, told *out)
{
    clf_generate_params own = *params;
    own.no_special_tokens = 1;
    *out = (told){.cancelled = NULL};
    CHECK_OK(clf_session_generate(f->session, &(clf_text){prompt, strlen(prompt)}, 1, &own, tell, out));
}

static const char plain[] = "{% for m in messages %}{{ m.content }}{{ '!' if m.role == 'user' else '.' }}{% endfor %}";

/* A template in the folder of additional ones goes before the others, and serves alone. */
static void test_additional_template(void **state)
{
    const clf_message talk[] = {message("user", " cat")};
    for (int has_other = 0; has_other < 2; has_other++) {
        char folder[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES];
        clf_request *request;
        fixture f = open_with(*state, has_other ? "{{ messages[0].content * 5 }}" : NULL);
        temp_path(f.folder, "additional_chat_templates", folder);
        assert_int_equal(mkdir(folder, 0700), 0);
        temp_file(folder, "default.jinja", plain, sizeof plain - 1, path);
        CHECK_OK(clf_session_chat(f.session, talk, 1, NULL, NULL, NULL, &request));
        assert_int_equal(clf_request_prompt_tokens(request), 2);
        clf_request_destroy(request);
        close_model(&f);
    }
}

static void test_answers(void **state)
{
    fixture f = open_with(*state, plain);
    const clf_message talk[] = {message("system", " the"), message("user", " cat"), message("assistant", " sat"), message("user", "dog")};
    clf_generate_params generate = CLF_GENERATE_PARAMS_INIT;
    clf_chat_params params = CLF_CHAT_PARAMS_INIT;
    clf_request *requests[2];
    told alone[2], together = {.cancelled = NULL};
    generate.max_tokens = TOKENS;
    params.generate = &generate;
    continue_alone(&f, " the. cat!", &generate, &alone[0]);
    CHECK_OK(clf_session_chat(f.session, talk, 2, &params, tell, &together, &requests[0]));
    assert_int_equal(clf_request_prompt_tokens(requests[0]), 4);
    generate.temperature = 1;
    generate.seed = 5;
    continue_alone(&f, " the. cat! sat.dog!", &generate, &alone[1]);
    CHECK_OK(clf_session_chat(f.session, talk, 4, &params, tell, &together, &requests[1]));
    assert_int_equal(clf_request_finish(requests[1]), CLF_FINISH_NONE);
    CHECK_OK(clf_session_run_requests(f.session, requests, 2));
    for (size_t i = 0; i < 2; i++) {
        assert_true(strlen(alone[i].text[0]) > 0);
        assert_string_equal(together.text[i], alone[i].text[0]);
        assert_int_equal(together.finish[i], alone[i].finish[0]);
        assert_int_equal(clf_request_finish(requests[i]), together.finish[i]);
    }
    CHECK_FAILS(clf_session_run_requests(f.session, requests, 2), CLF_INVALID_ARGUMENT, "requests[0] has ended");
    clf_request_destroy(requests[0]);
    clf_request_destroy(requests[1]);
    /* one is cancelled by the other's first token */
    memset(&together, 0, sizeof together);
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(clf_session_chat(f.session, talk, 2 * i + 2, &params, tell, &together, &requests[i]));
    together.cancelled = requests[0];
    CHECK_OK(clf_session_run_requests(f.session, requests, 2));
    assert_int_equal(together.finish[0], CLF_FINISH_CALLER);
    assert_string_equal(together.text[1], alone[1].text[0]);
    clf_request_destroy(requests[0]);
    clf_request_destroy(requests[1]);
    close_model(&f);
}

/* The oldest questions and answers are left out, the message of the system stays. */
static void test_forgetting(void **state)
{
    enum { SAID = 8 };
    char letters[21];
    fixture f = open_with(*state, plain);
    clf_message talk[SAID] = {message("system", "s")};
    clf_generate_params generate = CLF_GENERATE_PARAMS_INIT;
    clf_chat_params params = CLF_CHAT_PARAMS_INIT;
    clf_request *request;
    size_t forgotten = SAID;
    memset(letters, 'z', sizeof letters - 1);
    letters[sizeof letters - 1] = '\0';
    for (size_t i = 1; i < SAID; i++)
        talk[i] = message(i % 2 ? "user" : "assistant", letters);
    generate.max_tokens = POSITIONS / 4;
    params.generate = &generate;
    params.forgotten = &forgotten;
    CHECK_FAILS(clf_session_chat(f.session, talk, SAID, &params, NULL, NULL, &request), CLF_INVALID_ARGUMENT, "149 tokens");
    params.forgets = 1;
    CHECK_OK(clf_session_chat(f.session, talk, SAID, &params, NULL, NULL, &request));
    assert_int_equal(forgotten, 4); /* 2 + 3 * 21 tokens, and a quarter of 96 */
    assert_int_equal(clf_request_prompt_tokens(request), 65);
    assert_int_equal(request->tokens[0], 's' - 'a' + 2);
    clf_request_destroy(request);
    CHECK_OK(clf_session_chat(f.session, talk, 2, &params, NULL, NULL, &request));
    assert_int_equal(forgotten, 0);
    clf_request_destroy(request);
    close_model(&f);
}

/* A turn ends where the template says so, although the model's texts end at another token. */
static void test_end_of_turn(void **state)
{
    static const struct {
        const char *template;
        int32_t end;
    } rows[] = {{plain, -1},
                {"{% for m in messages %}{{ m.content|trim }}\n<s>{% endfor %}", 0},
                {"{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' %} </s>{% endif %}{% endfor %}", 1},
                {"{% if messages|length > 1 %}{{ raise_exception('one') }}{% endif %}{{ messages[0].content }}<s>", -1}};
    const clf_message question = message("user", "cat");
    for (size_t i = 0; i < COUNT(rows); i++) {
        fixture f = open_with(*state, rows[i].template);
        clf_request *request;
        clf_finish finish;
        CHECK_OK(clf_session_chat(f.session, &question, 1, NULL, NULL, NULL, &request));
        assert_int_equal(request->end_of_turn, rows[i].end);
        CHECK_OK(clfi_request_push(request, 0, &finish));
        assert_int_equal(finish, rows[i].end == 0 ? CLF_FINISH_STOP : CLF_FINISH_NONE);
        clf_request_destroy(request);
        close_model(&f);
    }
}

static void test_refusals(void **state)
{
    const clf_status bad = CLF_INVALID_ARGUMENT;
    const clf_message question = message("user", "cat"), other = message("tool", "cat");
    const clf_message empty = {"user", {NULL, 1}}, none = {NULL, {"", 0}};
    clf_generate_params beams = CLF_GENERATE_PARAMS_INIT;
    clf_chat_params params = CLF_CHAT_PARAMS_INIT;
    clf_request *request;
    fixture f = open_with(*state, NULL);
    CHECK_FAILS(clf_session_chat(f.session, &question, 1, NULL, NULL, NULL, &request), CLF_NOT_FOUND, "no chat template");
    close_model(&f);
    f = open_with(*state, "{% if messages[0].role == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}{{ messages[0].content }}");
    CHECK_FAILS(clf_session_chat(f.session, &question, 0, NULL, NULL, NULL, &request), bad, "no messages");
    CHECK_FAILS(clf_session_chat(f.session, &empty, 1, NULL, NULL, NULL, &request), bad, "messages[0]: content.data is NULL");
    CHECK_FAILS(clf_session_chat(f.session, &none, 1, NULL, NULL, NULL, &request), bad, "messages[0]: role is NULL");
    CHECK_FAILS(clf_session_chat(f.session, &other, 1, NULL, NULL, NULL, &request), bad, "no tools here");
    CHECK_FAILS(clf_session_chat(f.session, &(clf_message){"user", {"", 0}}, 1, NULL, NULL, NULL, &request), bad, "no tokens");
    beams.beams = 2;
    params.generate = &beams;
    CHECK_FAILS(clf_session_chat(f.session, &question, 1, &params, NULL, NULL, &request), CLF_UNSUPPORTED, "2 beams");
    CHECK_OK(clf_session_chat(f.session, &question, 1, NULL, NULL, NULL, &request));
    CHECK_FAILS(clf_session_run_requests(f.session, (clf_request *[]){request, request}, 2), bad, "are the same");
    CHECK_FAILS(clf_session_run_requests(f.session, (clf_request *[]){request, NULL}, 2), bad, "requests[1] is NULL");
    clf_session *second;
    CHECK_OK(clf_session_create(f.model, NULL, &second));
    CHECK_FAILS(clf_session_run_requests(second, &request, 1), bad, "of another session");
    clf_session_destroy(second);
    clf_request_destroy(request);
    close_model(&f);
    clf_model *encoder;
    CHECK_OK(clf_model_open(*state, CLF_TEST_DATA "/families/distilbert", NULL, &encoder));
    CHECK_OK(clf_session_create(encoder, NULL, &second));
    CHECK_FAILS(clf_session_chat(second, &question, 1, NULL, NULL, NULL, &request), CLF_UNSUPPORTED, "does not generate text");
    clf_session_destroy(second);
    clf_model_destroy(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_additional_template), cmocka_unit_test(test_answers),
                                       cmocka_unit_test(test_forgetting), cmocka_unit_test(test_end_of_turn),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests_name("model.chat", tests, device_setup, device_teardown);
}
