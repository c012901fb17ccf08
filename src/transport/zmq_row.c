/* Rows of the module `zmq` (transport/zmq.c). */
#include "transport/transport_row.h"

const mst_transport_row mst_transport_row_shm = {.name = "shm", .module = "zmq"};
const mst_transport_row mst_transport_row_zmq = {.name = "zmq", .module = "zmq"};
