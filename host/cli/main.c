/* SPDX-License-Identifier: MIT */
/* The clformer program: the table of commands. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/platform_guard.h"
#include "cli/standard_output.h"
#include "cli/terminal.h"
#include "clformer/context.h"

enum { NAME_COLUMNS = 12, ALL = INT_MAX };

static const cli_command commands[] = {
    {"attention", "MODEL_DIR TEXT -o F.png|F.svg",
     "Attention weights of a layer for a text, or of a file, as a picture, a NumPy file or JSON.", cmd_attention, 1, 1, 0, false},
    {"bench", "[--model MODEL ...]", "Measure devices: limits, ops and models, each verified before it is timed.", cmd_bench, 1, ALL, 0,
     false},
    {"chat", "MODEL", "A conversation with a language model, a line at a time. Ctrl-C ends an answer; rlwrap gives editing of lines.",
     cmd_chat, 1, 1, 0, false},
    {"classify", "MODEL_DIR [TEXT ...]", "Labels of texts and pairs of texts, by a model's classification head.", cmd_classify, 1, 1, 2,
     false},
    {"compare", "A.json B.json", "Two result files of bench: what is faster or slower, where the data can tell.", cmd_compare, 1, ALL, 0,
     false},
    {"convert", "MODEL OUT.gguf", "A language model, of a GGUF file or a hub directory, as a GGUF file.", cmd_convert, 1, 1, 0, false},
    {"detokenize", "MODEL [ID ...]", "Text of token ids. Needs no device.", cmd_detokenize, 1, 1, 2, false},
    {"devices", "", "List every OpenCL platform and device, what each can do, and the default.", cmd_devices, 0, 0, 0, false},
    {"einsum", "EQUATION [FILE.npy ...]", "An einsum equation on NumPy files, or its plan.", cmd_einsum, 2, ALL, 0, false},
    {"embed", "MODEL_DIR [TEXT ...]", "Sentence embeddings of texts, as JSON lines, text or a NumPy file.", cmd_embed, 1, 1, 2, true},
    {"gather", "DIR -o F.npy", "Join what embed --shard left in a directory. Needs no device.", cmd_gather, 1, 1, 0, false},
    {"generate", "MODEL [PROMPT]", "Prompts continued by a language model: a GGUF file or a hub directory.", cmd_generate, 1, 1, 2, false},
    {"info", "MODEL", "What a model is: family, sizes, tasks, tokenizer, pooling, prompts, labels, memory.", cmd_info, 1, 1, 0, false},
    {"logits", "MODEL [TEXT ...] -o L.npy", "What a language model expects after texts, as a NumPy file.", cmd_logits, 1, 1, 2, false},
    {"op", "NAME [FILE.npy ...] -o OUT.npy", "One op on NumPy files: softmax, layer_norm, activation and others; --list tells them.",
     cmd_op, 1, ALL, 0, false},
    {"perplexity", "MODEL --file F", "How well a language model foretells a text.", cmd_perplexity, 1, 1, 0, false},
    {"pronounce", "[WORD ...]", "Phonemes of English words, by a Transformer that is built in.", cmd_pronounce, 0, 0, 1, false},
    {"report", "RESULT.json ... -o F.html|F.svg|F.md", "Result files of bench as one page, picture or Markdown file.", cmd_report, 1, ALL,
     0, false},
    {"rerank", "MODEL_DIR QUERY [TEXT ...]", "Texts ordered by how well a cross-encoder says that they answer a query.", cmd_rerank, 1, 1,
     3, false},
    {"search", "MODEL_DIR --corpus FILE [FILE ... --] QUERY ...", "The lines of a corpus that are nearest to each query.", cmd_search, 1, 1,
     2, true},
    {"selftest", "", "Check every op on a device against double precision on the host.", cmd_selftest, 0, 0, 0, false},
    {"similarity", "MODEL_DIR [TEXT ...]", "Cosine similarity of every pair of texts.", cmd_similarity, 1, 1, 2, false},
    {"tokenize", "MODEL [TEXT ...]", "Token ids of texts, one JSON array per text. Needs no device.", cmd_tokenize, 1, 1, 2, false},
    {"translate", "MODEL_DIR [TEXT]", "Texts that an encoder-decoder makes of others: T5, Marian, BART.", cmd_translate, 1, 1, 2, false},
    {"tune", "", "Measure which engines suit a device and keep the choice for this user.", cmd_tune, 0, 0, 0, false},
    {"verify", "F.npy --model MODEL_DIR", "Whether a model still makes the vectors of a file of embeddings.", cmd_verify, 1, 1, 0, false},
};

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: clformer COMMAND [OPTIONS] [ARGUMENTS]\n\nTransformers on every OpenCL device.\n\ncommands:\n");
    for (size_t i = 0; i < COUNT(commands); i++)
        cli_print_entry(stream, commands[i].name, NAME_COLUMNS, commands[i].summary);
    putc('\n', stream);
    cli_print_text(stream, 0, 0, "clformer COMMAND --help tells a command's options; clformer --version (-V) the version.");
    cli_print_text(stream, 0, 0, "Exit status: 0 done, 1 something failed at work, 2 the command line is refused.");
}

static const cli_command *find(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* A standard stream that the caller closed becomes /dev/null, opened so that its use fails: no file that is opened later can take its
 * number and get a message in its middle, and reading or writing the stream is an error and not the end of the input. */
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
    const char *names[COUNT(commands)];
    for (size_t i = 0; i < COUNT(commands); i++)
        names[i] = commands[i].name;
    const char *nearest = cli_nearest(name, names, COUNT(commands));
    return cli_fail(nearest ? clfi_fail(CLF_INVALID_ARGUMENT, "unknown command \"%s\"; did you mean %s? See clformer --help", name, nearest)
                            : clfi_fail(CLF_INVALID_ARGUMENT, "unknown command \"%s\"; see clformer --help", name));
}

/* Flushes before the drivers' own ends, which flush as well and keep no reason. */
static int run(const cli_command *command, int argc, char **argv)
{
    const int status = command->run(command, argc, argv);
    return cli_has_failed() || cli_output_flush() == CLF_OK ? status : cli_fail(CLF_IO);
}

int main(int argc, char **argv)
{
    signal(SIGCHLD, SIG_DFL); /* a caller that ignores it passes that on, and how a child ended could not be asked */
    open_standard_streams();
    cli_platforms_arguments(argc, argv);
    cli_output_prepare();
    atexit(cli_output_check);
    setenv("CLF_LOG", "error", 0); /* a tuned.json that cannot be read, a batch computed again */
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const cli_command *command = argc > 2 ? find(argv[2]) : NULL;
        if (command)
            return run(command, 2, (char *[]){argv[2], "--help", NULL});
        if (argc > 2 && strcmp(name, "help") == 0)
            return fail_unknown(argv[2]);
        print_usage(name ? stdout : stderr);
        return name ? EXIT_SUCCESS : 2;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("clformer %s\n", clf_version());
        return EXIT_SUCCESS;
    }
    const cli_command *command = find(name);
    if (!command)
        return fail_unknown(name);
    return run(command, argc - 1, argv + 1);
}
