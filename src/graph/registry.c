#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "graph/graph.h"

/* Made by CMake from the files of src/op/. */
extern const mst_op *const mst_op_table[];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const mst_op **registered;
static int64_t num_registered, capacity;

static const mst_op *registry_at(int i) {
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
    const mst_op *op = i < 0 ? NULL : registry_at(i);
    pthread_mutex_unlock(&lock);
    return op;
}

static const mst_op *registry_find(const char *name) {
    const mst_op *op;
    for (int i = 0; (op = registry_at(i)); i++)
        if (strcmp(op->name, name) == 0) return op;
    return NULL;
}

const mst_op *mst_find_op(const char *name) {
    if (MST_IS_NULL(name)) return NULL;
    pthread_mutex_lock(&lock);
    const mst_op *op = registry_find(name);
    pthread_mutex_unlock(&lock);
    return op;
}

const char *mst_op_did_you_mean(const char *name, char *text, size_t size) {
    int count = 0;
    *text = '\0';
    while (mst_op_at(count)) count++;
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    if (!names) return text;
    for (int i = 0; i < count; i++) names[i] = mst_op_at(i)->name;
    names[count] = NULL;
    mst_did_you_mean(name, names, text, size);
    free(names);
    return text;
}

static mst_status incomplete(const mst_op *op, const char *what) {
    return MST_FAIL(MST_INVALID, "op '%s' %s", op->name, what);
}

mst_status mst_op_check(const mst_op *op) {
    if (!mst_name_is_valid(op->name))
        return MST_FAIL(MST_INVALID, "an op of the name '%s': use letters, digits, '_', '.' and '-'",
                        op->name ? op->name : "(NULL)");
    if (!op->infer) return incomplete(op, "has no infer");
    if (!op->reference) return incomplete(op, "has no reference kernel");
    if (op->num_src < MST_VARIADIC) return incomplete(op, "has a negative num_src, must be 0 or more, or MST_VARIADIC");
    if (op->num_dst == 0 || op->num_dst < MST_VARIADIC)
        return incomplete(op, "has no outputs: num_dst must be 1 or more, or MST_VARIADIC");
    if (op->num_dst == MST_VARIADIC && !op->count_dst)
        return incomplete(op, "is variadic in outputs, but has no count_dst");
    for (const mst_field *field = op->fields; field && field->name; field++) {
        if (field->offset >= op->options_size) return incomplete(op, "has fields beyond its options_size");
        if (field->type == MST_FIELD_TYPE_NESTED) return incomplete(op, "has a nested field, which only layers have");
    }
    return MST_OK;
}

mst_status mst_register_op(const mst_op *op) {
    if (MST_IS_NULL(op)) return MST_INVALID;
    if (mst_op_check(op)) return mst_error_prefix("register_op");
    pthread_mutex_lock(&lock);
    mst_status status = MST_OK;
    if (registry_find(op->name)) status = MST_FAIL(MST_EXISTS, "register_op: there is an op '%s' already", op->name);
    if (!status) status = mst_grow(&registered, sizeof op, num_registered + 1, &capacity);
    if (!status) registered[num_registered++] = op;
    pthread_mutex_unlock(&lock);
    return status;
}

mst_status mst_kernel_fail(const mst_kernel_args *a, mst_status code, const char *format, ...) {
    if (MST_IS_NULL(a)) return MST_INVALID;
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    MST_FAIL(code, "%s '%s': %s", a->op->name, a->name, text);
    return mst_error_at(a->name, NULL);
}
