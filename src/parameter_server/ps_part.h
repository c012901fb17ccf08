/** Variables that are cut along their first axis, so that each parameter server keeps some consecutive rows of them,
 *  of their slots and of their moving averages. Each server knows its rows alone, as a variable of the same name; their
 *  numbers begin with 0. Of 10 rows and 4 servers:
 *
 *      ps:0  0 1 2 | ps:1  3 4 5 | ps:2  6 7 | ps:3  8 9
 */
#ifndef MUSTER_PARAMETER_SERVER_PS_PART_H
#define MUSTER_PARAMETER_SERVER_PS_PART_H

#include "base/shard_rows.h"
#include "muster/graph.h"
#include "muster/store.h"

/** In place of the number of the server that keeps a variable: each keeps a part. */
enum { MST_PS_EACH = -1 };

/** A variable as a worker knows it. */
typedef struct mst_ps_copy {
    char *name;
    mst_tensor *value; /**< whole; a snapshot's */
    mst_state_kind kind;
    int32_t ps; /**< that keeps it, or MST_PS_EACH */
    bool sparse;
} mst_ps_copy;

/** The variables of a worker, and the number of servers. */
typedef struct mst_ps_copies {
    mst_ps_copy *copy; /**< [count] */
    int32_t count, num_ps;
} mst_ps_copies;

/** Whether a variable of SPEC is cut where those of PART_BYTES and more are (0: none): it must have a row for each
 *  server. */
bool mst_ps_is_cut(const mst_spec *spec, int32_t num_ps, int64_t part_bytes);
/** The rows that server P keeps of a variable that has ROWS and is cut. */
mst_row_range mst_ps_part_rows(int64_t rows, int32_t num_ps, int32_t p);
/** Whether server P keeps variable V, or a part of it. */
bool mst_ps_keeps(const mst_ps_copies *all, int32_t v, int32_t p);
/** What server P keeps of WHOLE, the value of variable V or a gradient of its shape: a tensor in the same memory, which
 *  must stay as long. *OUT is the caller's. */
MST_CHECKED mst_status mst_ps_part_view(const mst_ps_copies *all, int32_t v, int32_t p, mst_tensor *whole,
                                        mst_tensor **out);

/** STATE for server P: of entries that are cut its rows, all else as it is. *OUT is the caller's; its tensors are in
 *  the memory of STATE, which must stay as long. */
MST_CHECKED mst_status mst_ps_cut_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state,
                                        mst_snapshot **out);
/** The reverse: adds STATE, which server P has sent, to JOINED: what is cut to the entries of all rows, which are
 *  complete when the states of all servers have been added; all else as it is, where no other server has sent it.
 *  MST_INVALID where an entry has another shape than what that server keeps. */
MST_CHECKED mst_status mst_ps_join_state(const mst_ps_copies *all, int32_t p, const mst_snapshot *state,
                                         mst_snapshot *joined);

#endif
