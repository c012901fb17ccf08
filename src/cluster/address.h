/** Addresses of tasks: "host:port". */
#ifndef MUSTER_CLUSTER_ADDRESS_H
#define MUSTER_CLUSTER_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/op.h"
#include "muster/status.h"

/** Bytes for the text of a host, and of a whole address, with the terminating 0. */
enum { MST_HOST_TEXT = 254, MST_ADDRESS_TEXT = MST_HOST_TEXT + 8 };

typedef struct mst_address {
    char host[MST_HOST_TEXT]; /**< a name in lower case, or an IPv4 or IPv6 address, without brackets */
    uint16_t port;            /**< may be 0 */
} mst_address;

/** Parses TEXT. Spaces around TEXT and around its last colon are dropped, and so is "grpc://" or "tcp://" before it.
 *  MST_INVALID if TEXT is not an address: the message quotes it and says what to write. This and the next function are
 *  exported for the command. */
MST_API MST_CHECKED mst_status mst_address_parse(const char *text, mst_address *out);
/** Writes "host:port" or "[host]:port" to TEXT of MST_ADDRESS_TEXT bytes; returns TEXT. */
MST_API char *mst_address_print(const mst_address *address, char *text);
/** Whether it is a loopback address: localhost, 127.0.0.0/8, ::1. Other hosts cannot reach it. */
bool mst_address_is_loopback(const mst_address *address);

#endif
