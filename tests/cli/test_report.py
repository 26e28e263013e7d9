#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer report: what a page, a picture and a Markdown file contain, and that strings of a file stay text. usage: test_report.py PROGRAM DATA"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from html.parser import HTMLParser

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_result as made  # noqa: E402

program = sys.argv[1]
failures = 0
HOSTILE = "<script>alert('x')</script>\"&\u202e|`[a](http://x)\u0001"


def fail(*text):
    global failures
    failures += 1
    print("FAIL:", *text)


def report(*args):
    return subprocess.run([program, "report", *args], capture_output=True, text=True)


class Page(HTMLParser):
    """Elements, their nesting, text outside style, addresses."""
    void = {"meta", "br", "link", "img", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.addresses, self.text, self.errors, self.ids = [], {}, [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.addresses += [v for k, v in attrs if k in ("href", "src", "xlink:href", "action", "data")]
        self.errors += [k for k, _ in attrs if k.startswith("on")]
        self.ids += [v for k, v in attrs if k == "id"]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append("</%s>" % tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def parse(path):
    page = Page()
    with open(path, encoding="utf-8") as file:
        content = file.read()
    page.feed(content)
    page.close()
    return content, page, " ".join(" ".join(page.text).split())


def example():
    doc = made.simple(1, devices=3, workloads=[made.gemm(m, n, k) for m in (1, 16, 128, 4096) for n, k in ((384, 384), (1536, 384), (3072, 768))] +
                      [made.rows_op("masked_softmax", r, 128) for r in (128, 4096)] + [made.encoder(1, 16), made.encoder(8, 128), made.launch()])
    doc["results"][1] = made.bad(doc["workloads"][0], 1, "packed", "failed", "wrong result: error 0.5, bound 1e-05")
    doc["results"][5] = made.bad(doc["workloads"][1], 2, "packed", "unsupported", "needs wide vectors")
    doc["devices"][1]["driver"] = "driver 7.8.9"
    doc["devices"].append(made.device(3, "Device 3", "Platform", status="unsupported", reason="the compiler crashed", limits={}))
    doc["not_measured"] = [{"what": "fp16 arithmetic on device 0", "why": "no cl_khr_fp16"}]
    doc["results"][-4]["off_device"] = ["tokenizing"]
    return doc


def page(folder):
    path, out = made.write(os.path.join(folder, "r.json"), example()), os.path.join(folder, "r.html")
    done = report(path, "-o", out)
    if done.returncode or done.stdout or done.stderr:
        return fail("page:", done.returncode, done.stderr)
    content, parsed, text = parse(out)
    if parsed.errors or parsed.open:
        fail("page is not well formed:", parsed.errors[:5], parsed.open)
    if "script" in parsed.tags or any(not a.startswith("#") or a[1:] not in parsed.ids for a in parsed.addresses) or re.search(r"url\(|@import", content):
        fail("page is not self-contained:", parsed.addresses)
    for part in ("prefers-color-scheme:dark", "@media print", "default-src 'none'"):
        if part not in content:
            fail("page without", part)
    for part in ("driver 7.8.9", "arithmetic intensity", "the compiler crashed", "FAILED", "wrong result: error 0.5, bound 1e-05", "needs wide vectors",
                 "no cl_khr_fp16", "fp16 arithmetic on device 0", "float64 reference", "0123abc", "1.5.3", "ab" * 32, "At least 0.5 s and 10 samples",
                 "float32 arithmetic 200 GFLOP/s", "memory 20.0 GB/s (read)", "less is better", "p10", "tokenizing", "gemm/f32/m128-n1536-k384"):
        if part not in text:
            fail("page does not say", part)
    if content.count('class="roof"') != 3:
        fail("rooflines: want 3, found", content.count('class="roof"'))
    figures = re.findall(r'<text class="point mid"[^>]*>(\d+)<', content)
    if sorted(map(int, figures)) != sorted(list(range(1, 17)) * 3 + []) and len(figures) != 16 * 3 - 2:
        fail("points on rooflines:", sorted(map(int, figures)))
    if content.count('class="whisker"') != 17 * 3 - 2:
        fail("whiskers: want a bar for each verified row, found", content.count('class="whisker"'))
    if "Points above the level roof" in text:
        fail("no point is above the level roof, and the page says so")
    doc = example()
    doc["devices"][0]["limits"]["fp32_gflops"] = 20.0
    doc["settings"]["quick"], doc["complete"] = True, False
    report(made.write(path, doc), "-o", out)
    for part in ("Points above the level roof", "the short list of workloads (--quick), each for at least 0.5 s. Incomplete"):
        if part not in parse(out)[2]:
            fail("page does not say", part)
    if "NaN" in content or "inf" in re.sub(r"[a-z]*inf[a-z]+", "", content):
        fail("a figure that is no number")


def hostile(folder):
    doc = example()
    for place in (doc["devices"][0], doc["devices"][2]):
        place.update(name=HOSTILE, platform=HOSTILE, driver=HOSTILE, vendor=HOSTILE, opencl_c=HOSTILE)
    doc["devices"][3]["reason"] = doc["results"][1]["reason"] = HOSTILE
    doc["host"].update(cpu=HOSTILE, os=HOSTILE, kernel=HOSTILE)
    doc["library"].update(version=HOSTILE, commit=HOSTILE, clblast=HOSTILE)
    doc["created"] = doc["models"][0]["name"] = doc["models"][0]["sha256"] = HOSTILE
    doc["not_measured"] = [{"what": HOSTILE, "why": HOSTILE}]
    doc["devices"][0]["limits"][HOSTILE] = 3
    for w in doc["workloads"]:
        old, w["id"], w["op"], w["suite"] = w["id"], HOSTILE + w["id"], HOSTILE + w["op"], HOSTILE
        for r in doc["results"]:
            if r["workload"] == old:
                r.update(workload=w["id"], engine=r["engine"] and "<b>" + r["engine"], rate_unit=r.get("rate_unit") and "<i>/s", off_device=[HOSTILE])
                r["energy"] = {"joules_per_run": 1.5, "method": HOSTILE}
    path = made.write(os.path.join(folder, "hostile<x>.json"), doc)
    for end in ("html", "svg", "md"):
        out = os.path.join(folder, "hostile." + end)
        done = report(path, "-o", out)
        if done.returncode:
            fail("hostile file:", done.stderr)
            continue
        content, parsed, _ = parse(out)
        if "\u202e" in content or "\u0001" in content:
            fail(end, "has control characters")
        if end == "md":
            if "<script" in content.replace("\\<", "") or "](http" in content.replace("\\]", ""):
                fail("Markdown with markup of the file")
        elif "script" in parsed.tags or "b" in parsed.tags and "<b>packed" in content or "i" in parsed.tags or parsed.errors or parsed.open:
            fail(end, "with markup of the file:", parsed.tags, parsed.errors)


def pictures(folder):
    path = made.write(os.path.join(folder, "r.json"), example())
    space = "{http://www.w3.org/2000/svg}"
    for part, roofs, whiskers in (("all", 3, 49), ("rooflines", 3, 0), ("bars", 0, 49)):
        out = os.path.join(folder, part + ".svg")
        done = report(path, "-o", out, "--part", part)
        if done.returncode:
            fail("picture:", done.stderr)
            continue
        root = xml.etree.ElementTree.parse(out).getroot()
        paths = [e.get("class") for e in root.iter(space + "path")]
        if root.tag != space + "svg" or paths.count("roof") != roofs or paths.count("whisker") != whiskers:
            fail("picture", part, paths.count("roof"), paths.count("whisker"))
        width, height = float(root.get("width")), float(root.get("height"))
        for text in root.iter(space + "text"):
            if text.get("y") and not text.get("transform") and not (-20 < float(text.get("y")) < height - 20 and -20 < float(text.get("x")) < width - 20):
                fail("picture: a text outside", text.attrib)
                break
    content, _, _ = parse(os.path.join(folder, "all.svg"))
    if "prefers-color-scheme:dark" not in content:
        fail("picture without colours for dark pages")


def labels_apart(folder):
    """No number of a point covers another number, and few cover points, with many points."""
    doc = made.simple(1, workloads=[made.gemm(m, n, k) for m in (1, 2, 4, 16, 128, 4096) for n, k in
                                    ((384, 384), (1536, 384), (384, 1536), (768, 768), (2304, 768), (3072, 768), (768, 3072), (1024, 1024), (512, 512))])
    out = os.path.join(folder, "many.svg")
    done = report(made.write(os.path.join(folder, "many.json"), doc), "-o", out, "--part", "rooflines")
    if done.returncode:
        return fail("many points:", done.stderr)
    with open(out, encoding="utf-8") as file:
        found = re.findall(r'<text class="point mid" x="([\d.]+)" y="([\d.]+)">(\d+)<', file.read())
    boxes = [(float(x), float(y), 9 if int(n) < 10 else 15) for x, y, n in found]
    if len(boxes) != 54:
        fail("many points: %d numbers" % len(boxes))
    covered = sum(abs(a[0] - b[0]) < (a[2] + b[2]) / 2 - 0.2 and abs(a[1] - b[1]) < 11.8 for i, a in enumerate(boxes) for b in boxes[:i])
    if covered:
        fail("many points: %d pairs of numbers cover each other" % covered)


def markdown(folder):
    out = os.path.join(folder, "r.md")
    done = report(made.write(os.path.join(folder, "r.json"), example()), "-o", out)
    if done.returncode:
        return fail("Markdown:", done.stderr)
    with open(out, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for part in ("# Benchmark of OpenCL devices", "## Failures", "## What was not measured", "## How it was measured"):
        if part not in lines:
            fail("Markdown without", part)
    columns = None
    for line in lines:
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        if cells and columns and cells != columns:
            fail("Markdown: a row of", cells, "bars among", columns, line)
        columns = cells


def several(folder):
    """Files of one device each: all on one page; the same device twice is told apart; different work is refused."""
    one, two = made.simple(1), made.simple(2, 2.0)
    two["devices"][0]["platform"] = "Another platform"
    a, b, c = (made.write(os.path.join(folder, n), d) for n, d in (("one.json", one), ("two.json", two), ("three.json", made.simple(3))))
    out = os.path.join(folder, "several.html")
    first = report(a, b, c, "-o", out)
    content, _, text = parse(out)
    for part in ("Platform (one.json)", "Another platform", "Platform (three.json)"):
        if first.returncode or part not in text:
            fail("several files without", part, first.stderr)
    if content.count('class="roof"') != 3:
        fail("several files: rooflines", content.count('class="roof"'))
    report(a, b, c, "-o", out + ".2.html")
    if open(out, encoding="utf-8").read() != open(out + ".2.html", encoding="utf-8").read():
        fail("a report differs from call to call")
    two["workloads"][0]["work"]["seed"] = 5
    done = report(a, made.write(os.path.join(folder, "four.json"), two), "-o", out)
    if done.returncode != 2 or "measured different work" not in done.stderr:
        fail("different work on one page:", done.returncode, done.stderr)


def refusals(folder):
    a = made.write(os.path.join(folder, "a.json"), made.simple(1))
    empty = made.write(os.path.join(folder, "empty.json"), made.document([], [], []))
    for end in ("html", "svg", "md"):
        done = report(empty, "-o", os.path.join(folder, "empty." + end))
        if done.returncode:
            fail("a run that measured nothing:", done.stderr)
    broken = made.simple(1)
    broken["results"][0]["wall_ms"][0] = -1
    out = os.path.join(folder, "never.html")
    for args, status, part in (((a, "-o", os.path.join(folder, "x.pdf")), 2, "expected a name that ends in .html, .svg or .md"), ((a,), 2, "no -o"),
                               (("-o", out), 2, "no result file"), ((a, "-o", out, "--part", "half"), 2, "expected all|rooflines|bars"),
                               ((os.path.join(folder, "missing.json"), "-o", out), 1, "missing.json"),
                               ((made.write(os.path.join(folder, "broken.json"), broken), "-o", out), 1, 'results[0]: "wall_ms[0]": expected a time above 0'),
                               ((a, "-o", os.path.join(folder, "no", "such", "r.html")), 1, "no/such")):
        done = report(*args)
        if done.returncode != status or part not in done.stderr or done.stderr.count("\n") != 1 or os.path.exists(out):
            fail("refusal", args, "want", part, "got", done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    for test in (page, hostile, pictures, labels_apart, markdown, several, refusals):
        test(directory)
print("all passed" if failures == 0 else "%d failures" % failures)
sys.exit(failures > 0)
