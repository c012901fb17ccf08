/** Finds offsets in one arena for blocks of memory, each of which is in use during a part of a program. */
#ifndef MUSTER_PLAN_BLOCKS_H
#define MUSTER_PLAN_BLOCKS_H

#include "muster/op.h"

typedef struct mst_plan_block {
    int64_t bytes;
    int64_t offset;     /**< result */
    int32_t begin, end; /**< it is in use from place BEGIN to place END, both included */
} mst_plan_block;

/** Sets the offsets of COUNT blocks. Blocks that are in use at the same time do not overlap. *BYTES is the size of the
 *  arena. */
MST_CHECKED mst_status mst_plan_place_blocks(mst_plan_block *blocks, int64_t count, int64_t *bytes);

#endif
