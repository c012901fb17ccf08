#include "transport/transport.h"

#include <string.h>

#include "module/module.h"

mst_status mst_transport_find(const char *name, const mst_transport_type **out) {
    const void *interface;
    if (strcmp(name, mst_transport_inproc.name) == 0) {
        *out = &mst_transport_inproc;
        return MST_OK;
    }
    const bool is_shm = strcmp(name, "shm") == 0;
    if (!is_shm && strcmp(name, "zmq") != 0)
        return MST_FAIL(MST_NOT_FOUND, "there is no transport '%s': take shm, zmq or inproc", name);
    MST_TRY(mst_module_interface("zmq", &interface));
    *out = (const mst_transport_type *)interface + is_shm; /* the module has both, in this order */
    return MST_OK;
}
