/* The fields of the protobuf message ModelProto: 1 pieces {1 text, 2 score, 3 type}; 2 settings of the trainer;
 * 3 normalizer {2 table of characters}; 5 denormalizer, with the same fields. The table consists of the number of bytes
 * of a trie, the trie (a double array of words of 32 bits), and the texts that replace characters, each ended by a zero
 * byte.
 *
 * Source: sentencepiece_model.proto and normalizer.cc of https://github.com/google/sentencepiece; darts of
 * https://github.com/s-yata/darts-clone. */
#include "tokenizer/piece_check.h"

#include <math.h>
#include <string.h>

#include "format/wire.h"

enum {
    PIECES = 1,
    TRAINER = 2,
    NORMALIZER = 3,
    BACKWARDS = 5,
    TABLE = 2,
    TEXT = 1,
    SCORE = 2,
    TYPE = 3,
    LAST_TYPE = 6
};
enum { MOST_PIECES = 1 << 24 };

static uint32_t word_of(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Whether no search in the trie, of N words, reads outside of it or outside of the TEXTS bytes of texts. The children
 * of word i are 256 words, one for each byte: child b is the word i ^ offset ^ b. If a key ends at word i (its bit 8 is
 * set), child 0 is a leaf: its highest bit is set, and its other bits are the place of a text. */
static bool trie_is_whole(const uint8_t *trie, size_t n, size_t texts) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = word_of(trie + 4 * i);
        const size_t children = i ^ ((size_t)(word >> 10) << ((word & 1u << 9) >> 6));
        if (word >> 31) { /* a leaf, or a word that no node leads to */
            if ((word & 0x7fffffff) >= texts) return false;
        } else if ((children | 255) >= n || ((word & 1u << 8) && !(word_of(trie + 4 * children) >> 31))) {
            return false;
        }
    }
    return n > 0;
}

static bool table_is_whole(mst_wire table) {
    const size_t size = mst_wire_size(&table);
    if (!size) return true;
    if (size < 4) return false;
    const size_t trie = word_of(table.at), most = size - 4;
    if (trie > most || trie % 4 || trie == most || table.end[-1]) return false;
    return trie_is_whole(table.at + 4, trie / 4, most - trie);
}

static bool normalizer_is_whole(mst_wire normalizer) {
    while (mst_wire_size(&normalizer)) {
        uint64_t tag;
        mst_wire table;
        if (!mst_wire_varint(&normalizer, &tag)) return false;
        if (tag == MST_WIRE_TAG(TABLE, MST_WIRE_BYTES)) {
            if (!mst_wire_bytes(&normalizer, &table) || !table_is_whole(table)) return false;
        } else if (!mst_wire_skip(&normalizer, tag)) {
            return false;
        }
    }
    return true;
}

static bool piece_is_whole(mst_wire piece) {
    bool has_text = false;
    while (mst_wire_size(&piece)) {
        uint64_t tag, type;
        mst_wire text;
        float score = 0;
        if (!mst_wire_varint(&piece, &tag)) return false;
        if (tag == MST_WIRE_TAG(TEXT, MST_WIRE_BYTES)) {
            if (!mst_wire_bytes(&piece, &text)) return false;
            has_text = mst_wire_size(&text) > 0 && !memchr(text.at, 0, mst_wire_size(&text));
        } else if (tag == MST_WIRE_TAG(SCORE, MST_WIRE_FIXED32)) {
            if (mst_wire_size(&piece) < sizeof score) return false;
            memcpy(&score, piece.at, sizeof score);
            piece.at += sizeof score;
            if (!isfinite(score)) return false;
        } else if (tag == MST_WIRE_TAG(TYPE, MST_WIRE_VARINT)) {
            if (!mst_wire_varint(&piece, &type) || type < 1 || type > LAST_TYPE) return false;
        } else if (!mst_wire_skip(&piece, tag)) {
            return false;
        }
    }
    return has_text;
}

mst_status mst_piece_check(const void *model, size_t size) {
    mst_wire wire = {model, (const uint8_t *)model + size};
    int64_t num_pieces = 0;
    while (mst_wire_size(&wire)) {
        const size_t at = size - mst_wire_size(&wire);
        uint64_t tag;
        mst_wire part;
        bool whole = mst_wire_varint(&wire, &tag);
        if (whole && tag == MST_WIRE_TAG(PIECES, MST_WIRE_BYTES))
            whole = mst_wire_bytes(&wire, &part) && piece_is_whole(part) && ++num_pieces <= MOST_PIECES;
        else if (whole &&
                 (tag == MST_WIRE_TAG(NORMALIZER, MST_WIRE_BYTES) || tag == MST_WIRE_TAG(BACKWARDS, MST_WIRE_BYTES)))
            whole = mst_wire_bytes(&wire, &part) && normalizer_is_whole(part);
        else if (whole)
            whole = mst_wire_skip(&wire, tag);
        if (!whole)
            return MST_FAIL(MST_CORRUPT, "the part at byte %zu is damaged, or this is no SentencePiece model", at);
    }
    return num_pieces ? MST_OK : MST_FAIL(MST_CORRUPT, "has no pieces, so it is no SentencePiece model");
}
