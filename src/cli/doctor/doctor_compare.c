/* Checks that need all tasks: who is there, and whether all are alike. The facts of a task are JSON:
 *
 *      {"version": "0.1.0", "cluster": "1f0c...", "processor": "AMD EPYC, AVX2 kernels", "machine": "...",
 *       "data": "...", "accelerator": "NVIDIA H200, cuda: ...",
 *       "rows": [{"check": "names", "state": "ok", "text": "..."}, ...]}
 *
 * The facts of other tasks may not have this form: a member that is missing is not compared. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "cli/doctor/doctor_checks.h"
#include "cli/json_events.h"
#include "muster/device.h"
#include "muster/version.h"

/* ---- facts ---- */

/* Reads an identifier of this machine that is the same in its containers and stays until the next boot; "" if it cannot
 * be read. */
static void read_machine_id(char id[64]) {
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    id[0] = '\0';
    if (!file) return;
    if (!fgets(id, 64, file)) id[0] = '\0';
    id[strcspn(id, "\n")] = '\0';
    fclose(file);
}

char *doctor_facts(const doctor_report *own, const mst_cluster *cluster, const char *data, const char *accelerator) {
    char hash[32], id[64], processor[200];
    mst_machine machine;
    mst_machine_read(&machine);
    snprintf(processor, sizeof processor, "%s, %s kernels, oneDNN %s", *machine.cpu ? machine.cpu : "unknown",
             machine.isa, machine.onednn_isa);
    read_machine_id(id);
    snprintf(hash, sizeof hash, "%016" PRIx64, mst_cluster_hash(cluster));
    json_t *facts = json_object();
    json_add(&facts, "", "version", json_text(mst_version()));
    json_add(&facts, "", "cluster", json_text(hash));
    json_add(&facts, "", "processor", json_text(processor));
    json_add(&facts, "", "machine", json_text(id));
    json_add(&facts, "", "data", json_text(data));
    json_add(&facts, "", "accelerator", json_text(accelerator));
    json_add(&facts, "", "rows", doctor_report_pack(own));
    char *text = facts ? json_dumps(facts, JSON_COMPACT) : NULL;
    json_decref(facts);
    return text;
}

/* ---- all tasks ---- */

/* The facts of all tasks, including this one: [num_tasks]; NULL for a task that has not come. */
typedef struct gathered {
    doctor_report *report;
    const doctor_options *options;
    const mst_cluster *cluster;
    const mst_checkup *checkup;
    int num_tasks, self, num_come;
    json_t **facts;
} gathered;

static const char *fact(const gathered *g, int task, const char *key) {
    const char *text = g->facts[task] ? json_string_value(json_object_get(g->facts[task], key)) : NULL;
    return text ? text : "";
}

static const char *port_of(const char *address) {
    return strrchr(address, ':') + 1;
}

/* ---- who is there ---- */

static void tell_absent(const gathered *g, int task, const char *name, const mst_checkup_peer *p) {
    const char *address = mst_cluster_task(g->cluster, task).address;
    char fix[300];
    if (strstr(p->why, "cluster key")) {
        doctor_add(g->report, DOCTOR_FINDING, "key", name,
                   "copy one file of 'muster keygen' to all machines (scp -p), and give it to all tasks", "at %s: %s",
                   address, p->why);
    } else if (p->reached) {
        const char *own = mst_cluster_task(g->cluster, g->self).address;
        snprintf(fix, sizeof fix,
                 "see that it runs muster doctor, open port %s of this machine to it, and see that it finds this "
                 "machine as %s",
                 port_of(own), own);
        doctor_add(g->report, DOCTOR_FINDING, "reach", name, fix,
                   "this task connects to it at %s, and nothing of it has come here%s%s", address, *p->why ? ": " : "",
                   p->why);
    } else if (*p->why) {
        doctor_add(g->report, DOCTOR_FINDING, "reach", name,
                   "look at its output; all tasks must run muster doctor, with the same list of tasks and an index of "
                   "their own",
                   "at %s: %s", address, p->why);
    } else {
        snprintf(fix, sizeof fix,
                 "start it with the same command; where it runs, open port %s of its machine to this one, and see "
                 "whether its address is right",
                 port_of(address));
        doctor_add(g->report, DOCTOR_FINDING, "reach", name, fix, "at %s: it did not come (--wait %g)", address,
                   g->options->wait);
    }
}

