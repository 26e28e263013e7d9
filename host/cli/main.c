/* SPDX-License-Identifier: MIT */
/* The clformer program: runs the command that the command line names. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "jobs/platform_guard.h"
#include "console/standard_output.h"
#include "console/terminal.h"
#include "clformer/context.h"

enum { NAME_COLUMNS = 12, ALL = INT_MAX };

static const cli_command commands[] = {
    {.name = "attention",
     .arguments = "MODEL_DIR TEXT -o F.png|F.svg",
     .summary = "Attention weights of a layer for a text, or of a file, as a picture, a NumPy file or JSON.",
     .run = cmd_attention,
     .first_file = 1,
     .last_file = 1,
     .examples = {"attention all-MiniLM-L6-v2 \"The cat sat on the mat.\" --layer 3 -o heads.svg",
                  "attention --weights w.npy --head all --scale sqrt -o heads.png"}},
    {.name = "bench",
     .arguments = "[--model MODEL ...]",
     .summary = "Measure devices: limits, ops and models, each verified before it is timed.",
     .run = cmd_bench,
     .first_file = 1,
     .last_file = ALL,
     .examples = {"bench --device all --quick -o bench.json", "bench --suite generation --model SmolLM2-135M.gguf"}},
    {.name = "chat",
     .arguments = "MODEL",
     .summary = "A conversation with a language model, a line at a time. Ctrl-C ends an answer; rlwrap gives editing of lines.",
     .run = cmd_chat,
     .first_file = 1,
     .last_file = 1,
     .examples = {"chat SmolLM2-135M-Instruct", "chat model.gguf --system \"Answer in one sentence.\" --temperature 0.7"}},
    {.name = "classify",
     .arguments = "MODEL_DIR [TEXT ...]",
     .summary = "Labels of texts and pairs of texts, by a model's classification head.",
     .run = cmd_classify,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"classify sentiment \"What a lovely day!\"", "classify nli --file pairs.jsonl --json"}},
    {.name = "compare",
     .arguments = "A.json B.json",
     .summary = "Two result files of bench: what is faster or slower, where the data can tell.",
     .run = cmd_compare,
     .first_file = 1,
     .last_file = ALL,
     .examples = {"compare before.json after.json", "compare before.json after.json --fail-on-regression 5%"}},
    {.name = "convert",
     .arguments = "MODEL OUT.gguf",
     .summary = "A language model, of a GGUF file or a hub directory, as a GGUF file.",
     .run = cmd_convert,
     .first_file = 1,
     .last_file = 1,
     .examples = {"convert SmolLM2-135M SmolLM2-q8.gguf --weights q8_0",
                  "convert model.gguf small.gguf --weights q4_k_m --check \"Once upon a time\""}},
    {.name = "detokenize",
     .arguments = "MODEL [ID ...]",
     .summary = "Text of token ids. Needs no device.",
     .run = cmd_detokenize,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"detokenize all-MiniLM-L6-v2 101 7592 102", "detokenize all-MiniLM-L6-v2 --file ids.txt --skip-special"}},
    {.name = "devices",
     .arguments = "",
     .summary = "List every OpenCL platform and device, what each can do, and the default.",
     .run = cmd_devices,
     .examples = {"devices", "devices --all"}},
    {.name = "einsum",
     .arguments = "EQUATION [FILE.npy ...]",
     .summary = "An einsum equation on NumPy files, or its plan.",
     .run = cmd_einsum,
     .first_file = 2,
     .last_file = ALL,
     .examples = {"einsum \"ij,jk->ik\" a.npy b.npy -o c.npy", "einsum \"ij,jk,kl->il\" --plan --shapes 10x200,200x5,5x300"}},
    {.name = "embed",
     .arguments = "MODEL_DIR [TEXT ...]",
     .summary = "Sentence embeddings of texts, as JSON lines, text or a NumPy file.",
     .run = cmd_embed,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .shares_work = true,
     .examples = {"embed all-MiniLM-L6-v2 \"A man is eating food.\"", "embed all-MiniLM-L6-v2 --file lines.txt -o lines.npy"}},
    {.name = "gather",
     .arguments = "DIR -o F.npy",
     .summary = "Join what embed --shard left in a directory. Needs no device.",
     .run = cmd_gather,
     .first_file = 1,
     .last_file = 1,
     .examples = {"gather parts -o lines.npy", "gather /shared/parts -o /shared/lines.npy"}},
    {.name = "generate",
     .arguments = "MODEL [PROMPT]",
     .summary = "Prompts continued by a language model: a GGUF file or a hub directory.",
     .run = cmd_generate,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"generate SmolLM2-135M \"Once upon a time\" --max-tokens 50", "generate model.gguf --prompt-file prompts.txt --json"}},
    {.name = "info",
     .arguments = "MODEL",
     .summary = "Describe a model: family, sizes, tasks, tokenizer, pooling, prompts, labels, memory.",
     .run = cmd_info,
     .first_file = 1,
     .last_file = 1,
     .examples = {"info all-MiniLM-L6-v2", "info model.gguf --json"}},
    {.name = "logits",
     .arguments = "MODEL [TEXT ...] -o L.npy",
     .summary = "A language model's logits of the token after each text, as a NumPy file.",
     .run = cmd_logits,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"logits SmolLM2-135M \"Once upon a\" -o logits.npy", "logits SmolLM2-135M --file texts.txt -o logits.npy"}},
    {.name = "op",
     .arguments = "NAME [FILE.npy ...] -o OUT.npy",
     .summary = "One op on NumPy files: softmax, layer_norm, activation and others; see --list.",
     .run = cmd_op,
     .first_file = 1,
     .last_file = ALL,
     .examples = {"op softmax scores.npy -o weights.npy", "op attention q.npy k.npy v.npy --causal -o out.npy"}},
    {.name = "perplexity",
     .arguments = "MODEL --file F",
     .summary = "Perplexity: how well a language model predicts a text.",
     .run = cmd_perplexity,
     .first_file = 1,
     .last_file = 1,
     .examples = {"perplexity SmolLM2-135M --file book.txt", "perplexity model.gguf --file book.txt --window 512"}},
    {.name = "pronounce",
     .arguments = "[WORD ...]",
     .summary = "Phonemes of English words, by a Transformer that is built in.",
     .run = cmd_pronounce,
     .first_text = 1,
     .examples = {"pronounce hello world", "pronounce --beam 4 --n-best 2 transformer"}},
    {.name = "report",
     .arguments = "RESULT.json ... -o F.html|F.svg|F.md",
     .summary = "Result files of bench as one page, picture or Markdown file.",
     .run = cmd_report,
     .first_file = 1,
     .last_file = ALL,
     .examples = {"report bench.json -o bench.html", "report before.json after.json -o both.md"}},
    {.name = "rerank",
     .arguments = "MODEL_DIR QUERY [TEXT ...]",
     .summary = "Texts ordered by a cross-encoder's scores of how well they answer a query.",
     .run = cmd_rerank,
     .first_file = 1,
     .last_file = 1,
     .first_text = 3,
     .examples = {"rerank ms-marco-MiniLM \"how to make tea\" \"Boil water first.\" \"Cats sleep a lot.\"",
                  "rerank ms-marco-MiniLM \"how to make tea\" --file lines.txt --top 3"}},
    {.name = "search",
     .arguments = "MODEL_DIR --corpus FILE [FILE ... --] QUERY ...",
     .summary = "The lines of a corpus that are nearest to each query.",
     .run = cmd_search,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .shares_work = true,
     .examples = {"search all-MiniLM-L6-v2 --corpus lines.txt \"how to make tea\"",
                  "search all-MiniLM-L6-v2 --corpus notes/*.md -- \"what did we decide\""}},
    {.name = "selftest",
     .arguments = "",
     .summary = "Check every op on a device against double precision on the host.",
     .run = cmd_selftest,
     .examples = {"selftest", "selftest --device all --filter softmax"}},
    {.name = "serve",
     .arguments = "MODEL|NAME=MODEL ...",
     .summary = "Models over HTTP, for the clients of OpenAI, Text Embeddings Inference, Cohere and Ollama.",
     .run = cmd_serve,
     .first_file = 1,
     .last_file = ALL,
     .examples = {"serve all-MiniLM-L6-v2", "serve all-MiniLM-L6-v2 chat=model.gguf --port 8000 --api-key-file key.txt"}},
    {.name = "similarity",
     .arguments = "MODEL_DIR [TEXT ...]",
     .summary = "Similarity of every pair of texts: cosine, unless the model's files name another.",
     .run = cmd_similarity,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"similarity all-MiniLM-L6-v2 \"A man is eating.\" \"Someone has a meal.\"",
                  "similarity all-MiniLM-L6-v2 --file lines.txt --json"}},
    {.name = "tokenize",
     .arguments = "MODEL [TEXT ...]",
     .summary = "Token ids of texts, one JSON array per text. Needs no device.",
     .run = cmd_tokenize,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"tokenize all-MiniLM-L6-v2 \"Hello, world!\"", "tokenize all-MiniLM-L6-v2 --file lines.txt --json"}},
    {.name = "translate",
     .arguments = "MODEL_DIR [TEXT]",
     .summary = "Translations and summaries by an encoder-decoder: T5, Marian, BART.",
     .run = cmd_translate,
     .first_file = 1,
     .last_file = 1,
     .first_text = 2,
     .examples = {"translate t5-small \"translate English to German: The house is small.\"",
                  "translate opus-mt-en-de --file lines.txt --beams 4"}},
    {.name = "tune",
     .arguments = "",
     .summary = "Measure which engines suit a device and keep the choice for this user.",
     .run = cmd_tune,
     .examples = {"tune", "tune --device 1 --model all-MiniLM-L6-v2"}},
    {.name = "verify",
     .arguments = "F.npy --model MODEL_DIR",
     .summary = "Whether a model still makes the vectors of a file of embeddings.",
     .run = cmd_verify,
     .first_file = 1,
     .last_file = 1,
     .examples = {"verify lines.npy --model all-MiniLM-L6-v2", "verify lines.npy --model all-MiniLM-L6-v2 --device cpu"}},
};

static void print_usage(FILE *stream)
{
    cli_print_text(stream, 0, 4, "usage: clformer COMMAND [OPTIONS] [ARGUMENTS]");
    putc('\n', stream);
    cli_print_text(stream, 0, 0, "Transformers on every OpenCL device.");
    fputs("\ncommands:\n", stream);
    for (size_t i = 0; i < COUNT(commands); i++)
        cli_print_entry(stream, commands[i].name, NAME_COLUMNS, commands[i].summary);
    putc('\n', stream);
    cli_print_text(stream, 0, 0, "clformer COMMAND --help lists a command's options; clformer --version (-V) prints the version.");
    cli_print_text(stream, 0, 0, "Exit status: 0 success, 1 an error, 2 a wrong command line.");
}

static const cli_command *find(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* A standard stream that the caller closed becomes /dev/null, opened so that its use fails. A file that is opened later can then not take
 * its number and get a message in its middle. Reading the stream is an error and not the end of the input. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_FAILURE);
}

static int fail_unknown(const char *name)
{
    static const char *const versions[] = {"-v", "version", "-version", "-ver", "--ver"};
    for (size_t i = 0; i < COUNT(versions); i++)
        if (strcmp(name, versions[i]) == 0)
            return cli_fail(clfi_fail(CLF_INVALID_ARGUMENT, "unknown command \"%s\"; did you mean clformer --version (-V)?", name));
    const char *names[COUNT(commands) + 2];
    for (size_t i = 0; i < COUNT(commands); i++)
        names[i] = commands[i].name;
    names[COUNT(commands)] = "--version";
    names[COUNT(commands) + 1] = "--help";
    const char *nearest = cli_nearest(name, names, COUNT(names));
    return cli_fail(nearest ? clfi_fail(CLF_INVALID_ARGUMENT, "unknown command \"%s\"; did you mean %s? See clformer --help", name, nearest)
                            : clfi_fail(CLF_INVALID_ARGUMENT, "unknown command \"%s\"; see clformer --help", name));
}

/* Flushes standard output itself: drivers that flush it as the program ends would lose the reason of a failure. */
static int run(const cli_command *command, int argc, char **argv)
{
    const int status = command->run(command, argc, argv);
    return cli_has_failed() || cli_output_flush() == CLF_OK ? status : cli_fail(CLF_IO);
}

int main(int argc, char **argv)
{
    signal(SIGCHLD, SIG_DFL); /* a caller that ignores the signal passes that on; waiting for a child would then fail */
    open_standard_streams();
    cli_platforms_arguments(argc, argv);
    cli_output_prepare();
    atexit(cli_output_check);
    setenv("CLF_LOG", "error", 0); /* shows such errors as a tuned.json that cannot be read or a batch that is computed again */
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const cli_command *command = argc > 2 ? find(argv[2]) : NULL;
        if (command)
            return run(command, 2, (char *[]){argv[2], "--help", NULL});
        if (argc > 2)
            return fail_unknown(argv[2]);
        print_usage(name ? stdout : stderr);
        return name ? EXIT_SUCCESS : 2;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        if (argc > 2)
            return cli_fail(clfi_fail(CLF_INVALID_ARGUMENT, "%s: expected no further argument, found \"%s\"", name, argv[2]));
        printf("clformer %s\n", clf_version());
        return EXIT_SUCCESS;
    }
    const cli_command *command = find(name);
    if (!command)
        return fail_unknown(name);
    return run(command, argc - 1, argv + 1);
}
