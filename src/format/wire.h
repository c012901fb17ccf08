/** Protocol buffers' wire format, read in place.
 *
 *  A message consists of fields: a tag, which is number * 8 + wire type, and a value. Each function returns false if
 *  the bytes end too early or are not of the expected form. Nothing is read past the end.
 *
 *  Source: protobuf.dev, "Encoding".
 */
#ifndef MUSTER_FORMAT_WIRE_H
#define MUSTER_FORMAT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MST_WIRE_VARINT = 0, MST_WIRE_FIXED64 = 1, MST_WIRE_BYTES = 2, MST_WIRE_FIXED32 = 5 };

/** The tag of field NUMBER. */
#define MST_WIRE_TAG(number, type) ((uint64_t)(number) << 3 | (type))

/** The rest of a message that is not yet read. */
typedef struct mst_wire {
    const uint8_t *at, *end;
} mst_wire;

static inline size_t mst_wire_size(const mst_wire *wire) {
    return (size_t)(wire->end - wire->at);
}

static inline bool mst_wire_varint(mst_wire *wire, uint64_t *value) {
    if (wire->at < wire->end && *wire->at < 0x80) {
        *value = *wire->at++;
        return true;
    }
    *value = 0;
    for (unsigned shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        const uint8_t byte = *wire->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

/** Reads a length and passes over that many bytes; *VALUE refers to them. */
static inline bool mst_wire_bytes(mst_wire *wire, mst_wire *value) {
    uint64_t size;
    if (!mst_wire_varint(wire, &size) || size > mst_wire_size(wire)) return false;
    *value = (mst_wire){wire->at, wire->at + size};
    wire->at += size;
    return true;
}

/** Passes over SIZE bytes. */
static inline bool mst_wire_pass(mst_wire *wire, size_t size) {
    if (size > mst_wire_size(wire)) return false;
    wire->at += size;
    return true;
}

/** Skips the value of a field with tag TAG. Groups, which are obsolete, are refused. */
static inline bool mst_wire_skip(mst_wire *wire, uint64_t tag) {
    uint64_t number;
    mst_wire bytes;
    if (tag >> 3 == 0) return false;
    switch (tag & 7) {
        case MST_WIRE_VARINT: return mst_wire_varint(wire, &number);
        case MST_WIRE_FIXED64: return mst_wire_pass(wire, 8);
        case MST_WIRE_BYTES: return mst_wire_bytes(wire, &bytes);
        case MST_WIRE_FIXED32: return mst_wire_pass(wire, 4);
        default: return false;
    }
}

#endif
