#include "messages/executable_message.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/wire_number.h"

#define MAGIC "MSE\1"
enum { MAGIC_SIZE = 4, PARTS = 5, SIZES = 8 * PARTS };

/* ---- messages ---- */

bool mst_executable_message_is(const void *data, size_t size) {
    return size >= MAGIC_SIZE && memcmp(data, MAGIC, MAGIC_SIZE) == 0;
}

size_t mst_executable_message_encode(const mst_executable_message *message, void *dst) {
    unsigned char *at = dst;
    memcpy(at, MAGIC, MAGIC_SIZE);
    at = mst_put_number(at + MAGIC_SIZE, message->kind, 4);
    memcpy(at, message->key.byte, MST_EXECUTABLE_KEY);
    memcpy(at + MST_EXECUTABLE_KEY, message->hash, MST_EXECUTABLE_HASH);
    at = mst_put_number(at + MST_EXECUTABLE_KEY + MST_EXECUTABLE_HASH, message->offset, 8);
    at = mst_put_number(at, message->total, 8);
    if (message->bytes) memcpy(at, message->piece, message->bytes);
    return MST_EXECUTABLE_MESSAGE_HEAD + message->bytes;
}

/* Whether the piece of MESSAGE lies within its total, where it is a part of something. */
static bool lies_within(const mst_executable_message *m) {
    if (m->kind != MST_EXECUTABLE_BYTES && m->kind != MST_EXECUTABLE_SOURCE) return true;
    return m->total > 0 && m->offset <= m->total && m->bytes <= m->total - m->offset;
}

bool mst_executable_message_decode(const void *data, size_t size, mst_executable_message *out) {
    const unsigned char *at = data;
    *out = (mst_executable_message){.kind = 0};
    if (size < MST_EXECUTABLE_MESSAGE_HEAD || size > MST_EXECUTABLE_MESSAGE_HEAD + MST_EXECUTABLE_PIECE) return false;
    if (!mst_executable_message_is(data, size)) return false;
    at += MAGIC_SIZE;
    const uint64_t kind = mst_get_number(&at, 4);
    memcpy(out->key.byte, at, MST_EXECUTABLE_KEY);
    memcpy(out->hash, at + MST_EXECUTABLE_KEY, MST_EXECUTABLE_HASH);
    at += MST_EXECUTABLE_KEY + MST_EXECUTABLE_HASH;
    out->offset = mst_get_number(&at, 8);
    out->total = mst_get_number(&at, 8);
    out->piece = at;
    out->bytes = size - MST_EXECUTABLE_MESSAGE_HEAD;
    if (!kind || kind >= MST_EXECUTABLE_MESSAGE_KINDS) return false;
    out->kind = (mst_executable_message_kind)kind;
    return lies_within(out);
}

/* ---- sources ---- */

mst_status mst_executable_source_encode(const mst_executable_order *order, void **out, size_t *size) {
    const mst_executable_source *s = &order->source;
    const void *part[PARTS] = {s->text, s->options, s->plugin, s->kind, order->device_type};
    const size_t bytes[PARTS] = {strlen(s->text), s->options_size, strlen(s->plugin), strlen(s->kind),
                                 strlen(order->device_type)};
    size_t all = SIZES;
    for (int i = 0; i < PARTS && all <= MST_EXECUTABLE_SOURCE_MOST; i++)
        all = bytes[i] > MST_EXECUTABLE_SOURCE_MOST ? SIZE_MAX : all + bytes[i] + 1;
    if (all > MST_EXECUTABLE_SOURCE_MOST)
        return MST_FAIL(MST_INVALID,
                        "a program is too large to be sent to another task: it may have %d MiB: "
                        "make the model or its constants smaller",
                        MST_EXECUTABLE_SOURCE_MOST >> 20);
    unsigned char *at = malloc(all);
    if (!at) return MST_NO_MEMORY("for a program that is sent, %zu bytes", all);
    *out = at;
    *size = all;
    for (int i = 0; i < PARTS; i++) at = mst_put_number(at, bytes[i], 8);
    for (int i = 0; i < PARTS; i++) {
        if (bytes[i]) memcpy(at, part[i], bytes[i]);
        at[bytes[i]] = 0;
        at += bytes[i] + 1;
    }
    return MST_OK;
}

static bool find_parts(const void *data, size_t size, const char *part[PARTS], uint64_t bytes[PARTS]) {
    enum { OPTIONS = 1 /* the only part that may have zeros */ };
    const unsigned char *at = data;
    if (size < SIZES) return false;
    for (int i = 0; i < PARTS; i++) bytes[i] = mst_get_number(&at, 8);
    size_t left = size - SIZES;
    for (int i = 0; i < PARTS; i++) {
        if (bytes[i] >= left || at[bytes[i]] != 0) return false;
        part[i] = (const char *)at;
        if (i != OPTIONS && strlen(part[i]) != bytes[i]) return false;
        at += bytes[i] + 1;
        left -= (size_t)bytes[i] + 1;
    }
    return left == 0;
}

mst_status mst_executable_source_decode(const void *data, size_t size, mst_executable_order *order) {
    const char *part[PARTS];
    uint64_t bytes[PARTS];
    if (!find_parts(data, size, part, bytes))
        return MST_FAIL(MST_CORRUPT,
                        "what another task has sent to be compiled is not a program: "
                        "all tasks need the same version of Muster");
    *order = (mst_executable_order){.source = {.text = part[0],
                                               .options = part[1],
                                               .options_size = (size_t)bytes[1],
                                               .plugin = part[2],
                                               .kind = part[3]},
                                    .device_type = part[4]};
    return MST_OK;
}
