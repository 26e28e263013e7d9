#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of host/serve/deploy: they parse, their command lines are ones that the program takes, and their packages are README's.
test_serve_deploy.py PROGRAM DATA"""
import configparser
import json
import os
import re
import shlex

from runs import clformer, data, fail, finish

project = os.path.join(data, "..", "..")


def read(*names):
    with open(os.path.join(project, *names), encoding="utf-8") as file:
        return file.read()


def takes(words):
    """Whether the program knows these options: --help at the end of a line that it refuses would not be reached."""
    done = clformer(*words, "--help")
    return done.returncode == 0 and all(option in done.stdout for option in re.findall(r"--[a-z-]+", " ".join(words)))


def read_unit(name):
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read_string(read("host", "serve", "deploy", name))
    return unit


unit = read_unit("clformer.service")
command = shlex.split(unit["Service"]["ExecStart"])
if unit["Service"]["Type"] != "notify" or os.path.basename(command[0]) != "clformer" or not takes(command[1:]):
    fail("clformer.service:", command)
if read_unit("clformer.socket")["Socket"]["ListenStream"] != "127.0.0.1:" + command[command.index("--port") + 1]:
    fail("clformer.socket has another port than clformer.service")
container = read("host", "serve", "deploy", "Containerfile")
for line in re.findall(r"^# podman run .* clformer (serve .*)$", container, re.M):
    if not takes(shlex.split(line)):
        fail("Containerfile:", line)
packages = set(re.findall(r"\b[a-z0-9-]+-(?:dev|headers)\b", container.partition("COPY")[0]))
missing = {name for name in re.findall(r"\b[a-z0-9-]+-(?:dev|headers)\b", read("README.md")) if not name.startswith("libcmocka")} - packages
if missing or "HEALTHCHECK" not in container or not re.search(r"^USER clformer$", container, re.M):
    fail("Containerfile lacks", missing)
for name in ("nginx.conf", "haproxy.cfg", "Caddyfile"):
    text = read("host", "serve", "deploy", name)
    if text.count("{") != text.count("}") or "8080" not in text or not re.search("least_?conn", text):
        fail(name)
if "Host $http_host;" not in read("host", "serve", "deploy", "nginx.conf"):
    fail("nginx.conf passes another Host on than the page has in its Origin")
if "GET /health" not in read("host", "serve", "deploy", "haproxy.cfg"):
    fail("haproxy.cfg does not ask for /health")
routes = {"kubernetes.yaml": "/health", "compose.yaml": "Containerfile", "litellm.yaml": "http://127.0.0.1:8080/v1"}
for name, needed in routes.items():
    text = read("host", "serve", "deploy", name)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    odd = [line for line in lines if (len(line) - len(line.lstrip())) % 2 or "\t" in line or not re.match(r"\s*(- |[\w./-]+:|---$)", line)]
    if odd or needed not in text or any(text.count(a) != text.count(b) for a, b in ("{}", "[]", '""')):
        fail(f"{name}: no YAML, or without {needed}: {odd}")
    for found in re.findall(r"^\s*(?:args|command): (\[\"serve\".*\])$", text, re.M):
        if not takes(json.loads(found)):
            fail(name, found)
    if name != "litellm.yaml" and '"serve"' not in text:
        fail(f"{name} starts no server")
finish()
