/** Clusters: which tasks work together, at which addresses, and which of them this process is.
 *
 *      mst_cluster *cluster;
 *      MST_TRY(mst_cluster_from_environment(NULL, &cluster));
 *      puts(mst_cluster_print(cluster, text, sizeof text));     worker 0 of 2 at a:2222, with worker 1 at b:2222
 *
 *  A task is one process. Tasks form jobs, in which they are counted from 0. A job is "chief" (or "master"), "worker",
 *  "ps" (a parameter server), "evaluator", or has any other name, such as "local". Without a cluster a process is the
 *  one task of job "localhost".
 *
 *  Beside its job and index each task has a number in the cluster. First come the training tasks: the chief, the
 *  workers, the parameter servers, then tasks of other jobs in alphabetical order of the jobs. The evaluator comes last
 *  and is not a training task.
 *
 *      number            0        1         2       3        4          5
 *      job and index     chief    worker 0  ps 0    ps 1     reader 0   evaluator 0
 *                        <----------------- training tasks ---------->
 *
 *  An address is "host:port": a name, an IPv4 address, or an IPv6 address in brackets, "[::1]:2222". A "grpc://" or
 *  "tcp://" before it, and spaces around it and around its last colon, are dropped; letters become lower case. As in
 *  TensorFlow, there is no default port. Names are not resolved here.
 *
 *  A description is refused with MST_INVALID in these cases: two tasks have one address; a job is empty; there are
 *  several chiefs or evaluators; this process is not among the tasks; some tasks, but not all, have a loopback address,
 *  which other hosts cannot reach. The error names the tasks and the source of the description.
 */
#ifndef MUSTER_CLUSTER_H
#define MUSTER_CLUSTER_H

#pragma GCC system_header /* see muster/named.h */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "muster/graph.h"
#include "muster/named.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The description of a cluster. It never changes; any thread may use it. */
typedef struct mst_cluster mst_cluster;

/** The tasks of one job. */
typedef struct mst_cluster_job {
    const char *name; /**< letters, digits, '_' and '-' */
    int num_tasks;
    const char *const *address; /**< [num_tasks]; NULL, or an element that is NULL: not known */
    const int32_t *index; /**< [num_tasks]; NULL: 0, 1, 2, ... Else the cluster is sparse (mst_cluster_is_sparse) */
} mst_cluster_job;

typedef struct mst_cluster_options {
    int zero_;
    const mst_cluster_job *jobs;
    int num_jobs;
    /** Which task this process is. An evaluator may be missing in the jobs. */
    const char *job_name;
    int task_index;
    bool allow_any_port; /**< a port may be 0: the system chooses one when the task starts to listen */
} mst_cluster_options;

/** Makes a cluster from OPTIONS, all of which is copied. Here and below, the caller must release *OUT. */
MST_API MST_CHECKED mst_status mst_cluster_create(const mst_cluster_options *options, mst_cluster **out);

/** Makes a cluster from the text of TensorFlow's environment variable TF_CONFIG, as TensorFlow and Kubeflow write it:
 *
 *      {"cluster": {"chief": ["a:2222"], "worker": ["b:2222", "c:2222"]}, "task": {"type": "worker", "index": 1}}
 *
 *  A job may also be an object whose keys are the indices of its tasks, {"1": "b:2222"}. With such objects the cluster
 *  is complete if the keys of each object are 0, 1, 2 and so on, and at least one object has several tasks. Otherwise
 *  the cluster is sparse, as it is under the key "sparseCluster". In a sparse cluster, a list of one address has the
 *  address of this task, whatever its index. The index of the task may be a string. Other keys are ignored. NULL, "",
 *  "{}" and text without a cluster: one task, of job "localhost". */
MST_API MST_CHECKED mst_status mst_cluster_from_tf_config(const char *text, mst_cluster **out);

/** Makes a cluster from the flags of TensorFlow's programs: --ps_hosts and --worker_hosts, lists "host:port,host:port"
 *  (NULL or "": the job has no tasks), --job_name and --task_index. */
MST_API MST_CHECKED mst_status mst_cluster_from_hosts(const char *ps_hosts, const char *worker_hosts,
                                                      const char *job_name, int task_index, mst_cluster **out);

typedef struct mst_launcher_options {
    int zero_;
    /** Address at which worker 0 listens, under mpiexec and torchrun. Default: MASTER_ADDR and MASTER_PORT, if they are
     *  set. If torchrun itself listens at MASTER_PORT, the default is the port after it. */
    const char *leader;
    /** Port of the first task of each host under srun; those of the host's other tasks follow. Default: made from the
     *  numbers of job and step, 10000 to 30416. */
    int port;
    double timeout;  /**< seconds to wait for the others, if processes of several hosts find each other; default 120 */
    bool starts_mpi; /**< this process starts an MPI later, as the transport "mpi" does */
    /** While processes find each other, gets a line every two seconds with the processes that this one waits for.
     *  Default: no lines. */
    FILE *log;
} mst_launcher_options;

