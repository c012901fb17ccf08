#include "data/sources/damaged_pictures.h"

#include <stdlib.h>
#include <string.h>

#include "base/long_work.h"
#include "base/no_memory.h"

mst_status mst_damaged_name_option(mst_status status, const mst_images_options *options) {
    if (status != MST_CORRUPT || options->skip_corrupt) return status;
    return MST_FAIL(MST_CORRUPT, "%s; --skip-corrupt N leaves out up to N such pictures", mst_error()->message);
}

mst_status mst_damaged_fit(const mst_image_folder *files, const mst_images_options *options,
                           mst_status (*fit)(void *context, const char *path), void *context) {
    mst_status status = fit(context, files->path[0]);
    for (int64_t i = 1; status == MST_CORRUPT && i <= options->skip_corrupt && i < files->num_files; i++)
        status = fit(context, files->path[i]);
    return status;
}

static mst_status count_damaged(mst_dataset *dataset, const mst_images_options *options, const char *path,
                                char **first) {
    if (dataset->num_corrupt == options->skip_corrupt)
        return MST_FAIL(MST_CORRUPT, "%s; --skip-corrupt %lld leaves out no more", mst_error()->message,
                        (long long)options->skip_corrupt);
    if (!dataset->num_corrupt++ && !(*first = strdup(path))) return MST_NO_MEMORY("for a path");
    dataset->first_corrupt = *first;
    return MST_OK;
}

/* Moves row FROM of LIST to TO. */
static void keep_row(mst_image_folder *list, int64_t from, int64_t to) {
    char *path = list->path[from];
    list->path[from] = NULL;
    list->path[to] = path;
    if (list->label) list->label[to] = list->label[from];
}

mst_status mst_damaged_leave_out(mst_dataset *dataset, mst_image_folder *const *files, int num_lists,
                                 const mst_images_options *options, mst_damaged_read read, void *context,
                                 char **first) {
    const int64_t count = files[0]->num_files;
    mst_status status = MST_OK;
    int64_t kept = 0;
    mst_long_work_begin(MST_LONG_WORK_READING, files[0]->path[0], "pictures", (uint64_t)count);
    for (int64_t row = 0; row < count && !status; row++) {
        int list = 0;
        mst_long_work_step((uint64_t)row);
        status = read(context, row, &list);
        const bool keeps = !status;
        if (status == MST_CORRUPT) status = count_damaged(dataset, options, files[list]->path[row], first);
        for (int k = 0; k < num_lists && !status; k++) {
            if (keeps) {
                keep_row(files[k], row, kept);
            } else {
                free(files[k]->path[row]);
                files[k]->path[row] = NULL;
            }
        }
        kept += keeps;
    }
    mst_long_work_end();
    MST_TRY(status);
    for (int k = 0; k < num_lists; k++) files[k]->num_files = kept;
    return MST_OK;
}
