#include "cli/launch/job_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "cli/launch/core_split.h"
#include "cli/launch/remote_command.h"

/* ---- the first and the last line ---- */

/* Prints the number of tasks of each role, such as "1 ps and 2 workers". */
static void print_counts(const job *job) {
    int kinds = 0, printed = 0;
    for (int role = 0; role < JOB_NUM_ROLES; role++) kinds += job->num[role] > 0;
    for (job_role role = 0; role < JOB_NUM_ROLES; role++) {
        if (!job->num[role]) continue;
        printf("%s%d %s%s",
               !printed               ? ""
               : printed + 1 == kinds ? " and "
                                      : ", ",
               job->num[role], job_role_name(role), job->num[role] > 1 && role != JOB_PS ? "s" : "");
        printed++;
    }
}

static void print_cores(int num_cores, int num_parts) {
    const int least = num_cores / num_parts;
    if (num_parts == 1 || !num_cores) return;
    if (num_cores % num_parts)
        printf(", %d or %d cores for each worker", least, least + 1);
    else if (num_cores == num_parts)
        printf(", one core for each worker");
    else
        printf(", %d cores for each worker", least);
}

/* The number of other machines that have tasks; 0: all tasks are on this machine. */
static int count_hosts(const job *job) {
    int count = 0;
    for (int i = 0; i < job->num_tasks && job->task[i].host; i++) {
        int k = 0;
        while (k < i && job->task[k].host != job->task[i].host) k++;
        count += k == i;
    }
    return count;
}

/* NUM_CORES is 0 if workers have no cores of their own. */
static void print_start(const job *job, int num_cores) {
    const int num_hosts = count_hosts(job);
    print_counts(job);
    if (num_hosts)
        printf(" on %d machine%s", num_hosts, num_hosts > 1 ? "s" : "");
    else
        printf(" on this machine");
    print_cores(num_cores, job->num[JOB_CHIEF] + job->num[JOB_WORKER]);
    for (int i = 0; i < job->num_tasks; i++)
        printf("%s%s%s%s", i ? ", " : ": ", job->task[i].name, job->task[i].address ? " " : "",
               job->task[i].address ? job->task[i].address : "");
    putchar('\n');
    fflush(stdout); /* so that it comes before the output of the tasks */
}

static void print_end(const job *job, const supervisor *supervisor, double seconds) {
    printf("all tasks done in %.*f s", seconds < 10 ? 1 : 0, seconds);
    for (int i = 0, count = 0; i < job->num_tasks; i++) {
        const int restarts = supervisor_restarts(supervisor, i);
        if (!restarts) continue;
        printf("%s%s was started again ", count++ ? ", " : "; ", job->task[i].name);
        if (restarts == 1)
            printf("once");
        else
            printf("%d times", restarts);
    }
    putchar('\n');
}

/* ---- the processes ---- */

/* Starts the tasks of SPEC and waits for them; returns the exit status. */
static int supervise(const supervisor_options *o, const job *job, const task_spec *spec, int num_cores) {
    const double began = mst_clock_seconds();
    supervisor *supervisor;
    supervisor_result result = {0};
    if (o->log_dir && mst_folder_make(o->log_dir)) return command_fail_library(EXIT_FAILED, "log-dir");
    if (supervisor_open(o, spec, job->num_tasks, &supervisor)) return command_fail_library(EXIT_FAILED, NULL);
    print_start(job, num_cores);
    int status;
    if (supervisor_run(supervisor, &result))
        status = command_fail_library(EXIT_FAILED, NULL);
    else if (result.exit_status)
        status = command_fail(result.exit_status, "%s", result.message);
    else
        status = EXIT_DONE, print_end(job, supervisor, mst_clock_seconds() - began);
    supervisor_close(supervisor);
    return status;
}

/* Starts the tasks as processes of this machine. */
static int start_here(const supervisor_options *o, const job *job, task_spec *spec) {
    const int num_workers = job->num[JOB_CHIEF] + job->num[JOB_WORKER];
    cpu_set_t *cores = calloc((size_t)num_workers, sizeof *cores);
    if (!cores) return command_fail(EXIT_FAILED, "cannot get memory for the cores of %d workers", num_workers);
    const int num_cores = split_cores(num_workers, cores);
    for (int i = 0, worker = 0; i < job->num_tasks; i++) {
        spec[i].arguments = (char *const *)job->task[i].arguments;
        spec[i].variable = job->task[i].variable;
        if (num_cores && job_role_works(job->task[i].role)) spec[i].cores = &cores[worker++];
    }
    const int status = supervise(o, job, spec, num_cores);
    free(cores);
    return status;
}

/* Starts the tasks as processes of other machines. An ssh process of this machine stands for each of them. */
static int start_on_hosts(const supervisor_options *o, const char *ssh, const job *job, task_spec *spec) {
    remote_process *remote = calloc((size_t)job->num_tasks, sizeof *remote);
    char *folder = getcwd(NULL, 0);
    mst_status error = remote ? MST_OK : MST_NO_MEMORY("for %d tasks", job->num_tasks);
    if (!folder) error = MST_FAIL(MST_IO, "the current folder has no name: change to another one");
    for (int i = 0; !error && i < job->num_tasks; i++) {
        error = remote_process_make(ssh, folder, &job->task[i], &remote[i]);
        spec[i].arguments = (char *const *)remote[i].arguments;
        spec[i].reads_signals = true;
    }
    const int status = error ? command_fail_library(EXIT_FAILED, NULL) : supervise(o, job, spec, 0);
    for (int i = 0; remote && i < job->num_tasks; i++) remote_process_free(&remote[i]);
    free(folder);
    free(remote);
    return status;
}

static task_part part_of(job_role role) {
    return role == JOB_PS ? TASK_SERVES : role == JOB_EVALUATOR ? TASK_FOLLOWS : TASK_WORKS;
}

int job_start(const job *job, const supervisor_options *options, const char *ssh) {
    task_spec *spec = calloc((size_t)job->num_tasks, sizeof *spec);
    if (!spec) return command_fail(EXIT_FAILED, "cannot get memory for %d tasks", job->num_tasks);
    for (int i = 0; i < job->num_tasks; i++)
        spec[i] = (task_spec){.name = job->task[i].name, .part = part_of(job->task[i].role)};
    const int status = job->task[0].host ? start_on_hosts(options, ssh, job, spec) : start_here(options, job, spec);
    free(spec);
    return status;
}
