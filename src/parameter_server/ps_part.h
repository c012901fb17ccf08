/** Variables that are cut along their first axis: each parameter server keeps some consecutive rows of them, of their
 *  slots and of their moving averages. On a server its rows are a variable of the same name, and are numbered from 0.
 *  Example with 10 rows and 4 servers:
 *
 *      ps:0  0 1 2 | ps:1  3 4 5 | ps:2  6 7 | ps:3  8 9
 */
#ifndef MUSTER_PARAMETER_SERVER_PS_PART_H
#define MUSTER_PARAMETER_SERVER_PS_PART_H

#include "base/shard_rows.h"
#include "muster/graph.h"
#include "muster/store.h"

/** Used instead of the number of the server that keeps a variable: each server keeps a part. */
enum { MST_PS_EACH = -1 };

/** A worker's copy of a variable. */
typedef struct mst_ps_copy {
    char *name;
    mst_tensor *value; /**< the whole value; belongs to a snapshot */
    mst_state_kind kind;
    int32_t ps;  /**< the server that keeps it, or MST_PS_EACH */
    bool sparse; /**< as in mst_ps_variable */
} mst_ps_copy;

/** The variables of a worker, and the number of servers. */
typedef struct mst_ps_copies {
    mst_ps_copy *copy; /**< [count] */
    int32_t count, num_ps;
} mst_ps_copies;

/** Whether a variable of SPEC is cut. Variables are cut if they have PART_BYTES or more (0: none is cut) and at least
 *  one row for each server. */
bool mst_ps_is_cut(const mst_spec *spec, int32_t num_ps, int64_t part_bytes);
/** The rows that server P keeps of a cut variable with ROWS. */
mst_row_range mst_ps_part_rows(int64_t rows, int32_t num_ps, int32_t p);
/** Whether server P keeps variable V, or a part of it. */
bool mst_ps_keeps(const mst_ps_copies *all, int32_t v, int32_t p);
/** The part of WHOLE that server P keeps; WHOLE is the value of variable V, or a gradient of its shape. *OUT is a view
 *  into the memory of WHOLE, which must outlive it. *OUT belongs to the caller. */
MST_CHECKED mst_status mst_ps_part_view(const mst_ps_copies *all, int32_t v, int32_t p, mst_tensor *whole,
                                        mst_tensor **out);

/** The part of STATE for server P: only its rows of entries that are cut, and all other entries unchanged. *OUT belongs
 *  to the caller. Its tensors are views into the memory of STATE, which must outlive *OUT. */
MST_CHECKED mst_status mst_ps_cut_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state,
                                        mst_snapshot **out);
/** The reverse of mst_ps_cut_state: adds STATE, which server P has sent, to JOINED. Rows of cut entries are copied into
 *  whole entries, which are complete when the states of all servers have been added. Other entries are added unchanged,
 *  unless JOINED has them already. MST_INVALID if an entry does not have the shape of the part that server P keeps. */
MST_CHECKED mst_status mst_ps_join_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state,
                                         mst_snapshot *joined);

#endif
