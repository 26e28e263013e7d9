/* SPDX-License-Identifier: MIT */
/* Writing files: an interrupted or failed write leaves the old file whole. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    temp_path(temp_root, "atomic/f", path);
    CHECK_OK(clfi_atomic_open_named(path, &file));
    assert_true(access(file.temporary, F_OK) == 0);
    CHECK_OK(clfi_atomic_commit(&file));
    CHECK_OK(clfi_atomic_open_named(path, &file));
    clfi_atomic_remove_named(); /* as an interruption does: what is committed stays */
    assert_true(access(file.temporary, F_OK) != 0);
    clfi_atomic_abandon(&file);
    check_content(path, "");
    assert_int_equal(temp_directory_entries(temp_path(temp_root, "atomic", path)), 1);
    CHECK_FAILS(clfi_file_write(temp_path(temp_root, "none/f", path), "x", 1), CLF_NOT_FOUND, path);
    CHECK_FAILS(clfi_file_write("/dev/null", "x", 1), CLF_IO, "not a regular file");
    CHECK_FAILS(clfi_file_write(temp_root, "x", 1), CLF_IO, "is a directory");
    assert_true(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

/* The file that a chain of links names is written, also where it is not there yet; the links stay. Modes stay. */
static void links_and_modes(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES], path[TEMP_PATH_BYTES], link_path[TEMP_PATH_BYTES];
    struct stat info;
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "links/below", folder)));
    temp_path(temp_root, "links/below/f", path);
    assert_int_equal(symlink("below/second", temp_path(temp_root, "links/first", link_path)), 0);
    assert_int_equal(symlink("f", temp_path(temp_root, "links/below/second", folder)), 0);
    CHECK_OK(clfi_file_write(link_path, "one", 3)); /* nothing is there yet */
    check_content(path, "one");
    assert_int_equal(chmod(path, 0600), 0);
    CHECK_OK(clfi_output_check(link_path, true));
    CHECK_OK(clfi_file_write(link_path, "two", 3));
    check_content(path, "two");
    assert_true(stat(path, &info) == 0 && (info.st_mode & 07777) == 0600);
    assert_true(lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode));
    assert_int_equal(temp_directory_entries(temp_path(temp_root, "links/below", folder)), 2);
    assert_int_equal(symlink("loop", temp_path(temp_root, "links/loop", link_path)), 0);
    CHECK_FAILS(clfi_file_write(link_path, "x", 1), CLF_IO, "loop");
    CHECK_FAILS(clfi_output_check(link_path, false), CLF_IO, "loop");
}

static void write_in_disorder(clf_atomic_file *file)
{
    fputs("xbc", file->stream);
    fseeko(file->stream, 0, SEEK_SET);
    fputs("a", file->stream);
}

