#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shared library from a language without C's macros: options from TYPE_default(), every declared function exported and none beside
them, and all of them with NULL for every argument. usage: test_ctypes.py PROGRAM DATA"""
import ctypes
import glob
import os
import re
import subprocess
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_void_p, sizeof

program = sys.argv[1]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
path = os.path.join(os.path.dirname(program), "libclformer.so")
failures = 0


def check(condition, *text):
    global failures
    if not condition:
        failures += 1
        print("FAIL:", *text)


if not os.path.exists(path):
    print("skipped: no", path)
    sys.exit(77)
if any(name in open(path, "rb").read() for name in (b"__asan_init", b"__tsan_init")):
    print("skipped: the interpreter does not bring the sanitizer that", path, "needs")
    sys.exit(77)
library = ctypes.CDLL(path)

# Declared and exported are the same. A declaration: what stands before the name, and the name.
declared = {}
for header in glob.glob(os.path.join(root, "include", "clformer", "*.h")):
    for result, name in re.findall(r"^CLF_API (.*?)\b(clf_\w+)\(", open(header).read(), re.M):
        declared[name] = result
check(len(declared) > 100, len(declared), "declarations found")
for name in declared:
    check(hasattr(library, name), name, "is declared and not exported")
try:
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout.split("\n")
except FileNotFoundError:
    symbols = []
for name in (line.split()[-1] for line in symbols if line):
    check(name in declared, name, "is exported and not declared")

# NULL for every argument: a status says so, nothing crashes.
for name, result in sorted(declared.items()):
    child = os.fork()
    if child == 0:
        function = getattr(library, name)
        function.restype = c_void_p if "*" in result else c_int
        value = function(*[c_void_p(0)] * 12)
        refused = value == 1 or "clf_status" not in result or name in ("clf_status_text", "clf_status_id")
        os._exit(0 if refused else 1)
    code = os.waitpid(child, 0)[1]
    check(code == 0, name, "of NULLs:", "another status than invalid argument" if code == 256 else f"ended with {code}")

# Defaults.
library.clf_last_error.restype = c_char_p
library.clf_version.restype = c_char_p
major, minor, patch = map(int, library.clf_version().split(b"."))
check(library.clf_version_number() == 10000 * major + 100 * minor + patch, library.clf_version_number(), library.clf_version())


class ContextParams(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("engines", c_char_p), ("cache_dir", c_char_p), ("kernel_dir", c_char_p),
                ("tuned_file", c_char_p), ("precision", c_int), ("profile", c_int), ("log", c_void_p), ("log_user", c_void_p),
                ("launch_ms", c_double), ("recovers", c_int), ("background", c_int)]


class SoftmaxParams(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("axis", c_int), ("batch_axis", c_int), ("query_axis", c_int), ("scale", c_float),
                ("causal_offset", c_int64), ("lengths", c_void_p), ("masks", c_void_p), ("bias", c_void_p)]


def ok(status):
    check(status == 0, library.clf_last_error())
    return status == 0


def default(options):
    function = getattr(library, options.function)
    function.argtypes = [c_void_p, c_size_t]
    ok(function(byref(options), sizeof(options)))
    check(options.size == sizeof(options), options.function, options.size)
    return options


for name in declared:
    if name.endswith("_default"):
        room = (ctypes.c_char * 256)()
        ok(getattr(library, name)(room, c_size_t(256)))
        check(c_size_t.from_buffer(room).value == 256, name, "size")
ContextParams.function = "clf_context_params_default"
SoftmaxParams.function = "clf_softmax_params_default"

count = c_void_p()
library.clf_device_list_create.argtypes = [POINTER(c_void_p)]
library.clf_device_list_count.argtypes = library.clf_device_list_destroy.argtypes = [c_void_p]
library.clf_device_list_count.restype = c_size_t
ok(library.clf_device_list_create(byref(count)))
if library.clf_device_list_count(count) == 0:
    print("skipped: no OpenCL device")
    sys.exit(1 if failures else 77)
library.clf_device_list_destroy(count)

context, tensor = c_void_p(), c_void_p()
params = default(ContextParams())
params.tuned_file = b""
library.clf_context_create.argtypes = [c_void_p, POINTER(c_void_p)]
library.clf_context_destroy.argtypes = library.clf_tensor_destroy.argtypes = [c_void_p]
library.clf_tensor_create_from.argtypes = [c_void_p, c_int, c_int, c_void_p, c_void_p, POINTER(c_void_p)]
library.clf_softmax.argtypes = [c_void_p] * 4
library.clf_tensor_read_f32.argtypes = [c_void_p, c_void_p, c_size_t]
refusal = library.clf_context_create(byref(ContextParams()), byref(context))
check(refusal == 1 and b"size is 0" in library.clf_last_error(), "options of size 0:", refusal, library.clf_last_error())
if ok(library.clf_context_create(byref(params), byref(context))):
    dim, numbers, got = (c_int64 * 2)(2, 2), (c_float * 4)(0, 0, 100, 100), (c_float * 4)()
    softmax = default(SoftmaxParams())
    values = (softmax.axis, softmax.query_axis, softmax.scale)
    check(values == (-1, 127, 1.0), "softmax defaults", values)
    softmax.axis = 0
    softmax.scale = 0.0
    ok(library.clf_tensor_create_from(context, 0, 2, dim, numbers, byref(tensor)))
    ok(library.clf_softmax(context, tensor, byref(softmax), tensor))
    ok(library.clf_tensor_read_f32(tensor, got, 4))
    check(list(got) == [0.5] * 4, "softmax of scores scaled by 0:", list(got))
    library.clf_tensor_destroy(tensor)
    library.clf_context_destroy(context)
sys.exit(1 if failures else 0)
