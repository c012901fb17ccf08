/* Clusters from the environment variables that launchers set for the processes that they start. All these processes are
 * workers. If the variables do not give all addresses, the workers find each other (cluster/rendezvous.h).
 *
 * Variables of Open MPI's mpiexec and of torchrun are looked at before those of Slurm. Inside a job, Slurm sets its own
 * variables for everything that is started. MPICH's variables count only if they contradict Slurm's, because srun
 * --mpi=pmi2 sets them too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "cluster/address.h"
#include "cluster/cluster_spec.h"
#include "cluster/node_list.h"
#include "cluster/pmi.h"
#include "cluster/rendezvous.h"
#include "graph/device_name.h"

enum { MOST_PROCESSES = MST_MOST_TASK, MOST_PORT = 65535 };

static const char worker[] = "worker";

/* ---- variables ---- */

/* The value of VARIABLE; "" if it is not set. */
static const char *value_of(const char *variable) {
    const char *value = getenv(variable);
    return value ? value : "";
}

static bool is_set(const char *variable) {
    return *value_of(variable) != '\0';
}

static bool have_same_value(const char *a, const char *b) {
    return strcmp(value_of(a), value_of(b)) == 0;
}

static mst_status read_variable(const char *variable, long least, long most, int64_t *out) {
    const char *value = value_of(variable);
    char *end;
    if (!*value)
        return MST_FAIL(MST_INVALID,
                        "%s is not set, but other variables of this launcher are: set all of them, or unset all",
                        variable);
    const long number = strtol(value, &end, 10);
    if (*end || number < least || number > most)
        return MST_FAIL(MST_INVALID, "%s is '%.80s', must be a whole number from %ld to %ld", variable, value, least,
                        most);
    *out = number;
    return MST_OK;
}

/* The number of this process, and the number of processes. */
typedef struct place {
    int64_t rank, size;
} place;

static mst_status read_place(const char *rank, const char *size, place *out) {
    MST_TRY(read_variable(size, 1, MOST_PROCESSES, &out->size));
    return read_variable(rank, 0, (long)out->size - 1, &out->rank);
}

/* ---- ports ---- */

/* Jobs that run at the same time on one host should have different ports. The ports of jobs with neighbouring numbers
 * are far enough apart for a host with many tasks. All are below the ports that systems give to clients. */
static int64_t port_of_job(uint64_t number) {
    enum { FIRST = 10000, APART = 64, PLACES = 320 };
    return FIRST + (int64_t)(number % PLACES) * APART;
}

/* ---- mpiexec and torchrun on several hosts: the workers find each other ---- */

/* The workers that were found by a rendezvous, kept for later calls. */
static struct {
    pthread_mutex_t lock;
    place place;
    uint64_t tag;
    char (*address)[MST_ADDRESS_TEXT]; /* [place.size]; NULL: not found yet */
} found = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Finds the workers by a rendezvous at LEADER, the address at which worker 0 listens. */
static mst_status meet_at(mst_rendezvous *r, const char *leader) {
    int listener, port;
    if (r->rank != 0) return mst_rendezvous_join(r, &leader, 1);
    MST_TRY(mst_rendezvous_listen(leader, &listener, &port));
    return mst_rendezvous_lead(r, listener, port, leader);
}

/* Finds the workers by a rendezvous without a known address: worker 0 listens at all its addresses, at a free port, and
 * tells the others by PMI where. */
static mst_status meet_by_pmi(mst_rendezvous *r, bool starts_mpi) {
    enum { MOST_ADDRESSES = 16 };
    char value[MST_PMI_VALUE] = "", *rest = NULL;
    const char *address[MOST_ADDRESSES];
    int64_t descriptor;
    int listener = -1, port = 0, n = 0;
    MST_TRY(read_variable("PMI_FD", 0, INT32_MAX, &descriptor));
    if (r->rank == 0) {
        MST_TRY(mst_rendezvous_listen("", &listener, &port));
        mst_rendezvous_own_addresses(port, value, sizeof value / 2);
        if (!*value) snprintf(value, sizeof value, "localhost:%d", port);
    }
    const mst_status status = mst_pmi_share((int)descriptor, r->rank, r->timeout, !starts_mpi, value);
    if (r->rank == 0) {
        if (!status) return mst_rendezvous_lead(r, listener, port, "");
        close(listener);
    }
    if (status) return status;
    for (char *at = strtok_r(value, ",", &rest); at && n < MOST_ADDRESSES; at = strtok_r(NULL, ",", &rest))
        address[n++] = at;
    return mst_rendezvous_join(r, address, n);
}

