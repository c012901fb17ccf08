#include "messages/state_message.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "store/store.h"

#define MAGIC "MSTS"
enum { VERSION = 1 };

/* ---- writing ---- */

/* The place where the message is written. If `dst` is NULL, bytes are only counted. */
typedef struct writer {
    char *dst;
    size_t used;
} writer;

static void put(writer *w, const void *src, size_t bytes) {
    if (w->dst && bytes) memcpy(w->dst + w->used, src, bytes);
    w->used += bytes;
}

static void put_number(writer *w, int64_t number) {
    put(w, &number, sizeof number);
}

/* Writes the length, the bytes and the padding: -BYTES & 7 zeros fill up to a multiple of 8. */
static void put_bytes(writer *w, const void *src, size_t bytes) {
    static const char zeros[8];
    put_number(w, (int64_t)bytes);
    put(w, src, bytes);
    put(w, zeros, -bytes & 7);
}

static void put_text(writer *w, const char *text) {
    put_bytes(w, text, strlen(text));
}

static void put_entry(writer *w, const mst_snapshot *snapshot, int64_t i) {
    const mst_state_info info = mst_snapshot_info(snapshot, i);
    const uint32_t kind[2] = {(uint32_t)info.kind, (uint32_t)info.spec.dtype};
    const mst_tensor *value = mst_snapshot_value(snapshot, i);
    put(w, kind, sizeof kind);
    put_number(w, info.spec.shape.ndim);
    for (int d = 0; d < info.spec.shape.ndim; d++) put_number(w, info.spec.shape.dim[d]);
    put_text(w, info.container);
    put_text(w, info.name);
    put_bytes(w, mst_tensor_data(value), mst_tensor_bytes(value));
}

static void put_all(writer *w, const mst_snapshot *snapshot) {
    const uint32_t version = VERSION;
    int64_t notes = 0;
    while (mst_snapshot_note_key(snapshot, notes)) notes++;
    put(w, MAGIC, sizeof version);
    put(w, &version, sizeof version);
    put_number(w, mst_snapshot_count(snapshot));
    put_number(w, notes);
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) put_entry(w, snapshot, i);
    for (int64_t i = 0; i < notes; i++) {
        const char *key = mst_snapshot_note_key(snapshot, i);
        put_text(w, key);
        put_text(w, mst_snapshot_note(snapshot, key));
    }
}

mst_status mst_state_message_encode(const mst_snapshot *snapshot, void **out, size_t *bytes) {
    writer count = {NULL, 0}, w = {NULL, 0};
    put_all(&count, snapshot);
    *out = w.dst = malloc(count.used);
    *bytes = count.used;
    if (!w.dst) return MST_NO_MEMORY("for the state that another task needs");
    put_all(&w, snapshot);
    return MST_OK;
}

/* ---- reading ---- */

typedef struct reader {
    const char *src;
    size_t left;
} reader;

static mst_status corrupt(void) {
    return MST_FAIL(MST_CORRUPT, "the state that another task sent is damaged");
}

static mst_status get(reader *r, void *dst, size_t bytes) {
    if (bytes > r->left) return corrupt();
    memcpy(dst, r->src, bytes);
    r->src += bytes;
    r->left -= bytes;
    return MST_OK;
}

/* Reads bytes; *OUT points to *BYTES of them in the message. */
static mst_status get_bytes(reader *r, const void **out, size_t *bytes) {
    uint64_t length;
    MST_TRY(get(r, &length, sizeof length));
    if (length > r->left || (-length & 7) > r->left - length) return corrupt();
    *out = r->src;
    *bytes = length;
    r->src += length + (-length & 7);
    r->left -= length + (-length & 7);
    return MST_OK;
}

/* Reads a text; the caller frees *OUT. */
static mst_status get_text(reader *r, char **out) {
    const void *text;
    size_t bytes;
    *out = NULL;
    MST_TRY(get_bytes(r, &text, &bytes));
    if (memchr(text, '\0', bytes)) return corrupt();
    *out = strndup(text, bytes);
    return *out ? MST_OK : MST_NO_MEMORY("for the state of another task");
}

