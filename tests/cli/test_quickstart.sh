#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# quickstart with made-up package managers and build tools, without network: what is checked first, what is said, what is left alone.
# usage: test_quickstart.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"
tree=$work/tree bin=$work/bin calls=$work/calls
mkdir -p "$tree/build" "$tree/tests" "$bin" "$work/home" "$work/place/mini"
cp "$(dirname "$0")/../../quickstart" "$tree/"
cp "$(dirname "$0")/../run.sh" "$tree/tests/"
cp -r "$(dirname "$0")/../debian13" "$tree/tests/"
echo '{}' >"$work/place/mini/config.json"

# A machine with the usual tools and nothing to build with: what apt-get and the others are asked for is written down.
for tool in bash env readlink dirname grep sed awk tail head cat cut tr sort sleep mktemp rm mkdir nproc getconf kill cp mkfifo; do
    ln -s "$(command -v $tool)" "$bin/$tool"
done
tool() { # NAME SCRIPT
    printf '#!/bin/bash\necho "%s $*" >>"%s"\n%s\n' "$1" "$calls" "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
start() { # ARGUMENTS...: quickstart, from the folder place
    : >"$calls"
    (cd "$work/place" && env -i PATH="$bin" HOME="$work/home" ${extra:+"${extra[@]}"} "$tree/quickstart" "$@") >"$work/out" 2>"$work/err"
    status=$?
}
extra=()
expect_one_line() { [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$1: expected one line, found: $(cat "$work/err")"; }
expect_nothing_done() { [ ! -s "$calls" ] || fail "$1: something was called: $(cat "$calls")"; }
refused() { # STATUS TEXT ARGUMENTS...: refused with one line before anything is called
    local want=$1 text=$2
    shift 2
    start "$@"
    expect_status "$want" "quickstart $*"
    expect_error "$text" "quickstart $*"
    expect_one_line "quickstart $*"
    expect_nothing_done "quickstart $*"
}
tool apt-get 'exit 0'
tool id 'echo 0'

# Words and folders, before anything is installed.
refused 2 'too many words' mini other
refused 2 'too many words' help me
refused 2 '--quick' test --quick
refused 2 'too many words' test --fast --full
refused 2 'too many words' test --full --faults
refused 2 '--full' --full
refused 1 'no model directory' none
extra=(CLF_MODEL_DIR=none)
refused 1 'no model directory'
extra=(HOME=)
refused 1 'HOME is not set'
extra=(XDG_CACHE_HOME=mini HOME=)
refused 1 'HOME is not set'
extra=(XDG_CACHE_HOME="$work/place/mini/config.json")
refused 1 'config.json cannot be written to'
extra=()
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$work"
    (cd "$work/place" && env -i PATH="$bin" HOME="$work/home" "$(command -v setpriv)" --reuid=65534 --regid=65534 --clear-groups \
        "$tree/quickstart" mini) >"$work/out" 2>"$work/err"
    status=$?
    expect_status 1 "a tree of somebody else"
    expect_error 'cannot be written to' "a tree of somebody else"
    expect_one_line "a tree of somebody else"
fi

# No network: one line; nothing was installed.
tool apt-get 'case "$*" in *--download-only*) echo "E: Failed to fetch x  Temporary failure resolving deb.debian.org"; exit 100 ;; esac'
start mini
expect_status 1 "no network"
expect_error 'no network: ' "no network"
expect_one_line "no network"
minutes() { sed -n 's/.* about \([0-9]*\) minutes and [0-9]* MB on disk.*/\1/p' "$work/out"; }
short=$(minutes)
start test
longer=$(minutes)
start test --full
[ "${short:-0}" -gt 0 ] && [ "${longer:-0}" -gt "$short" ] && [ "$(minutes)" -gt "$longer" ] ||
    fail "estimated minutes: $short, for test $longer, for test --full $(minutes)"
start test --faults
[ "$(minutes)" -ge 480 ] || fail "estimated minutes of test --faults: $(minutes)"
grep -q 'apt-get install' "$calls" && grep 'apt-get install' "$calls" | grep -v -q -e --download-only && fail "no network: $(cat "$calls")"

# Without root and sudo: the command that is printed is the one that would be run.
tool id 'echo 1000'
start mini
expect_status 1 "no root"
expect_one_line "no root"
printed=$(sed -n 's/.*as root, run: //p' "$work/err")
expect_nothing_done() { :; }
tool id 'echo 0'
tool apt-get 'exit 0'
bash -n <<<"$printed" || fail "no root: printed: $printed"
start mini
grep -q '^apt-get update' "$calls" || fail "apt-get update was not called: $(cat "$calls")"
for command in 'apt-get update' "${printed#apt-get update && }"; do
    case $printed in *"$command"*) ;; *) fail "no root: $printed" ;; esac
done
want=$(grep '^apt-get install' "$calls" | grep -v -e --download-only | sed 's/^apt-get install -q /apt-get install /')
[ "${printed#apt-get update && }" = "$want" ] || fail "printed: $printed; run: $want"

# Systems by their os-release: the known ones go on without a word, others are told; without apt-get the command of the system is printed.
os_release() { printf '%s\n' "$@" >"$work/os-release"; extra=(CLF_OS_RELEASE="$work/os-release"); }
known() { # LINES...
    os_release "$@"
    start mini
    grep -q 'not tested' "$work/out" && fail "$*: $(cat "$work/out")"
    grep -q '^apt-get install' "$calls" || fail "$*: apt-get was not called"
}
untested() { # NAME LINES...
    os_release "${@:2}"
    start mini
    grep -q -F "$1: not tested" "$work/out" || fail "$*: not told: $(cat "$work/out")"
    grep -q '^apt-get install' "$calls" || fail "$*: apt-get was not called"
}
known 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' 'VERSION_ID="12"' ID=debian
known 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"' 'VERSION_ID="13"' ID=debian
known 'PRETTY_NAME="Ubuntu 24.04.1 LTS"' 'VERSION_ID="24.04"' ID=ubuntu ID_LIKE=debian
known VERSION_ID='"26.04"' ID=ubuntu
untested 'Debian GNU/Linux 11 (bullseye)' 'PRETTY_NAME="Debian GNU/Linux 11 (bullseye)"' 'VERSION_ID="11"' ID=debian
untested 'Debian GNU/Linux forky/sid' 'PRETTY_NAME="Debian GNU/Linux forky/sid"' ID=debian
untested 'Ubuntu 22.04.5 LTS' "PRETTY_NAME='Ubuntu 22.04.5 LTS'" VERSION_ID=22.04 ID=ubuntu
untested 'Linux Mint 22' 'PRETTY_NAME="Linux Mint 22"' VERSION_ID=22 ID=linuxmint 'ID_LIKE="ubuntu debian"'
untested 'an unknown system' '# nothing' ''
extra=(CLF_OS_RELEASE=/nowhere)
start mini
grep -q 'an unknown system: not tested' "$work/out" || fail "no os-release: $(cat "$work/out")"

mv "$bin/apt-get" "$work/apt-get"
foreign() { # COMMAND LINES...: one line, in which the command is one that the system's shell would take
    local want=$1 name printed
    shift
    os_release "$@"
    start mini
    expect_status 1 "$*"
    expect_one_line "$*"
    expect_nothing_done
    printed=$(sed -n 's/.*, as root, run: //p' "$work/err")
    case $printed in "$want "*) ;; *) fail "$*: $printed" ;; esac
    bash -n <<<"$printed" || fail "$*: $printed"
    for name in gcc cmake make cairo microhttpd pcre2 xxhash utf8proc jansson; do
        grep -q -E " (lib)?$name" <<<"$printed" || fail "$*: no $name in $printed"
    done
    grep -q -E 'apt-get|not found|-dev[a-z]*-|Debian' "$work/err" && fail "$*: $(cat "$work/err")"
}
foreign 'dnf install' 'PRETTY_NAME="Fedora Linux 42 (Workstation Edition)"' ID=fedora VERSION_ID=42
foreign 'dnf install' 'PRETTY_NAME="Rocky Linux 9.5"' 'ID="rocky"' 'ID_LIKE="rhel centos fedora"'
foreign 'pacman -S --needed' 'PRETTY_NAME="Arch Linux"' ID=arch
foreign 'pacman -S --needed' 'PRETTY_NAME="Manjaro Linux"' ID=manjaro ID_LIKE=arch
foreign 'zypper install' 'PRETTY_NAME="openSUSE Tumbleweed"' 'ID="opensuse-tumbleweed"' 'ID_LIKE="opensuse suse"'
foreign 'zypper install' 'PRETTY_NAME="openSUSE Leap 15.6"' 'ID="opensuse-leap"'
foreign 'apk add' 'PRETTY_NAME="Alpine Linux v3.21"' ID=alpine VERSION_ID=3.21.0
os_release 'PRETTY_NAME="NixOS 24.11"' ID=nixos
start mini
expect_error 'this is no Debian; please install what Debian calls: ' "a system without names"
mv "$work/apt-get" "$bin/apt-get"
extra=()

