#include "base/byte_hash.h"

#include <string.h>

#include "base/rng.h"

/* LANES words are hashed at the same time: a multiplication takes several cycles, but one can begin in each cycle. */
enum { LANES = 8, WORD_BYTES = 8 };

/* Adds WORD to HASH. With the same HASH, different words give different results. With the same WORD, different hashes
 * give different results. So a difference in one word is never lost. A multiplication spreads a bit only to higher
 * bits. So the rotation moves the high bits down, and the next multiplication spreads them. */
static inline uint64_t add_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 divided by the golden ratio, odd */
    return hash << 29 | hash >> 35;
}

uint64_t mst_byte_hash(const void *data, size_t bytes) {
    uint64_t lane[LANES], hash = bytes;
    const char *src = data;
    for (int i = 0; i < LANES; i++) lane[i] = (uint64_t)i;
    for (; bytes >= LANES * WORD_BYTES; bytes -= LANES * WORD_BYTES, src += LANES * WORD_BYTES)
        for (int i = 0; i < LANES; i++) {
            uint64_t word;
            memcpy(&word, src + (size_t)i * WORD_BYTES, WORD_BYTES);
            lane[i] = add_word(lane[i], word);
        }
    for (int i = 0; bytes > 0; i++) { /* the last word is filled up with zeros */
        const size_t part = bytes < WORD_BYTES ? bytes : WORD_BYTES;
        uint64_t word = 0;
        memcpy(&word, src, part);
        lane[i] = add_word(lane[i], word);
        bytes -= part;
        src += part;
    }
    for (int i = 0; i < LANES; i++) hash = mst_rng_mix(hash, lane[i]);
    return hash;
}
