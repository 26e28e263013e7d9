# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A part of ./quickstart test --full: the project on Debian 13 (PoCL 6, LLVM 18, GCC 14, clang 19), in a root of its own under build/.
# Sourced by quickstart behind tests/run.sh, whose functions it uses.
#
# Processes and mounts have namespaces of their own and vanish together, also where the script is killed. No folder of this system is
# mounted: the source and the model are copied. The root, its packages, build and kernel cache stay for later runs.

debian13_root=$PWD/build/debian13

# Why this machine cannot have the root, "" if it can.
debian13_obstacle() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "making a root needs root rights"
    elif ! command -v debootstrap >/dev/null 2>&1; then
        echo "debootstrap is not installed"
    elif ! unshare --mount-proc --pid --fork --kill-child true 2>/dev/null; then
        echo "this system does not let root unshare mounts (a container without CAP_SYS_ADMIN)"
    fi
}

# Runs a command in namespaces of its own. It is waited for in the background, because only so bash runs its traps meanwhile: these kill
# `unshare`, which ignores other signals, and with it all that the command started.
in_namespaces() { # COMMAND...
    local status=0
    unshare --mount-proc --pid --fork --kill-child --propagation private "$@" &
    last_child=$!
    wait "$last_child" || status=$?
    last_child=
    return $status
}

# Runs a command in the root, with /proc, /sys (read-only) and the usual devices.
in_debian13() { # [NAME=VALUE...] COMMAND...
    in_namespaces bash -c '
        set -e
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mount -t sysfs -o ro sysfs "$root/sys"
        mount -t tmpfs -o mode=755 tmpfs "$root/dev"
        mkdir "$root/dev/pts" "$root/dev/shm"
        for device in null zero full random urandom tty; do
            : >"$root/dev/$device"
            mount --bind "/dev/$device" "$root/dev/$device"
        done
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
        mount -t tmpfs tmpfs "$root/dev/shm"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"' \
        bash "$debian13_root" "$@"
}

# debootstrap leaves a whole root or none. Its packages are unpacked without a sync of each file, and without manuals.
make_debian13() {
    [ ! -x "$debian13_root/usr/bin/dpkg" ] || return 0
    say "Making a root of Debian 13 in $debian13_root"
    rm -rf "$debian13_root.part"
    mkdir -p "$debian13_root.part/etc/dpkg/dpkg.cfg.d"
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/man/*' 'path-exclude=/usr/share/locale/*' \
        >"$debian13_root.part/etc/dpkg/dpkg.cfg.d/quick"
    watched build/debian13.log in_namespaces debootstrap --variant=minbase --include=ca-certificates,ninja-build \
        trixie "$debian13_root.part" || return 1
    mv -T "$debian13_root.part" "$debian13_root"
}

# The tree without what is built, and the model.
fill_debian13() {
    local tree=$debian13_root/clformer entry
    mkdir -p "$tree" "$debian13_root/model"
    for entry in "$tree"/* "$tree"/.[!.]*; do
        case ${entry##*/} in build | '*' | '.[!.]*') ;; *) rm -rf "$entry" ;; esac
    done
    tar -c --exclude='./build*' --exclude=./.git . | tar -x -C "$tree" || return 1
    cp -u "$CLF_MODEL_DIR"/*.* "$debian13_root/model/" && find "$CLF_MODEL_DIR" -mindepth 1 -maxdepth 1 -type d \
        -exec cp -ru -t "$debian13_root/model" {} + || return 1
    cp /etc/resolv.conf "$debian13_root/etc/resolv.conf" || return 1
}

# Whether the network is why a step failed; it is asked once more. Then the part is skipped.
debian13_is_offline() { # LOG
    local reason
    [ ! -x "$debian13_root/usr/bin/dpkg" ] || in_debian13 apt-get update >"$1" 2>&1 || true
    reason=$(network_reason "$1") || reason=$(grep -m 1 -E "Failed getting release file|Couldn't download" "$1") || return 1
    echo "Debian 13: no network ($reason)" >>build/skips
}

# quickstart as a newcomer runs it, its small tests, and what inside.sh adds. Warnings of GCC and clang are errors.
test_debian13() {
    local obstacle log=build/debian13.log common=(CFLAGS=-Werror CLF_CACHE_DIR=/clformer/build/test-cache)
    obstacle=$(debian13_obstacle)
    if [ -n "$obstacle" ]; then
        echo "Debian 13: $obstacle" >>build/skips
        return 0
    fi
    make_debian13 || { tail -n 5 "$log"; debian13_is_offline "$log"; return; }
    fill_debian13 || return 1
    in_debian13 "${common[@]}" bash -c 'cd /clformer && ./quickstart /model' || { debian13_is_offline "$log"; return; }
    in_debian13 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends clang-19 libclang-rt-19-dev libclc-19 \
        mesa-opencl-icd g++ libcmocka-dev parallel >"$log" 2>&1 || { tail -n 5 "$log"; debian13_is_offline "$log"; return; }
    # Of these binaries PoCL compiles nothing anew for a size of work-groups, as on this system's PoCL.
    in_debian13 "${common[@]}" CLF_MODEL_DIR=/model POCL_WORK_GROUP_SPECIALIZATION=0 \
        bash -c 'cd /clformer && ./quickstart test --fast' || return 1
    in_debian13 bash -c '. /clformer/tests/debian13/inside.sh'
}
