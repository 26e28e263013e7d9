#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer compare: verdicts, exit statuses, refusals, one output for one input. usage: test_compare.py PROGRAM DATA"""
import copy
import json
import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_result as made  # noqa: E402

program = sys.argv[1]
failures = 0


def fail(*text):
    global failures
    failures += 1
    print("FAIL:", *text)


def compare(*args):
    return subprocess.run([program, "compare", *args], capture_output=True, text=True)


def verdicts(folder, a, b, *options):
    paths = [made.write(os.path.join(folder, name), doc) for name, doc in (("a.json", a), ("b.json", b))]
    done = compare(*paths, "--json", *options)
    if not done.stdout:
        return done.returncode, {}, done.stderr
    return done.returncode, {(r["workload"], r["engine"], r["device_a"]): r for r in json.loads(done.stdout)["rows"]}, done.stderr


def same_build(folder):
    """Two runs of one build: no row is called different, in nine of ten comparisons at least."""
    claiming = 0
    for seed in range(20):
        status, rows, error = verdicts(folder, made.simple(2 * seed, devices=2), made.simple(2 * seed + 1, devices=2),
                                       "--fail-on-regression", "5%")
        if not rows:
            return fail("same build:", error)
        claiming += any(r["verdict"] != "no difference" for r in rows.values())
        if status != any(r["regression"] for r in rows.values()):
            fail("same build: exit status", status)
    if claiming > 2:
        fail("same build: %d of 20 comparisons claim a difference" % claiming)


def regression(folder):
    slow = made.simple(2, 1.0)
    shifted = made.simple(3, 1.2)
    for row, other in zip(slow["results"][:2], shifted["results"][:2]):
        row.update(other)
    names = [(r["workload"], r["engine"], 0) for r in slow["results"]]
    for options, want in (((), 0), (("--fail-on-regression", "5%"), 1), (("--fail-on-regression", "5"), 1),
                          (("--fail-on-regression", "90%"), 0)):
        status, rows, error = verdicts(folder, made.simple(1), slow, *options)
        if status != want:
            fail("regression", options, "exit status", status, error)
        found = [n for n in names if rows[n]["verdict"] == "slower"]
        if found != names[:2]:
            fail("regression: slower are", found)
        if any(not 1.1 < rows[n]["ratio"] < 1.3 or not rows[n]["interval"][0] < rows[n]["ratio"] < rows[n]["interval"][1]
               for n in names[:2]):
            fail("regression: ratio", [rows[n] for n in names[:2]])
    status, rows, _ = verdicts(folder, slow, made.simple(1), "--fail-on-regression", "5%")
    if status != 0 or any(rows[n]["verdict"] != "faster" for n in names[:2]):
        fail("the other way round:", status, rows)