/* Pipes get the bytes in order though their beginning was written last, and stay pipes; devices stay devices. */
static void streams(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES], got[8] = "";
    struct stat info;
    clf_atomic_file file;
    assert_int_equal(mkfifo(temp_path(temp_root, "stream", path), 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    CHECK_OK(clfi_output_check(path, false));
    CHECK_FAILS(clfi_output_check(path, true), CLF_IO, "not a regular file");
    CHECK_OK(clfi_output_open(path, true, &file));
    write_in_disorder(&file);
    assert_true(read(reader, got, sizeof got) <= 0); /* not before the commit */
    CHECK_OK(clfi_atomic_commit(&file));
    assert_int_equal(read(reader, got, sizeof got), 3);
    assert_memory_equal(got, "abc", 3);
    CHECK_OK(clfi_output_open(path, false, &file));
    fputs("direct", file.stream);
    CHECK_OK(clfi_atomic_commit(&file));
    assert_int_equal(read(reader, got, sizeof got), 6);
    CHECK_OK(clfi_output_open(path, true, &file));
    write_in_disorder(&file);
    clfi_atomic_abandon(&file);
    assert_true(read(reader, got, sizeof got) <= 0);
    close(reader);
    assert_true(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    CHECK_OK(clfi_output_open("/dev/null", true, &file));
    write_in_disorder(&file);
    CHECK_OK(clfi_atomic_commit(&file));
    assert_true(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    for (int seeks = 0; stat("/dev/full", &info) == 0 && seeks < 2; seeks++) {
        CHECK_OK(clfi_output_open("/dev/full", seeks, &file));
        fputs("x", file.stream);
        CHECK_FAILS(clfi_atomic_commit(&file), CLF_IO, "write /dev/full: No space left on device");
    }
    if (stat("/dev/full", &info) == 0) {
        static const char more_than_a_buffer[1 << 20];
        CHECK_OK(clfi_output_open("/dev/full", false, &file));
        assert_false(clfi_atomic_write(&file, more_than_a_buffer, sizeof more_than_a_buffer));
        errno = ENOENT; /* what was called since has its own reasons */
        assert_false(clfi_atomic_printf(&file, "%d", 1));
        CHECK_FAILS(clfi_atomic_commit(&file), CLF_IO, "write /dev/full: No space left on device");
    }
    CHECK_FAILS(clfi_output_check(temp_root, false), CLF_IO, "is a directory");
    CHECK_FAILS(clfi_output_check(temp_path(temp_root, "none/f", path), false), CLF_NOT_FOUND, path);
    CHECK_OK(clfi_output_check(temp_path(temp_root, "new", path), true));
    assert_true(stat(path, &info) != 0);
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

/* System calls of the library that fail when a test asks for it: exchanges of names, further names, renaming to a path. */
static bool has_no_exchange, has_no_links;
static const char *no_target;

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    errno = EINVAL;
    return has_no_exchange ? -1 : (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    errno = EPERM; /* a nameless file may still get its first name */
    return has_no_links && strncmp(from, "/proc/", 6) != 0 ? -1 : (int)syscall(SYS_linkat, from_at, from, to_at, to, flags);
}

int rename(const char *from, const char *to)
{
    errno = EIO;
    return no_target && strcmp(to, no_target) == 0 ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

static void open_pair(const char *folder, clf_atomic_file pair[2], size_t bytes, const char *second)
{
    static const char content[8192];
    char path[TEMP_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(clfi_output_open(i == 1 && second ? second : temp_path(folder, i ? "b" : "a", path), true, &pair[i]));
        assert_true(bytes <= sizeof content && clfi_atomic_write(&pair[i], content, i ? bytes : 3));
    }
}

/* Two outputs appear together or not at all, whichever of them fails and however. */
static void pairs(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES], a[TEMP_PATH_BYTES], b[TEMP_PATH_BYTES];
    clf_atomic_file pair[2];
    struct stat info;
    struct rlimit limit, small;
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "pairs", folder)));
    temp_file(folder, "a", "old", 3, a);
    temp_path(folder, "b", b);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 2; i++) { /* the larger one finds the disk full, as the first and as the second of the two */
        open_pair(folder, pair, 2000, NULL);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const clf_status st = clfi_atomic_commit_pair(&pair[i], &pair[1 - i]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        CHECK(st == CLF_IO && strstr(clf_last_error(), b), "%s: %s", clf_status_id(st), clf_last_error());
        check_content(a, "old");
        assert_int_equal(temp_directory_entries(folder), 1);
    }
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < 2 && stat("/dev/full", &info) == 0; i++) { /* a device is asked before the file has its name */
        open_pair(folder, pair, 3, "/dev/full");
        CHECK_FAILS(clfi_atomic_commit_pair(&pair[i], &pair[1 - i]), CLF_IO, "write /dev/full: No space left on device");
        check_content(a, "old");
        assert_int_equal(temp_directory_entries(folder), 1);
    }
    for (int i = 0; i < 2; i++) { /* a name that cannot be had any more: the other, which has its own, gives it back */
        open_pair(folder, pair, 3, NULL);
        assert_int_equal(mkdir(b, 0700), 0);
        CHECK_FAILS(clfi_atomic_commit_pair(&pair[i], &pair[1 - i]), CLF_IO, b);
        assert_int_equal(rmdir(b), 0);
        check_content(a, "old");
        assert_int_equal(temp_directory_entries(folder), 1);
    }
    open_pair(folder, pair, 3, NULL); /* complete ones are still not there, and can be taken back */
    for (int i = 0; i < 2; i++) {
        CHECK_OK(clfi_atomic_complete(&pair[i]));
        CHECK_OK(clfi_atomic_complete(&pair[i]));
        check_content(a, "old");
    }
    clfi_atomic_abandon(&pair[0]);
    clfi_atomic_abandon(&pair[1]);
    assert_int_equal(temp_directory_entries(folder), 1);
    open_pair(folder, pair, 3, NULL);
    CHECK_OK(clfi_atomic_complete(&pair[0]));
    CHECK_OK(clfi_atomic_commit_pair(&pair[0], &pair[1]));
    assert_true(stat(a, &info) == 0 && info.st_size == 3 && stat(b, &info) == 0 && info.st_size == 3);
    check_content(a, "");
    assert_int_equal(temp_directory_entries(folder), 2);
    for (int i = 0; i < 2; i++) { /* both take the places of files, of which nothing is left */
        open_pair(folder, pair, 5 + (size_t)i, NULL);
        CHECK_OK(clfi_atomic_commit_pair(&pair[i], &pair[1 - i]));
        assert_true(stat(a, &info) == 0 && info.st_size == 3 && stat(b, &info) == 0 && info.st_size == 5 + i);
        assert_int_equal(temp_directory_entries(folder), 2);
    }
}