/** Makes the cluster that the launcher of this process has described in environment variables. All processes of the
 *  launcher are workers. The first launcher of this list whose variables are set is used:
 *
 *      TF_CONFIG   mst_cluster_from_tf_config
 *      torchrun    RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT
 *      mpiexec     of Open MPI: OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
 *      srun        SLURM_PROCID, SLURM_NTASKS, and all addresses from SLURM_STEP_NODELIST
 *      mpiexec     of MPICH and its relatives: PMI_RANK, PMI_SIZE
 *
 *  If mpiexec or torchrun have started all processes on one host, the workers have consecutive ports, beginning with
 *  worker 0's. Under mpiexec the address is localhost, and the first port is from 10000 to 30416; two jobs rarely get
 *  the same.
 *
 *  On several hosts the processes exchange their addresses. Worker 0 listens at the leader's address, or under MPICH's
 *  mpiexec at an address that it sends to the others by PMI. The others send it the ports at which they will listen,
 *  and get all addresses. All processes must therefore call this function, and each waits until all have done so. A
 *  second call returns the same cluster at once. Under mpiexec with neither a leader's address nor PMI, addresses are
 *  not known.
 *
 *  MST_DEADLINE names the processes that did not take part in time. MST_INVALID, naming the variable, if a launcher has
 *  set some of its variables but a necessary one is missing. If no launcher has set any: one task, of job "localhost".
 *  OPTIONS may be NULL. */
MST_API MST_CHECKED mst_status mst_cluster_from_environment(const mst_launcher_options *options, mst_cluster **out);

/** Adds a reference; returns CLUSTER. */
MST_API mst_cluster *mst_cluster_retain(mst_cluster *cluster);
/** NULL is allowed. */
MST_API void mst_cluster_release(mst_cluster *cluster);

/** One task. The strings live as long as the cluster. */
typedef struct mst_task_info {
    const char *job;
    int32_t index;
    const char *address; /**< NULL: not known */
} mst_task_info;
/** Task NUMBER; all members are 0 if there is no such task. */
MST_API mst_task_info mst_cluster_task(const mst_cluster *cluster, int number);
/** The number in the cluster of task INDEX of JOB; -1 if there is no such task. */
MST_API int mst_cluster_find(const mst_cluster *cluster, const char *job, int index);
/** The number in the cluster of this process. */
MST_API int mst_cluster_self(const mst_cluster *cluster);

/** The count of all tasks, and of training tasks. In a sparse cluster only tasks that this one knows are counted. */
MST_API int mst_cluster_num_tasks(const mst_cluster *cluster);
MST_API int mst_cluster_num_training_tasks(const mst_cluster *cluster);
/** The count of training tasks that compute replicas: the chief and the workers, numbers 0 to count - 1. In a cluster
 *  without chief, workers and parameter servers: the count of all training tasks. */
MST_API int mst_cluster_num_workers(const mst_cluster *cluster);
MST_API int mst_cluster_num_ps(const mst_cluster *cluster);

/** Whether this process initialises variables and saves. That is the chief, or worker 0 if there is no chief, or task 0
 *  in a cluster without chief, workers and parameter servers. It is never the evaluator. */
MST_API bool mst_cluster_is_chief(const mst_cluster *cluster);
/** The number of the task to which the others report: the first parameter server, or task 0 if there is no server. It
 *  is -1 if this task does not know that task. */
MST_API int mst_cluster_leader(const mst_cluster *cluster);
/** Whether all tasks are on this machine: at loopback addresses. */
MST_API bool mst_cluster_is_local(const mst_cluster *cluster);
/** Whether each task knows only some of the others, so that workers can be added while the job runs. */
MST_API bool mst_cluster_is_sparse(const mst_cluster *cluster);
/** A hash of all training tasks and their addresses. It is the same on all tasks that were given the same description,
 *  and 0 if the cluster is sparse. */
MST_API uint64_t mst_cluster_hash(const mst_cluster *cluster);

/** Writes one line to TEXT of SIZE bytes: "worker 0 of 2 at localhost:20000, with worker 1 at localhost:20001, ps 0 at
 *  localhost:2222". If TEXT is too short, the line ends with "...". Returns TEXT. */
MST_API const char *mst_cluster_print(const mst_cluster *cluster, char *text, size_t size);

/* ---- variables on parameter servers ---- */

typedef struct mst_replica_device_options {
    int zero_;
    const mst_cluster *cluster; /**< gives the number of parameter servers; NULL: NUM_PS is that number */
    int num_ps;
    const char *ps_device;     /**< device of variables, which must name a job; default "/job:ps" */
    const char *worker_device; /**< device of all other nodes; default "/job:worker" */
    /** Each variable goes to the server that has the fewest bytes so far; false: the servers take turns. */
    bool by_bytes;
} mst_replica_device_options;

/** Opens a device scope in which variables go to parameter servers and other nodes to the worker, as TensorFlow's
 *  replica_device_setter does. The servers are chosen in the order in which the variables are made. Slots go to the
 *  server of their variable, and shared variables stay where they are. Inner device scopes override fields of this
 *  scope: in "/cpu:1" a variable goes to "/job:ps/task:0/device:CPU:1". A variable in an inner scope with another job
 *  goes to that job, and does not count in the choice of servers. Without parameter servers the scope sets no device,
 *  as mst_device_push(graph, NULL). Closed by mst_device_pop. MST_INVALID on the graph if ps_device names no job or
 *  num_ps is negative. */
MST_API int mst_replica_device_push(mst_graph *graph, const mst_replica_device_options *options);
/** mst_with_replica_device (graph, .cluster = cluster, .worker_device = "/job:worker/task:1") { ... } */
#define mst_with_replica_device(g, ...)                                                                 \
    MST_SCOPE_BLOCK_(mst_replica_device_push((g), &MST_NAMED(mst_replica_device_options, __VA_ARGS__)), \
                     mst_device_pop(g))

#ifdef __cplusplus
}
#endif
#endif
