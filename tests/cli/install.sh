#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh BUILD SOURCE PREFIX: installs into PREFIX, then uses what is there as a stranger would: by CMake, by pkg-config,
# header by header. Then a stripped installation is removed again, and Debian packages are made.
set -eu
build=$1 source=$2 prefix=$3
fail() { echo "install: $*"; exit 1; }

rm -rf "$prefix" "$prefix.consumer"
cmake --install "$build" --prefix "$prefix" >/dev/null
[ "$("$prefix/bin/clformer" --version)" = "$("$build/clformer" --version)" ] || fail "bin/clformer --version"
[ -s "$prefix/share/man/man1/clformer.1" ] && [ -s "$prefix/share/man/man7/clformer-guide.7" ] || fail "no man pages"
[ -s "$prefix/share/bash-completion/completions/clformer" ] && [ -s "$prefix/share/zsh/site-functions/_clformer" ] ||
    fail "no shell completion"
for notice in LICENSE LICENSE.cmudict; do
    [ -s "$prefix/share/doc/clformer/$notice" ] || fail "no $notice in share/doc/clformer"
done
pc=$(dirname "$(find "$prefix" -name clformer.pc)")
library=$(dirname "$pc")
[ -f "$library/libclformer.a" ] && [ -f "$library/libclformer.so" ] || fail "libclformer.a and .so are not in $library"

# Every header stands alone, in C and in C++.
for header in "$prefix"/include/clformer/*.h; do
    unit="#include <clformer/$(basename "$header")>
extern int nothing;"
    echo "$unit" | cc -x c -std=c11 -pedantic -Wall -Wextra -Werror -DCL_TARGET_OPENCL_VERSION=120 -I"$prefix/include" -fsyntax-only - ||
        fail "$header in C"
    if command -v c++ >/dev/null 2>&1; then
        echo "$unit" | c++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -DCL_TARGET_OPENCL_VERSION=120 -I"$prefix/include" \
            -fsyntax-only - || fail "$header in C++"
    fi
done

# Only the public names leave the shared library.
foreign=$(nm -D --defined-only "$library/libclformer.so" | awk '$2 ~ /[TDBRVW]/ && $3 !~ /^clf_/ { print $3 }')
[ -z "$foreign" ] || fail "libclformer.so exports: $foreign"

cmake -S "$source/tests/cli/consumer" -B "$prefix.consumer" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null || fail "find_package(clformer)"
cmake --build "$prefix.consumer" >/dev/null || fail "building against the CMake package"

PKG_CONFIG_PATH=$pc
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion clformer)" = "$("$prefix/bin/clformer" --version | cut -d' ' -f2)" ] || fail "pkg-config --modversion"
cc "$source/tests/cli/example.c" $(pkg-config --cflags --libs clformer) -Wl,-rpath,"$library" -o "$prefix.consumer/example_pkgconfig"
cc "$source/tests/cli/example.c" $(pkg-config --cflags clformer) "$library/libclformer.a" \
    $(pkg-config --static --libs clformer | sed 's/-lclformer//') -o "$prefix.consumer/example_pkgconfig_static"
if ldd "$prefix.consumer/example_static" "$prefix.consumer/example_pkgconfig_static" | grep libclformer; then
    fail "the static programs load the shared library"
fi

# Stripped, and gone after target uninstall; what others put there stays.
second=$prefix.second
rm -rf "$second"
mkdir -p "$second/share/clformer"
echo theirs >"$second/share/clformer/theirs"
cmake --install "$build" --strip --prefix "$second" >/dev/null || fail "cmake --install --strip"
[ "$("$second/bin/clformer" --version)" = "$("$build/clformer" --version)" ] || fail "the stripped program"
for file in "$second/bin/clformer" "$(find "$second" -name 'libclformer.so.*.*')"; do
    [ -z "$(nm "$file" 2>/dev/null)" ] || fail "$file is not stripped"
done
nm -D "$(find "$second" -name 'libclformer.so.*.*')" | grep -q ' T clf_version$' || fail "the stripped library lost its names"
cmake --build "$build" --target uninstall >"$second.log" 2>&1 || fail "uninstall: $(cat "$second.log")"
[ "$(find "$second" ! -type d)" = "$second/share/clformer/theirs" ] || fail "after uninstall: $(find "$second" ! -type d)"
[ -z "$(find "$second" -type d -name clformer ! -path "$second/share/clformer")" ] || fail "after uninstall: $(find "$second" -type d)"
cmake --build "$build" --target uninstall >"$second.log" 2>&1 && fail "uninstall of nothing succeeds"
grep -q 'has no install_manifest.txt' "$second.log" || fail "uninstall of nothing: $(cat "$second.log")"
[ -x "$prefix/libexec/clformer/clformer-compile" ] || fail "clformer-compile is not installed"
[ -x "$prefix/bin/clformer" ] || fail "uninstall removed another installation"

# Packages.
if command -v dpkg-deb >/dev/null 2>&1 && command -v dpkg-shlibdeps >/dev/null 2>&1; then
    packages=$prefix.packages
    rm -rf "$packages"
    mkdir "$packages"
    (cd "$packages" && cpack --config "$build/CPackConfig.cmake" -G DEB -B "$packages" >"$packages/log" 2>&1) ||
        fail "cpack: $(tail -5 "$packages/log")"
    has() { # PACKAGE PATTERN...
        package=$(find "$packages" -maxdepth 1 -name "$1_*.deb")
        dpkg-deb -c "$package" >"$packages/list" || fail "no package $1"
        shift
        for pattern in "$@"; do
            grep -q -E "$pattern" "$packages/list" || fail "$package: no $pattern in $(cat "$packages/list")"
        done
    }
    has clformer ' \./usr/bin/clformer$' '/man1/clformer\.1\.gz$' '/doc/clformer/copyright$'
    has libclformer0 '/libexec/clformer/clformer-compile$' '/libclformer\.so\.0 -> ' '/doc/libclformer0/copyright$'
    dpkg-deb -f "$package" Depends | grep -q 'libjansson4' || fail "$package: Depends: $(dpkg-deb -f "$package" Depends)"
    has libclformer-dev '/include/clformer/model\.h$' '/libclformer\.so -> ' '/libclformer\.a$' '/clformer\.pc$' '/clformer-config\.cmake$'
    dpkg-deb --fsys-tarfile "$package" | tar -xOf - --wildcards '*/clformer.pc' | grep -q '^prefix=/usr$' || fail "clformer.pc of $package"
    if command -v lintian >/dev/null 2>&1; then
        errors=$(lintian --allow-root "$packages"/*.deb 2>/dev/null | grep '^E:' || true)
        [ -z "$errors" ] || fail "lintian: $errors"
    fi
fi
echo "installed, found, linked, removed and packed"
