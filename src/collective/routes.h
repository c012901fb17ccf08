/** The work of one member in an exchange: the messages that it receives, the sums that it makes, and the messages that
 *  it sends.
 *
 *  Routes are computed once, when the exchange is made, from the stages of the group. All bytes are in one block of
 *  memory:
 *
 *      +--------+--------+-----+-------+---------------------------------------+
 *      | leaf 0 | leaf 1 | ... |  sum  | received bytes, sums of some nodes    |
 *      +--------+--------+-----+-------+---------------------------------------+
 *      |<-- size -->|
 *
 *  The steps are made one after another. A step begins when all its messages have been received; then it makes its
 *  sums, and then it sends. Step 0 receives nothing, and the last step sends nothing.
 *
 *      one stage       0: sends leaves     1: adds up, sends sums      2: sums are received in their final place
 *      at once         0: sends leaves     1: adds up
 *      scatter         0: sends leaves     1: adds up                  2: nothing
 *      gather          0: sends its part   1: parts are received in their final place
 *
 *  The thread that waits for the exchange makes the last step, and the group's thread makes the steps before it
 *  (collective/group_thread.h). A scatter has the empty step 2 so that step 1, which makes the sum, is not the last
 *  one.
 *
 *  In the structs below AT is an offset in the block of memory.
 */
#ifndef MUSTER_COLLECTIVE_ROUTES_H
#define MUSTER_COLLECTIVE_ROUTES_H

#include "collective/stages.h"

/** A message that is received. */
typedef struct mst_route_in {
    int32_t member;
    uint32_t serial; /**< number among the messages from that member */
    int64_t at, bytes;
} mst_route_in;

/** A message that is sent: pieces of memory, one after another. */
typedef struct mst_route_out {
    int32_t member;
    uint32_t serial;                 /**< number among the messages to that member */
    int32_t first_piece, num_pieces; /**< index in mst_routes.piece, and number */
} mst_route_out;

/** Neighbouring bytes of a message that is sent. */
typedef struct mst_route_piece {
    int32_t out; /**< index of its message */
    int64_t at, bytes;
} mst_route_piece;

/** The value of a node, as a term of a sum. */
typedef struct mst_route_term {
    mst_shards node;
    int32_t in; /**< the message that brings the value; -1: it is this member's own */
    int64_t at;
} mst_route_term;

/** A sum of neighbouring nodes, in the bytes FIRST to FIRST + BYTES - 1 of each node. */
typedef struct mst_route_sum {
    int64_t first, bytes, at;
    int32_t first_term, num_terms; /**< index in mst_routes.term, and number */
} mst_route_sum;

/** The numbers of received messages, sums and sent messages up to and including this step. */
typedef struct mst_route_step {
    int32_t ins, sums, outs;
} mst_route_step;

typedef struct mst_routes {
    int64_t size;      /**< bytes of a leaf */
    int32_t num_steps; /**< at least 2 */
    mst_route_step *step;
    int32_t num_ins, num_outs, num_pieces, num_sums, num_terms;
    mst_route_in *in;
    mst_route_out *out;
    mst_route_piece *piece; /**< ordered by message */
    mst_route_sum *sum;
    mst_route_term *term;
    int64_t memory; /**< bytes of the block */
} mst_routes;

/** Makes the routes of member SELF. SIZE, the bytes of a leaf, is a multiple of 64, at least 64. AT_ONCE: every member
 *  sends all its leaves to all others. OUT must be zeroed. */
MST_CHECKED mst_status mst_routes_make(const mst_stages *stages, int32_t self, int64_t size, bool at_once,
                                       mst_routes *out);
/** Makes the routes of an exchange in which member M gets the sum of the bytes CUT[m] to CUT[m + 1] - 1. The cuts are
 *  multiples of an element; CUT[0] is 0, and the last one is SIZE. *AT is the offset of that sum in the block.
 *  Otherwise as mst_routes_make. */
MST_CHECKED mst_status mst_routes_make_scatter(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                               mst_routes *out, int64_t *at);
/** Makes the routes of an exchange in which member M sends the bytes CUT[m] to CUT[m + 1] - 1 of its leaf to all
 *  others. The block is one leaf, which is complete at the end. Otherwise as mst_routes_make. */
MST_CHECKED mst_status mst_routes_make_gather(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                              mst_routes *out);
void mst_routes_free(mst_routes *routes);

#endif
