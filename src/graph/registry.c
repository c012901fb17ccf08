#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "graph/graph.h"

/* Made by CMake from the files of src/op/. */
extern const mst_op *const mst_op_table[];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const mst_op **registered;
static int64_t num_registered, capacity;

static const mst_op *at(int i) {
    int built_in = 0;
    while (mst_op_table[built_in]) {
        if (built_in == i) return mst_op_table[i];
        built_in++;
    }
    i -= built_in;
    return i >= 0 && i < num_registered ? registered[i] : NULL;
}

const mst_op *mst_op_at(int i) {
    pthread_mutex_lock(&lock);
    const mst_op *op = i < 0 ? NULL : at(i);
    pthread_mutex_unlock(&lock);
    return op;
}

static const mst_op *find(const char *name) {
    const mst_op *op;
    for (int i = 0; (op = at(i)); i++)
        if (strcmp(op->name, name) == 0) return op;
    return NULL;
}

const mst_op *mst_find_op(const char *name) {
    pthread_mutex_lock(&lock);
    const mst_op *op = find(name);
    pthread_mutex_unlock(&lock);
    return op;
}

const char *mst_op_nearest(const char *name) {
    int count = 0;
    while (mst_op_at(count)) count++;
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    if (!names) return NULL;
    for (int i = 0; i < count; i++) names[i] = mst_op_at(i)->name;
    names[count] = NULL;
    const char *nearest = mst_nearest(name, names);
    free(names);
    return nearest;
}

mst_status mst_register_op(const mst_op *op) {
    if (!op->name || !*op->name) return MST_FAIL(MST_INVALID, "register_op: the op has no name");
    if (!op->infer) return MST_FAIL(MST_INVALID, "register_op: op '%s' has no infer", op->name);
    if (!op->reference) return MST_FAIL(MST_INVALID, "register_op: op '%s' has no reference kernel", op->name);
    if (op->num_dst == MST_VARIADIC && !op->count_dst)
        return MST_FAIL(MST_INVALID, "register_op: op '%s' is variadic in outputs, but has no count_dst", op->name);
    pthread_mutex_lock(&lock);
    mst_status status = MST_OK;
    if (find(op->name)) status = MST_FAIL(MST_EXISTS, "register_op: there is an op '%s' already", op->name);
    if (!status) status = mst_grow(&registered, sizeof op, num_registered + 1, &capacity);
    if (!status) registered[num_registered++] = op;
    pthread_mutex_unlock(&lock);
    return status;
}

mst_status mst_kernel_fail(const mst_kernel_args *a, mst_status code, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    MST_FAIL(code, "%s '%s': %s", a->op->name, a->name, text);
    return mst_error_at(a->name, NULL);
}
