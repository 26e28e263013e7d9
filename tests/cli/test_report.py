#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer report: what a page, a picture and a Markdown file contain, and that strings of a file stay text.
usage: test_report.py PROGRAM DATA"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib
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
    doc = made.simple(1, devices=3, workloads=[made.gemm(m, n, k) for m in (1, 16, 128, 4096)
                                               for n, k in ((384, 384), (1536, 384), (3072, 768))] +
                      [made.rows_op("masked_softmax", r, 128) for r in (128, 4096)] +
                      [made.encoder(1, 16), made.encoder(8, 128), made.launch()])
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
    if "script" in parsed.tags or any(not a.startswith("#") or a[1:] not in parsed.ids for a in parsed.addresses) or \
            re.search(r"url\(|@import", content):
        fail("page is not self-contained:", parsed.addresses)
    for part in ("prefers-color-scheme:dark", "@media print", "default-src 'none'"):
        if part not in content:
            fail("page without", part)
    for part in ("driver 7.8.9", "arithmetic intensity", "the compiler crashed", "FAILED", "wrong result: error 0.5, bound 1e-05",
                 "needs wide vectors", "no cl_khr_fp16", "fp16 arithmetic on device 0", "float64 reference", "0123abc", "1.5.3", "ab" * 32,
                 "At least 0.5 s and 10 samples", "float32 arithmetic 200 GFLOP/s", "memory 20.0 GB/s (read)", "less is better", "p10",
                 "tokenizing", "gemm/f32/m128-n1536-k384"):
        if part not in text:
            fail("page does not say", part)
    if content.count('class="roof"') != 3:
        fail("rooflines: want 3, found", content.count('class="roof"'))
    figures = re.findall(r'<text class="point mid"[^>]*>(\d+)<', content)
    if sorted(map(int, figures)) != sorted([1, 1, 2, 2] + list(range(3, 17)) * 3):  # the first two are not verified on a device each
        fail("points on rooflines:", sorted(map(int, figures)))
    if content.count('class="whisker"') != 17 * 3 - 2:
        fail("whiskers: want a bar for each verified row, found", content.count('class="whisker"'))
    if "Points above the level roof" in text:
        fail("no point is above the level roof, and the page says so")
    if ">matrix unit" in content:
        fail("no product is held against a matrix unit, and the page shows its roof")
    doc = example()
    doc["devices"][0]["limits"]["matrix_gflops"] = 3000.0
    doc["workloads"][0]["limit"] = "matrix_gflops"
    report(made.write(path, doc), "-o", out)
    if not re.search(r">matrix unit [^<]*GFLOP/s</text>", open(out, encoding="utf-8").read()):
        fail("the page does not show the matrix unit's roof")
    doc = example()
    doc["devices"][0]["limits"]["fp32_gflops"] = 20.0
    doc["settings"]["quick"], doc["complete"] = True, False
    report(made.write(path, doc), "-o", out)
    for part in ("Points above the level roof", "the short list of workloads (--quick), each for at least 0.5 s. Incomplete"):
        if part not in parse(out)[2]:
            fail("page does not say", part)
    if "NaN" in content or "inf" in re.sub(r"[a-z]*inf[a-z]+", "", content):
        fail("a figure that is no number")


def interrupted(folder):
    """A verified row without samples was interrupted: every format says so, and none calls it unsupported."""
    doc = made.simple(1, devices=2, workloads=[made.gemm(1, 384, 384), made.launch()])
    doc["complete"] = False
    doc["results"][0].update(wall_ms=[], device_ms=[], round_samples=[])
    path = made.write(os.path.join(folder, "i.json"), doc)
    for end, counts in (("html", 2), ("svg", 1), ("md", 1)):
        out = os.path.join(folder, "i." + end)
        done = report(path, "-o", out)
        with open(out, encoding="utf-8") as file:
            content = file.read()
        found = len(re.findall(r">interrupted<|\| interrupted \|", content))
        if done.returncode or "unsupported" in content or found != counts:
            fail("an interrupted row in", end, done.stderr, found)


