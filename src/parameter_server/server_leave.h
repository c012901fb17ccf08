/** Leaving the job when this server is told to, without the loss of a step. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_LEAVE_H
#define MUSTER_PARAMETER_SERVER_SERVER_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_server mst_server;

typedef struct mst_server_leaving {
    int64_t since; /**< when this server has said that it leaves; 0: it has not */
    bool may_end;  /**< the chief has its state */
} mst_server_leaving;

/** MST_CANCELLED if this server must end: it was stopped; or it was asked to leave, and the chief has its state or does
 *  not ask for it in time. The first call after the request to leave tells the workers (LEAVING). */
MST_CHECKED mst_status mst_server_check_stop(mst_server *s, int64_t now);

#endif
