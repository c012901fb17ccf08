/** Rendezvous: where one device hands a value to another.
 *
 *  A crossing is a numbered place; in each step its sender comes once and its receiver waits for it. The in-process
 *  rendezvous here moves no bytes, as both ends see the same memory; one that crosses machines fills the same table.
 */
#ifndef MUSTER_RUN_RENDEZVOUS_H
#define MUSTER_RUN_RENDEZVOUS_H

#include "muster/op.h"

typedef struct mst_rendezvous mst_rendezvous;

typedef struct mst_rendezvous_type {
    /** VALUE is NULL for a mere message. */
    mst_status (*send)(mst_rendezvous *rendezvous, int32_t crossing, const mst_array *value);
    /** Waits for the sender, at most as long as the rendezvous was told. MST_CANCELLED after an abort, MST_DEADLINE,
     *  naming the crossing, after the time. */
    mst_status (*receive)(mst_rendezvous *rendezvous, int32_t crossing, const mst_array *value);
    /** Begins step NUMBER (rising from 1): all crossings are empty again. */
    void (*begin)(mst_rendezvous *rendezvous, uint64_t number);
    /** Ends all waits of this step. */
    void (*abort)(mst_rendezvous *rendezvous);
    void (*destroy)(mst_rendezvous *rendezvous);
} mst_rendezvous_type;

struct mst_rendezvous {
    const mst_rendezvous_type *type;
};

/** KEYS (names for messages) must outlive it. */
MST_CHECKED mst_status mst_rendezvous_local(int64_t num_crossings, const char *const *keys, double timeout, bool spin,
                                            mst_rendezvous **out);

#endif
