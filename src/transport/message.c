#include "transport/message.h"

#include <string.h>

static const unsigned char magic[4] = {'M', 'S', 'T', 'R'};

static unsigned char *put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> 8 * i);
    return at;
}

static uint64_t get(const unsigned char **at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t) * (*at)++ << 8 * i;
    return value;
}

void mst_message_encode(const mst_message *m, unsigned char header[MST_MESSAGE_HEADER]) {
    unsigned char *at = header + sizeof magic;
    memcpy(header, magic, sizeof magic);
    at = put(at, MST_MESSAGE_VERSION, 2);
    at = put(at, m->kind, 2);
    at = put(at, (uint32_t)m->from, 4);
    at = put(at, (uint32_t)m->to, 4);
    at = put(at, m->instance, 8);
    at = put(at, m->key.generation, 4);
    at = put(at, m->key.stream, 4);
    at = put(at, m->key.run, 8);
    at = put(at, m->key.hash, 8);
    at = put(at, m->total, 8);
    put(at, m->offset, 8);
}

const char *mst_message_decode(const void *data, size_t size, size_t payload, mst_message *out) {
    const unsigned char *at = data;
    if (size < MST_MESSAGE_HEADER || memcmp(at, magic, sizeof magic) != 0)
        return "what it sent is no message of Muster";
    at += sizeof magic;
    if (get(&at, 2) != MST_MESSAGE_VERSION) return "it is of a version of Muster with another form of messages";
    const uint64_t kind = get(&at, 2);
    if (kind == 0 || kind >= MST_MESSAGE_KINDS) return "it sent a message of an unknown kind";
    mst_message m = {.kind = (mst_message_kind)kind};
    m.from = (int32_t)get(&at, 4);
    m.to = (int32_t)get(&at, 4);
    m.instance = get(&at, 8);
    m.key.generation = (uint32_t)get(&at, 4);
    m.key.stream = (uint32_t)get(&at, 4);
    m.key.run = get(&at, 8);
    m.key.hash = get(&at, 8);
    m.total = get(&at, 8);
    m.offset = get(&at, 8);
    const bool fits = m.kind == MST_MESSAGE_DATA
                          ? m.offset <= m.total && payload <= m.total - m.offset && (payload > 0 || m.total == 0)
                          : m.offset == 0 && payload == m.total;
    if (!fits || m.total > SIZE_MAX / 2) return "the lengths in a message of it do not fit together";
    *out = m;
    return NULL;
}
