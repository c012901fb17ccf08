/** Options shared by the commands that run as tasks of a cluster: rows for their tables of options, and initializers
 *  made from their values. A command's file must define AT(member), the offset of a member in its struct of options.
 *  The members have the names of the options. */
#ifndef MUSTER_CLI_CLUSTER_OPTIONS_H
#define MUSTER_CLI_CLUSTER_OPTIONS_H

#include "cli/option_list.h"
#include "transport/transport_row.h"

/* clang-format off */

/** The tasks of the cluster, and which of them this process is. */
#define CLUSTER_TASK_OPTIONS                                                                                          \
    {"worker-hosts", OPTION_TEXT, AT(worker_hosts), "HOST:PORT,...",                                                  \
     .help = "all workers of the cluster, in place of the environment variable TF_CONFIG or what mpiexec, srun or "   \
             "torchrun say"},                                                                                         \
    {"ps-hosts", OPTION_TEXT, AT(ps_hosts), "HOST:PORT,...", .help = "its parameter servers"},                        \
    {"job-name", OPTION_TEXT, AT(job_name), "JOB", .help = "the job of this task: worker, ps or evaluator"},          \
    {"task-index", OPTION_INT, AT(task_index), "N", NULL, 0, 1e6, .help = "its place in the list of its job, from 0", \
     .alias = "task-id"}

/** How this task reaches the others. KEY_HELP and TRANSPORT_HELP are the help texts of --cluster-key and --transport.
 *  TRANSPORT_NAME gives the choices of --transport (transport/transport_row.h). */
#define CLUSTER_CONNECTION_OPTIONS(KEY_HELP, TRANSPORT_HELP, TRANSPORT_NAME)                                          \
    {"bind", OPTION_TEXT, AT(bind), "HOST:PORT",                                                                      \
     .help = "where this task listens, if that is not the address by which the others know it"},                      \
    {"cluster-key", OPTION_FILE, AT(cluster_key), "FILE", .help = (KEY_HELP)},                                        \
    {"insecure", OPTION_FLAG, AT(insecure),                                                                           \
     .help = "all who can connect are trusted: listens where other machines reach it, too (default: without a key on "\
             "localhost alone, for programs of this user)"},                                                          \
    {"transport", OPTION_WORD, AT(transport), .choice = (TRANSPORT_NAME), .help = (TRANSPORT_HELP)}

/** Options that record or replay the order of the parameter servers' updates. */
#define CLUSTER_UPDATE_LOG_OPTIONS                                                                                    \
    {"update-log", OPTION_FILE, AT(update_log), "DIR",                                                                \
     .help = "parameter servers, asynchronous or with backup workers, write to DIR in which order they have applied " \
             "whose gradients, a file each"},                                                                         \
    {"replay-updates", OPTION_FILE, AT(replay_updates), "DIR",                                                        \
     .help = "the same job makes the updates again in the order that --update-log DIR has written: its weights have " \
             "the same bits"}

#define CLUSTER_KEY_HELP "the key of the cluster (muster keygen)"
#define CLUSTER_TRANSPORT_HELP                                                                                        \
    "how data go to other tasks: shm: to those of this machine and user through shared memory, else over TCP; "       \
    "zmq: all over TCP (default: shm where the machine has such memory)"

/* clang-format on */

/** Initializers for the members that mst_task_options and mst_server_options share: how this task of CLUSTER reaches
 *  the others, and how long it waits for them. O points to the command's options. */
#define CLUSTER_CONNECTION(CLUSTER, O)                                                                \
    .cluster = (CLUSTER), .bind = (O)->bind, .key_file = (O)->cluster_key, .insecure = (O)->insecure, \
    .transport = (O)->transport, .timeout = (O)->timeout, .recovery_timeout = (O)->recovery_timeout

/** Initializers for mst_server_options from the options of all tables above. */
#define CLUSTER_SERVER_OPTIONS(CLUSTER, O) \
    CLUSTER_CONNECTION(CLUSTER, O), .update_log = (O)->update_log, .replay_updates = (O)->replay_updates

#endif