def chosen_times():
    """Two devices, the second 4 and 16 times slower, and a third that measured nothing; p10 is 90 % and p90 is 120 % of each median."""
    devices = [made.device(0, "Fast", "One"), made.device(1, "Slow", "Two", gflops=100.0, gbps=10.0),
               made.device(2, "None", "Three", status="unsupported", reason="the compiler crashed", limits={})]
    devices[0]["limits"].update(copy_32kib_gbps=400.0, copy_256kib_gbps=120.0, copy_2mib_gbps=40.0, copy_16mib_gbps=18.0)
    doc = made.document(devices, [], [])
    for work, flops, size, times in ((made.gemm(1, 384, 384), 8e8, 1e8, ((0, "packed", 20.0), (0, "tiled", 10.0), (1, "packed", 80.0),
                                                                         (1, "tiled", 40.0))),
                                     (made.gemm(16, 384, 384), 8e8, 4e7, ((0, "tiled", 10.0), (1, "tiled", 160.0))),
                                     (made.rows_op("softmax", 128, 128), 1 << 15, 1 << 17, ((0, "", (1 << 17) / 100e6),)),
                                     (made.rows_op("layer_norm", 512, 1024), 1 << 20, 1 << 22, ((0, "", (1 << 22) / 60e6),))):
        work.update(flops=flops, bytes=size)
        doc["workloads"].append(work)
        doc["results"] += [made.ok(work, device, engine, [ms * part for part in [0.9] * 2 + [1.0] * 7 + [1.2] * 2], [11])
                           for device, engine, ms in times]
    return doc


def table_after(content, start):
    """The rows of the table that follows `start`: whether each is marked as the best, and its cells without markup."""
    table = content[content.index(start):]
    rows = re.findall(r'<tr( class="best")?>(.*?)</tr>', table[:table.index("</table>")])
    return [(bool(best), [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]) for best, row in rows]


def figures(folder):
    """The numbers of a page are those that follow from the times and the limits of its file."""
    out = os.path.join(folder, "figures.html")
    done = report(made.write(os.path.join(folder, "figures.json"), chosen_times()), "-o", out)
    if done.returncode:
        return fail("chosen times:", done.stderr)
    with open(out, encoding="utf-8") as file:
        content = file.read()

    def check(what, found, want):
        if found != want:
            fail("%s: want %s, found %s" % (what, want, found))

    spread = "90.0\u2013120 ~"
    check("rows of the first workload", [(best, cells[:6]) for best, cells in table_after(content, "m1-n384-k384</code></td></tr>")[:4]],
          [(True, ["One", "tiled", "10.0 ms", spread, "9.00 ms", "80.0 GFLOP/s"]),
           (False, ["One", "packed", "20.0 ms", spread, "18.0 ms", "40.0 GFLOP/s"]),
           (True, ["Two", "tiled", "40.0 ms", spread, "36.0 ms", "20.0 GFLOP/s"]),
           (False, ["Two", "packed", "80.0 ms", spread, "72.0 ms", "10.0 GFLOP/s"])])
    speeds = [cells for _, cells in table_after(content, '<table class="keep">') if cells]
    check("speeds, by the geometric mean of 4 and 16", speeds, [["gemm", "2 of 2", "8.00", "1.00", "\u2013"]])
    # memory, arithmetic, the copy of the nearest size (64 KiB: 32 KiB), the next copy above what was reached; memory, arithmetic
    check("shares of the roofs", re.findall(r'<text class="mono end quiet"[^>]*>([^<]*)<', content),
          ["50 %", "40 %", "25 %", "50 %", "25 %", "5 %"])
    check("times the slowest", re.findall(r">\u00d7([\d.]+)<", content), ["4.00", "1.00", "16.0", "1.00", "1.00", "1.00"])
    bars = content[content.index('m1-n384-k384</text>\n<text class="name end"'):]
    check("whiskers from p90 to p10", re.findall(r'class="whisker" d="M([\d.]+) [\d.]+H([\d.]+)M', bars)[:2],
          [("%.1f" % (178 + 314 * 0.9 / 1.2 / slower), "%.1f" % (178 + 314 / slower)) for slower in (1, 4)])
    ridge = re.findall(r'd="M([\d.]+) [^"]*"/><text class="tick mid"[^>]*>10<', content)[0]  # 200 GFLOP/s over 20 GB/s
    level = re.findall(r'd="M\d+ ([\d.]+)H\d+"/><text class="tick end"[^>]*>200<', content)[0]
    check("corner of the first roof", re.findall(r'class="roof" d="M[\d.]+ [\d.]+L([\d.]+) ([\d.]+)H', content)[:1], [(ridge, level)])


