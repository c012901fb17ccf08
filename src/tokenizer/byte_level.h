/** How byte-level BPE writes bytes in its files: each as a character that is neither white space nor a control. A byte
 *  that is a printable character of Latin-1 is written as this character. The other bytes, in their order, are written
 *  as U+0100, U+0101 and so on.
 *
 *  Source: bytes_to_unicode in encoder.py of https://github.com/openai/gpt-2. */
#ifndef MUSTER_TOKENIZER_BYTE_LEVEL_H
#define MUSTER_TOKENIZER_BYTE_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MST_BYTE_LEVEL_MOST = 2 }; /**< most bytes, in UTF-8, of a character that stands for a byte */

/** Writes to DST the characters that stand for SIZE bytes; returns their number of bytes, at most
 *  MST_BYTE_LEVEL_MOST * SIZE. */
size_t mst_byte_level_write(const uint8_t *bytes, size_t size, char *dst);
/** Writes to DST the bytes that the SIZE bytes of TEXT stand for, at most SIZE, and sets *N to their number. False if a
 *  character stands for no byte. */
bool mst_byte_level_read(const char *text, size_t size, char *dst, size_t *n);

#endif
