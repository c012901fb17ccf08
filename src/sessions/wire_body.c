#include "sessions/wire_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/no_memory.h"
#include "base/wire_number.h"
#include "tensor/tensor_check.h"

enum { NUMBER = 8, LEAST_ROOM = 256 };

/* ---- writing ---- */

/* Makes the message BYTES longer, and returns where the caller writes them; NULL: there is no memory. */
static char *wire_room(mst_wire_writer *w, size_t bytes) {
    if (w->failed) return NULL;
    if (bytes > w->room - w->size) {
        size_t room = w->room ? w->room : LEAST_ROOM;
        while (room - w->size < bytes && room <= SIZE_MAX / 4) room *= 2;
        char *bigger = room - w->size < bytes ? NULL : realloc(w->data, room);
        if (!bigger) {
            w->failed = true;
            return NULL;
        }
        w->data = bigger;
        w->room = room;
    }
    char *at = w->data + w->size;
    w->size += bytes;
    return at;
}

void mst_wire_put_number(mst_wire_writer *w, uint64_t number) {
    char *at = wire_room(w, NUMBER);
    if (at) mst_put_number((unsigned char *)at, number, NUMBER);
}

void mst_wire_put_real(mst_wire_writer *w, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    mst_wire_put_number(w, bits);
}

/* Writes the number BYTES, then DATA and ENDS zeros, then zeros up to a multiple of 8. */
static void put_padded(mst_wire_writer *w, const void *data, size_t bytes, size_t ends) {
    const size_t padding = -(bytes + ends) & (NUMBER - 1);
    mst_wire_put_number(w, bytes);
    char *at = wire_room(w, bytes + ends + padding);
    if (!at) return;
    if (bytes) memcpy(at, data, bytes);
    memset(at + bytes, 0, ends + padding);
}

void mst_wire_put_bytes(mst_wire_writer *w, const void *data, size_t bytes) {
    put_padded(w, data, bytes, 0);
}

void mst_wire_put_text(mst_wire_writer *w, const char *text) {
    put_padded(w, text, strlen(text), 1);
}

void mst_wire_put_spec(mst_wire_writer *w, const mst_spec *spec) {
    mst_wire_put_number(w, (uint64_t)spec->dtype);
    mst_wire_put_number(w, (uint64_t)spec->shape.ndim);
    for (int d = 0; d < spec->shape.ndim; d++) mst_wire_put_number(w, (uint64_t)spec->shape.dim[d]);
}

void mst_wire_put_tensor(mst_wire_writer *w, const mst_tensor *tensor) {
    const mst_spec spec = {.dtype = mst_tensor_dtype(tensor), .shape = mst_tensor_shape(tensor)};
    mst_wire_put_spec(w, &spec);
    if (spec.dtype != MST_STRING) {
        mst_wire_put_bytes(w, mst_tensor_data(tensor), mst_tensor_bytes(tensor));
        return;
    }
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        const mst_string string = mst_tensor_get_string(tensor, i);
        mst_wire_put_bytes(w, string.data, string.length);
    }
}

void mst_wire_put_optional(mst_wire_writer *w, const mst_tensor *tensor) {
    mst_wire_put_number(w, tensor != NULL);
    if (tensor) mst_wire_put_tensor(w, tensor);
}

void mst_wire_put_failure(mst_wire_writer *w, const mst_failure *failure) {
    mst_wire_put_number(w, failure->code);
    if (!failure->code) return;
    mst_wire_put_number(w, failure->derived);
    mst_wire_put_text(w, failure->message);
    mst_wire_put_text(w, failure->node);
    mst_wire_put_text(w, failure->device);
}

void mst_wire_append(mst_wire_writer *w, const mst_wire_writer *more) {
    if (more->failed) w->failed = true;
    char *at = wire_room(w, more->size);
    if (at && more->size) memcpy(at, more->data, more->size);
}

mst_status mst_wire_check_written(const mst_wire_writer *w) {
    return w->failed ? MST_NO_MEMORY("for a message to another task") : MST_OK;
}

void mst_wire_free(mst_wire_writer *w) {
    free(w->data);
    *w = (mst_wire_writer){0};
}

/* ---- reading ---- */

static const char *take(mst_wire_reader *r, size_t bytes) {
    if (bytes > r->left) r->wrong = true;
    if (r->wrong || r->no_memory) return NULL;
    const char *at = r->at;
    r->at += bytes;
    r->left -= bytes;
    return at;
}

uint64_t mst_wire_get_number(mst_wire_reader *r) {
    const unsigned char *at = (const unsigned char *)take(r, NUMBER);
    return at ? mst_get_number(&at, NUMBER) : 0;
}

int64_t mst_wire_get_within(mst_wire_reader *r, int64_t least, int64_t most) {
    const int64_t number = (int64_t)mst_wire_get_number(r);
    if (number >= least && number <= most) return number;
    r->wrong = true;
    return least;
}

