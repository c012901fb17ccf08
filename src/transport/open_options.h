/** Options of a transport: copied, with their defaults filled in, and the checks that all transports share. */
#ifndef MUSTER_TRANSPORT_OPEN_OPTIONS_H
#define MUSTER_TRANSPORT_OPEN_OPTIONS_H

#include "transport/transport.h"

typedef struct mst_open_options {
    int32_t num_tasks, self;
    char **address; /**< [num_tasks], an element may be NULL */
    char *listen;   /**< "host:port" to listen on */
    char *lists;    /**< "": lists are not compared */
    bool has_keys;  /**< the keys belong to a cluster (CURVE) */
    bool has_token; /**< the keys are the token of a user (transport/zmq_token.h) */
    bool insecure, only_connects;
    mst_cluster_keys keys;
    uint64_t instance;
    double timeout;
    size_t most_control, most_kept;
    mst_transport_report report;
} mst_open_options;

/** MST_INVALID if the options are not valid. Free OUT with mst_open_options_free, also after an error. */
MST_CHECKED mst_status mst_open_options_copy(const mst_transport_options *options, mst_open_options *out);
void mst_open_options_free(mst_open_options *options);

/** MST_INVALID if TASK is not another task of the cluster. */
MST_CHECKED mst_status mst_check_peer(const mst_open_options *options, int32_t task);
/** MST_INVALID if a control message of BYTES cannot be sent to TASK. */
MST_CHECKED mst_status mst_check_control(const mst_open_options *options, int32_t task, size_t bytes);

#endif