class Boxes(HTMLParser):
    """Which elements lie in no box that scrolls by itself."""

    def __init__(self):
        super().__init__()
        self.open, self.loose, self.tables, self.figures = [], [], 0, 0

    def handle_starttag(self, tag, attrs):
        classes = (dict(attrs).get("class") or "").split()
        if tag == "table":
            self.tables += 1
            if "div.scroll" not in self.open:
                self.loose.append(self.get_starttag_text())
        if tag == "svg":
            self.figures += 1
            if "figure" not in self.open:
                self.loose.append(self.get_starttag_text())
        if tag not in Page.void:
            self.open.append(tag + "".join("." + c for c in classes))

    def handle_endtag(self, tag):
        self.open.pop()


def narrow(folder):
    """On 400 px the page itself never scrolls sideways: what is wide does so in a box of its own, and long words break."""
    doc = example()
    doc["settings"]["quick"] = True
    path, out = made.write(os.path.join(folder, "r" * 100 + ".json"), doc), os.path.join(folder, "narrow.html")
    report(path, "-o", out)
    with open(out, encoding="utf-8") as file:
        content = file.read()
    boxes = Boxes()
    boxes.feed(content)
    if boxes.loose or boxes.tables < 4 or boxes.figures < 4:
        fail("wide parts outside of a box that scrolls:", boxes.loose[:5], boxes.tables, boxes.figures)
    style = re.sub(r"@media print\{.*?\}\}", "", content[content.index("<style>"):content.index("</style>")], flags=re.S)
    rules = [(selector.strip(), rule) for selector, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", style)]

    def has(element, declaration):
        return any(element in (s.strip() for s in selector.split(",")) and declaration in rule.split(";") for selector, rule in rules)

    for element, declaration in (("figure", "overflow-x:auto"), (".scroll", "overflow-x:auto"), (".tiles", "flex-wrap:wrap"),
                                 ("p", "overflow-wrap:anywhere"), ("li", "overflow-wrap:anywhere"), ("code", "overflow-wrap:anywhere")):
        if not has(element, declaration):
            fail("narrow page:", element, "without", declaration)
    if not re.search(r"@media \(max-width:(4\d\d|[5-9]\d\d)px\)", style) or "width=device-width, initial-scale=1" not in content:
        fail("narrow page: no rules for small screens")
    for selector, rule in rules:
        for width in re.findall(r"(?:^|;)(?:min-)?width:(\d+)px", rule):
            if int(width) > 340 and selector != "figure svg":
                fail("narrow page:", selector, "is always", width, "px wide")


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
        w.update(item="<i>", items=1.0)
        for r in doc["results"]:
            if r["workload"] == old:
                r.update(workload=w["id"], engine=r["engine"] and "<b>" + r["engine"], off_device=[HOSTILE])
                if r["status"] == "ok":
                    r.update(rate_unit="<i>/s", rate=1e3 / r["median_ms"])
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
            if text.get("y") and not text.get("transform") and not (-20 < float(text.get("y")) < height - 20 and
                                                                    -20 < float(text.get("x")) < width - 20):
                fail("picture: a text outside", text.attrib)
                break
    content, _, _ = parse(os.path.join(folder, "all.svg"))
    if "prefers-color-scheme:dark" not in content:
        fail("picture without colours for dark pages")


def labels_apart(folder):
    """No number of a point covers another number, and few cover points, with many points."""
    doc = made.simple(1, workloads=[made.gemm(m, n, k) for m in (1, 2, 4, 16, 128, 4096) for n, k in
                                    ((384, 384), (1536, 384), (384, 1536), (768, 768), (2304, 768), (3072, 768), (768, 3072), (1024, 1024),
                                     (512, 512))])
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
    for part in ("# Benchmark of OpenCL devices", "## Failures", "## Not measured", "## How it was measured"):
        if part not in lines:
            fail("Markdown without", part)
    if any(re.search(r"\| -+ (?=\|)", line) for line in lines) or not any("| \u2013 |" in line for line in lines):
        fail("Markdown: what is missing has another sign than \u2013")
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


def labels(folder):
    """No two devices of a report have one label, and each label is only as long as it must be."""
    def names(*paths):
        done = report(*paths, "-o", "-", "--format", "md")
        rows = done.stdout.replace("\\", "").split("## Devices")[1].split("\n\n")[1].split("\n")[2:]
        return [row.split(" | ")[0][2:] for row in rows]

    one = made.simple(1)
    cpus, gpus = made.simple(1, devices=3), made.simple(1, devices=3)
    cpus["devices"][2]["platform"] = "Another platform"
    for d in gpus["devices"]:
        d.update(type="GPU", name="GPU")
    gpus["devices"][2]["platform"] = "Another platform"
    for folder_name in ("p1", "p2"):
        os.mkdir(os.path.join(folder, folder_name))
    paths = [made.write(os.path.join(folder, name, "r.json"), one) for name in ("p1", "p2")]
    ends = [" (%s)" % path[-36:] for path in paths]
    for given, want in (((made.write(os.path.join(folder, "cpus.json"), cpus),), ["Platform, Device 0", "Platform, Device 1",
                                                                                   "Another platform"]),
                        ((made.write(os.path.join(folder, "gpus.json"), gpus),), ["GPU, Platform #0", "GPU, Platform #1",
                                                                                  "GPU, Another platform"]),
                        (paths, ["Platform" + end for end in ends]),
                        ((paths[0], paths[0]), ["Platform [1]", "Platform [2]"])):
        if names(*given) != want:
            fail("labels of devices: want", want, "found", names(*given))


def plain_colours(folder):
    """A picture needs no variables of style sheets: what draws SVG without them shows light ground and the colours of bars, not black."""
    path, out = made.write(os.path.join(folder, "c.json"), example()), os.path.join(folder, "c.svg")
    report(path, "-o", out)
    with open(out, encoding="utf-8") as file:
        content = file.read()
    if "var(" in content or "prefers-color-scheme:dark" not in content:
        fail("a picture uses variables, or has no colours for dark ground")
    if not shutil.which("rsvg-convert"):
        print("skipped: rsvg-convert is missing, the picture was not drawn")
        return
    png = os.path.join(folder, "c.png")
    if subprocess.run(["rsvg-convert", out, "-o", png]).returncode:
        return fail("rsvg-convert refuses the picture")
    width, height, pixels = read_png(png)
    white = sum(pixel[:3] == b"\xff\xff\xff" for pixel in pixels)
    blue = sum(pixel[:3] == b"\x00\x72\xb2" for pixel in pixels)
    if white < 0.5 * len(pixels) or blue < 100:
        fail("drawn picture of %d x %d: %d white and %d blue pixels" % (width, height, white, blue))


def read_png(path):
    """Width, height and pixels (3 or 4 bytes each) of an 8-bit PNG."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        if kind == b"IHDR":
            width, height, depth, colour = (int.from_bytes(data[at + 8:at + 12], "big"), int.from_bytes(data[at + 12:at + 16], "big"),
                                            data[at + 16], data[at + 17])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    assert depth == 8 and colour in (2, 6), (depth, colour)
    size = 3 if colour == 2 else 4
    raw, stride = zlib.decompress(packed), size * width
    last, rows = bytearray(stride), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left, up, corner = (line[i - size] if i >= size else 0), last[i], (last[i - size] if i >= size else 0)
            if kind == 4:
                estimate = left + up - corner
                nearest = min((abs(estimate - left), 0, left), (abs(estimate - up), 1, up), (abs(estimate - corner), 2, corner))[2]
            else:
                nearest = (0, left, up, (left + up) // 2)[kind]
            line[i] = (line[i] + nearest) & 255
        rows.append(bytes(line))
        last = line
    return width, height, [row[i:i + size] for row in rows for i in range(0, stride, size)]


def one_device(folder):
    """Nothing is compared with itself; a time has one unit; every order is said where it holds; limits have names."""
    doc = made.simple(1, devices=1, workloads=[made.gemm(1, 384, 384), made.encoder(1, 16), made.launch()])
    path = made.write(os.path.join(folder, "o.json"), doc)
    for end in ("html", "svg", "md"):
        out = os.path.join(folder, "o." + end)
        done = report(path, "-o", out)
        with open(out, encoding="utf-8") as file:
            content = file.read()
        for part in ("slowest", " us<", " us |", "_gbps", "_gflops"):
            if done.returncode or part in content:
                fail("one device, ." + end + ": found", part, done.stderr)


def noisy_limit(folder):
    """A share of a limit that spread itself carries a mark."""
    doc = made.simple(1, devices=1, workloads=[made.rows_op("masked_softmax", 128, 128)])
    key = doc["workloads"][0]["limit"]
    measure = json.loads(json.dumps(doc["workloads"][0]))
    measure.update(id="bandwidth/copy/x", suite="peak", op="bandwidth", limit=None, work={"measures": key})
    doc["results"][0]["percent_of_limit"] = 50.0
    doc["workloads"].append(measure)
    for noisy in (False, True):
        times = [1 + 0.001 * (i % 7) if not noisy else 1.0 + i % 3 for i in range(20)]
        doc["results"] = [doc["results"][0], made.ok(measure, 0, "", times, [2] * 10)]
        out = os.path.join(folder, "n.md")
        done = report(made.write(os.path.join(folder, "n.json"), doc), "-o", out)
        with open(out, encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("| ") and "softmax" in line and "50 %" in line]
        if done.returncode or not lines or ("~50" in lines[0].replace("\\", "")) != noisy:
            fail("share of a limit that is", "noisy:" if noisy else "quiet:", lines, done.stderr)


def chained(folder):
    """A row that goes over the same data several times is held against the copy of what one time reads and writes."""
    for key, count in (("chain", 32), ("steps", 8), ("other", 1)):
        work = made.rows_op("layer_norm", 64, 128)  # 64 KiB: read and written halves of 32 KiB
        work["work"][key] = 32 if key == "other" else count
        work["flops"] *= count
        work["bytes"] *= count
        doc = made.document([made.device(0, "Device", "Platform", gflops=1000.0)], [work], [])
        doc["devices"][0]["limits"].update(copy_32kib_gbps=400.0, copy_256kib_gbps=250.0, copy_2mib_gbps=240.0)
        doc["results"] = [made.ok(work, 0, "", [work["bytes"] / 200e6] * 10, [1] * 10)]
        out = os.path.join(folder, "chained.svg")
        done = report(made.write(os.path.join(folder, "chained.json"), doc), "-o", out, "--part", "rooflines")
        with open(out, encoding="utf-8") as file:
            shares = re.findall(r">(\d+) %<", file.read())
        if done.returncode or shares != ["50"]:
            fail("a chain of", count, "by", key, "in a cache: want 50 % of the roof, found", shares, done.stderr)


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
    for args, status, part in (((a, "-o", os.path.join(folder, "x.pdf")), 2,
                                "expected a name that ends in .html, .svg or .md, or --format"),
                               ((a,), 2, "expected -o"),
                               (("-o", out), 2, "expected a result file"),
                               ((a, "-o", out, "--part", "half"), 2, "expected all|rooflines|bars"),
                               ((a, "-o", out, "--part", "bars"), 2, "--part needs a picture"),
                               ((a, "-o", out[:-len("html")] + "md", "--part", "rooflines"), 2, "--part needs a picture"),
                               ((os.path.join(folder, "missing.json"), "-o", out), 1, "missing.json"),
                               ((made.write(os.path.join(folder, "broken.json"), broken), "-o", out), 1,
                                'results[0]: "wall_ms[0]": expected a time from 1e-9'),
                               ((a, "-o", os.path.join(folder, "no", "such", "r.html")), 1, "no/such")):
        done = report(*args)
        if done.returncode != status or part not in done.stderr or done.stderr.count("\n") != 1 or os.path.exists(out):
            fail("refusal", args, "want", part, "got", done.returncode, done.stderr)


with tempfile.TemporaryDirectory() as directory:
    for test in (page, figures, interrupted, narrow, hostile, pictures, plain_colours, one_device, noisy_limit, labels_apart, labels,
                 markdown, several, chained, refusals):
        test(directory)
print("all passed" if failures == 0 else "%d failures" % failures)
sys.exit(failures > 0)
