#include "support/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUM_PATHS = 8, PATH_SIZE = 512, MOST_OPEN = 8 };

static char folder[PATH_SIZE / 2];

int folder_create(void **state) {
    const char *parent = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof folder, "%s/muster-test-XXXXXX", parent && *parent ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int folder_remove(void **state) {
    (void)state;
    chmod(folder, 0700);
    return nftw(folder, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
}

const char *folder_path(const char *name) {
    static char path[NUM_PATHS][PATH_SIZE];
    static int turn;
    turn = (turn + 1) % NUM_PATHS;
    snprintf(path[turn], PATH_SIZE, *name ? "%s/%s" : "%s%s", folder, name);
    return path[turn];
}

const char *folder_write(const char *name, const void *data, size_t size) {
    const char *path = folder_path(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size) perror(path);
    if (file) fclose(file);
    return path;
}

const char *folder_write_text(const char *name, const char *text) {
    return folder_write(name, text, strlen(text));
}
