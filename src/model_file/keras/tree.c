#include "model_file/keras/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/hdf5.h"
#include "format/stream.h"
#include "module/module.h"
#include "tensor/tensor_check.h"

static mst_status add_array(mst_keras_tree *tree, const char *path, mst_tensor *tensor) {
    mst_status status = mst_grow(&tree->array, sizeof *tree->array, tree->num_arrays + 1, &tree->array_capacity);
    const char *copy = status ? NULL : mst_arena_string(&tree->arena, path);
    if (!status && !copy) status = MST_NO_MEMORY("for a model file");
    if (status)
        mst_tensor_release(tensor);
    else
        tree->array[tree->num_arrays++] = (mst_keras_array){copy, tensor};
    return status;
}

/* A tree that is being read, and the number of bytes that its arrays may still take. */
typedef struct tree_reader {
    mst_keras_tree *tree;
    const char *name;
    uint64_t left;
} tree_reader;

static mst_status keep_array(void *context, const mst_hdf5_array *array, void **data) {
    tree_reader *r = context;
    mst_tensor *tensor;
    int64_t count;
    MST_TRY(mst_tensor_check(array->dtype, array->shape, &count));
    const uint64_t size = (uint64_t)count * mst_dtype_size(array->dtype);
    if (size > r->left)
        return MST_FAIL(MST_CORRUPT,
                        "'%s': its arrays have more than %d times the bytes of the file: it is damaged: save the model "
                        "again",
                        r->name, MST_DEFLATE_MAX_RATIO);
    r->left -= size;
    MST_TRY(mst_tensor_create(array->dtype, array->shape, &tensor));
    *data = mst_tensor_data(tensor);
    return add_array(r->tree, array->path, tensor);
}

static mst_status add_text(mst_keras_tree *tree, const mst_hdf5_text *text) {
    const char **copy = mst_arena_alloc(&tree->arena, ((size_t)text->count + 1) * sizeof *copy);
    mst_keras_text t = {.path = mst_arena_string(&tree->arena, text->path),
                        .name = mst_arena_string(&tree->arena, text->name),
                        .text = copy,
                        .count = text->count,
                        .list = text->list};
    if (!copy || !t.path || !t.name) return MST_NO_MEMORY("for a model file");
    for (int64_t i = 0; i < text->count; i++)
        if (!(copy[i] = mst_arena_string(&tree->arena, text->text[i]))) return MST_NO_MEMORY("for a model file");
    MST_TRY(mst_grow(&tree->text, sizeof *tree->text, tree->num_texts + 1, &tree->text_capacity));
    tree->text[tree->num_texts++] = t;
    return MST_OK;
}

static mst_status keep_text(void *context, const mst_hdf5_text *text) {
    return add_text(((tree_reader *)context)->tree, text);
}

mst_status mst_keras_tree_read(const char *name, const void *data, size_t size, uint64_t file_size,
                               mst_keras_tree *out) {
    const void *interface;
    tree_reader reader = {.tree = out, .name = name, .left = file_size * MST_DEFLATE_MAX_RATIO};
    const mst_hdf5_visitor visitor = {.context = &reader, .array = keep_array, .text = keep_text};
    *out = (mst_keras_tree){0};
    if (mst_module_interface("hdf5", &interface)) return mst_error_prefix("'%s'", name);
    return ((const mst_hdf5_codec *)interface)->read(name, data, size, &visitor);
}

void mst_keras_tree_free(mst_keras_tree *tree) {
    for (int64_t i = 0; i < tree->num_arrays; i++) mst_tensor_release(tree->array[i].tensor);
    free(tree->array);
    free(tree->text);
    mst_arena_free(&tree->arena);
    *tree = (mst_keras_tree){0};
}

mst_tensor *mst_keras_tree_array(const mst_keras_tree *tree, const char *path) {
    for (int64_t i = 0; i < tree->num_arrays; i++)
        if (strcmp(tree->array[i].path, path) == 0) return tree->array[i].tensor;
    return NULL;
}

const mst_keras_text *mst_keras_tree_text(const mst_keras_tree *tree, const char *path, const char *name) {
    for (int64_t i = 0; i < tree->num_texts; i++)
        if (strcmp(tree->text[i].path, path) == 0 && strcmp(tree->text[i].name, name) == 0) return &tree->text[i];
    return NULL;
}

