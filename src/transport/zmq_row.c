/* Rows of the module `zmq` (transport/zmq.c). */
#include "transport/transport_row.h"

const mst_transport_row mst_transport_row_shm = {.name = "shm", .use = MST_TRANSPORT_FOR_ALL, .module = "zmq"};
const mst_transport_row mst_transport_row_zmq = {.name = "zmq", .use = MST_TRANSPORT_FOR_ALL, .module = "zmq"};