def lost(folder):
    a, b = made.simple(1), made.simple(2)
    row = b["results"][0]
    b["results"][0] = made.bad(b["workloads"][0], 0, row["engine"], "failed", "wrong result: error 1, bound 0.1")
    status, rows, _ = verdicts(folder, a, b, "--fail-on-regression", "50%")
    if status != 1 or rows[(row["workload"], row["engine"], 0)]["verdict"] != "lost":
        fail("a row that fails in b:", status)
    text = compare(os.path.join(folder, "a.json"), os.path.join(folder, "b.json"))
    if text.returncode != 0 or "lost: wrong result: error 1, bound 0.1  REGRESSION" not in text.stdout:
        fail("a row that fails in b, as text:", text.stdout)
    status, rows, _ = verdicts(folder, b, a, "--fail-on-regression", "50%")
    if status != 0 or rows[(row["workload"], row["engine"], 0)]["verdict"] != "gained":
        fail("a row that failed in a:", status)
    for change, lost_rows, reason in (
            (lambda d: d["results"].pop(0), 1, "b has no row of this engine"),
            (lambda d: (d["results"].pop(0), d.update(complete=False)), 1, "the run of b was interrupted before it"),
            (lambda d: d["results"].__setitem__(0, made.bad(d["workloads"][0], 0, "", "failed", "ended by signal 11")), 1,
             "ended by signal 11"),
            (lambda d: (d["results"].clear(), d["devices"][0].update(status="unsupported", reason="cannot be opened")), len(a["results"]),
             "cannot be opened"),
            (lambda d: (d["workloads"].pop(0), d["results"].pop(0)), 0, None)):
        b = made.simple(2)
        change(b)
        status, rows, error = verdicts(folder, a, b, "--fail-on-regression", "50%")
        gone = [r for r in rows.values() if r["verdict"] == "lost"]
        if status != bool(lost_rows) or len(gone) != lost_rows or any(r["reason"] != reason or not r["regression"] for r in gone):
            fail("rows without a counterpart, want", lost_rows, reason, "got", status, gone, error)
        text = compare(os.path.join(folder, "a.json"), os.path.join(folder, "b.json")).stdout
        if text.count("  lost: %s  REGRESSION\n" % reason) != lost_rows or (", 0 only in b" in text) != (lost_rows == 0):
            fail("rows without a counterpart, as text:", text)
    few = made.simple(3, 2.0, rounds=3, each=20)
    for pair in ((a, few), (few, a)):
        status, rows, _ = verdicts(folder, *pair, "--fail-on-regression", "5%")
        if status != 0 or any(r["verdict"] != "no difference" for r in rows.values()):
            fail("three rounds cannot support a claim:", status)


def ranks_disagree(folder):
    """The medians differ clearly, but the median of one short round of the faster side is above all of the other: nothing is claimed."""
    work = made.gemm(1, 384, 384)
    a, b = (made.document([made.device(0, "Device", "Platform")], [work], [made.ok(work, 0, "packed", times, rounds)])
            for times, rounds in (([1.0] * 20 + [1.001] * 20 + [1.002] * 20 + [1.3], [20, 20, 20, 1]),
                                  ([1.2] * 20 + [1.201] * 20 + [1.202] * 20 + [1.203] * 20, [20] * 4)))
    _, rows, error = verdicts(folder, a, b)
    row = next(iter(rows.values()), {})
    if not row or row["p"] >= 0.05 or row["p_rank"] < 0.05 or row["verdict"] != "no difference":
        fail("a claim that the ranks do not support:", row, error)


def summary(folder):
    """Rows that only one file has are counted for that file. The mean of a device is that of its ratios."""
    a, b = made.simple(1, devices=2), made.simple(2, 1.5, devices=2)
    gone = b["workloads"].pop(-2)["id"]
    b["results"] = [r for r in b["results"] if r["workload"] != gone]
    del a["results"][0], a["results"][0], a["results"][0]
    paths = [made.write(os.path.join(folder, name), doc) for name, doc in (("a.json", a), ("b.json", b))]
    done = compare(*paths, "--json")
    if done.returncode:
        return fail("summary:", done.stderr)
    found = json.loads(done.stdout)
    counts = [found["summary"][key] for key in ("rows", "only_in_a", "only_in_b")]
    if counts != [15, 2, 3]:
        fail("rows, only in a, only in b: want 15, 2, 3, found", counts)
    for device in found["devices"]:
        logs = [math.log(r["ratio"]) for r in found["rows"] if r["device_a"] == device["a"]["id"]]
        mean = math.exp(sum(logs) / len(logs))
        if not math.isclose(device["geometric_mean"], mean, rel_tol=1e-7) or not 1.4 < mean < 1.6:
            fail("geometric mean: want %g, found %g" % (mean, device["geometric_mean"]))


