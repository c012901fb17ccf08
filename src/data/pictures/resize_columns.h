/** The columns of a bilinear resize: a row of pixels becomes a row with other columns, f32. Each element is
 *  first + (second - first) * weight of two neighbours.
 *
 *  If eight elements come from two runs of 16 bytes, as with up to four times as many columns, AVX2 takes them with
 *  byte shuffles; else a plain loop does. Both give the same bits. */
#ifndef MUSTER_DATA_PICTURES_RESIZE_COLUMNS_H
#define MUSTER_DATA_PICTURES_RESIZE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MST_COLUMNS_AT_ONCE = 8, /**< a row of the result is written in whole groups of so many elements */
    MST_COLUMNS_BEYOND = 16, /**< bytes that must be readable after a row */
};

/** Where the elements of a row come from. The row has COUNT elements; the arrays are rounded up to whole groups. */
typedef struct mst_columns {
    int64_t count;
    int channels;
    int32_t *index; /**< byte of the first neighbour; the second is of the same channel of the next pixel */
    float *weight;
    int32_t *base; /**< by shuffles: of each half of a group, where its 16 bytes begin */
    uint8_t *mask; /**< by shuffles: of each group, 32 bytes for the first neighbours and 32 for the second */
    bool shuffles;
} mst_columns;

/** Places the arrays of COLUMNS, whose count and channels are set, in MEMORY, which is aligned to 64 bytes (NULL: only
 *  counts). Returns the bytes, a multiple of 64. */
size_t mst_columns_lay_out(mst_columns *columns, char *memory);
/** Fills the arrays, for rows with the first and the last pixel twice: WIDTH columns that are SCALE pixels apart. */
void mst_columns_place(mst_columns *columns, int64_t width, float scale);
/** A row SRC, as above, to DST. */
void mst_columns_blend(const mst_columns *columns, const uint8_t *src, float *dst);

#endif
