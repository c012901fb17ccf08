/** Addresses of tasks: "host:port". */
#ifndef MUSTER_CLUSTER_ADDRESS_H
#define MUSTER_CLUSTER_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/op.h"
#include "muster/status.h"

/** Bytes that hold a host, and an address in full. */
enum { MST_HOST_TEXT = 254, MST_ADDRESS_TEXT = MST_HOST_TEXT + 8 };

typedef struct mst_address {
    char host[MST_HOST_TEXT]; /**< a name in lower case, or an IPv4 or IPv6 address, without brackets */
    uint16_t port;            /**< may be 0 */
} mst_address;

/** MST_INVALID, quoting TEXT and saying what to write, if it is not an address. Spaces around it and around its last
 *  colon, and a "grpc://" or "tcp://" before it, are dropped. This and the next one are exported for the command. */
MST_API MST_CHECKED mst_status mst_address_parse(const char *text, mst_address *out);
/** "host:port" or "[host]:port" into TEXT of MST_ADDRESS_TEXT bytes; returns TEXT. */
MST_API char *mst_address_print(const mst_address *address, char *text);
/** Whether other hosts cannot reach it: localhost, 127.0.0.0/8, ::1. */
bool mst_address_is_loopback(const mst_address *address);

#endif