/* Part number PART of a list of texts that was split. */
static const mst_keras_text *cut_text(const mst_keras_tree *tree, const char *path, const char *name, int part) {
    char numbered[64];
    snprintf(numbered, sizeof numbered, "%s%d", name, part);
    return mst_keras_tree_text(tree, path, numbered);
}

bool mst_keras_tree_has_texts(const mst_keras_tree *tree, const char *path, const char *name) {
    return mst_keras_tree_text(tree, path, name) || cut_text(tree, path, name, 0);
}

mst_status mst_keras_tree_each_text(const mst_keras_tree *tree, const char *path, const char *name,
                                    mst_status (*use)(void *context, const char *text), void *context) {
    const mst_keras_text *whole = mst_keras_tree_text(tree, path, name);
    const mst_keras_text *text = whole ? whole : cut_text(tree, path, name, 0);
    for (int part = 1; text; part++) {
        for (int64_t i = 0; i < text->count; i++) MST_TRY(use(context, text->text[i]));
        text = whole ? NULL : cut_text(tree, path, name, part);
    }
    return MST_OK;
}

mst_status mst_keras_tree_add(mst_keras_tree *tree, const char *path, mst_tensor *tensor) {
    return add_array(tree, path, mst_tensor_retain(tensor));
}

mst_status mst_keras_tree_add_text(mst_keras_tree *tree, const char *path, const char *name, const char *text) {
    return add_text(tree, &(mst_hdf5_text){.path = path, .name = name, .text = &text, .count = 1});
}

/* All strings of a list take the same number of bytes in the file. */
mst_status mst_keras_tree_add_list(mst_keras_tree *tree, const char *path, const char *name, const char *const *text,
                                   int64_t count) {
    enum { MOST_BYTES = 64512 }; /* limit of an attribute, as in Keras */
    char part[64];
    size_t longest = 1;
    for (int64_t i = 0; i < count; i++)
        if (strlen(text[i]) > longest) longest = strlen(text[i]);
    const int64_t most = longest > MOST_BYTES ? 1 : (int64_t)(MOST_BYTES / longest);
    if (count <= most)
        return add_text(tree, &(mst_hdf5_text){.path = path, .name = name, .text = text, .count = count, .list = true});
    for (int64_t i = 0; i * most < count; i++) {
        const int64_t left = count - i * most;
        snprintf(part, sizeof part, "%s%lld", name, (long long)i);
        MST_TRY(add_text(tree, &(mst_hdf5_text){.path = path,
                                                .name = part,
                                                .text = text + i * most,
                                                .count = left < most ? left : most,
                                                .list = true}));
    }
    return MST_OK;
}

/* ---- writing ---- */

typedef struct image {
    void **data;
    size_t *size;
} image;

static mst_status keep_image(void *sink, const void *data, size_t size) {
    const image *i = sink;
    if (!(*i->data = malloc(size))) return MST_NO_MEMORY("for a model file");
    memcpy(*i->data, data, size);
    *i->size = size;
    return MST_OK;
}

mst_status mst_keras_tree_write(const mst_keras_tree *tree, void **data, size_t *size) {
    const void *interface;
    *data = NULL;
    MST_TRY(mst_module_interface("hdf5", &interface));
    mst_hdf5_array *arrays = calloc((size_t)tree->num_arrays + 1, sizeof *arrays);
    mst_hdf5_text *texts = calloc((size_t)tree->num_texts + 1, sizeof *texts);
    mst_status status = arrays && texts ? MST_OK : MST_NO_MEMORY("for a model file");
    for (int64_t i = 0; !status && i < tree->num_arrays; i++) {
        const mst_keras_array *a = &tree->array[i];
        arrays[i] = (mst_hdf5_array){a->path, mst_tensor_dtype(a->tensor), mst_tensor_shape(a->tensor),
                                     mst_tensor_data(a->tensor)};
    }
    for (int64_t i = 0; !status && i < tree->num_texts; i++) {
        const mst_keras_text *t = &tree->text[i];
        texts[i] = (mst_hdf5_text){t->path, t->name, t->text, t->count, t->list};
    }
    image target = {data, size};
    if (!status)
        status = ((const mst_hdf5_codec *)interface)
                     ->write(arrays, tree->num_arrays, texts, tree->num_texts, keep_image, &target);
    free(arrays);
    free(texts);
    return status;
}
