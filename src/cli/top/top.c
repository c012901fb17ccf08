/** muster top: shows what the tasks of a job are doing.
 *
 *      the given task    asked first for the addresses of all tasks, if only its address was given
 *      all tasks         asked again for each table, each on its own connection */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/no_memory.h"
#include "cli/cluster_options.h"
#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/signals.h"
#include "cli/top/top_row.h"
#include "cluster/task_transport.h"
#include "muster/cluster.h"

static const double PATIENCE = 2; /* seconds to wait for an answer */

typedef struct top_options {
    const char *worker_hosts, *ps_hosts, *cluster_key;
    double every;
    bool insecure, once, json;
} top_options;
#define AT(member) offsetof(top_options, member)

static const option cluster_options[] = {
    {"worker-hosts", OPTION_TEXT, AT(worker_hosts), "HOST:PORT,...",
     .help = "all workers of the cluster, in place of the address of one task"},
    {"ps-hosts", OPTION_TEXT, AT(ps_hosts), "HOST:PORT,...", .help = "its parameter servers"},
    {"cluster-key", OPTION_FILE, AT(cluster_key), "FILE", .help = CLUSTER_KEY_HELP},
    {"insecure", OPTION_FLAG, AT(insecure), .help = "its tasks were started with --insecure"},
    {0}};
static const option output_options[] = {
    {"every", OPTION_NUMBER, AT(every), "SECONDS", "1", 0.1, 86400, .help = "time between two tables on a terminal"},
    {"once", OPTION_FLAG, AT(once),
     .help = "prints one table and ends, as it does where standard output is no terminal"},
    {"json", OPTION_FLAG, AT(json), .help = "one JSON object a task and line in place of a table"},
    {0}};
static const option_section sections[] = {
    {.title = "Cluster", .options = cluster_options}, {.title = "Output", .options = output_options}, {0}};

typedef struct top {
    const top_options *o;
    top_row *row; /* [count] */
    int count;
    int name_width;
} top;

/* ---- which tasks there are ---- */

static mst_status add_row(top *t, const char *name, const char *address) {
    top_row *bigger = realloc(t->row, ((size_t)t->count + 1) * sizeof *bigger);
    if (!bigger) return MST_NO_MEMORY("for %d tasks", t->count + 1);
    t->row = bigger;
    top_row *row = &t->row[t->count++];
    *row = (top_row){.num_answers = 0};
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->address, sizeof row->address, "%s", address);
    mst_make_plain(row->name); /* it may come from another task */
    const int width = (int)strlen(row->name);
    if (width > t->name_width) t->name_width = width;
    return MST_OK;
}

static mst_status add_cluster(top *t, const mst_cluster *cluster) {
    char name[TOP_NAME];
    for (int i = 0; i < mst_cluster_num_training_tasks(cluster); i++) {
        const mst_task_info info = mst_cluster_task(cluster, i);
        snprintf(name, sizeof name, "%s:%d", info.job, (int)info.index);
        MST_TRY(add_row(t, name, info.address ? info.address : ""));
    }
    return MST_OK;
}

/* Adds the tasks that are listed in REPORT, which came from the task at ADDRESS. That task itself keeps ADDRESS, which
 * may differ from the address in the list. */
static mst_status add_known(top *t, const mst_task_report *report, const char *address) {
    char name[TOP_NAME], known[TOP_NAME];
    mst_address checked;
    for (size_t at = 0; mst_task_report_next(report, &at, name, known, sizeof name);) {
        if (*known) MST_TRY(mst_address_parse(known, &checked));
        MST_TRY(add_row(t, name, t->count == report->self ? address : known));
    }
    return MST_OK;
}

/* ---- asking ---- */

static int cannot_ask(const char *address, const char *why) {
    return command_fail(EXIT_FAILED, "top: the task at %s does not answer: %s", address, why);
}

/* Asks the one task that was given for the addresses of the others. */
static int find_others(top *t, const char *text) {
    char address[MST_ADDRESS_TEXT];
    const char *asked = address;
    mst_address parsed;
    mst_transport_answer answer;
    mst_task_report report;
    if (mst_address_parse(text, &parsed)) return command_fail_usage("top");
    mst_address_print(&parsed, address);
    if (mst_tasks_ask(t->o->cluster_key, t->o->insecure, &asked, 1, PATIENCE, &answer))
        return command_fail_library(EXIT_FAILED, NULL);
    const char *why = answer.data ? mst_task_report_decode(answer.data, answer.bytes, &report) : answer.why;
    int status = EXIT_DONE;
    if (why)
        status = cannot_ask(address, why);
    else if (add_known(t, &report, address))
        status = command_fail_library(EXIT_FAILED, NULL);
    free(answer.data);
    return status;
}

