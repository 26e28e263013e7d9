#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipe for Slurm on a cluster of this machine alone: munged, slurmctld and slurmd with their own configuration, keys, ports and
folders. Skipped where one of them is not installed or cannot start. usage: test_slurm.py PROGRAM DATA"""
import ctypes
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from runs import data, ending, expect, fail, failures, finish, model, program, read, run, skip, skip_without_device, write_lines

recipe = os.path.join(os.path.dirname(os.path.dirname(data)), "host", "cli", "recipes", "embed_slurm.sh")
WINDOW, SHARDS = 32, 3
PATIENCE = 240  # seconds; no result depends on them
os.environ["PATH"] += ":/usr/sbin:/sbin"
missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo") if not shutil.which(name)]
if missing:
    skip(f"not installed: {', '.join(missing)} (Debian: munge slurmctld slurmd)")
libc = ctypes.CDLL(None)
daemons = []


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(folder, *command):
    """A daemon in the foreground, which ends with this process."""
    log = os.path.join(folder, command[0] + ".log")
    with open(log, "wb") as file:
        daemons.append((subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                         preexec_fn=lambda: libc.prctl(1, signal.SIGKILL)), command[0], log))  # PR_SET_PDEATHSIG


def stop():
    for process, _, _ in reversed(daemons):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(is_so):
    """False where a daemon ended before, or patience did."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end or any(process.poll() is not None for process, _, _ in daemons):
            return False
        time.sleep(0.1)
    return True


def reason():
    """The logs' last words: of the daemons that ended, else of all."""
    ended = [daemon for daemon in daemons if daemon[0].poll() is not None]
    return "; ".join(f"{name}: {(read(log) or b'').decode(errors='replace').strip()[-300:]}" for _, name, log in ended or daemons)


def start_cluster(folder):
    host = socket.gethostname().split(".")[0]
    user = run("id", "-un").stdout.strip()
    control, node = free_ports(2)
    for name in ("state", "spool"):
        os.mkdir(os.path.join(folder, name), 0o700)
    with open(os.open(os.path.join(folder, "key"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(os.urandom(1024))
    configuration = {
        "ClusterName": "one", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmUser": user, "SlurmdUser": user, "SlurmctldPort": control,
        "SlurmdPort": node, "AuthType": "auth/munge", "CredType": "cred/munge", "AuthInfo": f"socket={folder}/munge",
        "StateSaveLocation": f"{folder}/state", "SlurmdSpoolDir": f"{folder}/spool", "SlurmctldPidFile": f"{folder}/slurmctld.pid",
        "SlurmdPidFile": f"{folder}/slurmd.pid", "ProctrackType": "proctrack/pgid", "TaskPlugin": "task/none",
        "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core", "MpiDefault": "none", "ReturnToService": 2,
        "SchedulerParameters": "sched_interval=1,batch_sched_delay=0"}
    with open(os.path.join(folder, "slurm.conf"), "w", encoding="ascii") as file:
        file.writelines(f"{name}={value}\n" for name, value in configuration.items())
        file.write(f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN\n"
                   "PartitionName=all Nodes=ALL Default=YES State=UP\n")
    os.environ["SLURM_CONF"] = os.path.join(folder, "slurm.conf")
    names = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
    start(folder, "munged", "--foreground", "--force", f"--key-file={folder}/key", f"--socket={folder}/munge", *names)
    if wait_until(lambda: os.path.exists(f"{folder}/munge")):
        start(folder, "slurmctld", "-D", "-c")
        start(folder, "slurmd", "-D")
    if not wait_until(lambda: run("sinfo", "-h", "-o", "%T").stdout.strip() == "idle"):
        skip(f"Slurm cannot start here: {reason()}")


def test(work):
    os.chdir(work)
    write_lines("lines.txt", 2000, 9)
    command = [program, "embed", model, "--file", "lines.txt", "--window", str(WINDOW), "-o", "want.npy"]
    done = run(*command)
    skip_without_device(done)
    expect("embed", done, 0)

    def submit(name):
        """The recipe, and the end of its jobs."""
        with open("clformer", "w", encoding="ascii") as file:
            variables = ending("fdatasync:5", once=os.path.join(work, "once")) if name == "ended" else {}
            file.write(f"#!/bin/sh\nexec env {shlex.join(f'{key}={value}' for key, value in variables.items())} "
                       f"{shlex.quote(program)} \"$@\"\n")
        os.chmod("clformer", 0o700)
        expect(name, run(recipe, model, os.path.join(work, "lines.txt"), os.path.join(work, "all.npy"), str(SHARDS),
                         "--window", str(WINDOW), env={**os.environ, "CLFORMER": os.path.join(work, "clformer")}), 0)
        if not wait_until(lambda: set(run("squeue", "-h", "-o", "%r").stdout.split()) <= {"DependencyNeverSatisfied"}):
            fail(f"{name}: the jobs do not end: {run('squeue', '-h').stdout} {reason()}")
        run("scancel", "--state=PENDING")  # a job that waits for what failed

    # A task that is ended keeps what it did, and the job behind it does not run; submitted again, only what is missing is done.
    submit("ended")
    if not os.path.exists("once") or os.path.exists("all.npy"):
        fail(f"a task that is ended: {os.listdir()}")
    parts = sorted(os.listdir("all.npy.shards"))
    if len(parts) != SHARDS + 1 or sum(name.endswith(".part") for name in parts) != 1:
        fail(f"a task that is ended: {parts}")
    submit("again")
    if read("all.npy") != read("want.npy") or os.path.exists("all.npy.shards"):
        fail(f"embed_slurm.sh: other bytes than one run's: {os.listdir()}")
    if failures:
        for name in sorted(os.listdir()):
            if name.startswith("slurm-"):
                print(name, read(name).decode(errors="replace")[-400:])


with tempfile.TemporaryDirectory(prefix="clf", dir="/tmp") as place:  # a socket's name is short
    try:
        start_cluster(place)
        os.mkdir(os.path.join(place, "work"))
        test(os.path.join(place, "work"))
    finally:
        stop()
        os.chdir("/")
finish()
