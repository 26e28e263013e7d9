# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A part of ./quickstart test --full: the project on Debian 13 (PoCL 6, LLVM 18, GCC 14, clang 19), in a root of its own under build/.
# Sourced by quickstart behind tests/run.sh, whose functions it uses.
#
# Processes and mounts have namespaces of their own and vanish together, also where the script is killed. No folder of this system is
# mounted: the source and the model are copied. The root, its packages, build and kernel cache stay for later runs. A system that cannot
# have the root, or cannot fetch it, is a skip; what fails in the root is a failure.

debian13_root=$PWD/build/debian13
debian13_log=$PWD/build/debian13.log
debian13_gigabytes=5 # of the root with its packages and builds, and some more

# Mounts of the root at $root: /proc, /sys (read-only) and the usual devices.
debian13_mounts='
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
    ln -s /proc/self/fd "$root/dev/fd"'

# Runs a command in namespaces of its own, for so many seconds at most (status 137). Process 1 there is a shell, which takes what has lost
# its parent. It is waited for in the background, because only so bash runs its traps meanwhile: these kill `unshare`, which ignores other
# signals, and with it all that the command started.
in_namespaces() { # SECONDS COMMAND...
    local status=0
    unshare --mount-proc --pid --fork --kill-child --propagation private \
        bash -c 'timeout --foreground --signal=KILL "$@"; exit $?' bash "$@" </dev/null &
    last_child=$!
    wait "$last_child" || status=$?
    last_child=
    return $status
}

# Runs a command in the root.
in_debian13() { # SECONDS [NAME=VALUE...] COMMAND...
    local seconds=$1
    shift
    in_namespaces "$seconds" bash -c "set -e; root=\$1; shift; $debian13_mounts"'
        exec chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "$@"' \
        bash "$debian13_root" "$@"
}

# Whether this system allows the mounts and chroot: they are tried in an empty folder.
debian13_may_mount() {
    local folder=$PWD/build/debian13.probe status=0
    mkdir -p "$folder/proc" "$folder/sys" "$folder/dev"
    in_namespaces 60 bash -c "set -e; root=\$1; $debian13_mounts"'
        chroot / true' bash "$folder" >"$debian13_log" 2>&1 || status=$?
    rmdir "$folder/proc" "$folder/sys" "$folder/dev" "$folder"
    return $status
}

# Why this machine cannot have the root, "" if it can.
debian13_obstacle() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "making a root needs root rights"
    elif ! command -v debootstrap >/dev/null 2>&1; then
        echo "debootstrap is not installed"
    elif ! debian13_may_mount; then
        echo "this system does not let root unshare, mount or chroot ($(head -n 1 "$debian13_log" | cut -c 1-160))"
    elif [ ! -d "$debian13_root" ] && [ "$(($(df --output=avail -k build | tail -n 1) >> 20))" -lt $debian13_gigabytes ]; then
        echo "less than $debian13_gigabytes GB are free"
    fi
}

# debootstrap leaves a whole root or none. Its packages are unpacked without a sync of each file, and without manuals.
make_debian13() {
    [ ! -x "$debian13_root/usr/bin/dpkg" ] || return 0
    say "Making a root of Debian 13 in $debian13_root"
    rm -rf "$debian13_root.part"
    mkdir -p "$debian13_root.part/etc/dpkg/dpkg.cfg.d"
    printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/man/*' 'path-exclude=/usr/share/locale/*' \
        >"$debian13_root.part/etc/dpkg/dpkg.cfg.d/quick"
    watched "$debian13_log" in_namespaces 600 debootstrap --variant=minbase --include=ca-certificates,ninja-build \
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

skip_debian13() { echo "Debian 13: $1" >>build/skips; }

# The line of the log that tells why a root or packages could not be had.
debian13_reason() {
    network_reason "$debian13_log" ||
        { grep -a -i -E '^(E|W|debootstrap|dpkg|quickstart):' "$debian13_log" || tail -n 1 "$debian13_log"; } | tail -n 1 | cut -c 1-160
}

# Seconds that a step may take: MOST, and not beyond the end of --full.
debian13_seconds() { # MOST
    local left
    left=$(seconds_left)
    echo $((left > $1 ? $1 : left > 1 ? left : 1)) # 0 is no limit to timeout
}

# quickstart as a newcomer runs it; 77: it ended before it built anything, because packages could not be had, or the time was over.
quickstart_debian13() { # NAME=VALUE...
    local status=0
    in_debian13 "$(debian13_seconds 900)" "$@" \
        bash -c 'cd /clformer && ./quickstart /model 2>&1 | tee /quickstart.log; exit "${PIPESTATUS[0]}"' || status=$?
    [ $status -ne 0 ] || return 0
    if [ $status -eq 137 ] && [ "$(seconds_left)" -le 0 ]; then
        skip_debian13 "no time left: quickstart was ended"
        return 77
    fi
    cp "$debian13_root/quickstart.log" "$debian13_log"
    ! grep -q '^== Building' "$debian13_log" || return 1
    skip_debian13 "packages of quickstart: $(debian13_reason)"
    return 77
}

# quickstart, the small tests, and what other compilers and drivers say. Warnings of GCC and clang are errors.
test_debian13() {
    local obstacle seconds status=0 common=(CFLAGS=-Werror CLF_CACHE_DIR=/clformer/build/test-cache)
    obstacle=$(debian13_obstacle)
    if [ -n "$obstacle" ]; then
        skip_debian13 "$obstacle"
        return 0
    fi
    make_debian13 || { skip_debian13 "debootstrap: $(debian13_reason)"; return 0; }
    fill_debian13 || return 1
    quickstart_debian13 "${common[@]}" || status=$?
    [ $status -ne 77 ] || return 0
    [ $status -eq 0 ] || return 1
    watched "$debian13_log" in_debian13 600 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        python3 libcmocka-dev clang-19 libclang-rt-19-dev libclc-19 mesa-opencl-icd ||
        { skip_debian13 "packages of its tests: $(debian13_reason)"; return 0; }
    seconds=$(debian13_seconds 1500)
    in_debian13 "$seconds" "${common[@]}" CLF_MODEL_DIR=/model SECONDS_FOR_TESTS=400 \
        bash -c '. /clformer/tests/debian13/inside.sh' || status=$?
    sed 's/^/Debian 13: /' "$debian13_root/clformer/build/skips" >>build/skips
    [ $status -eq 137 ] && [ ! -e "$debian13_root/clformer/build/failed" ] || return $status
    skip_debian13 "no time left: its tests were ended after $seconds s, those before passed"
}
