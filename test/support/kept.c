#include "support/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

void kept_open(kept_cache *x, const char *folder, int64_t limit) {
    x->text = NULL;
    assert_non_null(x->file = open_memstream(&x->text, &x->size));
    EXPECT_OK(mst_executable_cache_open(folder, limit, x->file, &x->cache));
    fflush(x->file);
}

void kept_close(kept_cache *x) {
    mst_executable_cache_close(x->cache);
    fclose(x->file);
    free(x->text);
}

void kept_expect_said(const kept_cache *x, const char *text) {
    const char *newline = strchr(x->text, '\n');
    if (!text && x->size) fail_msg("said: %s", x->text);
    if (!text) return;
    if (strncmp(x->text, "warning: ", 9) != 0 || !newline || newline[1] || !strstr(x->text, text))
        fail_msg("'%s' is not in one line in '%s'", text, x->text);
}

mst_executable_key kept_key(const char *text) {
    mst_executable_key key;
    mst_executable_key_make(&(mst_executable_source){text, "options", 7, "plugin 1.0", "kind"}, &key);
    return key;
}

void kept_path(const char *name, const char *text, char path[KEPT_PATH]) {
    char digits[MST_EXECUTABLE_KEY_TEXT];
    const mst_executable_key key = kept_key(text);
    snprintf(path, KEPT_PATH, "%s/%s.executable", folder_path(name), mst_executable_key_print(&key, digits));
}

void kept_put(const kept_cache *x, const char *text, int fill, size_t size) {
    const mst_executable_key key = kept_key(text);
    char *data = malloc(size + 1);
    assert_non_null(data);
    memset(data, fill, size);
    mst_executable_cache_keep(x->cache, &key, data, size);
    free(data);
}

int kept_find(const kept_cache *x, const char *text, size_t size) {
    const mst_executable_key key = kept_key(text);
    void *data = &data;
    size_t got = 1;
    const bool found = mst_executable_cache_find(x->cache, &key, &data, &got);
    if (!found && (data || got)) return -2;
    if (!found) return -1;
    int fill = got == size && size ? *(unsigned char *)data : -3;
    for (size_t i = 0; i < got; i++)
        if (((unsigned char *)data)[i] != fill) fill = -4;
    free(data);
    return fill;
}

bool kept_is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

int kept_count(const char *folder, bool (*is)(const char *name)) {
    DIR *list = opendir(folder);
    int count = 0;
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 (!is || is(entry->d_name));
    closedir(list);
    return count;
}

mode_t kept_mode(const char *path) {
    struct stat info;
    return lstat(path, &info) ? 0 : info.st_mode & 07777;
}

void kept_set_used(const char *path, time_t seconds) {
    const struct timespec times[] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

void kept_set_places(const char *cache, const char *home) {
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    if (home)
        setenv("HOME", home, 1);
    else
        unsetenv("HOME");
}
