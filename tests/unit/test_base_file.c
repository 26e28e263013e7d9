/* SPDX-License-Identifier: MIT */
/* Files: mapping, and reading with a limit. */
#include "base/file.h"
#include "base/file_map.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/temp.h"

static void mapping(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_file_map *map;
    char *large = malloc(100000);
    for (int i = 0; i < 100000; i++)
        large[i] = (char)(i * 7);
    temp_file(temp_root, "map", large, 100000, path);
    CHECK_OK(clfi_file_map(path, &map));
    assert_int_equal(map->size, 100000);
    assert_int_equal((uintptr_t)map->data % 4096, 0);
    assert_memory_equal(map->data, large, 100000);
    clfi_file_map_forget(map, 0, 100000);
    clfi_file_map_forget(map, 5000, 50000);
    clfi_file_map_forget(map, 99999, 1);
    CHECK_OK(clfi_file_map_check(map));
    clf_file_map *shared = clfi_file_map_retain(map);
    clfi_file_map_release(map);
    assert_memory_equal(shared->data, large, 100000);
    clfi_file_map_release(shared);
    clfi_file_map_release(NULL);
    temp_file(temp_root, "empty", "", 0, path);
    CHECK_OK(clfi_file_map(path, &map));
    assert_true(map->data == NULL && map->size == 0);
    clfi_file_map_forget(map, 0, 0);
    clfi_file_map_release(map);
    CHECK_OK(clfi_file_map_borrow(large, 100000, "memory", &map));
    clfi_file_map_forget(map, 0, 100000);
    CHECK_OK(clfi_file_map_check(map));
    clfi_file_map_release(map);
    assert_int_equal(large[1], 7);
    CHECK_FAILS(clfi_file_map(temp_path(temp_root, "none", path), &map), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_file_map(temp_root, &map), CLF_IO, "not a regular file");
    free(large);
}

/* Reading what a file has lost gives an error from the check and no signal; the handler that was there before still gets its own. */
static volatile sig_atomic_t foreign_signals;
static sigjmp_buf after_signal;

static void on_foreign_signal(int number)
{
    (void)number;
    foreign_signals++;
    siglongjmp(after_signal, 1);
}

static int sum(const uint8_t *data, size_t size)
{
    int total = 0;
    for (size_t i = 0; i < size; i++)
        total += ((const volatile uint8_t *)data)[i];
    return total;
}

static void changed_while_mapped(void **state)
{
    (void)state;
    enum { SIZE = 50000 };
    char path[TEMP_PATH_BYTES], *ones = malloc(SIZE);
    clf_file_map *first, *second, *third;
    memset(ones, 1, SIZE);
    temp_file(temp_root, "cut", ones, SIZE, path);
    CHECK_OK(clfi_file_map(path, &first));
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(sum(first->data, SIZE), 5000);
    CHECK_FAILS(clfi_file_map_check(first), CLF_IO, "cut: expected 50000 bytes");
    clfi_file_map_release(first);

    temp_file(temp_root, "written", ones, SIZE, path);
    CHECK_OK(clfi_file_map(path, &second));
    CHECK_OK(clfi_file_map(path, &third)); /* an entry of the handler's is used again, and one is new */
    CHECK_OK(clfi_file_map_check(second));
    struct timespec wait = {.tv_nsec = 20000000}; /* longer than a file system's clock steps */
    nanosleep(&wait, NULL);
    temp_file(temp_root, "written", ones, SIZE, path);
    CHECK_FAILS(clfi_file_map_check(second), CLF_IO, "written: was written to while it was in use");
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(sum(second->data, SIZE) + sum(third->data, SIZE), 0);
    clfi_file_map_release(second);
    clfi_file_map_release(third);
    free(ones);
}

