/** muster launch: starts all tasks of a cluster from here.
 *
 *      options --> job_make: tasks, machines, addresses, TF_CONFIG (job.c)
 *              --> job_start: on this machine, where each worker gets cores of its own (core_split.c), or on others
 *                  over ssh (remote_command.c)
 *              --> supervisor_open, supervisor_run: processes, output, signals, restarts (supervisor.c)
 *
 *  With --print the tasks are printed instead (job_print.c). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/launch/host_list.h"
#include "cli/launch/job.h"
#include "cli/launch/job_print.h"
#include "cli/launch/job_start.h"

enum { MOST_TASKS = 4096, USUAL_PORT = 2222 /* as in TensorFlow's programs and Kubeflow */ };

/* What is done with a job: it is printed in one of the forms of print_choices, or started. */
enum { PRINT_SHELL, PRINT_SLURM, PRINT_KUBERNETES, PRINT_MPIJOB, START };

typedef struct launch_options {
    int ps, workers, port, restarts, restarts_without_progress, print;
    bool chief, evaluator, flags;
    double grace, evaluator_timeout;
    const char *log_dir, *hosts, *ssh, *image;
} launch_options;

static const option cluster_options[] = {
    {"workers", OPTION_INT, offsetof(launch_options, workers), "N", "1", 1, MOST_TASKS,
     .help = "tasks that compute; those of one machine get cores of their own, where there are enough"},
    {"ps", OPTION_INT, offsetof(launch_options, ps), "N", NULL, 0, MOST_TASKS,
     .help = "parameter servers; they are ended when all workers have ended"},
    {"chief", OPTION_FLAG, offsetof(launch_options, chief), .help = "one more worker, as the task chief:0"},
    {"evaluator", OPTION_FLAG, offsetof(launch_options, evaluator),
     .help = "a task that follows the checkpoints; it is not in the cluster"},
    {"port", OPTION_INT, offsetof(launch_options, port), "N", NULL, 1, 65535,
     .help = "the first task's port on each machine, from which the others count up (default: free ports; 2222 where "
             "tasks are not started on this machine)"},
    {"flags", OPTION_FLAG, offsetof(launch_options, flags),
     .help = "for programs of TensorFlow 1: --ps_hosts, --worker_hosts, --job_name and --task_index at the end of the "
             "program's arguments, beside TF_CONFIG"},
    {0}};

static const option running_options[] = {
    {"restarts", OPTION_INT, offsetof(launch_options, restarts), "N", NULL, 0, INT_MAX,
     .help =
         "how often lost tasks are started again, in all; a task is lost when a signal ends it, or when it ends with "
         "another status than 0 (done) and 2 (usage)"},
    {"restarts-without-progress", OPTION_INT, offsetof(launch_options, restarts_without_progress), "N", "3", 0, INT_MAX,
     .help =
         "how often one task that was started again can be lost within 5 seconds, in a row; the pauses before it is "
         "started are 1, 2, 4 seconds and so on"},
    {"grace", OPTION_NUMBER, offsetof(launch_options, grace), "SECONDS", "10", 0, 1e6,
     .help = "between SIGTERM and SIGKILL, when tasks are ended because another one has failed"},
    {"evaluator-timeout", OPTION_NUMBER, offsetof(launch_options, evaluator_timeout), "SECONDS", "600", 0, 1e6,
     .help = "how long the evaluator may go on when all workers have ended, with the last checkpoint"},
    {"log-dir", OPTION_FILE, offsetof(launch_options, log_dir), "DIR",
     .help = "also writes what each task prints to a file, DIR/worker-0.log; lines of earlier jobs stay"},
    {0}};

static const char *const print_choices[] = {"shell", "slurm", "kubernetes", "mpijob", NULL};

static const option other_options[] = {
    {"hosts", OPTION_FILE, offsetof(launch_options, hosts), "FILE",
     .help = "starts the tasks over ssh on these machines, one a line: HOST, or HOST slots=N for N workers"},
    {"ssh", OPTION_TEXT, offsetof(launch_options, ssh), "COMMAND", "ssh -o BatchMode=yes",
     .help = "what is run in place of ssh, with the host and one argument for the shell there"},
    {"print", OPTION_CHOICE, offsetof(launch_options, print), .choices = print_choices,
     .help = "starts nothing, and prints a line for each task to paste in a terminal, a script for sbatch, or a TFJob "
             "(kubernetes) or MPIJob of Kubeflow"},
    {"image", OPTION_TEXT, offsetof(launch_options, image), "IMAGE", "muster:latest",
     .help = "of the containers of a TFJob or MPIJob"},
    {0}};

static const option_section sections[] = {{.title = "Tasks", .options = cluster_options},
                                          {.title = "Running", .options = running_options},
                                          {.title = "Elsewhere", .options = other_options},
                                          {0}};

/* ---- the command ---- */

