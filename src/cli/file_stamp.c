#include "cli/file_stamp.h"

#include <stdio.h>
#include <stdlib.h>

file_stamp file_stamp_of(const char *folder, const char *name) {
    file_stamp stamp = {.number = 0};
    struct stat info;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return stamp;
    if (stat(path, &info) == 0) stamp = (file_stamp){.number = info.st_ino, .time = info.st_mtim};
    free(path);
    return stamp;
}

bool file_stamp_is_set(file_stamp stamp) {
    return stamp.number != 0;
}

bool file_stamp_equal(file_stamp a, file_stamp b) {
    return a.number == b.number && a.time.tv_sec == b.time.tv_sec && a.time.tv_nsec == b.time.tv_nsec;
}
