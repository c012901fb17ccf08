/** DATASET with names for the classes of component COMPONENT: number i, below N, stands for class NAMES[i]; see
 *  mst_dataset_class_name. The names are copied. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_name_classes(mst_dataset *dataset, int component, const char *const *names,
                                                        int64_t n, mst_dataset **out);
#endif
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "data/nested.h"

typedef struct name_classes {
    mst_dataset base;
    int component;
    char **name; /* [n] followed by the bytes of the names, in one block */
    int64_t n;
} name_classes;

static void name_classes_destroy(mst_dataset *dataset) {
    free(((name_classes *)dataset)->name);
}

static const char *const *name_classes_list(const mst_dataset *dataset, int component, int64_t *n) {
    const name_classes *d = (const name_classes *)dataset;
    if (component != d->component) return mst_dataset_classes(dataset->upstream, component, n);
    *n = d->n;
    return (const char *const *)d->name;
}

static const mst_dataset_type type = {
    .name = "name_classes", .destroy = name_classes_destroy, .classes = name_classes_list, .keeps_rows = true};

static mst_status copy_names(const char *const *names, int64_t n, char ***out) {
    size_t bytes = (size_t)n * sizeof(char *);
    for (int64_t i = 0; i < n; i++) bytes += strlen(names[i]) + 1;
    char **name = *out = malloc(bytes + 1);
    if (!name) return MST_NO_MEMORY("for the names of %lld classes", (long long)n);
    char *text = (char *)(name + n);
    for (int64_t i = 0; i < n; i++) {
        const size_t size = strlen(names[i]) + 1;
        name[i] = memcpy(text, names[i], size);
        text += size;
    }
    return MST_OK;
}

mst_status mst_dataset_name_classes(mst_dataset *dataset, int component, const char *const *names, int64_t n,
                                    mst_dataset **out) {
    if (MST_IS_NULL(dataset) || (n > 0 && MST_IS_NULL(names)) || MST_IS_NULL(out)) return MST_INVALID;
    name_classes *d;
    *out = NULL;
    if (component < 0 || component >= dataset->num_components)
        return MST_FAIL(MST_INVALID, "name_classes: component %d, the dataset has 0 to %d", component,
                        dataset->num_components - 1);
    MST_TRY(mst_dataset_want_least("name_classes", "n", n, 1));
    for (int64_t i = 0; i < n; i++)
        if (!names[i]) return MST_FAIL(MST_INVALID, "name_classes: name %lld is NULL", (long long)i);
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    const mst_status status = copy_names(names, n, &d->name);
    if (status) {
        mst_dataset_release(&d->base);
        return status;
    }
    d->component = component;
    d->n = n;
    *out = &d->base;
    return MST_OK;
}

mst_dataset *mst_data_name_classes(mst_dataset *dataset, int component, const char *const *names, int64_t n) {
    MST_DATASET_NEST(dataset, mst_dataset_name_classes(dataset, component, names, n, &out));
}