/* Refuses options that would have no effect. */
static mst_status check_effects(const option_list *list, int what) {
    static const struct {
        const char *option;
        bool has_effect[START + 1]; /* with --print shell, slurm, kubernetes, mpijob; without --print */
    } table[] = {
        {"flags", {true, false, false, false, true}},
        {"restarts", {false, false, true, true, true}},
        {"grace", {false, false, false, false, true}},
        {"restarts-without-progress", {false, false, false, false, true}},
        {"log-dir", {false, false, false, false, true}},
        {"hosts", {true, false, false, false, true}},
        {"ssh", {true, false, false, false, true}},
        {"image", {false, false, true, true, false}},
        {"evaluator-timeout", {false, false, false, false, true}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (option_given(list, table[i].option) && !table[i].has_effect[what])
            return MST_FAIL(MST_INVALID, "--%s: has no effect %s%s: leave it out", table[i].option,
                            what == START ? "without --print kubernetes or mpijob" : "with --print ",
                            what == START ? "" : print_choices[what]);
    if (option_given(list, "evaluator-timeout") && !option_given(list, "evaluator"))
        return MST_FAIL(MST_INVALID, "--evaluator-timeout: has no effect without --evaluator: leave it out");
    if (option_given(list, "ssh") && !option_given(list, "hosts"))
        return MST_FAIL(MST_INVALID, "--ssh: has no effect without --hosts: leave it out");
    return MST_OK;
}

static int launch_tasks(const launch_options *o, const job_plan *plan, int what) {
    const supervisor_options supervision = {o->restarts, o->restarts_without_progress, o->grace, o->evaluator_timeout,
                                            o->log_dir};
    job job;
    if (job_make(plan, &job)) return command_fail_library(EXIT_FAILED, NULL);
    int status = EXIT_DONE;
    if (what == START)
        status = job_start(&job, &supervision, o->ssh);
    else if (job_print_shell(&job, o->ssh))
        status = command_fail_library(EXIT_FAILED, NULL);
    job_free(&job);
    return status;
}

static int launch(const launch_options *o, const job_plan *plan, int what) {
    if (what == PRINT_SHELL || what == START) return launch_tasks(o, plan, what);
    if (what == PRINT_SLURM)
        job_print_slurm(plan);
    else if (what == PRINT_MPIJOB ? job_print_mpijob(plan, o->image, o->restarts)
                                  : job_print_kubernetes(plan, o->image, o->restarts))
        return command_fail_library(EXIT_FAILED, NULL);
    return EXIT_DONE;
}

static int launch_run(const command_call *call) {
    const launch_options *o = call->options;
    const int what = option_given(call->list, "print") ? o->print : START;
    const bool needs_port = what == PRINT_SHELL || o->hosts; /* ports free here may be taken elsewhere */
    if (!call->num_positional)
        return command_fail(EXIT_USAGE, "launch: which program? write muster launch --workers 2 -- PROGRAM ARGUMENTS");
    if (check_effects(call->list, what)) return command_fail_usage("launch");
    if (what == PRINT_MPIJOB && (o->ps || o->chief || o->evaluator))
        return command_fail(EXIT_USAGE, "--print mpijob: an MPIJob has workers only: leave out --%s",
                            o->ps      ? "ps"
                            : o->chief ? "chief"
                                       : "evaluator");
    if (o->flags && (o->chief || o->evaluator))
        return command_fail(EXIT_USAGE, "--flags: TensorFlow 1's flags know ps and workers only: leave out --%s",
                            o->chief ? "chief" : "evaluator");
    job_plan plan = {
        .num = {[JOB_PS] = o->ps, [JOB_CHIEF] = o->chief, [JOB_WORKER] = o->workers, [JOB_EVALUATOR] = o->evaluator},
        .arguments = call->positional,
        .num_arguments = call->num_positional,
        .first_port = o->port || !needs_port ? o->port : USUAL_PORT,
        .flags = o->flags};
    if (o->hosts && host_list_read(o->hosts, &plan.hosts)) return command_fail_library(EXIT_FAILED, "hosts");
    const int status = launch(o, &plan, what);
    host_list_free(&plan.hosts);
    return status;
}

const command command_launch = {
    .name = "launch",
    .summary = "starts all tasks of a cluster, and looks after them until they have ended",
    .usage = "[--ps N] [--workers N] [options] -- PROGRAM ARGUMENTS",
    .notes =
        "Each task is told of the others by TF_CONFIG. What tasks print comes out in whole lines that begin with the "
        "name of the task. SIGINT, SIGTERM and SIGHUP are passed on to all; a second SIGINT or SIGTERM kills. When a "
        "task "
        "fails for good, the others are ended, and its exit status is that of the command.\n \n"
        "muster launch --workers 2 --restarts 5 -- python train.py --epochs 3\n"
        "muster launch --hosts hosts.txt --workers 8 --ps 2 -- ./train",
    .sections = sections,
    .options_size = sizeof(launch_options),
    .max_positional = COMMAND_MOST_POSITIONAL,
    .run = launch_run,
};