/* Finds the addresses of all workers by a rendezvous, unless an earlier call has found them. Under the lock. */
static mst_status find_workers(const place *place, const char *leader, uint64_t tag,
                               const mst_launcher_options *options) {
    if (found.address && found.place.rank == place->rank && found.place.size == place->size && found.tag == tag)
        return MST_OK;
    mst_rendezvous r = {.rank = place->rank,
                        .size = place->size,
                        .tag = tag,
                        .timeout = options->timeout > 0 ? options->timeout : 120,
                        .log = options->log,
                        .address = calloc((size_t)place->size, sizeof *r.address)};
    if (!r.address) return MST_NO_MEMORY("for the addresses of %lld workers", (long long)place->size);
    const mst_status status = leader ? meet_at(&r, leader) : meet_by_pmi(&r, options->starts_mpi);
    if (status) {
        free(r.address);
        return status;
    }
    free(found.address);
    found.place = *place;
    found.tag = tag;
    found.address = r.address;
    return MST_OK;
}

/* Adds the workers that a rendezvous finds. LEADER: the address at which worker 0 listens; NULL: PMI gives it. */
static mst_status add_found_workers(mst_cluster *cluster, const place *place, const char *leader, uint64_t tag,
                                    const mst_launcher_options *options) {
    pthread_mutex_lock(&found.lock);
    mst_status status = find_workers(place, leader, tag, options);
    for (int64_t i = 0; i < place->size && !status; i++) status = mst_cluster_add(cluster, worker, i, found.address[i]);
    pthread_mutex_unlock(&found.lock);
    return status ? status : mst_cluster_end(cluster, worker, place->rank);
}

/* ---- mpiexec and torchrun on one host ---- */

/* Adds workers of one host. LEADER is the address of worker 0; the ports of the others follow its port. NULL: no
 * address is known. */
static mst_status add_workers(mst_cluster *cluster, const place *place, const char *leader) {
    const char *colon = leader ? strrchr(leader, ':') : NULL;
    const long port = colon ? strtol(colon + 1, NULL, 10) : 0;
    char address[MST_ADDRESS_TEXT];
    for (int64_t i = 0; i < place->size; i++) {
        if (colon) snprintf(address, sizeof address, "%.*s:%lld", (int)(colon - leader), leader, (long long)port + i);
        MST_TRY(mst_cluster_add(cluster, worker, i, i == 0 ? leader : colon ? address : NULL));
    }
    return mst_cluster_end(cluster, worker, place->rank);
}

/* The parent of process PID; 0 if it is not known. */
static long parent_of(pid_t pid) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const char *name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return name_end && strlen(name_end) > strlen(") S ") ? strtol(name_end + strlen(") S "), NULL, 10) : 0;
}

/* A number that is the same for all processes of one mpiexec, and differs from that of another mpiexec. With Open MPI
 * it comes from the name of the job. With MPICH it is the number of a process: the parent of the leader of this
 * process' session. 0: there is none. */
static uint64_t number_of_mpiexec(void) {
    const char *name = value_of("PMIX_NAMESPACE");
    return *name ? mst_rng_hash_name(name) : (uint64_t)parent_of(getsid(0));
}

/* The variables of an MPI. */
typedef struct mpi_variables {
    const char *rank, *size, *size_here; /* SIZE_HERE: number of processes on this host */
} mpi_variables;

static const mpi_variables open_mpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"};
static const mpi_variables mpich = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"};

/* torchrun has its own server at MASTER_PORT, unless TORCHELASTIC_USE_AGENT_STORE says that worker 0 must run it. */
static mst_status print_master(char *text, size_t size) {
    const char *host = value_of("MASTER_ADDR");
    int64_t port;
    if (!*host)
        return MST_FAIL(
            MST_INVALID,
            "MASTER_ADDR is not set, but other variables of this launcher are: set all of them, or unset all");
    MST_TRY(read_variable("MASTER_PORT", 1, MOST_PORT, &port));
    if (strcmp(value_of("TORCHELASTIC_USE_AGENT_STORE"), "True") == 0) port += port < MOST_PORT ? 1 : -1;
    const bool is_ipv6 = strchr(host, ':') && *host != '[';
    snprintf(text, size, is_ipv6 ? "[%s]:%d" : "%s:%d", host, (int)port);
    return MST_OK;
}

