/** What a member does in an exchange: which bytes it receives from whom, adds up, and sends to whom.
 *
 *  It is found once, when the exchange is made, from the stages of the group. All places are in one block of memory:
 *
 *      +--------+--------+-----+-------+---------------------------------------+
 *      | leaf 0 | leaf 1 | ... |  sum  |  what is received, sums of some nodes |
 *      +--------+--------+-----+-------+---------------------------------------+
 *      |<-- size -->|
 *
 *  The steps follow each other. A step begins when all that it receives is there; then it makes its sums, and then it
 *  sends. Step 0 receives nothing, and the last step sends nothing.
 *
 *      one stage       0: sends leaves     1: adds up, sends sums      2: sums are received, where they belong
 *      at once         0: sends leaves     1: adds up
 *      scatter         0: sends leaves     1: adds up                  2: nothing
 *      gather          0: sends its part   1: parts are received, where they belong
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

/** A message that is sent: pieces of memory, one behind the other. */
typedef struct mst_route_out {
    int32_t member;
    uint32_t serial; /**< number among the messages to that member */
    int32_t first_piece, num_pieces;
} mst_route_out;

typedef struct mst_route_piece {
    int32_t out; /**< which message it belongs to */
    int64_t at, bytes;
} mst_route_piece;

/** A value of a node that is added to others. */
typedef struct mst_route_term {
    mst_shards node;
    int32_t in; /**< the message that brings it; -1: it is this member's */
    int64_t at;
} mst_route_term;

/** A sum of some neighbouring terms, of the bytes FIRST to FIRST + BYTES - 1 of a value of a leaf. */
typedef struct mst_route_sum {
    int64_t first, bytes, at;
    int32_t first_term, num_terms;
} mst_route_sum;

/** How many there are of each up to this step, and with it. */
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
    mst_route_piece *piece; /**< by message */
    mst_route_sum *sum;
    mst_route_term *term;
    int64_t memory; /**< bytes of the block */
} mst_routes;

/** For member SELF, where leaves have SIZE bytes: a multiple of 64, at least that. AT_ONCE: everybody sends all leaves
 *  to all. OUT is zeroed. */
MST_CHECKED mst_status mst_routes_make(const mst_stages *stages, int32_t self, int64_t size, bool at_once,
                                       mst_routes *out);
/** Likewise, of an exchange in which member M gets the sum of the bytes CUT[m] to CUT[m + 1] - 1 (multiples of an
 *  element; CUT[0] is 0, the last one SIZE): *AT is where that is in the block. */
MST_CHECKED mst_status mst_routes_make_scatter(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                               mst_routes *out, int64_t *at);
/** Likewise, in which member M gives these bytes. The block is one leaf, which becomes whole. */
MST_CHECKED mst_status mst_routes_make_gather(const mst_stages *stages, int32_t self, int64_t size, const int64_t *cut,
                                              mst_routes *out);
void mst_routes_free(mst_routes *routes);

#endif
