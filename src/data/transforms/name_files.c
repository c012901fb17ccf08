#include "data/transforms/name_files.h"

#include "base/arena.h"
#include "base/no_memory.h"

typedef struct name_files {
    mst_dataset base;
    mst_arena arena;
    const char **path;
    int64_t n;
} name_files;

static void name_files_destroy(mst_dataset *dataset) {
    mst_arena_free(&((name_files *)dataset)->arena);
}

static const char *const *name_files_list(const mst_dataset *dataset, int64_t *n) {
    const name_files *d = (const name_files *)dataset;
    *n = d->n;
    return d->path;
}

static const mst_dataset_type type = {
    .name = "name_files", .destroy = name_files_destroy, .paths = name_files_list, .keeps_rows = true};

mst_status mst_dataset_name_files(mst_dataset *dataset, const char *const *paths, int64_t n, mst_dataset **out) {
    name_files *d;
    *out = NULL;
    MST_TRY(mst_dataset_derive(&type, sizeof *d, dataset, &d));
    d->path = mst_arena_alloc(&d->arena, ((size_t)n + 1) * sizeof *d->path);
    bool whole = d->path != NULL;
    for (; d->n < n && whole; d->n++) whole = (d->path[d->n] = mst_arena_string(&d->arena, paths[d->n])) != NULL;
    if (!whole) {
        mst_dataset_release(&d->base);
        return MST_NO_MEMORY("for the names of files");
    }
    *out = &d->base;
    return MST_OK;
}