static mst_status get_spec(reader *r, mst_state_kind *kind, mst_spec *spec) {
    uint32_t number[2];
    int64_t ndim;
    MST_TRY(get(r, number, sizeof number));
    MST_TRY(get(r, &ndim, sizeof ndim));
    if (number[0] >= MST_NUM_STATE_KINDS || number[1] == MST_NO_DTYPE || number[1] >= MST_NUM_DTYPES ||
        number[1] == MST_STRING || ndim < 0 || ndim > MST_MAX_NDIM)
        return corrupt();
    *kind = (mst_state_kind)number[0];
    *spec = (mst_spec){.dtype = (mst_dtype)number[1], .shape.ndim = (int)ndim};
    for (int d = 0; d < ndim; d++) MST_TRY(get(r, &spec->shape.dim[d], sizeof spec->shape.dim[d]));
    return MST_OK;
}

/* Adds a value of SPEC, which must not need more bytes than are there. */
static mst_status add_value(mst_snapshot *snapshot, const char *container, const char *name, mst_state_kind kind,
                            const mst_spec *spec, const void *data, size_t bytes) {
    size_t wanted = mst_dtype_size(spec->dtype);
    for (int d = 0; d < spec->shape.ndim; d++)
        if (spec->shape.dim[d] < 0 || __builtin_mul_overflow(wanted, (size_t)spec->shape.dim[d], &wanted))
            return corrupt();
    if (wanted != bytes) return corrupt();
    mst_tensor *value;
    MST_TRY(mst_tensor_copy(spec->dtype, spec->shape, data, &value));
    const mst_status status = mst_snapshot_add(snapshot, container, name, kind, value);
    mst_tensor_release(value);
    return status;
}

static mst_status get_entry(reader *r, mst_snapshot *snapshot) {
    mst_state_kind kind = MST_STATE_WEIGHT;
    mst_spec spec = {0};
    char *container = NULL, *name = NULL;
    const void *data = NULL;
    size_t bytes = 0;
    mst_status status = get_spec(r, &kind, &spec);
    if (!status) status = get_text(r, &container);
    if (!status) status = get_text(r, &name);
    if (!status) status = get_bytes(r, &data, &bytes);
    if (!status) status = add_value(snapshot, container, name, kind, &spec, data, bytes);
    free(container);
    free(name);
    return status;
}

static mst_status get_note(reader *r, mst_snapshot *snapshot) {
    char *key = NULL, *text = NULL;
    mst_status status = get_text(r, &key);
    if (!status) status = get_text(r, &text);
    if (!status) status = mst_snapshot_set_note(snapshot, key, text);
    free(key);
    free(text);
    return status;
}

static mst_status get_all(reader *r, mst_snapshot *snapshot) {
    char magic[4];
    uint32_t version;
    int64_t entries, notes;
    MST_TRY(get(r, magic, sizeof magic));
    MST_TRY(get(r, &version, sizeof version));
    if (memcmp(magic, MAGIC, sizeof magic) != 0 || version != VERSION) return corrupt();
    MST_TRY(get(r, &entries, sizeof entries));
    MST_TRY(get(r, &notes, sizeof notes));
    for (int64_t i = 0; i < entries; i++) MST_TRY(get_entry(r, snapshot));
    for (int64_t i = 0; i < notes; i++) MST_TRY(get_note(r, snapshot));
    return r->left || entries < 0 || notes < 0 ? corrupt() : MST_OK;
}

mst_status mst_state_message_decode(const void *data, size_t bytes, mst_snapshot **out) {
    reader r = {data, bytes};
    MST_TRY(mst_snapshot_create(out));
    const mst_status status = get_all(&r, *out);
    if (!status) return MST_OK;
    mst_snapshot_release(*out);
    *out = NULL;
    return status;
}

/* ---- hash ---- */

uint64_t mst_state_hash(const mst_snapshot *snapshot) {
    return mst_state_hash_of(snapshot, ~0u);
}

uint64_t mst_state_hash_of(const mst_snapshot *snapshot, unsigned kinds) {
    uint64_t hash;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES_MIN);
    for (int64_t i = 0; i < mst_snapshot_count(snapshot); i++) {
        const mst_state_info info = mst_snapshot_info(snapshot, i);
        const mst_tensor *value = mst_snapshot_value(snapshot, i);
        if (!(kinds >> info.kind & 1u) || strcmp(info.name, MST_STATE_RUNS) == 0) continue;
        crypto_generichash_update(&state, (const unsigned char *)info.container, strlen(info.container) + 1);
        crypto_generichash_update(&state, (const unsigned char *)info.name, strlen(info.name) + 1);
        crypto_generichash_update(&state, mst_tensor_data(value), mst_tensor_bytes(value));
    }
    unsigned char digest[crypto_generichash_BYTES_MIN];
    crypto_generichash_final(&state, digest, sizeof digest);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}
