#include "cli/serve_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/signals.h"

int serve_sessions(mst_task_server_options options, bool quiet) {
    const struct timespec pause = {.tv_nsec = 50000000};
    char text[256];
    mst_task_server *server;
    options.log = quiet ? NULL : stderr;
    if (signals_catch() || mst_task_server_start_with(&options, &server))
        return command_fail_library(EXIT_FAILED, NULL);
    if (!quiet)
        printf("serves sessions with the target %s as %s\n", mst_task_server_target(server),
               mst_cluster_print(options.cluster, text, sizeof text));
    fflush(stdout);
    while (!signals_caught()) nanosleep(&pause, NULL);
    mst_task_server_destroy(server);
    return EXIT_SIGNAL + signals_caught();
}

/* ---- clusters ---- */

/* The jobs and addresses in TEXT. They point into `text`, a copy of it that is cut into pieces. */
typedef struct job_lists {
    char *text;
    mst_cluster_job *jobs;
    const char **address;
    int num_jobs, num_addresses;
} job_lists;

static int count_characters(const char *text, const char *any) {
    int count = 0;
    for (; *text; text++) count += strchr(any, *text) != NULL;
    return count;
}

static mst_status cut_job(job_lists *lists, char *piece) {
    char *equals = strchr(piece, '='), *rest, *address;
    if (!equals || equals == piece || !equals[1])
        return MST_FAIL(MST_INVALID, "'%s': write each job as JOB=HOST:PORT,HOST:PORT,...", piece);
    *equals = '\0';
    mst_cluster_job *job = &lists->jobs[lists->num_jobs++];
    *job = (mst_cluster_job){.name = piece, .address = &lists->address[lists->num_addresses]};
    for (address = strtok_r(equals + 1, ",", &rest); address; address = strtok_r(NULL, ",", &rest)) {
        lists->address[lists->num_addresses++] = address;
        job->num_tasks++;
    }
    return MST_OK;
}

static mst_status cut_jobs(job_lists *lists) {
    char *rest;
    for (char *piece = strtok_r(lists->text, ";", &rest); piece; piece = strtok_r(NULL, ";", &rest))
        MST_TRY(cut_job(lists, piece));
    return lists->num_jobs ? MST_OK : MST_FAIL(MST_INVALID, "there is no job: write JOB=HOST:PORT,HOST:PORT,...");
}

mst_status cluster_from_jobs(const char *text, const char *job, int index, mst_cluster **out) {
    const size_t most = (size_t)count_characters(text, ",;") + 1;
    job_lists lists = {
        .text = strdup(text), .jobs = calloc(most, sizeof *lists.jobs), .address = calloc(most, sizeof *lists.address)};
    mst_status status = lists.text && lists.jobs && lists.address ? MST_OK : MST_NO_MEMORY("for a cluster");
    if (!status) status = cut_jobs(&lists);
    if (!status)
        status = mst_cluster_create(&(mst_cluster_options){.jobs = lists.jobs,
                                                           .num_jobs = lists.num_jobs,
                                                           .job_name = job ? job : lists.jobs[0].name,
                                                           .task_index = index},
                                    out);
    free(lists.text);
    free(lists.jobs);
    free(lists.address);
    return status ? mst_error_prefix("--cluster") : MST_OK;
}