def refusals(folder):
    a, missing = made.write(os.path.join(folder, "a.json"), made.simple(1)), os.path.join(folder, "missing.json")
    cases = []
    for change, part in ((lambda d: d["workloads"][0]["work"].update(seed=2), "work.seed: integer 1 against integer 2"),
                         (lambda d: d["workloads"][0]["work"].update(storage="f16"), 'work.storage: string "f32" against string "f16"'),
                         (lambda d: d["workloads"][0]["work"].update(m=2), "work.m: integer 1 against integer 2"),
                         (lambda d: d["models"][0].update(sha256="cd" * 32), "model MiniLM.sha256"),
                         (lambda d: d.update(schema_version=9), '"schema_version": expected 1, found 9'),
                         (lambda d: d["results"][0].update(median_ms=5.0), 'results[0]: "median_ms": expected'),
                         (lambda d: [w.update(id="new " + w["id"]) or r.update(workload=w["id"])
                                     for w, r in zip(d["workloads"], d["results"])], "no result in common")):
        doc = copy.deepcopy(made.simple(2))
        change(doc)
        path = made.write(os.path.join(folder, "changed%d.json" % len(cases)), doc)
        cases.append(((a, path), part, 1 if "results[0]" in part or "schema_version" in part else 2))
    with open(os.path.join(folder, "cut.json"), "w", encoding="utf-8") as file:
        file.write('{"schema": "clformer-bench", ')
    cases += [((a, os.path.join(folder, "cut.json")), "cut.json: line 1, column", 1), ((a, missing), "missing.json", 1),
              ((a,), "expected two files, found 1", 2),
              ((a, a, a), "expected two files, found 3", 2),
              ((a, a, "--fail-on-regression", "x"), 'expected a percentage, for example 5%, found "x"', 2),
              ((a, a, "--fail-on-regression", "-5%"), "expected a percentage", 2)]
    for args, part, status in cases:
        done = compare(*args)
        if done.returncode != status or done.stdout or part not in done.stderr or done.stderr.count("\n") != 1:
            fail("refusal", args[1:], "want", part, "got", done.returncode, done.stderr)


def output(folder):
    a, b = (made.write(os.path.join(folder, n), made.simple(s, devices=2)) for n, s in (("a.json", 1), ("b.json", 2)))
    for options in ((), ("--json",)):
        first, second = compare(a, b, *options), compare(a, b, *options)
        if first.returncode or first.stdout != second.stdout:
            fail("output differs from call to call", options)
    text = compare(a, b).stdout
    for part in ("a  %s: 2026" % a, "Device 0, Platform, driver 1.0", "b / a", "95 % interval", "gemm/f32/m1-n384-k384 packed",
                 "geometric mean", "20 rows: 0 faster, 0 slower, 20 no difference"):
        if part not in text:
            fail("no %r in" % part, text)
    other = made.simple(3)
    other["devices"][0].update(name="Another", driver="2.0")
    text = compare(made.write(os.path.join(folder, "c.json"), made.simple(1)), made.write(os.path.join(folder, "d.json"), other)).stdout
    if "in b: Another, Platform, driver 2.0" not in text:
        fail("devices of different names are compared without saying so:", text)
    twin = made.simple(4, devices=2)
    twin["devices"][0]["name"], twin["devices"][1]["name"] = "Device 1", "Device 0"
    _, rows, _ = verdicts(folder, made.simple(1, devices=2), twin)
    if any(r["device_a"] + r["device_b"] != 1 for r in rows.values()):
        fail("devices are not paired by name")