static void take_answer(top_row *row, const mst_transport_answer *answer, int number) {
    mst_task_report report;
    const char *why = answer->data ? mst_task_report_decode(answer->data, answer->bytes, &report) : answer->why;
    if (why)
        top_row_lost(row, why);
    else
        top_row_hear(row, &report, number);
}

static mst_status ask_all(top *t) {
    const char **address = calloc((size_t)t->count + 1, sizeof *address);
    mst_transport_answer *answer = calloc((size_t)t->count + 1, sizeof *answer);
    mst_status status = address && answer ? MST_OK : MST_NO_MEMORY("for %d tasks", t->count);
    for (int i = 0; i < t->count && !status; i++) address[i] = *t->row[i].address ? t->row[i].address : NULL;
    if (!status) status = mst_tasks_ask(t->o->cluster_key, t->o->insecure, address, t->count, PATIENCE, answer);
    for (int i = 0; i < t->count && !status; i++) {
        take_answer(&t->row[i], &answer[i], i);
        free(answer[i].data);
    }
    free(answer);
    free(address);
    return status;
}

/* ---- the screen ---- */

static mst_status show_table(const top *t, bool clear) {
    const double network = top_rows_network(t->row, t->count);
    if (clear) fputs("\033[H\033[2J", stdout);
    if (!t->o->json) top_row_print_head(t->name_width);
    for (int i = 0; i < t->count; i++) {
        if (t->o->json)
            MST_TRY(top_row_write_json(&t->row[i], network));
        else
            top_row_print(&t->row[i], network, t->name_width);
    }
    fflush(stdout);
    return json_check_output();
}

static bool any_heard(const top *t) {
    for (int i = 0; i < t->count; i++)
        if (t->row[i].heard) return true;
    return false;
}

static int watch(top *t) {
    const bool goes_on = !t->o->once && isatty(STDOUT_FILENO);
    const struct timespec pause = {(time_t)t->o->every, (long)((t->o->every - (double)(time_t)t->o->every) * 1e9)};
    if (signals_end_at_once()) return command_fail_library(EXIT_FAILED, NULL);
    do {
        if (ask_all(t)) return command_fail_library(EXIT_FAILED, NULL);
        if (!any_heard(t)) return cannot_ask(t->row[0].address, t->row[0].why);
        if (show_table(t, goes_on && !t->o->json)) return command_fail_library(EXIT_FAILED, NULL);
        if (goes_on) nanosleep(&pause, NULL);
    } while (goes_on);
    return EXIT_DONE;
}

/* ---- the command ---- */

static int find_described(top *t) {
    const top_options *o = t->o;
    mst_cluster *cluster;
    const bool given = o->worker_hosts || o->ps_hosts;
    if (given ? mst_cluster_from_hosts(o->ps_hosts, o->worker_hosts, o->worker_hosts ? "worker" : "ps", 0, &cluster)
              : mst_cluster_from_environment(NULL, &cluster))
        return command_fail_usage("top");
    int status = EXIT_DONE;
    if (!given && mst_cluster_num_tasks(cluster) < 2)
        status = command_fail(EXIT_USAGE, "top: no job is named: write the address of one of its tasks: top HOST:PORT");
    else if (add_cluster(t, cluster))
        status = command_fail_library(EXIT_FAILED, NULL);
    mst_cluster_release(cluster);
    return status;
}

static int top_run(const command_call *call) {
    top t = {.o = call->options, .name_width = (int)strlen("task")};
    int status;
    if (call->num_positional && (t.o->worker_hosts || t.o->ps_hosts))
        return command_fail(EXIT_USAGE, "top: give the address of one task, or the lists of all, not both");
    if (call->num_positional)
        status = find_others(&t, call->positional[0]);
    else
        status = find_described(&t);
    if (!status) status = watch(&t);
    free(t.row);
    return status;
}

const command command_top = {
    .name = "top",
    .summary = "shows what the tasks of a job do at the moment, and where their time goes",
    .usage = "HOST:PORT [options]",
    .notes =
        "HOST:PORT is the address of any task of the job: it knows those of the others. Without it all tasks are "
        "asked\n"
        "that TF_CONFIG or --worker-hosts and --ps-hosts name. The first table is of the time since a task began to\n"
        "train, each later one of the time since the one before. The job does not wait for it.",
    .sections = sections,
    .options_size = sizeof(top_options),
    .max_positional = 1,
    .run = top_run,
};