# A driver that the user names to the loader is enough, by either variable.
for extra in OCL_ICD_VENDORS=/nowhere OCL_ICD_FILENAMES=/nowhere/libpocl.so; do
    start mini
    grep -q pocl-opencl-icd "$calls" && fail "$extra: PoCL is installed: $(cat "$calls")"
done
extra=()

# With all tools there, from a build folder of another place: configured anew; the model is the one in the user's folder.
tool cc 'cat >/dev/null'
tool pkg-config 'exit 0'
tool python3 'exit 0'
tool clformer 'echo "\"usable\": true"'
mv "$bin/clformer" "$work/clformer"
tool cmake 'case "$1" in
--build) cp "'"$work/clformer"'" build/ ;;
-S) [ ! -f build/CMakeCache.txt ] || echo "cache kept" >>"'"$calls"'" ;;
esac'
tool ninja 'exit 0'
echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/somewhere/else' >"$tree/build/CMakeCache.txt"
extra=(OCL_ICD_VENDORS=/nowhere)
start mini
expect_status 0 "a moved tree"
grep -q 'cache kept' "$calls" && fail "a moved tree: the old cache was kept"
grep -q "clformer similarity $work/place/mini" "$calls" || fail "the model is not taken from where the user stands: $(cat "$calls")"
printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_GENERATOR:INTERNAL=Ninja\n' "$tree" >"$tree/build/CMakeCache.txt"
start mini
grep -q 'cache kept' "$calls" || fail "the cache of this tree was thrown away"

