#!/bin/sh
# SPDX-License-Identifier: MIT
# install.sh BUILD SOURCE PREFIX: installs into PREFIX, then uses what is there as a stranger would: by CMake, by pkg-config,
# header by header.
set -eu
build=$1 source=$2 prefix=$3
fail() { echo "install: $*"; exit 1; }

rm -rf "$prefix" "$prefix.consumer"
cmake --install "$build" --prefix "$prefix" >/dev/null
[ "$("$prefix/bin/clformer" --version)" = "$("$build/clformer" --version)" ] || fail "bin/clformer --version"
[ -s "$prefix/share/man/man1/clformer.1" ] && [ -s "$prefix/share/man/man7/clformer-guide.7" ] || fail "no man pages"
[ -s "$prefix/share/bash-completion/completions/clformer" ] && [ -s "$prefix/share/zsh/site-functions/_clformer" ] ||
    fail "no shell completion"
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
echo "installed, found and linked"
