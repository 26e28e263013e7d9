/* SPDX-License-Identifier: MIT */
/* Files: mapping, reading with a limit, and writing that never leaves half a file. */
#include "base/file.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/temp.h"

static void check_content(const char *path, const char *want)
{
    clf_str text = CLF_STR_INIT;
    CHECK_OK(clfi_file_read(path, 1 << 20, &text));
    assert_string_equal(clfi_str_text(&text), want);
    clfi_str_free(&text);
}

static void mapping(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_file_map map;
    char *large = malloc(100000);
    for (int i = 0; i < 100000; i++)
        large[i] = (char)(i * 7);
    temp_file(temp_root, "map", large, 100000, path);
    CHECK_OK(clfi_file_map(path, &map));
    assert_int_equal(map.size, 100000);
    assert_int_equal((uintptr_t)map.data % 4096, 0);
    assert_memory_equal(map.data, large, 100000);
    clfi_file_map_forget(&map, 0, 100000);
    clfi_file_map_forget(&map, 5000, 50000);
    clfi_file_map_forget(&map, 99999, 1);
    assert_memory_equal(map.data, large, 100000);
    clfi_file_unmap(&map);
    assert_null(map.data);
    clfi_file_unmap(&map);
    temp_file(temp_root, "empty", "", 0, path);
    CHECK_OK(clfi_file_map(path, &map));
    assert_true(map.data == NULL && map.size == 0);
    clfi_file_map_forget(&map, 0, 0);
    clfi_file_unmap(&map);
    CHECK_FAILS(clfi_file_map(temp_path(temp_root, "none", path), &map), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_file_map(temp_root, &map), CLF_IO, "not a regular file");
    assert_int_equal(mkfifo(temp_path(temp_root, "pipe", path), 0600), 0);
    CHECK_FAILS(clfi_file_map(path, &map), CLF_IO, "not a regular file");
    unlink(path);
    free(large);
}

static void reading(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_str text = CLF_STR_INIT;
    temp_file(temp_root, "read", "a\0b", 3, path);
    CHECK_OK(clfi_str_append_text(&text, "before "));
    CHECK_OK(clfi_file_read(path, 3, &text));
    assert_int_equal(text.length, 10);
    assert_memory_equal(text.data, "before a\0b", 11);
    CHECK_FAILS(clfi_file_read(path, 2, &text), CLF_FORMAT, "larger than 2 bytes");
    CHECK_FAILS(clfi_file_read("/dev/zero", 100000, &text), CLF_FORMAT, "larger than 100000 bytes");
    CHECK_FAILS(clfi_file_read(temp_path(temp_root, "none", path), 2, &text), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_file_read(temp_root, 2, &text), CLF_IO, temp_root);
    clfi_str_free(&text);
    assert_true(clfi_file_exists(temp_path(temp_root, "read", path)));
    assert_false(clfi_file_exists(temp_root));
    assert_true(clfi_directory_exists(temp_root));
    assert_false(clfi_directory_exists(path));
}

static void directories(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    struct stat info;
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "a/b//c/", path)));
    CHECK_OK(clfi_make_directories(path));
    assert_true(stat(path, &info) == 0 && (info.st_mode & 07777) == 0700);
    temp_file(temp_root, "a/file", "", 0, path);
    CHECK_FAILS(clfi_make_directories(path), CLF_IO, "exists and is no directory");
    CHECK_FAILS(clfi_make_directories(temp_path(temp_root, "a/file/d", path)), CLF_IO, "a/file");
}

static void atomic_writes(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_atomic_file file;
    struct stat info;
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "atomic", path)));
    temp_path(temp_root, "atomic/f", path);
    const mode_t mask = umask(022);
    CHECK_OK(clfi_file_write(path, "old", 3));
    umask(mask);
    check_content(path, "old");
    assert_true(stat(path, &info) == 0 && (info.st_mode & 07777) == 0644);
    CHECK_OK(clfi_atomic_open(path, &file));
    fputs("newer", file.stream);
    fflush(file.stream);
    check_content(path, "old");
    clfi_atomic_abandon(&file);
    clfi_atomic_abandon(&file);
    check_content(path, "old");
    CHECK_OK(clfi_atomic_open(path, &file));
    fputs("newer", file.stream);
    CHECK_OK(clfi_atomic_commit(&file));
    clfi_atomic_abandon(&file); /* no-op */
    check_content(path, "newer");
    CHECK_OK(clfi_file_write(path, NULL, 0));
    check_content(path, "");
    assert_int_equal(temp_directory_entries(temp_path(temp_root, "atomic", path)), 1);
    CHECK_FAILS(clfi_file_write(temp_path(temp_root, "none/f", path), "x", 1), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_file_write("/dev/null", "x", 1), CLF_IO, "not a regular file");
    CHECK_FAILS(clfi_file_write(temp_root, "x", 1), CLF_IO, "not a regular file");
    assert_true(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

/* A process that dies between the first byte and the commit leaves the old file. */
static void killed_writer(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "killed", path)));
    temp_file(temp_root, "killed/f", "old", 3, path);
    const pid_t child = fork();
    if (child == 0) {
        clf_atomic_file file;
        if (clfi_atomic_open(path, &file) == CLF_OK) {
            fputs("half of the new", file.stream);
            fflush(file.stream);
            raise(SIGKILL);
        }
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    check_content(path, "old");
    CHECK_OK(clfi_file_write(path, "new", 3)); /* what it left is in nobody's way */
    check_content(path, "new");
}

/* A write that the system refuses half-way, as on a full disk, is an error at commit; the old file stays, the new one goes. */
static void failed_write(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES], folder[TEMP_PATH_BYTES];
    struct rlimit limit, small;
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "full", folder)));
    temp_file(temp_root, "full/f", "old", 3, path);
    char *large = calloc(1, 1 << 20);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const clf_status st = clfi_file_write(path, large, 1 << 20);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    CHECK(st == CLF_IO && strstr(clf_last_error(), path), "%s: %s", clf_status_id(st), clf_last_error());
    check_content(path, "old");
    assert_int_equal(temp_directory_entries(folder), 1);
    free(large);
}

static void paths(void **state)
{
    (void)state;
    char *path;
    CHECK_OK(clfi_path_join("a/b", "c", &path));
    assert_string_equal(path, "a/b/c");
    free(path);
    CHECK_OK(clfi_path_join("/", "c", &path));
    assert_string_equal(path, "/c");
    free(path);
    setenv("HOME", "/home/of", 1);
    setenv("XDG_CACHE_HOME", "/cache", 1);
    CHECK_OK(clfi_user_directory("XDG_CACHE_HOME", ".cache", &path));
    assert_string_equal(path, "/cache/clformer");
    free(path);
    setenv("XDG_CACHE_HOME", "relative", 1);
    CHECK_OK(clfi_user_directory("XDG_CACHE_HOME", ".cache", &path));
    assert_string_equal(path, "/home/of/.cache/clformer");
    free(path);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK_FAILS(clfi_user_directory("XDG_CACHE_HOME", ".cache", &path), CLF_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME is set");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping),       cmocka_unit_test(reading),      cmocka_unit_test(directories), cmocka_unit_test(atomic_writes),
        cmocka_unit_test(killed_writer), cmocka_unit_test(failed_write), cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, temp_setup, temp_teardown);
}
