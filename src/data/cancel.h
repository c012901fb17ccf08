/** Ending the work of a background thread soon. The thread watches a flag, which the code that ends it sets. Loops that
 *  may be long (over rows that are read, mapped or filtered) look at the flag once for each row. */
#ifndef MUSTER_DATA_CANCEL_H
#define MUSTER_DATA_CANCEL_H

#include <stdatomic.h>

#include "muster/status.h"

/** From now on the calling thread watches FLAG (NULL: none). FLAG must stay until the thread watches another one.
 *  Returns the flag that it watched before. */
const atomic_bool *mst_cancel_watch(const atomic_bool *flag);
/** MST_CANCELLED if the flag that the calling thread watches is set. */
MST_CHECKED mst_status mst_cancel_check(void);

#endif
