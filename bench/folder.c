#include "bench/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

mst_status bench_folder_make(const char *parent, char **out) {
    const char *temporary = getenv("TMPDIR");
    *out = NULL;
    if (!parent) parent = temporary && *temporary ? temporary : "/tmp";
    if (asprintf(out, "%s/muster-bench-XXXXXX", parent) < 0) {
        *out = NULL;
        return MST_NO_MEMORY("for the name of a folder");
    }
    if (mkdtemp(*out)) return MST_OK;
    const mst_status status = MST_FAIL(MST_IO, "no folder can be made in '%s': %s", parent, strerror(errno));
    free(*out);
    *out = NULL;
    return status;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)info, (void)type, (void)place;
    return remove(path);
}

void bench_folder_remove(char *path) {
    enum { OPEN_FOLDERS = 8 };
    if (path) (void)nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    free(path);
}