int32_t mst_wire_get_count(mst_wire_reader *r, size_t each) {
    const size_t most = r->left / each;
    const int64_t count = mst_wire_get_within(r, 0, most < INT32_MAX ? (int64_t)most : INT32_MAX);
    return r->wrong || r->no_memory ? 0 : (int32_t)count;
}

double mst_wire_get_real(mst_wire_reader *r) {
    const uint64_t bits = mst_wire_get_number(r);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static const char *take_padded(mst_wire_reader *r, size_t ends, size_t *bytes) {
    const uint64_t length = mst_wire_get_number(r);
    *bytes = 0;
    if (length > r->left) r->wrong = true;
    const size_t whole = r->wrong ? 0 : (size_t)length + ends;
    const char *at = take(r, whole + (-whole & (NUMBER - 1))); /* up to a multiple of 8 */
    if (at) *bytes = (size_t)length;
    return at;
}

const void *mst_wire_get_bytes(mst_wire_reader *r, size_t *bytes) {
    return take_padded(r, 0, bytes);
}

const char *mst_wire_get_text(mst_wire_reader *r) {
    size_t bytes;
    const char *text = take_padded(r, 1, &bytes);
    if (text && !memchr(text, '\0', bytes) && !text[bytes]) return text;
    r->wrong = true;
    return "";
}

mst_spec mst_wire_get_spec(mst_wire_reader *r) {
    mst_spec spec = {.dtype = (mst_dtype)mst_wire_get_within(r, MST_NO_DTYPE + 1, MST_NUM_DTYPES - 1)};
    int64_t count;
    spec.shape.ndim = (int32_t)mst_wire_get_within(r, 0, MST_MAX_NDIM);
    for (int d = 0; d < spec.shape.ndim; d++) spec.shape.dim[d] = (int64_t)mst_wire_get_number(r);
    if (!r->wrong && !r->no_memory && mst_tensor_check(spec.dtype, spec.shape, &count)) r->wrong = true;
    return spec;
}

static mst_tensor *get_strings(mst_wire_reader *r, const mst_spec *spec) {
    mst_tensor *tensor = NULL;
    const int64_t count = mst_shape_count(spec->shape);
    if (count > (int64_t)(r->left / NUMBER)) {
        r->wrong = true;
        return NULL;
    }
    r->no_memory = mst_tensor_create(MST_STRING, spec->shape, &tensor) != MST_OK;
    for (int64_t i = 0; i < count && !r->wrong && !r->no_memory; i++) {
        size_t length;
        const char *data = mst_wire_get_bytes(r, &length);
        if (data) r->no_memory = mst_tensor_set_string(tensor, i, (mst_string){data, length}) != MST_OK;
    }
    if (!r->wrong && !r->no_memory) return tensor;
    mst_tensor_release(tensor);
    return NULL;
}

mst_tensor *mst_wire_get_tensor(mst_wire_reader *r) {
    const mst_spec spec = mst_wire_get_spec(r);
    mst_tensor *tensor = NULL;
    size_t bytes, wanted;
    if (r->wrong || r->no_memory) return NULL;
    if (spec.dtype == MST_STRING) return get_strings(r, &spec);
    const void *data = mst_wire_get_bytes(r, &bytes);
    if (__builtin_mul_overflow(mst_dtype_size(spec.dtype), (size_t)mst_shape_count(spec.shape), &wanted) ||
        wanted != bytes)
        r->wrong = true;
    if (data && !r->wrong) r->no_memory = mst_tensor_copy(spec.dtype, spec.shape, data, &tensor) != MST_OK;
    return tensor;
}

mst_tensor *mst_wire_get_optional(mst_wire_reader *r) {
    return mst_wire_get_within(r, 0, 1) ? mst_wire_get_tensor(r) : NULL;
}

static void get_short(mst_wire_reader *r, char *text, size_t size) {
    snprintf(text, size, "%s", mst_wire_get_text(r));
    mst_make_plain(text); /* the text is for display: control characters become '?' */
}

void mst_wire_get_failure(mst_wire_reader *r, mst_failure *out) {
    *out = (mst_failure){.code = (mst_status)mst_wire_get_within(r, 0, MST_NUM_STATUS - 1), .file = "another task"};
    if (!out->code) return;
    out->derived = mst_wire_get_within(r, 0, 1);
    get_short(r, out->message, sizeof out->message);
    get_short(r, out->node, sizeof out->node);
    get_short(r, out->device, sizeof out->device);
}

mst_status mst_wire_check_read(const mst_wire_reader *r, const char *who) {
    if (r->no_memory) return MST_NO_MEMORY("for what %s has sent", who);
    if (!r->wrong && r->left == 0) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "a message from %s is damaged: run the same version of Muster on all tasks", who);
}