static void check_reach(const gathered *g) {
    char name[DOCTOR_NAME], fix[300];
    for (int i = 0; i < g->num_tasks; i++) {
        if (i == g->self) continue;
        const mst_checkup_peer *p = mst_checkup_peer_of(g->checkup, i);
        const char *address = mst_cluster_task(g->cluster, i).address;
        doctor_task_name(g->cluster, i, name);
        if (!p->heard) {
            tell_absent(g, i, name, p);
        } else if (!p->reached) {
            snprintf(fix, sizeof fix, "open port %s of its machine to this one, and see whether its address is right",
                     port_of(address));
            doctor_add(g->report, DOCTOR_FINDING, "reach", name, fix,
                       "it connects to this task, and this task cannot connect to it at %s", address);
        } else if (p->lost) {
            doctor_add(g->report, DOCTOR_FINDING, "reach", name, "look at its output", "at %s: lost: %s", address,
                       p->why);
        } else {
            doctor_add(g->report, DOCTOR_OK, "reach", name, NULL, "at %s, both ways", address);
        }
    }
}

static void add_rows_of_others(const gathered *g) {
    char name[DOCTOR_NAME];
    for (int i = 0; i < g->num_tasks; i++)
        if (i != g->self && g->facts[i])
            doctor_report_unpack(g->report, json_object_get(g->facts[i], "rows"),
                                 doctor_task_name(g->cluster, i, name));
}

/* ---- what must be alike ---- */

/* Compares the fact KEY of all tasks that have it. SAME is the text if all are equal, printed before the fact. WHAT
 * names the fact in the text of a difference. */
static void compare_fact(const gathered *g, const char *check, const char *key, const char *same, const char *what,
                         const char *fix) {
    const char *mine = fact(g, g->self, key);
    const int before = g->report->findings;
    char name[DOCTOR_NAME], own[DOCTOR_NAME];
    doctor_task_name(g->cluster, g->self, own);
    for (int i = 0; i < g->num_tasks; i++) {
        const char *other = fact(g, i, key);
        if (!*mine || !*other || strcmp(mine, other) == 0) continue;
        doctor_add(g->report, DOCTOR_FINDING, check, doctor_task_name(g->cluster, i, name), fix,
                   "%s differs from that of %s: %.200s, and %.200s there", what, own, other, mine);
    }
    if (*mine && g->report->findings == before)
        doctor_add(g->report, DOCTOR_OK, check, "all", NULL, "%s%s", same, mine);
}

/* ---- links ---- */

static bool has_link(const mst_checkup_link *link, int32_t count, int32_t from, int32_t to) {
    for (int32_t i = 0; i < count; i++)
        if (link[i].from == from && link[i].to == to) return true;
    return false;
}

static void tell_link(const gathered *g, const mst_checkup_link *l) {
    char from[DOCTOR_NAME], to[DOCTOR_NAME], latency[DOCTOR_TIME], there[DOCTOR_TIME], back[DOCTOR_TIME];
    const double gigabytes = MST_CHECKUP_LARGE / 1e9, second = 1e9;
    const bool one_machine =
        *fact(g, l->from, "machine") && strcmp(fact(g, l->from, "machine"), fact(g, l->to, "machine")) == 0;
    const bool slow = one_machine && !l->shared && !(g->options->transport && !strcmp(g->options->transport, "zmq"));
    doctor_task_name(g->cluster, l->from, from);
    doctor_task_name(g->cluster, l->to, to);
    /* one nanosecond more, against a division by 0 */
    doctor_add(g->report, DOCTOR_OK, "link", from, NULL,
               "%s, %s: 1 byte %s, 1 MB %s there and %s back (%.3g and %.3g GB/s)", to,
               l->shared ? "through shared memory" : "over TCP", doctor_time((double)l->latency / 1e9, latency),
               doctor_time((double)l->there / 1e9, there), doctor_time((double)l->back / 1e9, back),
               gigabytes * second / (double)(l->there + 1), gigabytes * second / (double)(l->back + 1));
    if (slow)
        doctor_add(g->report, DOCTOR_NOTE, "link", from,
                   "run both as one user, outside of containers or in one, to have shared memory",
                   "%s is on the same machine, and data go over TCP", to);
}