static bool has_master(void) {
    return is_set("MASTER_ADDR") && is_set("MASTER_PORT");
}

static mst_status read_mpiexec(mst_cluster *cluster, const mpi_variables *mpi, const mst_launcher_options *options) {
    const char *leader = options->leader;
    char address[MST_ADDRESS_TEXT];
    place place;
    MST_TRY(read_place(mpi->rank, mpi->size, &place));
    const bool one_host = have_same_value(mpi->size, mpi->size_here);
    if (!one_host && !leader && has_master()) {
        MST_TRY(print_master(address, sizeof address));
        leader = address;
    }
    const bool has_pmi = mpi == &mpich && is_set("PMI_FD");
    const uint64_t tag = mst_rng_hash_name(mpi == &mpich ? "mpich" : value_of("PMIX_NAMESPACE"));
    if (!one_host && place.size > 1 && (leader || has_pmi))
        return add_found_workers(cluster, &place, leader, tag, options);
    const uint64_t number = one_host ? number_of_mpiexec() : 0;
    snprintf(address, sizeof address, "localhost:%lld", (long long)port_of_job(number));
    return add_workers(cluster, &place, !leader && number ? address : leader);
}

/* A number that is the same for all processes of one start of one job. */
static uint64_t tag_of_torchrun(void) {
    return mst_rng_hash_name(value_of("TORCHELASTIC_RUN_ID")) +
           31 * mst_rng_hash_name(value_of("TORCHELASTIC_RESTART_COUNT"));
}

static mst_status read_torchrun(mst_cluster *cluster, const mst_launcher_options *options) {
    const char *leader = options->leader;
    char master[MST_ADDRESS_TEXT];
    place place;
    MST_TRY(read_place("RANK", "WORLD_SIZE", &place));
    if (!leader) {
        MST_TRY(print_master(master, sizeof master));
        leader = master;
    }
    if (place.size == 1 || have_same_value("WORLD_SIZE", "LOCAL_WORLD_SIZE"))
        return add_workers(cluster, &place, leader);
    return add_found_workers(cluster, &place, leader, tag_of_torchrun(), options);
}

/* ---- srun: the names of all hosts, and the number of tasks on each ---- */

static mst_status choose_port(int port, int64_t *out) {
    enum { STEPS = 7 /* steps of a job that get different ports */ };
    int64_t job, step = 0;
    *out = port;
    if (port) return MST_OK;
    MST_TRY(read_variable("SLURM_JOB_ID", 0, INT32_MAX, &job));
    if (is_set("SLURM_STEP_ID")) MST_TRY(read_variable("SLURM_STEP_ID", 0, UINT32_MAX, &step));
    *out = port_of_job((uint64_t)(job * STEPS + step));
    return MST_OK;
}

/* A list such as "2(x3),1", which means 2, 2, 2, 1, and the place of the next number in it. */
typedef struct repeated {
    const char *text;
    long number, times;
} repeated;

static mst_status next_count(repeated *counts, long *out) {
    const char *all = value_of("SLURM_STEP_TASKS_PER_NODE");
    if (!counts->text) counts->text = all;
    if (counts->times == 0) {
        char *end;
        counts->number = strtol(counts->text, &end, 10);
        counts->times = 1;
        if (strncmp(end, "(x", 2) == 0) counts->times = strtol(end + 2, &end, 10);
        if (*end == ')') end++;
        const bool good = end != counts->text && (!*end || *end == ',') && counts->number > 0 &&
                          counts->number <= MOST_PROCESSES && counts->times > 0;
        if (!good)
            return MST_FAIL(MST_INVALID,
                            "SLURM_STEP_TASKS_PER_NODE is '%.80s', must be a list like 2(x3),1 with the number of "
                            "tasks of each host",
                            all);
        counts->text = *end ? end + 1 : end;
    }
    counts->times--;
    *out = counts->number;
    return MST_OK;
}

static mst_status fail_count(const place *place) {
    return MST_FAIL(MST_INVALID,
                    "the tasks in SLURM_STEP_TASKS_PER_NODE do not add up to SLURM_NTASKS, which is %lld: leave both "
                    "as srun sets them",
                    (long long)place->size);
}

