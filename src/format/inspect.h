/** Formats that mst_inspect knows: one file for each, inspect_NAME.c, with its mst_inspector; the build makes
 *  the table of them. */
#ifndef MUSTER_FORMAT_INSPECT_H
#define MUSTER_FORMAT_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/inspect.h"
#include "muster/tensor.h"

/** Bytes from the beginning of a file that are enough to know any format. */
enum { MST_INSPECT_HEAD = 64 };

typedef struct mst_inspector {
    /** Whether a file begins with these SIZE bytes (fewer than MST_INSPECT_HEAD where it is shorter), decompressed where
     *  it is gzip. */
    bool (*knows)(const uint8_t *head, size_t size);
    mst_status (*print)(const char *path, FILE *out);
} mst_inspector;

/** All of them, ended by NULL. */
extern const mst_inspector *const mst_inspector_table[];
/** TFRecord files may be compressed as a whole, which this one sees for itself. */
extern const mst_inspector mst_inspector_tfrecord;

/** "f32 [10, 3]  0 to 1, mean 0.5", in one line with NAME in front. */
void mst_inspect_tensor(const char *name, const mst_tensor *tensor, FILE *out);

#endif
