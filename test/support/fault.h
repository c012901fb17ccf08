/** Steps that fail where a test wants it: an op that copies its source, and fails while it is armed. */
#ifndef MUSTER_TEST_SUPPORT_FAULT_H
#define MUSTER_TEST_SUPPORT_FAULT_H

#include "muster/op.h"

typedef enum fault_kind {
    FAULT_ERROR, /**< the kernel returns MST_IO, "the disk is gone" */
    FAULT_NAN,   /**< its output is NaN: an error only with check_numerics */
    FAULT_LATE   /**< the clock goes on by FAULT_SECONDS, and the kernel comes back when fault_disarm is called */
} fault_kind;

/** More than the default timeout of a session, and less than twice as long. */
#define FAULT_SECONDS 700

/** A copy of SRC, f32, by a node NAME in the current scope. Its gradient is that of a copy. On devices that compile it
 *  is a part of a program, and a node "NAME/flag" on the CPU says whether it fails; that one is late. */
mst_value fault_point(mst_value src, const char *name);
/** A writer: adds 1 to all elements of VARIABLE, f32. It cannot fail, so it runs when it is decided that the step
 *  happens. Armed with FAULT_LATE it is late; with TIMES 1 it comes back by itself. It has no other kinds. */
mst_value fault_increment(mst_value variable, const char *name);

/** From now on the point of this full name fails. TIMES: how often the clock goes on by FAULT_SECONDS. A kernel on the
 *  thread that arms comes back at once. */
void fault_arm(fault_kind kind, const char *name, int times);
/** No point fails any more, and kernels that were late come back. */
void fault_disarm(void);
/** To be called where a function of the test (a feed) stands for the point NAME: fails as the op does (not
 *  FAULT_NAN). */
mst_status fault_here(const char *name);
/** How often points have failed since the last call. */
int fault_count(void);

#endif
