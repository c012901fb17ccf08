/** Memory in reserve, for work that must not fail. A library that is called while variables are written (behind the
 *  gate of a step, run/gate.h) allocates memory of its own. The process keeps some untouched memory for this case. If
 *  the library gets no memory, the reserve is freed and the call is made again. No step begins to write before there is
 *  a reserve again.
 */
#ifndef MUSTER_BASE_RESERVE_H
#define MUSTER_BASE_RESERVE_H

#include <stdbool.h>

#include "muster/status.h"

/** Adds a user. The first user makes the process allocate the reserve. MST_OUT_OF_MEMORY if that is not possible. */
MST_CHECKED mst_status mst_reserve_retain(void);
/** Removes a user. The last user's removal frees the reserve. */
void mst_reserve_release(void);
/** Frees the reserve for the caller, or another thread, that is about to allocate memory. */
void mst_reserve_spend(void);
/** Allocates the reserve again if there are users and it has been spent. MST_OUT_OF_MEMORY if that is not possible. */
MST_CHECKED mst_status mst_reserve_renew(void);
/** Whether the reserve is there: allocated, and not spent since. */
bool mst_reserve_is_there(void);

#endif
