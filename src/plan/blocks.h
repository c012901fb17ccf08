/** Gives blocks of memory their offsets in one arena. Each block is in use during a part of a device's program, so
 *  several blocks may share memory one after the other. */
#ifndef MUSTER_PLAN_BLOCKS_H
#define MUSTER_PLAN_BLOCKS_H

#include "muster/op.h"

typedef struct mst_plan_block {
    int64_t bytes;
    int64_t offset;     /**< result */
    int32_t begin, end; /**< it is in use from place BEGIN to place END of the program, both included */
} mst_plan_block;

/** Sets the offsets of COUNT blocks. Blocks that are in use at the same time do not overlap. *BYTES is the size that
 *  the arena then needs. */
MST_CHECKED mst_status mst_plan_place_blocks(mst_plan_block *blocks, int64_t count, int64_t *bytes);

#endif
