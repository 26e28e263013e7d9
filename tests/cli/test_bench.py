#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer bench: the result file against its schema and its own samples; a wrong kernel is FAILED, one that does not build is unsupported,
an interrupted run leaves a valid file.
usage: test_bench.py PROGRAM DATA"""
import glob
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
kernels = os.path.join(data, "..", "..", "cl")
folder = tempfile.TemporaryDirectory()
work = folder.name
failures = []
FILTER = "layer_norm/f32/128x384"
QUICK = ["bench", "--suite", "ops", "--quick", "--filter", FILTER]


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def expect(condition, text):
    if not condition:
        fail(text)


def run(*arguments, **environment):
    return subprocess.run([program, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def path(name):
    return os.path.join(work, name)


# --- JSON Schema: the words that result.schema.json uses, and no others ----------------------------------------------------------------

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "null": lambda v: v is None,
}
REMARKS = {"$schema", "$defs", "title", "description", "format", "then", "else"}


def broken(schema, value, root, at="$"):
    """The first violation, or None."""
    for word, rule in schema.items():
        if word in REMARKS:
            continue
        found = None
        if word == "$ref":
            found = broken(root["$defs"][rule.rsplit("/", 1)[1]], value, root, at)
        elif word == "type":
            if not any(TYPES[t](value) for t in ([rule] if isinstance(rule, str) else rule)):
                found = f"{at}: {value!r} is not {rule}"
        elif word == "const":
            found = None if value == rule else f"{at}: {value!r} is not {rule!r}"
        elif word == "enum":
            found = None if value in rule else f"{at}: {value!r} is not one of {rule}"
        elif word == "required":
            found = next((f"{at}: no {k}" for k in rule if k not in value), None)
        elif word == "properties":
            found = next(filter(None, (broken(s, value[k], root, f"{at}.{k}") for k, s in rule.items() if k in value)), None)
        elif word == "additionalProperties":
            known = schema.get("properties", {})
            found = next(filter(None, (broken(rule, v, root, f"{at}.{k}") for k, v in value.items() if k not in known)), None)
        elif word == "items":
            found = next(filter(None, (broken(rule, v, root, f"{at}[{i}]") for i, v in enumerate(value))), None)
        elif word == "minItems":
            found = None if len(value) >= rule else f"{at}: {len(value)} items"
        elif word == "maxItems":
            found = None if len(value) <= rule else f"{at}: {len(value)} items"
        elif word == "minimum":
            found = None if not isinstance(value, (int, float)) or value >= rule else f"{at}: {value}"
        elif word == "exclusiveMinimum":
            found = None if value > rule else f"{at}: {value}"
        elif word == "allOf":
            found = next(filter(None, (broken(s, value, root, at) for s in rule)), None)
        elif word == "if":
            branch = "then" if broken(rule, value, root, at) is None else "else"
            found = broken(schema.get(branch, {}), value, root, at)
        else:
            found = f"{at}: the test does not know {word}"
        if found:
            return found
    return None


schema = json.loads(run("bench", "--schema").stdout)
expect(broken(schema, {"schema": "clformer-bench"}, schema), "the schema accepts an empty record")


def load(name, label):
    with open(path(name), encoding="utf-8") as file:
        record = json.load(file)
    violation = broken(schema, record, schema)
    expect(violation is None, f"{label}: {violation}")
    return record


def rows(record):
    """The results that were asked for; measurements of limits come along."""
    return [r for r in record["results"] if FILTER in r["workload"]]


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


# --- a run -----------------------------------------------------------------------------------------------------------------------------

first = run(*QUICK, "-o", path("first.json"))
if first.returncode != 0 and ("no OpenCL platform" in first.stderr or "no usable" in first.stderr):
    print("skipped:", first.stderr.strip())
    sys.exit(77)
expect(first.returncode == 0, f"quick run: status {first.returncode}: {first.stderr}")
record = load("first.json", "quick run")
expect(record["complete"] and record["settings"]["quick"] and record["settings"]["suites"] == ["ops"], f"settings: {record['settings']}")
expect(len(record["devices"]) == 1 and record["devices"][0]["status"] == "measured", "one measured device")
works = {w["id"]: w for w in record["workloads"]}
measured = [r for r in rows(record) if r["status"] == "ok"]
expect(measured, "nothing measured")
expect({r["workload"] for r in measured} == {w for w in works if FILTER in w}, "not every workload has a figure")
for row in measured:
    name = f"{row['workload']} {row['engine']}"
    expect(row["verified"] and row["max_error"] <= row["error_bound"], f"{name}: error {row['max_error']}, bound {row['error_bound']}")
    expect(len(row["wall_ms"]) >= record["settings"]["min_samples"], f"{name}: {len(row['wall_ms'])} samples")
    rounds = row["round_samples"]
    expect(sum(rounds) == len(row["wall_ms"]) and len(rounds) == record["settings"]["rounds"], f"{name}: rounds {rounds}")
    seconds = sum(row["wall_ms"]) * row["runs_per_sample"] / 1e3
    expect(seconds > 0.5 * record["settings"]["min_seconds"], f"{name}: {seconds} s")
    for key, q in ("median_ms", 0.5), ("p10_ms", 0.1), ("p90_ms", 0.9):
        expect(math.isclose(row[key], quantile(row["wall_ms"], q), rel_tol=1e-6), f"{name}: {key} {row[key]}")
    expect(row["noisy"] == (row["p90_ms"] - row["p10_ms"] > 0.1 * row["median_ms"]), f"{name}: noisy {row['noisy']}")
    expect(not row["device_ms"] or len(row["device_ms"]) == len(row["wall_ms"]), f"{name}: device samples")
    expect(row["kernels"], f"{name}: no kernel is named")
    expect(0 < row["longest_launch_ms"], f"{name}: the longest launch")
    memory = row["memory"]
    expect(memory["host_peak_bytes"] > 1 << 20, f"{name}: memory {memory}")
    expect(memory["weights_bytes"] == 0 and memory["scratch_bytes"] == 0, f"{name}: norms need no scratch: {memory}")
    rate = works[row["workload"]]["bytes" if row["rate_unit"] == "GB/s" else "flops"] / row["median_ms"] / 1e6
    expect(math.isclose(row["rate"], rate, rel_tol=1e-6), f"{name}: rate {row['rate']}, {rate}")
    line = rf"\n  \d+ .*{re.escape(row['engine'] or '-')} .* verified"
    expect(re.search(line, first.stdout), f"{name} is not in the table: {first.stdout}")
limit = {works[r["workload"]]["limit"] for r in measured} & record["devices"][0]["limits"].keys()
for row in measured:
    key = works[row["workload"]]["limit"]
    expect((row["percent_of_limit"] is not None) == (key in limit), f"{row['workload']}: {row['percent_of_limit']} % of {key}")
expect("seed" in json.dumps(record["workloads"]), "the work does not name its seed")

engine = measured[0]["engine"]
other = run(*QUICK, "--baseline", f":{engine}", "--seed", "2", "-o", path("second.json"))
blocks = re.split(r"\n (?=\S)", other.stdout)
for block in (b for b in blocks if FILTER in b.split("\n")[0]):
    expect(re.search(rf" {engine} .* 1\.00x .* verified", block), f"--baseline: {block}")
for wrong in (":nosuch", "no such device", f"no such device:{engine}"):
    refused = run(*QUICK, "--baseline", wrong, "-o", path("refused.json"))
    expect(refused.returncode == 2 and f'"{wrong}", which no row has' in refused.stderr, f"--baseline {wrong}: {refused.stderr}")
    expect(not os.path.exists(path("refused.json")), f"--baseline {wrong} leaves a file")
second = load("second.json", "second run")
expect(second["workloads"] == record["workloads"], "two runs of one build did different work")

# --- what changes results is in the file: variables, and choices of a first use, which are not those of clformer tune -------------------

expect(record["settings"]["environment"] == {k: os.environ[k] for k in sorted(os.environ) if os.environ[k] and
                                             k in ("CLF_ENGINE", "CLF_GRAPH", "CLF_KERNEL_DIR", "CLF_NO_TUNED")},
       f"environment: {record['settings']['environment']}")
about = json.loads(run("devices", "--json").stdout)["devices"][record["devices"][0]["id"]]
rule = {"kind": "linear", "precision": "highest", "batch": 1, "m": 256, "n": 384, "k": 384, "engine": "tiled", "first_use": True}
os.makedirs(path("config/clformer"))
with open(path("config/clformer/tuned.json"), "w", encoding="utf-8") as file:
    json.dump({"schema": "clformer-tuned", "schema_version": 1,
               "devices": [{**{k: about[k] for k in ("name", "platform", "driver")}, "gemm": [rule]}]}, file)
run(*QUICK, "--seconds", "0.01", "--rounds", "1", "-o", path("used.json"), CLF_GRAPH="0", CLF_NO_TUNED="", XDG_CONFIG_HOME=path("config"))
used = load("used.json", "a first use")
expect(used["settings"]["environment"].get("CLF_GRAPH") == "0" and "CLF_NO_TUNED" not in used["settings"]["environment"],
       f"environment: {used['settings']['environment']}")
expect(not used["devices"][0]["tuned"] and used["devices"][0]["first_use"] == "256 x 384 x 384 tiled",
       f"first use: {used['devices'][0]['tuned']}, {used['devices'][0]['first_use']}")
shutil.rmtree(path("config"))

# --- memory: what the engines of a product take beside [16,384] x [384,384] --------------------------------------------------------------

result = run("bench", "--suite", "ops", "--quick", "--filter", "gemm/f32/m16-n384-k384", "-o", path("gemm.json"))
record = load("gemm.json", "gemm")
products = [r for r in record["results"] if r["workload"].startswith("gemm/") and r["status"] == "ok"]
expect(products, f"gemm: nothing measured: {result.stdout}")
for row in products:
    weights, scratch = row["memory"]["weights_bytes"], row["memory"]["scratch_bytes"]
    expect(weights == (384 * 384 + 384) * 4, f"gemm {row['engine']}: weights of {weights} bytes")
    least, most = weights, 2 * weights + 2 * 16 * 384 * 4  # the layer's own copy; CLBlast's of it turned, with input and result
    expect(least <= scratch <= most, f"gemm {row['engine']}: scratch of {scratch} bytes, expected {least} to {most}")

# --- a kernel that is a thousandth off -------------------------------------------------------------------------------------------------

source = open(os.path.join(kernels, "shared", "row_norm.cl"), encoding="utf-8").read()
wrong = source.replace("1.0f / sqrt(mean_square)", "1.001f / sqrt(mean_square)")
expect(wrong != source, "row_norm.cl changed: choose another place to make it wrong")
os.makedirs(path("wrong/shared"))
with open(path("wrong/shared/row_norm.cl"), "w", encoding="utf-8") as file:
    file.write(wrong)
result = run(*QUICK, "-o", path("wrong.json"), CLF_KERNEL_DIR=path("wrong"))
expect(result.returncode == 1, f"wrong kernel: status {result.returncode}: {result.stderr}")
expect("FAILED" in result.stdout and "FAILED" in result.stderr, f"wrong kernel: {result.stdout}")
record = load("wrong.json", "wrong kernel")
expect(record["complete"], "wrong kernel: the run is complete")
expect(rows(record), "wrong kernel: no rows")
for row in rows(record):
    expect(row["status"] == "failed" and not row["verified"] and row["wall_ms"] == [], f"wrong kernel: {row['engine']} is {row['status']}")
    expect(row["max_error"] > row["error_bound"] and "median_ms" not in row, f"wrong kernel: error {row['max_error']}")
    expect(any(row["workload"] in m["what"] for m in record["not_measured"]), "wrong kernel: not listed as not measured")
for block in (b for b in re.split(r"\n (?=\S)", result.stdout) if FILTER in b.split("\n")[0]):
    expect("FAILED" in block and not re.search(r"\d\.\d\dx", block), f"a failed row is ranked: {block}")

# --- the suite "generation": tokens/s beside the bandwidth, a model's file, a wrong norm of the same kernel ------------------------------

GENERATION = ["bench", "--suite", "generation", "--quick", "--seconds", "0.02", "--rounds", "2", "--filter"]
step = "decode/llama-24m-q4_0/1x128"
result = run(*GENERATION, step, "-o", path("generation.json"))
record = load("generation.json", "generation")
expect(result.returncode == 0 and record["settings"]["suites"] == ["generation"], f"generation: {result.returncode}: {result.stderr}")
steps = {w["id"]: w for w in record["workloads"]}[step]
row = next(r for r in record["results"] if r["workload"] == step)
expect(row["verified"] and row["rate_unit"] == "tokens/s", f"generation: {row}")
expect(math.isclose(row["rate"], steps["items"] / row["median_ms"] * 1e3, rel_tol=1e-6), f"generation: rate {row['rate']}")
expect(steps["limit"] == "read_gbps" and row["percent_of_limit"] is not None,
       f"generation: {row['percent_of_limit']} % of {steps['limit']}")
expect(steps["bytes"] / steps["work"]["steps"] > row["memory"]["weights_bytes"] * 0.99, f"generation: {steps['bytes']} bytes")
energy = row["energy"]
if energy["joules_per_run"] is None:
    expect("joules_per_item" not in energy and "J/token" not in result.stdout, f"generation: energy {energy}")
else:
    expect(math.isclose(energy["joules_per_item"] * steps["items"], energy["joules_per_run"], rel_tol=1e-6), f"generation: {energy}")
    expect("J/token" in result.stdout, f"generation: {result.stdout}")
result = run(*GENERATION, "first_token", "-o", path("generation.json"), CLF_KERNEL_DIR=path("wrong"))
expect(result.returncode == 1 and "FAILED" in result.stdout, f"generation, a wrong norm: {result.returncode}: {result.stdout}")
names = run("bench", "--list", "--suite", "generation", "--model", os.path.join(data, "generation/llama_blocks/model.gguf")).stdout
expect("decode/llama_blocks/1x" not in names and "first_token/llama_blocks/warm" in names, f"a model of 96 positions: {names}")

# --- kernels that do not build ---------------------------------------------------------------------------------------------------------

for name in glob.glob("*/*.cl", root_dir=kernels):
    os.makedirs(path(f"broken/{os.path.dirname(name)}"), exist_ok=True)
    with open(path(f"broken/{name}"), "w", encoding="utf-8") as file:
        file.write("#error broken on purpose\n")
result = run(*QUICK, "-o", path("broken.json"), CLF_KERNEL_DIR=path("broken"))
expect(result.returncode == 1 and "no workload could be measured" in result.stderr, f"broken kernels: {result.returncode}: {result.stderr}")
record = load("broken.json", "broken kernels")
device = record["devices"][0]
expect(device["status"] == "unsupported" and "broken on purpose" in device["reason"],
       f"broken kernels: {device['status']}: {device['reason']}")
for row in rows(record):
    expect(row["status"] == "unsupported" and "broken on purpose" in row["reason"], f"broken kernels: {row['status']}: {row['reason']}")
shutil.rmtree(path("broken"))
os.makedirs(path("broken/shared"))
with open(path("broken/shared/row_norm.cl"), "w", encoding="utf-8") as file:
    file.write("#error broken on purpose\n")
result = run("bench", "--suite", "ops", "--quick", "--filter", "norm/f32/128x", "-o", path("partly.json"), CLF_KERNEL_DIR=path("broken"))
record = load("partly.json", "one broken kernel")
expect(all(r["status"] == "unsupported" for r in rows(record)) and rows(record), "one broken kernel: its rows")
expect("unsupported: " in result.stdout, f"one broken kernel: {result.stdout}")

# --- interruptions ---------------------------------------------------------------------------------------------------------------------


def interrupt(name, is_time):
    """Sends SIGINT once is_time(record so far)."""
    command = [program, "bench", "--suite", "ops", "--filter", "layer_norm", "-o", path(name)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 400
    while process.poll() is None and time.monotonic() < end:
        if os.path.exists(path(name)):
            with open(path(name), encoding="utf-8") as file:
                if is_time(json.load(file)):  # every state of the file is whole
                    break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=100)
    expect(process.returncode == 130 and "interrupted; the result file holds what was measured" in errors,
           f"{name}: status {process.returncode}: {errors}")
    found = load(name, name)
    expect(not found["complete"], f"{name}: complete")
    return found




def has_child(pid):
    """Whether the program has a process for a device, so that it has set its handlers of signals before."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                if int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                    return True
        except OSError:
            pass
    return False


