/** The columns of a bilinear resize: makes a row of f32 with other columns from a row of pixels. Each element is
 *  first + (second - first) * weight, where first and second are two neighbours.
 *
 *  With AVX2, byte shuffles pick the elements if every four of them come from 16 neighbouring bytes of the source. That
 *  is so if the source has at most four times as many columns as the result. Otherwise a plain loop picks them. Both
 *  give the same bits. */
#ifndef MUSTER_DATA_PICTURES_RESIZE_COLUMNS_H
#define MUSTER_DATA_PICTURES_RESIZE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MST_COLUMNS_AT_ONCE = 8, /**< a row of the result is written in groups of so many elements */
    MST_COLUMNS_BEYOND = 16, /**< bytes that must be readable after a row */
};

/** Where the elements of a row come from. The row has COUNT elements; the arrays are rounded up to full groups. */
typedef struct mst_columns {
    int64_t count;
    int channels;
    int32_t *index; /**< byte of the first neighbour; the second is the same channel of the next pixel */
    float *weight;
    int32_t *base; /**< with shuffles: where the 16 bytes of each half group begin */
    uint8_t *mask; /**< with shuffles: for each group, 32 bytes for the first neighbours and 32 for the second */
    bool shuffles;
} mst_columns;

/** Places the arrays of COLUMNS, whose count and channels are set, in MEMORY, which is aligned to 64 bytes. Returns
 *  their size in bytes, a multiple of 64. If MEMORY is NULL, only computes the size. */
size_t mst_columns_lay_out(mst_columns *columns, char *memory);
/** Fills the arrays for WIDTH columns that are SCALE source pixels apart. The source rows have their first and last
 *  pixel doubled. */
void mst_columns_place(mst_columns *columns, int64_t width, float scale);
/** Resizes the row SRC, with doubled pixels as above, to DST. */
void mst_columns_blend(const mst_columns *columns, const uint8_t *src, float *dst);

#endif
