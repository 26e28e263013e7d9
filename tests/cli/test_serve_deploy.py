#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of host/serve/deploy: they parse, their command lines are ones that the program takes, and their packages are README's.
test_serve_deploy.py PROGRAM DATA"""
import configparser
import os
import re
import shlex

import yaml

from runs import clformer, data, fail, finish

project = os.path.join(data, "..", "..")
deploy = os.path.join(project, "host", "serve", "deploy")


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


def read_yaml(name):
    try:
        return list(yaml.safe_load_all(read("host", "serve", "deploy", name)))
    except yaml.YAMLError as error:
        fail(f"{name}: no YAML: {error}")
        return []


def check_command(name, words):
    """The words start a server on the port that the file's other parts name."""
    if not isinstance(words, list) or words[:1] != ["serve"] or words[words.index("--port") + 1] != "8080" or not takes(words):
        fail(f"{name}: expected a command line of clformer serve on port 8080, found {words}")


def check_probe(name, container, probe):
    """Kubernetes asks the served port for /health."""
    found = container.get(probe, {}).get("httpGet")
    if found != {"path": "/health", "port": 8080}:
        fail(f"{name}: {probe}: expected /health of port 8080, found {found}")


def check_kubernetes(name):
    by_kind = {part["kind"]: part for part in read_yaml(name)}
    pod = by_kind["Deployment"]["spec"]["template"]
    container = pod["spec"]["containers"][0]
    check_command(name, container["args"])
    for probe in ("startupProbe", "readinessProbe"):
        check_probe(name, container, probe)
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    if mounted != volumes or container["ports"] != [{"containerPort": 8080}]:
        fail(f"{name}: volumes {volumes}, mounted {mounted}, ports {container['ports']}")
    if not all(isinstance(value, str) for value in pod["metadata"]["annotations"].values()):
        fail(f"{name}: annotations that are no texts: {pod['metadata']['annotations']}")
    labels, selected = pod["metadata"]["labels"], by_kind["Service"]["spec"]["selector"]
    if selected != labels or by_kind["Deployment"]["spec"]["selector"] != {"matchLabels": labels}:
        fail(f"{name}: the pod's labels are {labels}, the service selects {selected}")
    if by_kind["Service"]["spec"]["ports"][0]["targetPort"] != 8080 or pod["spec"]["terminationGracePeriodSeconds"] < 600:
        fail(f"{name}: the service's port, or a pod that is ended before its requests are")


def check_compose(name):
    (file,) = read_yaml(name)
    for service in file["services"].values():
        check_command(name, service["command"])
        build = service["build"]
        if not os.path.exists(os.path.join(deploy, build["context"], build["dockerfile"])):
            fail(f"{name}: no file {build['dockerfile']}")
        arguments = set(re.findall(r"^ARG (\w+)", read("host", "serve", "deploy", "Containerfile"), re.M))
        named = {volume.partition(":")[0] for volume in service["volumes"] if not volume.startswith(".")}
        if not set(build["args"]) <= arguments or named != set(file["volumes"]) or service["ports"] != ["127.0.0.1:8080:8080"]:
            fail(f"{name}: {service}")


def check_litellm(name):
    (file,) = read_yaml(name)
    for entry in file["model_list"]:
        parameters = entry["litellm_params"]
        provider = parameters["model"].partition("/")[0]
        base = {"openai": "http://127.0.0.1:8080/v1", "jina_ai": "http://127.0.0.1:8080"}.get(provider)
        if parameters["api_base"] != base or parameters["api_key"] != "os.environ/CLF_API_KEY":
            fail(f"{name}: {entry}")


unit = read_unit("clformer.service")
command = shlex.split(unit["Service"]["ExecStart"])
if unit["Service"]["Type"] != "notify" or os.path.basename(command[0]) != "clformer" or not takes(command[1:]):
    fail("clformer.service:", command)
if read_unit("clformer.socket")["Socket"]["ListenStream"] != "127.0.0.1:" + command[command.index("--port") + 1]:
    fail("clformer.socket has another port than clformer.service")
containerfile = read("host", "serve", "deploy", "Containerfile")
for line in re.findall(r"^# podman run .* clformer (serve .*)$", containerfile, re.M):
    if not takes(shlex.split(line)):
        fail("Containerfile:", line)
packages = set(re.findall(r"\b[a-z0-9-]+-(?:dev|headers)\b", containerfile.partition("COPY")[0]))
missing = {name for name in re.findall(r"\b[a-z0-9-]+-(?:dev|headers)\b", read("README.md")) if not name.startswith("libcmocka")} - packages
if missing or "HEALTHCHECK" not in containerfile or not re.search(r"^USER clformer$", containerfile, re.M):
    fail("Containerfile lacks", missing)
for name in ("nginx.conf", "haproxy.cfg", "Caddyfile"):
    text = read("host", "serve", "deploy", name)
    if text.count("{") != text.count("}") or "8080" not in text or not re.search("least_?conn", text):
        fail(name)
if "Host $http_host;" not in read("host", "serve", "deploy", "nginx.conf"):
    fail("nginx.conf passes another Host on than the page has in its Origin")
if "GET /health" not in read("host", "serve", "deploy", "haproxy.cfg"):
    fail("haproxy.cfg does not ask for /health")
check_kubernetes("kubernetes.yaml")
check_compose("compose.yaml")
check_litellm("litellm.yaml")
finish()