with open(path("early.json"), "w", encoding="utf-8") as old:
    old.write("old\n")
visit = subprocess.Popen([program, *QUICK, "--seconds", "3600", "--rounds", "1", "-o", path("early.json")], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
while visit.poll() is None and not has_child(visit.pid):
    time.sleep(0.01)
visit.send_signal(signal.SIGINT)
said = visit.communicate(timeout=100)[1]
expect(visit.returncode == 130 and "nothing was measured, and no result file was written" in said, f"early: {visit.returncode}: {said}")
with open(path("early.json"), encoding="utf-8") as old:
    expect(old.read() == "old\n", "early: the old file is lost before there are samples")
late = interrupt("late.json", lambda r: any(row["wall_ms"] for row in r["results"]))
expect(any(row["status"] == "ok" and row["wall_ms"] for row in late["results"]), "late: what was measured is lost")
leftovers = [n for n in os.listdir(work) if not n.endswith(".json") and n not in ("wrong", "broken")]
expect(not leftovers, f"temporary files are left: {leftovers}")

# --- refusals --------------------------------------------------------------------------------------------------------------------------

for arguments, status, text in (
    (["--suite", "everything"], 2, "peak|ops|models|generation|all"),
    (["--suite", "generation", "--model", os.path.join(data, "families/roberta")], 2, 'it belongs to --suite models'),
    (["--suite", "ops", "--model", os.path.join(data, "families/roberta")], 2, 'it belongs to --suite models'),
    (["stray"], 2, '"stray"'),
    (["--time-limit", "0"], 2, "--time-limit"),
    (["--longest-run", "-1"], 2, "--longest-run"),
    (["--seconds", "-1"], 2, "--seconds"),
    (["--seconds", "nan"], 2, "--seconds"),
    (["--rounds", "-3"], 2, "--rounds"),
    (["--rounds", "0"], 2, "--rounds: expected a whole number of at least 1"),
    (["--seconds", "0"], 2, "--seconds"),
    (["--filter", "no such workload", "--quick"], 2, "no such workload"),
    (["--quick", "--suite", "ops", "--filter", FILTER, "--device", "no such device"], 1, "no such device"),
    (["--quick", "--suite", "ops", "--filter", FILTER, "-o", path("none/x.json")], 1, "none/x.json"),
):
    result = run("bench", *arguments)
    expect(result.returncode == status and text in result.stderr, f"{arguments}: status {result.returncode}: {result.stderr}")

slow = run(*QUICK, "--seconds", "0.01", "--rounds", "2", "--longest-run", "1e-9", "-o", path("slow.json"))
# A visit to build/cold takes up to twice its 6 seconds, as only a part of each run is timed; one build takes far less than 10, on a machine
# that does much else too.
long_visit = run("bench", "--suite", "peak", "--quick", "--filter", "build/cold", "--seconds", "6", "--rounds", "1", "--time-limit", "10")
expect(long_visit.returncode == 0 and "FAILED" not in long_visit.stdout,
       f"a visit that is meant to take longer than --time-limit: {long_visit.returncode}: {long_visit.stdout}")
expect("unsupported: too slow" in slow.stdout, f"--longest-run: {slow.returncode}: {slow.stdout}")
record = load("slow.json", "--longest-run")
settings = record["settings"]
expect(settings["quick"] and settings["min_seconds"] == 0.01 and settings["rounds"] == 2, f"--seconds, --rounds: {settings}")
expect(all("too slow" in r["reason"] for r in rows(record)), "--longest-run: not every row is left out")
run("bench", "--suite", "peak", "--quick", "--filter", "build/cold", "--longest-run", "1e-9", "-o", path("alone.json"))
alone = load("alone.json", "one row, which is too slow")
expect([r["status"] for r in alone["results"]] == ["unsupported"] and alone["devices"][0]["status"] == "measured",
       f"a device is unsupported because its row is too slow: {alone['devices'][0]['reason']}")
limits = record["devices"][0]["limits"]
expect(all(w["limit"] in limits for w in record["workloads"] if w["limit"]),
       f"--longest-run: limits are measured however long they take: {limits}")
expect(FILTER in run("bench", "--list", "--quick", "--suite", "ops").stdout, "--list")
for asked in (("--schema", "-o", path("never.json")), ("--list", "-o", path("never.json")), ("--list", "--schema")):
    refused = run("bench", *asked)
    expect(refused.returncode == 2 and not refused.stdout and "exclude each other" in refused.stderr, f"{asked}: {refused}")
    expect(not os.path.exists(path("never.json")), f"{asked} leaves a file")

print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(bool(failures))