/* Adds the tasks, which are numbered host by host. */
static mst_status add_hosts_tasks(mst_cluster *cluster, const mst_node_list *nodes, const place *place, int64_t port) {
    char address[MST_ADDRESS_TEXT];
    repeated counts = {0};
    int64_t task = 0, own_node, here = -1;
    MST_TRY(read_variable("SLURM_NODEID", 0, MOST_PROCESSES, &own_node));
    for (int64_t node = 0; node < nodes->count; node++) {
        long count;
        MST_TRY(next_count(&counts, &count));
        if (count > place->size - task) return fail_count(place);
        if (place->rank >= task && place->rank < task + count) here = node;
        for (long i = 0; i < count; i++, task++) {
            snprintf(address, sizeof address, "%s:%lld", nodes->name[node], (long long)port + i);
            MST_TRY(mst_cluster_add(cluster, worker, task, address));
        }
    }
    if (task != place->size) return fail_count(place);
    if (here != own_node)
        return MST_FAIL(MST_INVALID, "tasks are not numbered host by host: start them with srun --distribution=block");
    return mst_cluster_end(cluster, worker, place->rank);
}

static mst_status read_srun(mst_cluster *cluster, int first_port) {
    mst_node_list nodes = {0};
    place place;
    int64_t port;
    MST_TRY(read_place("SLURM_PROCID", "SLURM_NTASKS", &place));
    MST_TRY(choose_port(first_port, &port));
    mst_status status = mst_node_list_read(value_of("SLURM_STEP_NODELIST"), place.size, &nodes);
    if (status) mst_error_prefix("SLURM_STEP_NODELIST");
    if (!status) status = add_hosts_tasks(cluster, &nodes, &place, port);
    mst_node_list_free(&nodes);
    return status;
}

/* ---- which launcher has started this process ---- */

/* Whether all variables of torchrun are set. Scripts under Slurm and mpiexec also set some of them, so those launchers
 * are looked for first. Some are set by torchrun alone: the next function looks for these. */
static bool is_torchrun(const mst_launcher_options *options) {
    return is_set("RANK") && is_set("WORLD_SIZE") && (has_master() || options->leader);
}

static bool is_part_of_torchrun(void) {
    const bool rank = is_set("RANK"), size = is_set("WORLD_SIZE");
    const bool master = is_set("MASTER_ADDR") || is_set("MASTER_PORT");
    return (rank && size) || ((rank || size) && master);
}

static bool is_mpiexec(const mpi_variables *mpi) {
    return is_set(mpi->rank) || is_set(mpi->size);
}

/* Whether srun has started this process. Under mpiexec in a Slurm job it has not: the variables of srun then describe
 * MPICH's helpers, one on each host. */
static bool is_srun(void) {
    if (!is_set("SLURM_STEP_NODELIST") && !is_set("SLURM_STEP_TASKS_PER_NODE")) return false;
    return !is_set(mpich.rank) ||
           (have_same_value(mpich.rank, "SLURM_PROCID") && have_same_value(mpich.size, "SLURM_NTASKS"));
}

mst_status mst_cluster_from_environment(const mst_launcher_options *options, mst_cluster **out) {
    static const mst_launcher_options defaults = {0};
    if (MST_IS_NULL(out)) return MST_INVALID;
    if (!options) options = &defaults;
    if (options->port < 0 || options->port > MOST_PORT)
        return MST_FAIL(MST_INVALID, "port %d: must be from 1 to %d", options->port, MOST_PORT);
    if (is_set("TF_CONFIG")) return mst_cluster_from_tf_config(value_of("TF_CONFIG"), out);
    mst_cluster *cluster;
    MST_TRY(mst_cluster_begin(&cluster));
    if (is_torchrun(options))
        return mst_cluster_give(cluster, read_torchrun(cluster, options), "environment of torchrun", out);
    if (is_mpiexec(&open_mpi))
        return mst_cluster_give(cluster, read_mpiexec(cluster, &open_mpi, options), "environment of mpiexec", out);
    if (is_srun()) return mst_cluster_give(cluster, read_srun(cluster, options->port), "environment of srun", out);
    if (is_mpiexec(&mpich))
        return mst_cluster_give(cluster, read_mpiexec(cluster, &mpich, options), "environment of mpiexec", out);
    if (is_part_of_torchrun())
        return mst_cluster_give(cluster, read_torchrun(cluster, options), "environment of torchrun", out);
    mst_cluster_release(cluster);
    return mst_cluster_local(out);
}
