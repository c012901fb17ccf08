/** All state of a store, compared. */
#ifndef MUSTER_TEST_SUPPORT_STATE_H
#define MUSTER_TEST_SUPPORT_STATE_H

#include "muster/store.h"

/** A snapshot; the caller releases it. */
mst_snapshot *state_of(mst_store *store);
/** The test fails, naming the entry and WHAT, where one of them has an entry that the other has not, or another kind,
 *  dtype, shape or byte. VERSIONS: or another version. "random/runs", which counts runs that make no step, is left out
 *  without VERSIONS. */
void state_expect_same(const char *what, const mst_snapshot *got, const mst_snapshot *wanted, bool versions);

#endif