/* Neither file is lost if the second of two cannot be renamed, whatever the file system lacks. */
static void pairs_replace(void **state)
{
    (void)state;
    char folder[TEMP_PATH_BYTES], a[TEMP_PATH_BYTES], b[TEMP_PATH_BYTES];
    clf_atomic_file pair[2];
    CHECK_OK(clfi_make_directories(temp_path(temp_root, "replace", folder)));
    temp_file(folder, "a", "old a", 5, a);
    temp_file(folder, "b", "old b", 5, b);
    for (int lacks = 0; lacks < 3; lacks++) {
        has_no_exchange = lacks > 0;
        has_no_links = lacks > 1;
        for (int i = lacks ? 0 : 1; i < 2; i++) { /* b, which is renamed first unless names are exchanged, or a cannot be renamed */
            no_target = i ? a : b;
            open_pair(folder, pair, 3, NULL);
            CHECK_FAILS(clfi_atomic_commit_pair(&pair[0], &pair[1]), CLF_IO, no_target);
            const char *aside = strstr(clf_last_error(), " is now ");
            assert_true((aside != NULL) == (i == 0 && has_no_links)); /* it cannot be renamed back either */
            no_target = NULL;
            if (aside)
                assert_int_equal(rename(aside + strlen(" is now "), b), 0);
            check_content(a, "old a");
            check_content(b, "old b");
            assert_int_equal(temp_directory_entries(folder), 2);
        }
        open_pair(folder, pair, 3, NULL);
        CHECK_OK(clfi_atomic_commit_pair(&pair[0], &pair[1]));
        assert_int_equal(temp_directory_entries(folder), 2);
        CHECK_OK(clfi_file_write(a, "old a", 5));
        CHECK_OK(clfi_file_write(b, "old b", 5));
    }
    has_no_exchange = has_no_links = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomic_writes), cmocka_unit_test(links_and_modes), cmocka_unit_test(streams),
        cmocka_unit_test(killed_writer), cmocka_unit_test(failed_write),    cmocka_unit_test(pairs),
        cmocka_unit_test(pairs_replace),
    };
    return cmocka_run_group_tests(tests, temp_setup, temp_teardown);
}
