/* SPDX-License-Identifier: MIT */
/* The instruction of each matrix unit in ordinary arithmetic, for tests on devices without one. Every lane puts its registers into two
 * matrices in local memory, at the rows, columns and k that the vendor documents for them, and forms its own results. Sources: PTX ISA
 * ("Matrix fragments for mma.m16n8k16", "... m16n8k8"); ISA guides of RDNA 3 (7.9), RDNA 4 (7.12) and CDNA 3 (7);
 * cl_intel_subgroup_matrix_multiply_accumulate. */
#include "matrix_unit.cl"

#if IS_EMULATED
/* A_COUNT, B_COUNT: registers of A and of B that an instruction takes from a lane. A register is a pair of numbers, or one number if
 * A_REGISTER is ushort. DEPTH: products that an instruction adds to a result. */
#if UNIT == NVIDIA_BF16
#define A_COUNT 4
#define B_COUNT 2
#elif UNIT == NVIDIA_F16
#define A_COUNT 2
#define B_COUNT 1
#elif IS_INTEL
#define A_COUNT 8
#define B_COUNT 8
#else
#define A_COUNT (sizeof(fragment) / sizeof(uint))
#define B_COUNT A_COUNT
#endif
#if UNIT == NVIDIA_F16
#define DEPTH 8
#else
#define DEPTH 16
#endif
#if UNIT == INTEL_16
#define A_REGISTER ushort
#else
#define A_REGISTER uint
#endif
#define A_REGISTERS (sizeof(fragment) / sizeof(A_REGISTER)) /* registers of a fragment */
#define B_REGISTERS (sizeof(fragment) / sizeof(uint))

/* A block takes INSTRUCTIONS instructions. Instruction i adds to part PART_OF(i). It takes the A_OF(i)-th set of A_COUNT registers of A and
 * the B_OF(i)-th set of B_COUNT registers of B. */
#if UNIT == NVIDIA_F16
#define INSTRUCTIONS (2 * PARTS)
#define PART_OF(i) ((i) / 2)
#define A_OF(i) ((i) % 2)
#define B_OF(i) (i)
#else
#define INSTRUCTIONS PARTS
#define PART_OF(i) (i)
#define A_OF(i) ((i) / (B_REGISTERS / B_COUNT))
#define B_OF(i) ((i) % (B_REGISTERS / B_COUNT))
#endif

typedef struct place {
    uint line, k;
} place;

/* Row of A, and k, of the first number in register r of A. */
static inline place place_of_a(uint lane, uint r)
{
#if UNIT == NVIDIA_BF16
    return (place){lane / 4 + r % 2 * 8, lane % 4 * 2 + r / 2 * 8};
#elif UNIT == NVIDIA_F16
    return (place){lane / 4 + r * 8, lane % 4 * 2};
#elif UNIT == AMD_GFX11
    return (place){lane % 16, 2 * r};
#elif UNIT == AMD_GFX12
    return (place){lane % 16, lane / 16 * 8 + 2 * r};
#elif UNIT == AMD_CDNA
    return (place){lane % 16, lane / 16 * 4 + 2 * r};
#elif UNIT == INTEL_16
    return (place){r, lane};
#else
    return (place){r, 2 * lane};
#endif
}

/* Column of B, and k, of the first number in register r of B. */
static inline place place_of_b(uint lane, uint r)
{
#if IS_NVIDIA
    return (place){lane / 4, lane % 4 * 2 + r * 8};
#elif IS_INTEL
    return (place){lane, 2 * r};
#else
    return place_of_a(lane, r);
#endif
}

/* Row, and (emulated_column) column, of result i of an instruction. */
static inline uint emulated_row(uint lane, uint i)
{
#if IS_NVIDIA
    return lane / 4 + i / 2 * 8;
#elif UNIT == AMD_GFX11
    return 2 * i + lane / 16;
#elif UNIT == AMD_GFX12 || UNIT == AMD_CDNA
    return lane / 16 * PART_VALUES + i;
#else
    return i;
#endif
}

static inline uint emulated_column(uint lane, uint i)
{
#if IS_NVIDIA
    return lane % 4 * 2 + i % 2;
#else
    return lane % 16;
#endif
}

static inline float emulated_number(ushort bits)
{
#if IS_F16
    return half_value(bits);
#else
    return bf16_to_float(bits);
#endif
}

static inline void put_pair(__local ushort *line, uint pair)
{
    line[0] = (ushort)pair;
    line[1] = (ushort)(pair >> 16);
}

/* Adds an instruction's products to the PART_VALUES results c of a lane. On AMD_GFX11 lanes 16 to 31 must hold the same as lanes 0 to 15;
 * otherwise the results are NaN. */
static inline void emulated_instruction(wave w, float *c, const A_REGISTER *a, const uint *b)
{
    __local ushort *const a_lines = w.scratch, *const b_lines = w.scratch + WAVE_SCRATCH / 2; /* 16 lines of 16 numbers */
#if UNIT == AMD_GFX11
    const bool is_copy = w.lane >= 16; /* must hold the same as lane - 16 */
#else
    const bool is_copy = false;
#endif
    for (uint r = 0; r < (is_copy ? 0 : A_COUNT); r++) {
        const place at = place_of_a(w.lane, r);
#if UNIT == INTEL_16
        a_lines[at.line * 16 + at.k] = a[r];
#else
        put_pair(a_lines + at.line * 16 + at.k, a[r]);
#endif
    }
    for (uint r = 0; r < (is_copy ? 0 : B_COUNT); r++) {
        const place at = place_of_b(w.lane, r);
        put_pair(b_lines + at.line * 16 + at.k, b[r]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool is_right = true;
#if UNIT == AMD_GFX11
    for (uint r = 0; r < 8; r++)
        is_right = is_right && a[r] == ((__local const uint *)a_lines)[w.lane % 16 * 8 + r] &&
                   b[r] == ((__local const uint *)b_lines)[w.lane % 16 * 8 + r];
#endif
    for (uint i = 0; i < PART_VALUES; i++) {
        const uint row = emulated_row(w.lane, i) * 16, column = emulated_column(w.lane, i) * 16;
        for (uint k = 0; k < DEPTH; k++)
            c[i] = fma(emulated_number(a_lines[row + k]), emulated_number(b_lines[column + k]), c[i]);
        c[i] = is_right ? c[i] : NAN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* c += A B. The instructions are in a loop, because a compiler takes long for each copy. */
static inline void multiply_add(wave w, sums *c, fragment a, fragment b)
{
    union {
        fragment whole;
        A_REGISTER registers[A_REGISTERS];
    } ua;
    union {
        fragment whole;
        uint registers[B_REGISTERS];
    } ub;
    ua.whole = a;
    ub.whole = b;
    for (uint i = 0; i < INSTRUCTIONS; i++)
        emulated_instruction(w, c->values + PART_OF(i) * PART_VALUES, ua.registers + A_OF(i) * A_COUNT, ub.registers + B_OF(i) * B_COUNT);
}
#endif
