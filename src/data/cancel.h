/** Work of a background thread that is to end soon: who ends the thread sets a flag that the thread watches, and loops
 *  that may be long (over rows that are read, mapped or filtered) look at it once a row. */
#ifndef MUSTER_DATA_CANCEL_H
#define MUSTER_DATA_CANCEL_H

#include <stdatomic.h>

#include "muster/status.h"

/** From now on the calling thread watches FLAG (NULL: none), which must stay until it watches another. Returns the one
 *  that it watched before. */
const atomic_bool *mst_cancel_watch(const atomic_bool *flag);
/** MST_CANCELLED where the flag that the calling thread watches is set. */
MST_CHECKED mst_status mst_cancel_check(void);

#endif
