#include "transport/transport.h"

#include <stdlib.h>
#include <string.h>

#include "module/module.h"
#include "transport/mpi.h"
#include "transport/sim.h"

static mst_status find_zmq(bool shares, const mst_transport_type **out) {
    const void *interface;
    MST_TRY(mst_module_interface("zmq", &interface));
    *out = (const mst_transport_type *)interface + shares; /* the module has the types zmq and shm in this order */
    return MST_OK;
}

/* The module for the MPI whose launcher has started this process, found by the environment; NULL: none has. */
static const char *module_of_mpi(void) {
    static const struct {
        const char *variable, *module;
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "openmpi"}, {"PMI_SIZE", "mpich"}, {"PMIX_RANK", "openmpi"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i].variable)) return launchers[i].module;
    return NULL;
}

static mst_status find_mpi(bool threads, const mst_transport_type **out) {
    const void *interface;
    const mst_transport_type *zmq;
    const char *module = module_of_mpi();
    const mst_mpi_start start = threads ? MST_MPI_THREADS : module ? MST_MPI_LAUNCHED : MST_MPI_MEETING;
    if (!module && threads)
        return MST_FAIL(MST_INVALID, "transport mpi-threads: no launcher of an MPI has started this process");
    MST_TRY(find_zmq(false, &zmq));
    MST_TRY(mst_module_interface(module ? module : "mpich", &interface));
    *out = ((const mst_mpi_interface *)interface)->type(zmq, start);
    return MST_OK;
}

mst_status mst_transport_find(const char *name, const mst_transport_type **out) {
    const mst_transport_type *const own[] = {&mst_transport_inproc, &mst_transport_sim};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]->name) == 0) {
            *out = own[i];
            return MST_OK;
        }
    const bool shares = strcmp(name, "shm") == 0, threads = strcmp(name, "mpi-threads") == 0;
    if (shares || strcmp(name, "zmq") == 0) return find_zmq(shares, out);
    if (threads || strcmp(name, "mpi") == 0) return find_mpi(threads, out);
    return MST_FAIL(MST_NOT_FOUND, "there is no transport '%s': take shm, zmq, mpi, inproc or sim", name);
}

typedef struct awaited {
    mst_timeline_due due;
    int64_t deadline;
} awaited;

static bool is_awaited(void *context, int fd) {
    const awaited *a = context;
    return mst_timeline_value(a->due.timeline) < a->due.value && mst_timeline_poll(&a->due, 1, fd, a->deadline);
}

bool mst_transport_await(const mst_transport_type *type, mst_transport *transport, mst_timeline *line, uint64_t value,
                         int64_t deadline) {
    awaited a = {{line, value}, deadline};
    if (!type->receiver || !type->receiver->receive(transport, is_awaited, &a))
        return mst_timeline_wait(line, value, deadline, false);
    return mst_timeline_value(line) >= value;
}
