#include "transport/wire_header.h"

#include <string.h>

#include "base/wire_number.h"

static const unsigned char magic[4] = {'M', 'S', 'T', 'R'};

void mst_wire_header_encode(const mst_wire_header *m, unsigned char header[MST_WIRE_HEADER_SIZE]) {
    unsigned char *at = header + sizeof magic;
    memcpy(header, magic, sizeof magic);
    at = mst_put_number(at, MST_WIRE_VERSION, 2);
    at = mst_put_number(at, m->kind, 2);
    at = mst_put_number(at, (uint32_t)m->from, 4);
    at = mst_put_number(at, (uint32_t)m->to, 4);
    at = mst_put_number(at, m->instance, 8);
    at = mst_put_number(at, m->key.generation, 4);
    at = mst_put_number(at, m->key.stream, 4);
    at = mst_put_number(at, m->key.run, 8);
    at = mst_put_number(at, m->key.hash, 8);
    at = mst_put_number(at, m->total, 8);
    mst_put_number(at, m->offset, 8);
}

const char *mst_wire_header_decode(const void *data, size_t size, size_t payload, mst_wire_header *out) {
    const unsigned char *at = data;
    if (size < MST_WIRE_HEADER_SIZE || memcmp(at, magic, sizeof magic) != 0)
        return "what it sent is no message of Muster";
    at += sizeof magic;
    if (mst_get_number(&at, 2) != MST_WIRE_VERSION) return "it runs a version of Muster with another form of messages";
    const uint64_t kind = mst_get_number(&at, 2);
    if (kind == 0 || kind >= MST_WIRE_KINDS) return "it sent a message of an unknown kind";
    mst_wire_header m = {.kind = (mst_wire_kind)kind};
    m.from = (int32_t)mst_get_number(&at, 4);
    m.to = (int32_t)mst_get_number(&at, 4);
    m.instance = mst_get_number(&at, 8);
    m.key.generation = (uint32_t)mst_get_number(&at, 4);
    m.key.stream = (uint32_t)mst_get_number(&at, 4);
    m.key.run = mst_get_number(&at, 8);
    m.key.hash = mst_get_number(&at, 8);
    m.total = mst_get_number(&at, 8);
    m.offset = mst_get_number(&at, 8);
    const bool fits = m.kind == MST_WIRE_DATA
                          ? m.offset <= m.total && payload <= m.total - m.offset && (payload > 0 || m.total == 0)
                          : m.offset == 0 && payload == m.total;
    if (!fits || m.total > SIZE_MAX / 2) return "the lengths in its message do not fit together";
    *out = m;
    return NULL;
}