def settings(folder):
    """Other differences between two runs have a line each. There is no line for a fact that an older file has not recorded."""
    a, b = made.simple(1), made.simple(2)
    a["settings"].update(no_tuned=False, environment={"CLF_GRAPH": "0"})
    b["settings"].update(no_tuned=True, environment={"CLF_ENGINE": "tiled"}, min_seconds=0.1, rounds=5)
    b["host"].update(cpu="Another CPU", logical_cores=64)
    b["devices"][0].update(compute_units=4, tuned=True)
    want = {'host.cpu: "Example CPU" in a, "Another CPU" in b', "host.logical_cores: 2 in a, 64 in b",
            "settings.min_seconds: 0.5 in a, 0.1 in b", "settings.rounds: 10 in a, 5 in b", "settings.no_tuned: false in a, true in b",
            'settings.environment.CLF_GRAPH: "0" in a, not set in b', 'settings.environment.CLF_ENGINE: not set in a, "tiled" in b',
            "device 0.compute_units: 2 in a, 4 in b", "device 0.tuned: false in a, true in b"}
    paths = [made.write(os.path.join(folder, name), doc) for name, doc in (("sa.json", a), ("sb.json", b))]
    found = [line for line in compare(*paths).stdout.split("\n") if " in a, " in line]
    if len(found) != len(want) or set(found) != want:
        fail("settings: want", want, "found", found)
    listed = json.loads(compare(*paths, "--json").stdout)["differences"]
    if len(listed) != len(want) or {"what": "settings.rounds", "a": 10, "b": 5} not in listed:
        fail("settings as JSON:", listed)
    plain = made.write(os.path.join(folder, "plain.json"), made.simple(3))
    for other in (plain, paths[0]):
        text = compare(plain, other).stdout
        if " in a, " in text:
            fail("settings differ from nothing:", text)
    b["settings"]["environment"] = {"CLF_\x1b[31m": "1"}
    done = compare(paths[0], made.write(paths[1], b))
    if done.returncode or 'settings.environment.CLF_?[31m: not set in a, "1" in b' not in done.stdout:
        fail("a variable with another name:", done.returncode, done.stdout, done.stderr)
    a["settings"]["environment"], b["settings"]["environment"] = {}, {"CLF_GRAPH": "0"}
    a["devices"][0]["first_use"], b["devices"][0]["first_use"] = {}, {"rules": None, "engine": 1}
    for pair in ((a, b), (b, a)):  # a missing member is as good as null, on either side
        paths = [made.write(path, doc) for path, doc in zip(paths, pair)]
        found = {one["what"] for one in json.loads(compare(*paths, "--json").stdout)["differences"]}
        if "device 0.first_use.engine" not in found or "device 0.first_use.rules" in found:
            fail("null and nothing:", found)
    for change in (lambda d: d["devices"][0]["limits"].update({"\x1b[31m": "x"}), lambda d: d["workloads"][0]["work"].update({"\x1b": 1})):
        doc = made.simple(3)
        change(doc)
        done = compare(plain, made.write(paths[1], doc))
        if done.returncode not in (1, 2) or "\x1b" in done.stderr or "?" not in done.stderr:
            fail("a key drives the terminal:", done.returncode, repr(done.stderr))


def facts(folder):
    """Facts that a row has not measured are not compared. A row that needs no scratch memory has measured it."""
    a, b = made.simple(1), made.simple(2)
    b["results"][0]["memory"] = {"weights_bytes": 0, "scratch_bytes": 0, "host_peak_bytes": 0}
    b["results"][1]["memory"]["scratch_bytes"] = 5
    rows = [row["facts"] for row in verdicts(folder, a, b)[1].values()]
    if any(key.endswith("_bytes") for key in rows[0]) or rows[1].get("scratch_bytes") != {"less_is_better": True, "a": 0, "b": 5}:
        fail("facts of memory:", rows[:2])


def hostile_names(folder):
    doc = made.simple(1)
    doc["devices"][0]["name"] = "red \x1b[31m turned \u202e hidden \u200b line\nend"
    doc["library"]["version"] = "1\x9b2J"
    a, b = (made.write(os.path.join(folder, n), doc) for n in ("escape\x1b[31m.json", "b.json"))
    for options in ((), ("--json",)):
        done = compare(a, b, *options)
        if done.returncode or any(c in done.stdout for c in "\x1b\x9b\u202e\u200b") or "red ?[31m turned ??? hidden" not in done.stdout:
            fail("names drive the terminal", options, done.returncode, repr(done.stdout[:300]))


with tempfile.TemporaryDirectory() as directory:
    for test in (hostile_names, facts, same_build, regression, lost, ranks_disagree, summary, settings, refusals, output):
        test(directory)
print("all passed" if failures == 0 else "%d failures" % failures)
sys.exit(failures > 0)