# Without /proc there is no /dev/fd either, which bash's >(command) needs.
in_own_mounts=(unshare -m sh -c 'mount --make-rprivate / && umount -l /proc && exec "$@"' sh)
if [ "$(id -u)" -eq 0 ] && command -v unshare >/dev/null && "${in_own_mounts[@]}" true 2>/dev/null; then
    : >"$calls"
    mkdir "$work/temporary"
    (cd "$work/place" && "${in_own_mounts[@]}" env -i PATH="$bin" HOME="$work/home" TMPDIR="$work/temporary" OCL_ICD_VENDORS=/nowhere \
        "$tree/quickstart" mini) >"$work/out" 2>"$work/err"
    status=$?
    expect_status 0 "without /proc"
    [ ! -s "$work/err" ] || fail "without /proc: $(cat "$work/err")"
    grep -q "clformer similarity" "$calls" || fail "without /proc nothing is shown: $(cat "$calls")"
    [ -z "$(ls -A "$work/temporary")" ] || fail "left in TMPDIR: $(ls -A "$work/temporary")"
else
    echo "skipped: quickstart without /proc (mounting needs root)"
fi

# pip without network: one line, before minutes of building.
tool python3 'case "$*" in *download*) echo "WARNING: Retrying: NewConnectionError: Failed to establish a new connection"; exit 1 ;; esac'
start
expect_status 1 "no network for the model"
expect_error 'no network: pip' "no network for the model"
expect_one_line "no network for the model"
grep -q '^cmake' "$calls" && fail "built although the model cannot be fetched"
compgen -G "$work/home/.cache/clformer/models/.fetch*" >/dev/null && fail "a failed download leaves its folder"
tool pkg-config 'case "$*" in *jansson*) exit 1 ;; esac' # the same where packages are missing
start
expect_error 'no network: pip' "no network for the model, packages missing"
grep -q '^apt-get install' "$calls" || fail "the missing package is not installed: $(cat "$calls")"
grep -q '^cmake' "$calls" && fail "packages missing: built although the model cannot be fetched"
tool pkg-config 'exit 0'

# Interrupted while it builds: 130 and one line.
tool cmake 'sleep 20'
(cd "$work/place" && env -i PATH="$bin" HOME="$work/home" OCL_ICD_VENDORS=/nowhere \
    "$(command -v timeout)" --preserve-status -s INT 1 "$tree/quickstart" mini) >"$work/out" 2>"$work/err"
status=$?
expect_status 130 "interrupted"
expect_one_line "interrupted"
expect_error 'interrupted' "interrupted"

# README names what the script installs for a build.
for package in $(sed -n '/^need_to_build()/,/^}/p' "$tree/quickstart" |
    grep -o -E '\b(gcc|cmake|make|pkgconf|[a-z0-9-]+-dev|opencl-headers|fonts-[a-z-]+)\b' | sort -u); do
    grep -q "[\` ]$package[\` ]" "$(dirname "$0")/../../README.md" || fail "README's requirements lack $package"
    grep -q -E "^$package( [a-z0-9-]+){4}$" "$tree/quickstart" || fail "quickstart has no names of other systems for $package"
done
finish
