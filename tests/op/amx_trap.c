/* SPDX-License-Identifier: MIT */
/* Runs the instructions of AMX on a processor without them: a library for LD_PRELOAD. Each such instruction raises SIGILL there, and the
 * handler computes what Intel's manual says of it (Software Developer's Manual, volume 2, "TDPBF16PS" and its neighbours). So the machine
 * code that a driver made is tested: operands, order and layout of tiles, the configuration. The request for permission to use tiles
 * (arch_prctl) is answered with yes. An instruction that would fault ends the process with a message. */
#ifndef __x86_64__
#error "for x86-64"
#endif
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { TILES = 8, MOST_ROWS = 16, ROW_BYTES = 64, ROW_WORDS = ROW_BYTES / 4, CONFIG_BYTES = 64 };

/* The registers of a thread. They are usable between ldtilecfg and tilerelease. */
typedef struct tile_state {
    bool is_configured;
    struct {
        int rows, bytes;
        uint32_t word[MOST_ROWS][ROW_WORDS];
    } tile[TILES];
} tile_state;

static __thread tile_state state __attribute__((tls_model("initial-exec")));

/* Only functions that a signal handler may call. */
static _Noreturn void refuse(const char *what)
{
    static const char start[] = "amx_trap: ", end[] = "\n";
    if (write(STDERR_FILENO, start, sizeof start - 1) < 0 || write(STDERR_FILENO, what, strlen(what)) < 0 ||
        write(STDERR_FILENO, end, sizeof end - 1) < 0)
        _exit(3);
    _exit(3);
}

/* An instruction with a VEX prefix of three bytes in the map 0F 38, as all of AMX are. */
typedef struct instruction {
    uint8_t opcode, prefix; /* prefix: 0 none, 1 66, 2 F3, 3 F2 */
    int mod, reg, rm, vvvv, length;
    const uint8_t *base; /* the memory operand's address without its index */
    int64_t index;       /* scaled: the bytes from a row to the next */
} instruction;

/* Bits of a general register by its number in instructions. */
static int64_t general(const ucontext_t *at, int number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return at->uc_mcontext.gregs[places[number]];
}

/* Reads the memory operand behind the byte ModRM. */
static void decode_memory(const ucontext_t *at, const uint8_t *code, bool x, bool b, instruction *out)
{
    enum { BY_SIB = 4, NO_INDEX = 4, NO_BASE = 5 };
    const uint8_t *next = code + out->length;
    int64_t address = 0;
    int base = out->rm | b << 3, displacement = out->mod == 1 ? 1 : out->mod == 2 ? 4 : 0;
    bool is_relative = false;
    if (out->rm == BY_SIB) {
        const uint8_t sib = *next++;
        const int index = (sib >> 3 & 7) | x << 3;
        base = (sib & 7) | b << 3;
        out->index = index == NO_INDEX ? 0 : general(at, index) << (sib >> 6);
    }
    if (out->mod == 0 && (base & 7) == NO_BASE) { /* a displacement in place of a base; without a SIB byte, from the next instruction */
        displacement = 4;
        is_relative = out->rm != BY_SIB;
    } else {
        address = general(at, base);
    }
    if (displacement == 1) {
        address += (int8_t)*next;
    } else if (displacement == 4) {
        int32_t value;
        memcpy(&value, next, sizeof value);
        address += value;
    }
    next += displacement;
    out->length = (int)(next - code);
    if (is_relative)
        address += (int64_t)(uintptr_t)next;
    out->base = (const uint8_t *)(uintptr_t)address;
}

/* False: no instruction of AMX by its outer form. */
static bool decode(const ucontext_t *at, instruction *out)
{
    enum { VEX3 = 0xc4, MAP_0F38 = 2 };
    const uint8_t *code = (const uint8_t *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP];
    if (code[0] != VEX3 || (code[1] & 0x1f) != MAP_0F38 || (code[2] & 0x84)) /* W and L are 0 */
        return false;
    *out = (instruction){.opcode = code[3],
                         .prefix = code[2] & 3,
                         .mod = code[4] >> 6,
                         .reg = code[4] >> 3 & 7,
                         .rm = code[4] & 7,
                         .vvvv = ~code[2] >> 3 & 15,
                         .length = 5};
    if (out->mod != 3)
        decode_memory(at, code, !(code[1] & 0x40), !(code[1] & 0x20), out);
    return true;
}

static void configure(const uint8_t *from)
{
    const uint8_t *rows = from + 48;
    if (from[0] != 1)
        refuse("ldtilecfg: a palette that is not 1");
    for (int i = 2; i < CONFIG_BYTES; i++) /* what follows the start row; eight tiles of sixteen are there */
        if (((i < 16) || (i >= 32 && i < 48) || i >= 56) && from[i])
            refuse("ldtilecfg: a reserved byte is not 0");
    memset(&state, 0, sizeof state);
    for (int i = 0; i < TILES; i++) {
        uint16_t bytes;
        memcpy(&bytes, from + 16 + 2 * i, sizeof bytes);
        if (bytes > ROW_BYTES || rows[i] > MOST_ROWS || !bytes != !rows[i])
            refuse("ldtilecfg: a tile's size is impossible");
        state.tile[i].bytes = bytes;
        state.tile[i].rows = rows[i];
    }
    if (from[1])
        refuse("ldtilecfg: a start row, after an interrupted load, is not emulated");
    state.is_configured = true;
}

