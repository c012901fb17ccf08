/** Blocks of memory that live from one place of a program to another, put into one piece of memory. */
#ifndef MUSTER_PLAN_BLOCKS_H
#define MUSTER_PLAN_BLOCKS_H

#include "muster/op.h"

typedef struct mst_plan_block {
    int64_t bytes;
    int64_t offset;     /**< result */
    int32_t begin, end; /**< it is in use from place BEGIN to place END, both included */
} mst_plan_block;

/** Offsets for COUNT blocks: blocks that live at the same time do not overlap. *BYTES is the size of all together. */
MST_CHECKED mst_status mst_plan_place_blocks(mst_plan_block *blocks, int64_t count, int64_t *bytes);

#endif
