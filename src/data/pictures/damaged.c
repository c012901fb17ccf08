#include "data/pictures/damaged.h"

#include <stdlib.h>

mst_status mst_damaged_name_option(mst_status status, const mst_images_options *options) {
    if (status != MST_CORRUPT || options->skip_corrupt) return status;
    return MST_FAIL(MST_CORRUPT, "%s; --skip-corrupt N leaves out up to N such pictures", mst_error()->message);
}

mst_status mst_damaged_count(mst_dataset *dataset, const mst_images_options *options, char **path, char **first) {
    if (dataset->num_corrupt == options->skip_corrupt)
        return MST_FAIL(MST_CORRUPT, "%s; --skip-corrupt %lld leaves out no more", mst_error()->message,
                        (long long)options->skip_corrupt);
    dataset->num_corrupt++;
    if (*first)
        free(*path);
    else
        dataset->first_corrupt = *first = *path;
    *path = NULL;
    return MST_OK;
}