static void load(int t, const instruction *of)
{
    memset(state.tile[t].word, 0, sizeof state.tile[t].word);
    for (int row = 0; row < state.tile[t].rows; row++)
        memcpy(state.tile[t].word[row], of->base + row * of->index, (size_t)state.tile[t].bytes);
}

static void store(int t, const instruction *of)
{
    for (int row = 0; row < state.tile[t].rows; row++)
        memcpy((uint8_t *)(uintptr_t)of->base + row * of->index, state.tile[t].word[row], (size_t)state.tile[t].bytes);
}

static float without_subnormals(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; /* keeps NaN */
}

/* The number in the upper half of the bits. */
static float bf16(uint32_t bits)
{
    float value;
    bits &= 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return without_subnormals(value);
}

static float word_as_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return without_subnormals(value);
}

/* tdpbf16ps: even and odd k are summed apart with fused multiply-adds, and the sum of both is added to the tile. */
__attribute__((target("avx2,fma"))) static void multiply(int sum, int a, int b)
{
    if (sum == a || sum == b || a == b)
        refuse("tdpbf16ps: the same tile twice");
    if (state.tile[a].bytes != 4 * state.tile[b].rows || state.tile[sum].rows != state.tile[a].rows ||
        state.tile[sum].bytes != state.tile[b].bytes)
        refuse("tdpbf16ps: the tiles' sizes do not agree");
    for (int row = 0; row < state.tile[sum].rows; row++) {
        float even[ROW_WORDS] = {0}, odd[ROW_WORDS] = {0};
        for (int pair = 0; pair < state.tile[b].rows; pair++) {
            const uint32_t x = state.tile[a].word[row][pair];
            for (int column = 0; column < ROW_WORDS; column++) {
                const uint32_t y = state.tile[b].word[pair][column];
                even[column] = without_subnormals(fmaf(bf16(x << 16), bf16(y << 16), even[column]));
                odd[column] = without_subnormals(fmaf(bf16(x), bf16(y), odd[column]));
            }
        }
        for (int column = 0; column < state.tile[sum].bytes / 4; column++) {
            const float both = without_subnormals(even[column] + odd[column]);
            const float total = without_subnormals(word_as_float(state.tile[sum].word[row][column]) + both);
            memcpy(&state.tile[sum].word[row][column], &total, sizeof total);
        }
    }
}

/* Instructions by opcode, prefix and whether they have a memory operand. */
static bool execute(const instruction *i)
{
    enum { CONFIG = 0x49, LOAD_STORE = 0x4b, MULTIPLY = 0x5c, NO_PREFIX = 0, P66 = 1, PF3 = 2, PF2 = 3 };
    const bool is_memory = i->mod != 3;
    if (i->opcode == CONFIG && i->prefix == NO_PREFIX && is_memory && i->reg == 0) {
        configure(i->base + i->index);
        return true;
    }
    if (i->opcode == CONFIG && i->prefix == NO_PREFIX && !is_memory && i->reg == 0 && i->rm == 0) {
        state.is_configured = false;
        return true;
    }
    const bool zeroes = i->opcode == CONFIG && i->prefix == PF2 && !is_memory && i->rm == 0;
    const bool loads = i->opcode == LOAD_STORE && (i->prefix == PF2 || i->prefix == P66) && is_memory;
    const bool stores = i->opcode == LOAD_STORE && i->prefix == PF3 && is_memory;
    const bool multiplies = i->opcode == MULTIPLY && i->prefix == PF3 && !is_memory;
    if (!zeroes && !loads && !stores && !multiplies)
        return false;
    if (!state.is_configured)
        refuse("a tile is used before ldtilecfg, or after tilerelease");
    if (state.tile[i->reg].rows == 0)
        refuse("a tile is used that the configuration leaves out");
    if (zeroes)
        memset(state.tile[i->reg].word, 0, sizeof state.tile[i->reg].word);
    else if (loads)
        load(i->reg, i);
    else if (stores)
        store(i->reg, i);
    else
        multiply(i->reg, i->rm, i->vvvv & (TILES - 1));
    return true;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    ucontext_t *const at = context;
    instruction i;
    (void)signal;
    (void)info;
    if (!decode(at, &i) || !execute(&i))
        refuse("an instruction that is not one of AMX's, or one that is not emulated");
    at->uc_mcontext.gregs[REG_RIP] += i.length;
}

static void *next_of(const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
    int (*install)(int, const struct sigaction *, struct sigaction *);
    *(void **)&install = next_of("sigaction");
    sigemptyset(&action.sa_mask);
    if (install(SIGILL, &action, NULL))
        abort();
}

/* SIGILL keeps its handler: cmocka would set its own for each test. */
int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    int (*next)(int, const struct sigaction *, struct sigaction *);
    *(void **)&next = next_of("sigaction");
    return next(number, number == SIGILL ? NULL : action, old);
}

sighandler_t signal(int number, sighandler_t handler)
{
    sighandler_t (*next)(int, sighandler_t);
    *(void **)&next = next_of("signal");
    return number == SIGILL ? SIG_DFL : next(number, handler);
}

/* Grants the tiles; any other call goes to the system. */
long syscall(long number, ...)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILE_DATA = 18 };
    long (*next)(long, ...);
    long a[6];
    va_list list;
    *(void **)&next = next_of("syscall");
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_arch_prctl && a[0] == ARCH_REQ_XCOMP_PERM && a[1] == XFEATURE_XTILE_DATA)
        return 0;
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