static void foreign_bus_error(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    const struct sigaction own = {.sa_handler = on_foreign_signal, .sa_flags = SA_NODEFER};
    clf_file_map *map;
    int status;
    temp_file(temp_root, "own", "0123456789", 10, path);
    const pid_t child = fork(); /* where no file was mapped yet, so that the handler comes after this one */
    if (child == 0) {
        sigaction(SIGBUS, &own, NULL);
        if (clfi_file_map(path, &map) != CLF_OK)
            _exit(1);
        const int fd = open(path, O_RDONLY);
        const volatile char *lost = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (truncate(path, 0) != 0)
            _exit(2);
        if (sigsetjmp(after_signal, 1) == 0 && lost[0] == 0)
            _exit(3);
        _exit(foreign_signals == 1 && sum(map->data, 10) == 0 ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

/* A pipe, a device and a folder in the place of a file are named at once, also by those who would wait for a writer. */
static void not_a_file(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    clf_str text = CLF_STR_INIT;
    clf_file_map *map;
    assert_int_equal(mkfifo(temp_path(temp_root, "pipe", path), 0600), 0);
    alarm(10);
    CHECK_FAILS(clfi_file_map(path, &map), CLF_IO, "not a regular file");
    CHECK_FAILS(clfi_file_read(path, 100, &text), CLF_IO, "not a regular file");
    alarm(0);
    CHECK_FAILS(clfi_file_read("/dev/zero", 100000, &text), CLF_IO, "not a regular file");
    CHECK_FAILS(clfi_file_read(temp_root, 2, &text), CLF_IO, temp_root);
    clfi_str_free(&text);
    unlink(path);
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
    CHECK_FAILS(clfi_file_read(temp_path(temp_root, "none", path), 2, &text), CLF_NOT_FOUND, path);
    clfi_str_free(&text);
}

/* Only a name that is not there is absent. */
static void existence(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES], target[TEMP_PATH_BYTES], *found;
    bool exists;
    temp_file(temp_root, "there", "", 0, path);
    CHECK_OK(clfi_file_exists(path, &exists));
    assert_true(exists);
    CHECK_OK(clfi_directory_exists(path, &exists));
    assert_false(exists);
    CHECK_OK(clfi_file_find(path, "config.json", &found)); /* a file holds no others */
    assert_null(found);
    CHECK_OK(clfi_file_find(temp_root, "there", &found));
    assert_string_equal(found, path);
    free(found);
    CHECK_OK(clfi_file_find(temp_root, "absent", &found));
    assert_null(found);
    CHECK_OK(clfi_file_exists(temp_root, &exists));
    assert_true(exists);
    CHECK_OK(clfi_directory_exists(temp_root, &exists));
    assert_true(exists);
    CHECK_OK(clfi_directory_exists(temp_path(temp_root, "absent", path), &exists));
    assert_false(exists);
    CHECK_OK(clfi_file_exists(temp_path(temp_root, "absent", path), &exists));
    assert_false(exists);
    CHECK_OK(clfi_file_exists(temp_path(temp_root, "no/folder/absent", path), &exists));
    assert_false(exists);
    CHECK_OK(clfi_file_exists("absent", &exists));
    assert_false(exists);
    assert_int_equal(symlink("absent", temp_path(temp_root, "dangling", path)), 0);
    CHECK_FAILS(clfi_file_exists(path, &exists), CLF_IO, "a link to a file that does not exist");
    CHECK_FAILS(clfi_file_exists(temp_path(temp_root, "dangling/config.json", path), &exists), CLF_IO, "a file that does not exist");
    assert_int_equal(symlink("loop", temp_path(temp_root, "loop", path)), 0);
    CHECK_FAILS(clfi_file_exists(path, &exists), CLF_IO, "loop");
    CHECK_FAILS(clfi_directory_exists(path, &exists), CLF_IO, "loop");
    CHECK_FAILS(clfi_file_find(path, "config.json", &found), CLF_IO, "loop");
    CHECK_FAILS(clfi_file_exists(temp_path(temp_root, "there/below", path), &exists), CLF_IO, "there/below");
    assert_int_equal(symlink(temp_path(temp_root, "there", target), temp_path(temp_root, "link", path)), 0);
    CHECK_OK(clfi_file_exists(path, &exists));
    assert_true(exists);
    if (geteuid() == 0) /* who may read everything */
        return;
    assert_int_equal(mkdir(temp_path(temp_root, "closed", target), 0), 0);
    CHECK_FAILS(clfi_file_exists(temp_path(temp_root, "closed/any", path), &exists), CLF_IO, "closed/any");
}

/* A name that another process makes and removes meanwhile is there or not; it is never taken for a link that leads nowhere. */
static void existence_changes(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    temp_path(temp_root, "changing", path);
    const pid_t parent = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        while (getppid() == parent) { /* it ends with a test that is ended from outside */
            close(open(path, O_CREAT | O_WRONLY, 0600));
            unlink(path);
        }
        _exit(0);
    }
    unsigned seen[2] = {0};
    clf_status st = CLF_OK;
    for (int i = 0; (i < 100000 || !seen[false] || !seen[true]) && st == CLF_OK; i++) {
        bool exists = false;
        st = clfi_file_exists(path, &exists);
        seen[exists]++;
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    CHECK_OK(st);
}

static void lines(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES], *large = malloc(20001);
    clf_str line = CLF_STR_INIT;
    bool any;
    memset(large, 'x', 20000);
    large[10000] = '\n';
    temp_file(temp_root, "lines", "a\0b\r\n\nend", 10, path);
    FILE *stream = fopen(path, "rb");
    CHECK_OK(clfi_line_read(stream, path, 7, 4, &line, &any));
    assert_true(any && line.length == 4 && memcmp(line.data, "a\0b\r", 4) == 0);
    assert_true(clfi_line_length(&line) == 3);
    CHECK_OK(clfi_line_read(stream, path, 7, 4, &line, &any));
    assert_true(any && line.length == 0 && clfi_line_length(&line) == 0);
    CHECK_OK(clfi_line_read(stream, path, 7, 4, &line, &any));
    assert_true(any && strcmp(line.data, "end") == 0 && clfi_line_length(&line) == line.length);
    CHECK_OK(clfi_line_read(stream, path, 7, 4, &line, &any));
    assert_false(any);
    fclose(stream);
    stream = fopen(temp_file(temp_root, "lines", large, 20000, path), "rb");
    CHECK_OK(clfi_line_read(stream, path, 7, 10000, &line, &any));
    assert_true(any && line.length == 10000 && memcmp(line.data, large, 10000) == 0);
    CHECK_FAILS(clfi_line_read(stream, path, 7, 9998, &line, &any), CLF_FORMAT, "lines: line 7 is longer than 9998 bytes");
    fclose(stream);
    stream = fopen("/dev/zero", "rb");
    CHECK_FAILS(clfi_line_read(stream, "/dev/zero", 1, 100000, &line, &any), CLF_FORMAT, "/dev/zero: line 1 is longer than 100000 bytes");
    fclose(stream);
    stream = fopen(temp_root, "rb");
    CHECK_FAILS(clfi_line_read(stream, temp_root, 1, 100000, &line, &any), CLF_IO, temp_root);
    fclose(stream);
    clfi_str_free(&line);
    free(large);
}

/* Byte order marks, by lines and whole; other encodings are refused by the first line. */
static void marks(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size, count;
        const char *first, *second;
    } good[] = {{"\xef\xbb\xbf"
                 "a\nb",
                 6, 2, "a", "b"},
                {"\xef\xbb\xbf\nb", 5, 2, "", "b"},
                {"\xef\xbb\xbf", 3, 0, NULL, NULL},
                {"a\n\xef\xbb\xbf"
                 "b",
                 6, 2, "a",
                 "\xef\xbb\xbf"
                 "b"},
                {"\xef\xbb\xbf\xef\xbb\xbf", 6, 1, "\xef\xbb\xbf", NULL},
                {"\n", 1, 1, "", NULL},
                {"\xef\xbb", 2, 1, "\xef\xbb", NULL},
                {"", 0, 0, NULL, NULL}};
    char path[TEMP_PATH_BYTES];
    clf_str line = CLF_STR_INIT;
    bool any;
    for (size_t i = 0; i < COUNT(good); i++) {
        FILE *stream = fopen(temp_file(temp_root, "marks", good[i].bytes, good[i].size, path), "rb");
        for (size_t number = 1; number <= good[i].count; number++) {
            CHECK_OK(clfi_line_read(stream, path, number, 100, &line, &any));
            CHECK(any && strcmp(clfi_str_text(&line), number == 1 ? good[i].first : good[i].second) == 0, "case %zu, line %zu: \"%s\"", i,
                  number, clfi_str_text(&line));
        }
        CHECK_OK(clfi_line_read(stream, path, good[i].count + 1, 100, &line, &any));
        CHECK(!any, "case %zu: more lines", i);
        fclose(stream);
        const size_t skip = good[i].size >= 3 && good[i].bytes[0] == '\xef' ? 3 : 0;
        clf_str text = CLF_STR_INIT;
        CHECK_OK(clfi_text_read(path, 100, &text));
        CHECK(text.length == good[i].size - skip && memcmp(clfi_str_text(&text), good[i].bytes + skip, text.length) == 0, "case %zu", i);
        clfi_str_free(&text);
    }
    FILE *stream = fopen(temp_file(temp_root, "marks", "\xff\xfe\n\0a\0", 6, path), "rb");
    CHECK_FAILS(clfi_line_read(stream, path, 1, 100, &line, &any), CLF_FORMAT, "marks: UTF-16LE: expected UTF-8 (iconv -f UTF-16LE");
    fclose(stream);
    clfi_str_clear(&line);
    CHECK_FAILS(clfi_text_read(temp_file(temp_root, "marks", "\0a\0b", 4, path), 100, &line), CLF_FORMAT, "marks: UTF-16BE: expected");
    clfi_str_free(&line);
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
    CHECK_FAILS(clfi_make_directories(path), CLF_IO, "a file of this name exists");
    CHECK_FAILS(clfi_make_directories(temp_path(temp_root, "a/file/d", path)), CLF_IO, "a/file");
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
    CHECK_OK(clfi_path_absolute("/a", &path));
    assert_string_equal(path, "/a");
    free(path);
    CHECK_OK(clfi_path_absolute("a", &path));
    CHECK(path[0] == '/' && strcmp(path + strlen(path) - 2, "/a") == 0, "%s", path);
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
        cmocka_unit_test(foreign_bus_error), /* before any other maps a file */
        cmocka_unit_test(mapping),
        cmocka_unit_test(changed_while_mapped),
        cmocka_unit_test(not_a_file),
        cmocka_unit_test(reading),
        cmocka_unit_test(existence),
        cmocka_unit_test(existence_changes),
        cmocka_unit_test(lines),
        cmocka_unit_test(marks),
        cmocka_unit_test(directories),
        cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, temp_setup, temp_teardown);
}
