#include "base/private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

mst_status mst_private_check(const struct stat *info, const char *what, const char *path, const char *advice,
                             const char *more) {
    if (info->st_uid != geteuid())
        return MST_FAIL(MST_INVALID, "%s '%s' belongs to user %ld, not to you: %s", what, path, (long)info->st_uid,
                        advice);
    if (info->st_mode & (S_IRWXG | S_IRWXO))
        return MST_FAIL(MST_INVALID, "%s '%s' can be used by others: run 'chmod %s %s'%s", what, path,
                        S_ISREG(info->st_mode) ? "600" : "700", path, more);
    return MST_OK;
}

int mst_private_make_folders(char *path, size_t at) {
    for (char *slash = strchr(path + at, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const int error = mkdir(path, S_IRWXU) == 0 || errno == EEXIST ? 0 : errno;
        *slash = '/';
        if (error) return error;
    }
    return mkdir(path, S_IRWXU) == 0 || errno == EEXIST ? 0 : errno;
}
