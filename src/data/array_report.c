#include "data/array_report.h"

#include <stdio.h>
#include <string.h>

#include "format/npz.h"

/* The path in SPEC if it names an npz file, else NULL. */
static const char *path_of(const char *spec) {
    static const char *const kinds[] = {"npz:", "word-ids:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(spec, kinds[i], strlen(kinds[i])) == 0) return spec + strlen(kinds[i]);
    return NULL;
}

int mst_array_pairs(const char *spec, mst_array_pair out[MST_MOST_ARRAY_PAIRS]) {
    static const char *const names[MST_MOST_ARRAY_PAIRS] = {"x", "y", "x_train", "y_train", "x_test", "y_test"};
    const char *path = path_of(spec);
    mst_npz *npz;
    int count = 0;
    if (!path || mst_npz_open(path, &npz)) return 0;
    for (int i = 0; i < MST_MOST_ARRAY_PAIRS; i++) {
        const char *other = mst_npz_has(npz, names[i]) ? mst_npz_other_case(npz, names[i]) : NULL;
        if (!other) continue;
        out[count].read = names[i];
        snprintf(out[count++].other, sizeof out->other, "%s", other);
    }
    mst_npz_close(npz);
    return count;
}
