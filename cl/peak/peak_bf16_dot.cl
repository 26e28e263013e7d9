/* SPDX-License-Identifier: MIT */
/* Products of bfloat16 pairs that accumulate in float32, from registers: CHAINS independent chains of 16 lanes. OpenCL C has no bfloat16
 * arithmetic; compilers for x86 processors accept the instruction itself (VDPBF16PS, Intel SDM volume 2). */
#ifndef WIDTH
#error "WIDTH: lanes of a vector, 16"
#endif
#if WIDTH != 16 || CHAINS != 16
#error "made for 16 lanes and 16 chains"
#endif

#if defined(__clang__) && defined(__x86_64__)
#define IS_INSTRUCTION 1
#define DOT(sum, a, b) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#else
#define IS_INSTRUCTION 0
#define DOT(sum, a, b) sum += as_float16((a) << 16) * as_float16((b) << 16) + as_float16((a) & 0xffff0000u) * as_float16((b) & 0xffff0000u)
#endif

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
#define START(i) float16 s##i = start[i] + offset;
#define FIRST(i) DOT(s##i, a1, b1);
#define SECOND(i) DOT(s##i, a2, b2);
#define SUM(i) sum += s##i;

/* is_instruction[0] = 1 if peak_bf16_dot runs the instruction, 0 if float32 arithmetic. */
__kernel void peak_bf16_probe(__global uint *is_instruction)
{
    is_instruction[0] = IS_INSTRUCTION;
}

/* out[item] = sum of the chains, each of which gained a1.b1 + a2.b2 `pairs` times from start[chain] + (item & mask). pairs: a multiple of
 * 2. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void peak_bf16_dot(__global const float16 *start, __global const uint16 *factors, int mask, int pairs, __global float16 *out)
{
    const uint16 a1 = factors[0], b1 = factors[1], a2 = factors[2], b2 = factors[3];
    const float offset = (float)((int)get_global_id(0) & mask);
    EACH(START)
    for (int i = 0; i < pairs; i += 2) {
        EACH(FIRST) EACH(SECOND) EACH(FIRST) EACH(SECOND)
    }
    float16 sum = (float16)(0.0f);
    EACH(SUM)
    out[get_global_id(0)] = sum;
}