static void tell_missing_links(const gathered *g, const mst_checkup_link *link, int32_t count) {
    char from[DOCTOR_NAME], to[DOCTOR_NAME];
    for (int i = 0; i < g->num_tasks; i++)
        for (int j = i + 1; j < g->num_tasks; j++) {
            if (!g->facts[i] || !g->facts[j] || has_link(link, count, i, j)) continue;
            doctor_add(g->report, DOCTOR_FINDING, "link", doctor_task_name(g->cluster, i, from),
                       "see the rows 'reach' in the output of both", "%s could not be measured",
                       doctor_task_name(g->cluster, j, to));
        }
}

/* Tasks use their clocks only for the times in logs, in curves and in names of files. */
static void check_clocks(const gathered *g, const mst_checkup_link *link, int32_t count) {
    static const double MOST = 1; /* seconds */
    const int before = g->report->findings;
    char from[DOCTOR_NAME], to[DOCTOR_NAME], text[DOCTOR_TIME];
    double largest = 0;
    for (int32_t i = 0; i < count; i++) {
        const double ahead = (double)link[i].ahead, apart = ahead < 0 ? -ahead : ahead;
        if (apart > largest) largest = apart;
        if (apart / 1e9 < MOST) continue;
        doctor_add(g->report, DOCTOR_FINDING, "clock", doctor_task_name(g->cluster, link[i].to, to),
                   "let both machines get the time from one server (timedatectl set-ntp true)", "%.1f s %s that of %s",
                   apart / 1e9, ahead < 0 ? "behind" : "ahead of", doctor_task_name(g->cluster, link[i].from, from));
    }
    if (count && g->report->findings == before)
        doctor_add(g->report, DOCTOR_OK, "clock", "all", NULL, "%s apart at most", doctor_time(largest / 1e9, text));
}

/* ---- the whole ---- */

static void compare_all(const gathered *g) {
    const mst_checkup_link *link;
    const int32_t count = mst_checkup_links(g->checkup, &link);
    const bool leads = g->self == 0;
    check_reach(g);
    if (leads) add_rows_of_others(g);
    if (g->num_come > 1) {
        compare_fact(g, "tasks", "cluster", "one list, with hash ", "the list of tasks",
                     "give all tasks the same TF_CONFIG or flags, but for their own index");
        compare_fact(g, "version", "version", "Muster ", "the version of Muster",
                     "install one version on all machines");
        compare_fact(g, "processor", "processor", "", "the processor",
                     "take machines of one type: else training goes on, with other bits than one process gets");
        compare_fact(g, "accelerator", "accelerator", "", "the kind of device or its plugin",
                     "take one kind of device, and install one version of the plugin on all machines");
        compare_fact(g, "data", "data", "", "the data", "copy the same data to all machines, under the same name");
    }
    check_clocks(g, link, count);
    for (int32_t i = 0; i < count; i++) tell_link(g, &link[i]);
    if (leads) tell_missing_links(g, link, count);
}

void doctor_compare(doctor_report *report, const doctor_options *options, const mst_cluster *cluster,
                    const mst_checkup *checkup, const char *facts) {
    gathered g = {.report = report,
                  .options = options,
                  .cluster = cluster,
                  .checkup = checkup,
                  .num_tasks = mst_cluster_num_training_tasks(cluster),
                  .self = mst_cluster_self(cluster)};
    g.facts = calloc((size_t)g.num_tasks, sizeof *g.facts);
    report->failed |= !g.facts;
    if (!g.facts) return;
    for (int i = 0; i < g.num_tasks; i++) {
        const char *text = i == g.self ? facts : mst_checkup_peer_of(checkup, i)->facts;
        g.facts[i] = text ? mst_json_read_string(text, NULL) : NULL;
        g.num_come += g.facts[i] != NULL;
    }
    compare_all(&g);
    for (int i = 0; i < g.num_tasks; i++) json_decref(g.facts[i]);
    free(g.facts);
}
