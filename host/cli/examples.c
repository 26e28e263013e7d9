/* SPDX-License-Identifier: MIT */
/* Two command lines for each command and each op, which --help and the manual page show. */
#include "cli/examples.h"

#include <string.h>

#include "base/status.h"

typedef struct examples {
    const char *command, *lines[CLI_EXAMPLES]; /* without the program's name */
} examples;

static const examples all[] = {
    {"attention",
     {"attention all-MiniLM-L6-v2 \"The cat sat on the mat.\" --layer 3 -o heads.svg",
      "attention --weights w.npy --head all --scale sqrt -o heads.png"}},
    {"bench", {"bench --device all --quick -o bench.json", "bench --suite generation --model SmolLM2-135M.gguf"}},
    {"chat", {"chat SmolLM2-135M-Instruct", "chat model.gguf --system \"Answer in one sentence.\" --temperature 0.7"}},
    {"classify", {"classify sentiment \"What a lovely day!\"", "classify nli --file pairs.jsonl --json"}},
    {"compare", {"compare before.json after.json", "compare before.json after.json --fail-on-regression 5%"}},
    {"convert",
     {"convert SmolLM2-135M SmolLM2-q8.gguf --weights q8_0", "convert model.gguf small.gguf --weights q4_0 --check \"Once upon a time\""}},
    {"detokenize", {"detokenize all-MiniLM-L6-v2 101 7592 102", "detokenize all-MiniLM-L6-v2 --file ids.txt --skip-special"}},
    {"devices", {"devices", "devices --all"}},
    {"einsum", {"einsum \"ij,jk->ik\" a.npy b.npy -o c.npy", "einsum \"ij,jk,kl->il\" --plan --shapes 10x200,200x5,5x300"}},
    {"embed", {"embed all-MiniLM-L6-v2 \"A man is eating food.\"", "embed all-MiniLM-L6-v2 --file lines.txt -o lines.npy"}},
    {"gather", {"gather parts -o lines.npy", "gather /shared/parts -o /shared/lines.npy"}},
    {"generate", {"generate SmolLM2-135M \"Once upon a time\" --max-tokens 50", "generate model.gguf --prompt-file prompts.txt --json"}},
    {"info", {"info all-MiniLM-L6-v2", "info model.gguf --json"}},
    {"logits", {"logits SmolLM2-135M \"Once upon a\" -o logits.npy", "logits SmolLM2-135M --file texts.txt -o logits.npy"}},
    {"op", {"op softmax scores.npy -o weights.npy", "op attention q.npy k.npy v.npy --causal -o out.npy"}},
    {"op activation", {"op activation x.npy --kind gelu -o y.npy", "op activation x.npy --kind silu --dtype f16 -o y.npy"}},
    {"op attention", {"op attention q.npy k.npy v.npy --causal -o out.npy", "op attention q.npy k.npy v.npy --weights w.npy -o out.npy"}},
    {"op layer_norm", {"op layer_norm x.npy gamma.npy beta.npy -o y.npy", "op layer_norm x.npy --residual r.npy --eps 1e-12 -o y.npy"}},
    {"op masked_softmax",
     {"op masked_softmax scores.npy --lengths lengths.npy -o weights.npy",
      "op masked_softmax scores.npy --lengths lengths.npy --policy uniform"}},
    {"op mha",
     {"op mha x.npy --params attention.safetensors --heads 12 -o y.npy",
      "op mha q.npy m.npy --params attention.safetensors --heads 8 --layout lnd"}},
    {"op positional_encoding",
     {"op positional_encoding --length 512 --dim 64 -o p.npy", "op positional_encoding --length 512 --dim 64 --dtype f16 -o p.npy"}},
    {"op rms_norm", {"op rms_norm x.npy gamma.npy -o y.npy", "op rms_norm x.npy --axes 2 -o y.npy"}},
    {"op softmax", {"op softmax scores.npy -o weights.npy", "op softmax scores.npy --axis 1 --scale 0.125 -o weights.npy"}},
    {"perplexity", {"perplexity SmolLM2-135M --file book.txt", "perplexity model.gguf --file book.txt --window 512"}},
    {"pronounce", {"pronounce hello world", "pronounce --beam 4 --n-best 2 transformer"}},
    {"report", {"report bench.json -o bench.html", "report before.json after.json -o both.md"}},
    {"rerank",
     {"rerank ms-marco-MiniLM \"how to make tea\" \"Boil water first.\" \"Cats sleep a lot.\"",
      "rerank ms-marco-MiniLM \"how to make tea\" --file lines.txt --top 3"}},
    {"search",
     {"search all-MiniLM-L6-v2 --corpus lines.txt \"how to make tea\"",
      "search all-MiniLM-L6-v2 --corpus notes/*.md -- \"what did we decide\""}},
    {"selftest", {"selftest", "selftest --device all --filter softmax"}},
    {"similarity",
     {"similarity all-MiniLM-L6-v2 \"A man is eating.\" \"Someone has a meal.\"", "similarity all-MiniLM-L6-v2 --file lines.txt --json"}},
    {"tokenize", {"tokenize all-MiniLM-L6-v2 \"Hello, world!\"", "tokenize all-MiniLM-L6-v2 --file lines.txt --json"}},
    {"translate",
     {"translate t5-small \"translate English to German: The house is small.\"", "translate opus-mt-en-de --file lines.txt --beams 4"}},
    {"tune", {"tune", "tune --device 1 --model all-MiniLM-L6-v2"}},
    {"verify", {"verify lines.npy --model all-MiniLM-L6-v2", "verify lines.npy --model all-MiniLM-L6-v2 --device cpu"}},
};

const char *const *cli_examples_of(const char *command)
{
    for (size_t i = 0; i < COUNT(all); i++)
        if (strcmp(all[i].command, command) == 0)
            return all[i].lines;
    return NULL;
}
