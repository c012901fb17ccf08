#include "tensor/string.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"

mst_string mst_string_of(const char *text) {
    if (MST_IS_NULL(text)) return (mst_string){.data = ""};
    return (mst_string){.data = text, .length = strlen(text)};
}

bool mst_string_equal(mst_string a, mst_string b) {
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static mst_status string_check(const mst_tensor *tensor, int64_t i) {
    if (mst_tensor_dtype(tensor) != MST_STRING)
        return MST_FAIL(MST_INVALID, "tensor: its elements are %s, not strings",
                        mst_dtype_name(mst_tensor_dtype(tensor)));
    if (i < 0 || i >= mst_tensor_count(tensor))
        return MST_FAIL(MST_INVALID, "tensor: string %lld asked for, there are %lld", (long long)i,
                        (long long)mst_tensor_count(tensor));
    return MST_OK;
}

mst_string mst_tensor_get_string(const mst_tensor *tensor, int64_t i) {
    const mst_string empty = {.data = ""};
    if (MST_IS_NULL(tensor) || string_check(tensor, i)) return empty;
    const mst_string string = ((const mst_string *)mst_tensor_data(tensor))[i];
    return string.length ? string : empty;
}

void mst_tensor_take_string(mst_tensor *tensor, int64_t i, char *data, size_t length) {
    mst_string *string = (mst_string *)mst_tensor_data(tensor) + i;
    free((void *)(uintptr_t)string->data);
    *string = (mst_string){.data = data, .length = length};
}

/* Sets element I to a copy of VALUE's bytes. The copy is made first, because VALUE may be the element itself. */
static mst_status set(mst_tensor *tensor, int64_t i, mst_string value) {
    char *data = NULL;
    if (value.length) {
        data = value.length < SIZE_MAX ? malloc(value.length + 1) : NULL;
        if (!data) return MST_NO_MEMORY("for a string of %zu bytes", value.length);
        memcpy(data, value.data, value.length);
        data[value.length] = '\0';
    }
    mst_tensor_take_string(tensor, i, data, value.length);
    return MST_OK;
}

mst_status mst_tensor_set_string(mst_tensor *tensor, int64_t i, mst_string value) {
    if (MST_IS_NULL(tensor) || (value.length && MST_IS_NULL(value.data))) return MST_INVALID;
    MST_TRY(string_check(tensor, i));
    if (!mst_tensor_owns(tensor))
        return MST_FAIL(MST_INVALID,
                        "tensor: its strings belong to the caller, who can change them: use mst_tensor_copy");
    return set(tensor, i, value);
}

mst_status mst_tensor_copy_strings(mst_tensor *tensor, const mst_string *value) {
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        if (value[i].length && MST_IS_NULL(value[i].data)) return MST_INVALID;
        MST_TRY(set(tensor, i, value[i]));
    }
    return MST_OK;
}

mst_status mst_tensor_check_strings(const mst_tensor *tensor) {
    if (mst_tensor_dtype(tensor) != MST_STRING) return MST_OK;
    const mst_string *string = mst_tensor_data(tensor);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        if (string[i].length && !string[i].data)
            return MST_FAIL(MST_INVALID, "tensor: string %lld has %zu bytes, and its data is NULL", (long long)i,
                            string[i].length);
    return MST_OK;
}

mst_status mst_strings_keep(mst_arena *arena, mst_string *string, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const size_t length = string[i].length;
        char *data = length < SIZE_MAX ? mst_arena_alloc(arena, length + 1) : NULL;
        if (!data) return MST_NO_MEMORY("for a string of %zu bytes", length);
        if (length) memcpy(data, string[i].data, length);
        string[i].data = data;
    }
    return MST_OK;
}

bool mst_tensor_same(const mst_tensor *a, const mst_tensor *b) {
    const size_t bytes = mst_tensor_bytes(a);
    if (mst_tensor_dtype(a) != MST_STRING)
        return bytes == 0 || memcmp(mst_tensor_data(a), mst_tensor_data(b), bytes) == 0;
    const mst_string *left = mst_tensor_data(a), *right = mst_tensor_data(b);
    for (int64_t i = 0; i < mst_tensor_count(a); i++)
        if (!mst_string_equal(left[i], right[i])) return false;
    return true;
}

size_t mst_tensor_all_bytes(const mst_tensor *tensor) {
    size_t bytes = mst_tensor_bytes(tensor);
    if (mst_tensor_dtype(tensor) != MST_STRING) return bytes;
    const mst_string *string = mst_tensor_data(tensor);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) bytes += string[i].length;
    return bytes;
}
