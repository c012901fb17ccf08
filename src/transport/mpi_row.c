/* Rows of the modules `openmpi` and `mpich` (transport/mpi.h), whose transports send control messages by zmq. */
#include <stdlib.h>

#include "module/module.h"
#include "transport/mpi.h"
#include "transport/transport_row.h"

/* The name of the module for the MPI whose launcher has started this process, found by the variables that the launcher
 * sets. NULL: no launcher has started it. */
static const char *module_of_mpi(void) {
    static const struct {
        const char *variable, *module;
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "openmpi"}, {"PMI_SIZE", "mpich"}, {"PMIX_RANK", "openmpi"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (getenv(launchers[i].variable)) return launchers[i].module;
    return NULL;
}

static mst_status find_type(const char *module, mst_mpi_start start, const mst_transport_type **out) {
    const void *interface;
    const mst_transport_type *zmq;
    MST_TRY(mst_transport_in_module("zmq", "zmq", &zmq));
    MST_TRY(mst_module_interface(module, &interface));
    *out = ((const mst_mpi_interface *)interface)->type(zmq, start);
    return MST_OK;
}

static mst_status find_mpi(const mst_transport_type **out) {
    const char *module = module_of_mpi();
    return module ? find_type(module, MST_MPI_LAUNCHED, out) : find_type("mpich", MST_MPI_MEETING, out);
}

static mst_status find_mpi_threads(const mst_transport_type **out) {
    const char *module = module_of_mpi();
    if (module) return find_type(module, MST_MPI_THREADS, out);
    return MST_FAIL(MST_INVALID, "transport mpi-threads: no launcher of an MPI has started this process");
}

const mst_transport_row mst_transport_row_mpi = {
    .name = "mpi", .use = MST_TRANSPORT_FOR_WORKERS, .has_fixed_tasks = true, .find = find_mpi};
const mst_transport_row mst_transport_row_mpi_threads = {.name = "mpi-threads", .find = find_mpi_threads};
