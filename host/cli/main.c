/* SPDX-License-Identifier: MIT */
/* The clformer program: the table of commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "clformer/context.h"

static const cli_command commands[] = {
    {"attention", "MODEL_DIR TEXT -o F.png|F.svg", "A layer's attention weights for a text, as a picture, a NumPy file or JSON.", cmd_attention},
    {"bench", "[--model MODEL_DIR ...]", "Measure devices: limits, ops and models, each verified before it is timed.", cmd_bench},
    {"compare", "A.json B.json", "Two result files of bench: what is faster or slower, where the data can tell.", cmd_compare},
    {"devices", "", "List every OpenCL platform and device, what each can do, and the default.", cmd_devices},
    {"embed", "MODEL_DIR [TEXT ...]", "Sentence embeddings of texts, as JSON lines, text or a NumPy file.", cmd_embed},
    {"report", "RESULT.json ... -o F.html|F.svg|F.md", "Result files of bench as one page, picture or Markdown file.", cmd_report},
    {"similarity", "MODEL_DIR TEXT TEXT ...", "Cosine similarity of every pair of texts.", cmd_similarity},
    {"search", "MODEL_DIR --corpus FILE QUERY ...", "The lines of a corpus that are nearest to each query.", cmd_search},
    {"selftest", "", "Check every op on a device against double precision on the host.", cmd_selftest},
    {"einsum", "EQUATION [FILE.npy ...]", "An einsum equation on NumPy files, or its plan.", cmd_einsum},
    {"op", "NAME [FILE.npy ...] -o OUT.npy", "One op on NumPy files: softmax, layer_norm, activation and others; --list tells them.", cmd_op},
    {"pronounce", "[WORD ...]", "Phonemes of English words, by a Transformer that is built in.", cmd_pronounce},
    {"tokenize", "MODEL_DIR [TEXT ...]", "Token ids of texts, one JSON array per text. Needs no device.", cmd_tokenize},
    {"tune", "", "Measure which engines suit a device and keep the choice for this user.", cmd_tune},
};

static void print_usage(FILE *stream)
{
    fprintf(stream, "usage: clformer COMMAND [OPTIONS] [ARGUMENTS]\n\nTransformers on every OpenCL device.\n\ncommands:\n");
    for (size_t i = 0; i < COUNT(commands); i++)
        fprintf(stream, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fprintf(stream, "\nclformer COMMAND --help tells a command's options; clformer --version the version.\n");
}

static const cli_command *find(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        const cli_command *command = argc > 2 ? find(argv[2]) : NULL;
        if (command)
            return command->run(command, 2, (char *[]){argv[2], "--help", NULL});
        print_usage(name ? stdout : stderr);
        return name ? EXIT_SUCCESS : 2;
    }
    if (strcmp(name, "--version") == 0) {
        printf("clformer %s\n", clf_version());
        return EXIT_SUCCESS;
    }
    const cli_command *command = find(name);
    if (!command) {
        fprintf(stderr, "clformer: \"%s\" is no command\n\n", name);
        print_usage(stderr);
        return 2;
    }
    const int status = command->run(command, argc - 1, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("clformer: standard output");
        return EXIT_FAILURE;
    }
    return status;
}
