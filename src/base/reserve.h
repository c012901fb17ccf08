/** Memory in reserve, for work that must not fail: a library that is called while variables are written (behind the
 *  gate of a step) asks for memory of its own. The process keeps some untouched memory for that moment; if the library
 *  gets none, the reserve goes back to the system and the call is made again. No step begins to write before there is a
 *  reserve again.
 */
#ifndef MUSTER_BASE_RESERVE_H
#define MUSTER_BASE_RESERVE_H

#include <stdbool.h>

#include "muster/status.h"

/** Adds a user; the first one makes the process take the reserve. MST_OUT_OF_MEMORY if it cannot be had. */
MST_CHECKED mst_status mst_reserve_retain(void);
/** Removes a user; with the last one the reserve is given back. */
void mst_reserve_release(void);
/** Gives the reserve back to the system, for the caller or another thread that is about to ask for memory. */
void mst_reserve_spend(void);
/** Takes the reserve again if there are users and it has been spent. MST_OUT_OF_MEMORY if it cannot be had. */
MST_CHECKED mst_status mst_reserve_renew(void);
/** Whether the reserve is there: taken, and not spent since. */
bool mst_reserve_is_there(void);

#endif
