#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer einsum: golden equations through files, formats, plans, refusals. usage: test_einsum.py PROGRAM DATA
Needs nothing but Python: the files are written and read here."""
import ast
import os
import struct
import subprocess
import tempfile

from runs import data, fail, finish, program, skip_without_device


def run(*args):
    done = subprocess.run([program, "einsum", *args], capture_output=True, text=True)
    done.stderr = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("MESA:"))  # a driver's own remarks
    return done


def write_npy(path, shape, values, descr="<f4", fortran=False, version=1):
    code = {"<f2": "e", "<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "<i4": "i", "|b1": "?", ">f4": "f"}[descr]
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, fortran, "".join("%d, " % d for d in shape))
    prefix = 10 if version == 1 else 12
    header = header.encode() + b" " * (63 - (prefix + len(header)) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header)
        file.write(struct.pack((">" if descr[0] == ">" else "<") + str(len(values)) + code, *values))


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    size = struct.unpack_from("<H", content, 8)[0]
    header = ast.literal_eval(content[10:10 + size].decode())
    assert not header["fortran_order"]
    code = {"<f4": "f", "<f2": "e"}[header["descr"]]
    body = content[10 + size:]
    return header["descr"], header["shape"], list(struct.unpack("<%d%s" % (len(body) // struct.calcsize(code), code), body))


def value(operands, operand, index):
    hashed = ((index * 37 + operand * 11 + 5) * 2654435761) & 0xFFFFFFFF
    return (-3, -2, -1, 1, 2, 3)[(hashed >> 13) % 6] if operands <= 5 else (-1, 1, 1, 2)[(hashed >> 13) % 4]


def shape_of(text):
    return () if text == "-" else tuple(int(d) for d in text.split("x"))


def elements(shape):
    count = 1
    for d in shape:
        count *= d
    return count


def write_operands(folder, shapes):
    files = []
    for k, shape in enumerate(shapes):
        files.append(os.path.join(folder, "%d.npy" % k))
        write_npy(files[-1], shape, [value(len(shapes), k, i) for i in range(elements(shape))])
    return files


def golden(folder):
    out = os.path.join(folder, "out.npy")
    taken = 0
    with open(os.path.join(data, "einsum", "golden.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file):
            fields = line.rstrip("\n").replace("\\t", "\t").replace("\\n", "\n").split("|")
            if fields[0].startswith("#") or (number % 23 and not fields[0].startswith("!") and not fields[0].startswith("->")):
                continue
            taken += 1
            if os.path.exists(out):
                os.remove(out)
            refused = fields[0].startswith("!")
            equation, shapes = (fields[1], fields[2]) if refused else (fields[0], fields[1])
            files = write_operands(folder, [shape_of(s) for s in shapes.split(",")])
            result = run(equation, *files, "-o", out)
            if refused:
                lines = result.stderr.splitlines()
                if result.returncode != 2 or len(lines) != 1 or not lines[0].startswith(fields[0][1:] + ":") or os.path.exists(out):
                    fail("%r %s: want %s, got %d %r" % (equation, shapes, fields[0][1:], result.returncode, result.stderr))
                continue
            want = [float(v) for v in fields[3].split()]
            if result.returncode != 0 or read_npy(out) != ("<f4", shape_of(fields[2]), want):
                fail("%r %s: %d %r" % (equation, shapes, result.returncode, result.stderr))
    if taken < 100:
        fail("only %d golden cases" % taken)


def formats(folder):
    out, a, b = (os.path.join(folder, name) for name in ("out.npy", "a.npy", "b.npy"))
    write_npy(b, (3,), [1, 2, 4])
    for descr in ("<f2", "<f4", "<f8", "|i1", "<i4", ">f4"):
        write_npy(a, (2, 3), [1, -2, 3, 4, 5, -6], descr)
        if run("ij,j->i", a, b, "-o", out).returncode or read_npy(out)[2] != [9, -10]:
            fail("operand of type " + descr)
    write_npy(a, (2, 3), [1, 4, -2, 5, 3, -6], "<f4", fortran=True, version=2)
    if run("ij,j->i", a, b, "-o", out).returncode or read_npy(out)[2] != [9, -10]:
        fail("operand in Fortran order, version 2")
    write_npy(a, (3,), [True, False, True], "|b1", version=3)
    if run("i,i->", a, b, "-o", out).returncode or read_npy(out) != ("<f4", (), [5.0]):
        fail("boolean operand, version 3")
    write_npy(a, (4,), [0, 1, 255, 2], "|u1")
    if run("i->i", a, "--dtype", "f16", "-o", out).returncode or read_npy(out) != ("<f2", (4,), [0, 1, 255, 2]):
        fail("result of type f16")
    printed = run("i,j->ij", b, b)
    if printed.returncode or printed.stdout != "[[1, 2, 4],\n[2, 4, 8],\n[4, 8, 16]]\n":
        fail("printed result: %r" % printed.stdout)


def plans(folder):
    out = os.path.join(folder, "plan.npy")
    plan = run("ij,jk,kl->il", "--shapes", "10x100,100x5,5x50", "--plan")
    for part in ("path      (0,1) (0,1)\n", "cost      15000, naive", "largest intermediate 50 elements", "gemm"):
        if part not in plan.stdout:
            fail("plan without %r: %s%s" % (part, plan.stdout, plan.stderr))
    for equation, shapes in (("ibhd,jbhd->ijbh", "5x2x3x4,6x2x3x4"), ("ijbh,jbhd->ibhd", "5x6x2x3,6x2x3x4"),
                             ("nihd,njhd->nijh", "2x5x3x4,2x6x3x4"), ("nijh,njhd->nihd", "2x5x6x3,2x6x3x4")):
        plan = run(equation, "--shapes", shapes, "--plan")
        steps = [line for line in plan.stdout.splitlines() if line.startswith("step")]
        if len(steps) != 1 or "gemm " not in steps[0] or "copied" in steps[0]:
            fail("%s is not one matrix product: %s%s" % (equation, plan.stdout, plan.stderr))
    files = write_operands(folder, [(2, 3), (3, 4)])
    if "path" not in run("ij,jk", *files, "--plan").stdout or os.path.exists(out):
        fail("plan of files")
    both = run("ij,jk", *files, "--plan", "-o", out)
    if both.returncode or "path" not in both.stdout or read_npy(out)[1] != (2, 4):
        fail("plan and result")
    if run(",ij->ij", "--shapes", "-,2x3", "--plan").returncode:
        fail("scalar in --shapes")
    limited = run("ab,cd,ef,abcdef->", "--shapes", "2x2,2x2,2x2,2x2x2x2x2x2", "--plan", "--memory-limit", "3")
    if limited.returncode or "(0,1,2,3)" not in limited.stdout:
        fail("memory limit: %s%s" % (limited.stdout, limited.stderr))
    for none in ("none", "-1"):
        if run("ij,jk", "--shapes", "2x3,3x4", "--plan", "--memory-limit", none).returncode:
            fail("memory limit " + none)


def refusals(folder):
    files = write_operands(folder, [(2, 3)])
    long_files = [os.path.join(folder, "long.npy")] * 3
    write_npy(long_files[0], (60000,), [0] * 60000)
    for args, start, status in (
            (("ij,jk", "--shapes", "2x3,4x5", "--plan"), "E_SIZE: operand 1 label 'j' is 4, expected 3", 2),
            (("ij", "--shapes", "2y3", "--plan"), "E_ARGUMENT: --shapes", 2),
            (("i", "--shapes", "x2", "--plan"), "E_ARGUMENT: --shapes", 2),
            (("ij", "--plan", "--memory-limit", "0", "--shapes", "2x3"), "E_LIMIT", 2),
            (("...->...", "--plan", "--shapes", "x".join("1" * 17)), "E_LIMIT: operand 0 has rank 17", 2),
            (("...->...", "--plan", "--shapes", "2," + "x".join("1" * 65)), "E_LIMIT: --shapes", 2),
            (("ij", "--shapes", "2x3"), "E_OPTION: einsum: --shapes", 2),
            ((), "E_OPTION: einsum: no equation", 2),
            (("ij", "--bogus"), "E_OPTION: einsum: option", 2),
            (("ij", os.path.join(folder, "missing.npy")), "E_FILE: open", 1),
            (("ij->ji", *files, "-o", os.path.join(folder, "none", "out.npy")), "E_FILE: create", 1),
            (("-ij", *files), "E_ARROW: '-' at 0", 2),
            (("->j;i", *files), "E_CHAR: byte 0x3b at 3", 2),
            (("-->ji", *files), "E_ARROW: '-' at 0", 2),
            (("ij?", *files * 65), "E_CHAR: ", 2),
            (("ij", *files * 65), "E_OPERAND_COUNT: 1 term, 65 operands", 2),
            ((",".join(["ij"] * 65), *files * 65), "E_LIMIT: 65 operands", 2),
            (("i,j,k->ijk", *long_files, "-o", os.path.join(folder, "none.npy")), "E_LIMIT: buffer of ", 1),
            (("ij", *files, "--device", "nosuch"), "E_NOT_FOUND: ", 1),
            (("ij->ij", *files, "--plan", "-o", "-"), "E_OPTION: einsum: --plan", 2),
            (("ij->ij", *files, "-o", ""), "E_OPTION: --output: expected the name", 2)):
        result = run(*args)
        if result.returncode != status or not result.stderr.startswith(start) or result.stderr.count("\n") != 1:
            fail("%r: %d %r" % (args, result.returncode, result.stderr))


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = write_operands(folder, [(2, 3)])
        first = run("ij->ji", *files)
        skip_without_device(first)
        for test in (golden, formats, plans, refusals):
            test(folder)
    finish()


main()
