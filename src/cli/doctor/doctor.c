/** muster doctor: looks over a cluster before it trains. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cluster_options.h"
#include "cli/command.h"
#include "cli/doctor/doctor_checks.h"
#include "cli/doctor/doctor_trial.h"
#include "cli/json_events.h"
#include "cli/model/application_layers.h"
#include "cli/signals.h"
#include "cluster/cluster_spec.h"
#include "muster/dataset.h"
#include "muster/optimizer.h"

#define AT(member) offsetof(doctor_options, member)

static const option cluster_options[] = {
    CLUSTER_TASK_OPTIONS,
    CLUSTER_CONNECTION_OPTIONS(
        CLUSTER_KEY_HELP,
        "shm: through shared memory to tasks of this machine and user, else over TCP; zmq: all over TCP (default: shm "
        "where the machine has such memory)",
        mst_transport_name),
    {"wait", OPTION_NUMBER, AT(wait), "SECONDS", "10", 0, 1e6, .help = "how long missing tasks are waited for"},
    {0}};
static const option other_options[] = {
    {"data", OPTION_FORM, AT(data), "SPEC", .choice = mst_dataset_form, .choice_help = mst_dataset_form_help,
     .help = "data that every worker must see alike: the number of rows, their shapes, and the first 256 rows"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC",
     .help = "accelerators that are looked at, as for muster train: gpu, gpu:2, tpu:8; a small program is compiled and "
             "run on each (default: CPUs alone)"},
    {"visible-devices", OPTION_TEXT, AT(visible_devices), "N,N,...",
     .help = "with --devices: places in that list, as for muster train (default: all)"},
    {"device-timeout", OPTION_NUMBER, AT(device_timeout), "SECONDS", "120", 1, 1e6,
     .help = "with --devices: how long a plugin may take for one thing, such as to begin or to compile"},
    {"compile-cache", OPTION_TEXT, AT(compile_cache), "DIR",
     .help = "with --devices: the folder of compiled programs, as for muster train"},
    {"checkpoint-dir", OPTION_FILE, AT(checkpoint_dir), "DIR",
     .help = "the folder in which the chief will write checkpoints"},
    {"model", OPTION_FORM, AT(model), "NAME", "mlp", .choice = application_form, .choice_help = application_help,
     .help = "with --data: the model whose memory is looked at, as for muster train"},
    {"image-size", OPTION_INTEGER, AT(image_size), "N", NULL, 1, 16384, .help = "likewise, of pictures"},
    {"hidden-units", OPTION_INTEGERS, AT(hidden_units), "N,N,...", "500", 1, 1e6, .may_be_none = true,
     .help = "likewise, of an mlp"},
    {"batch-size", OPTION_INTEGER, AT(batch_size), "N", "200", 1, 1e12, .help = "likewise, over all workers"},
    {"optimizer", OPTION_WORD, AT(optimizer), "NAME", "adam", .choice = mst_optimizer_name, .help = "likewise"},
    {"memory-limit", OPTION_BYTES, AT(memory_limit), "SIZE",
     .help = "what the model may take (default: the memory of this machine or container)"},
    {"json", OPTION_FLAG, AT(json), .help = "one JSON object a line on standard output; the last is the event done"},
    {0}};
static const option_section sections[] = {{.title = "Cluster", .options = cluster_options},
                                          {.title = "Also checked, and output", .options = other_options},
                                          {0}};

static bool was_stopped(void) {
    return signals_caught() != 0;
}

/* ---- the cluster ---- */

static mst_status find_cluster(const doctor_options *o, mst_cluster **out) {
    if (!o->worker_hosts && !o->job_name && !o->ps_hosts)
        return mst_cluster_from_environment(&(mst_launcher_options){.log = stderr}, out);
    if (!o->worker_hosts || !o->job_name)
        return MST_FAIL(MST_INVALID, "give --worker_hosts, --job_name and --task_index together");
    return mst_cluster_from_hosts(o->ps_hosts, o->worker_hosts, o->job_name, o->task_index, out);
}

static int check_doctor_cluster(const mst_cluster *cluster) {
    const int num_tasks = mst_cluster_num_training_tasks(cluster), self = mst_cluster_self(cluster);
    const mst_task_info info = mst_cluster_task(cluster, self);
    if (self >= num_tasks)
        return command_fail(EXIT_USAGE, "doctor: this is task %s:%d, to which no other task connects: nothing to check",
                            info.job, (int)info.index);
    if (mst_cluster_is_sparse(cluster)) return command_fail(EXIT_FAILED, "doctor: " MST_SPARSE_CLUSTER);
    for (int i = 0; i < num_tasks && num_tasks > 1; i++)
        if (!mst_cluster_task(cluster, i).address)
            return command_fail(EXIT_USAGE, "doctor: the addresses of all tasks must be known: give the whole list");
    return EXIT_DONE;
}

/* ---- the checks ---- */

typedef struct doctor {
    const doctor_options *o;
    const mst_cluster *cluster;
    bool is_alone; /* there is one task */
    char name[DOCTOR_NAME];
    doctor_report report;
    mst_checkup *checkup;
    doctor_trial *trial; /* NULL: no accelerators are looked at */
    char accelerator[400];
} doctor;

static void check_port(doctor *d) {
    const char *address = mst_cluster_task(d->cluster, mst_cluster_self(d->cluster)).address;
    const mst_checkup_options options = {.cluster = d->cluster,
                                         .bind = d->o->bind,
                                         .key_file = d->o->cluster_key,
                                         .transport = d->o->transport,
                                         .insecure = d->o->insecure,
                                         .wait = d->o->wait,
                                         .stop = was_stopped};
    if (mst_checkup_open(&options, &d->checkup))
        doctor_add(&d->report, DOCTOR_FINDING, "port", d->name,
                   "do what the row says; all that needs the other tasks was left out", "%s", mst_error()->message);
    else
        doctor_add(&d->report, DOCTOR_OK, "port", d->name, NULL, "listens at %s, %s", d->o->bind ? d->o->bind : address,
                   d->o->cluster_key ? "for those who have its cluster key"
                   : d->o->insecure  ? "for all who can connect (--insecure)"
                                     : "for your programs on this machine alone");
}

static int count_workers(const mst_cluster *cluster) {
    int count = 0;
    for (int i = 0; i < mst_cluster_num_training_tasks(cluster); i++)
        count += strcmp(mst_cluster_task(cluster, i).job, "ps") != 0;
    return count > 0 ? count : 1;
}

/* Makes the checks that need no other task. The port is opened first, so that others can connect while data is read. */
static void check_alone(doctor *d, char *data, size_t size) {
    const mst_task_info info = mst_cluster_task(d->cluster, mst_cluster_self(d->cluster));
    if (!d->is_alone) {
        check_port(d);
        doctor_check_names(&d->report, d->cluster, d->name);
    }
    doctor_check_machine(&d->report, d->name);
    if (d->trial) {
        doctor_check_accelerators(&d->report, d->trial, d->o, d->name, was_stopped, d->accelerator,
                                  sizeof d->accelerator);
        doctor_check_programs(&d->report, d->o, d->name);
    }
    if (d->o->checkpoint_dir && mst_cluster_is_chief(d->cluster))
        doctor_check_folder(&d->report, d->o->checkpoint_dir, d->name);
    if (!d->o->data || strcmp(info.job, "ps") == 0) return;
    doctor_check_data(&d->report, d->o, d->name, data, size);
    if (*data) doctor_check_model(&d->report, d->o, count_workers(d->cluster), d->name);
}

static mst_status check_together(doctor *d, const char *data) {
    char *facts = doctor_facts(&d->report, d->cluster, data, d->accelerator);
    if (!facts) return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for what this task tells the others");
    const mst_status status = mst_checkup_gather(d->checkup, facts);
    if (!status) doctor_compare(&d->report, d->o, d->cluster, d->checkup, facts);
    free(facts);
    return status;
}

/* ---- the screen ---- */

/* Whether this task prints all rows. The chief does. Other tasks print only their own findings, unless they have not
 * heard from the chief. */
static bool shows_all(const doctor *d) {
    return d->is_alone || mst_cluster_self(d->cluster) == 0 || !d->checkup ||
           !mst_checkup_peer_of(d->checkup, 0)->heard;
}

static mst_status show_report(const doctor *d) {
    const int findings = d->report.findings;
    char chief[DOCTOR_NAME];
    MST_TRY(doctor_report_print(&d->report, shows_all(d), d->o->json));
    if (d->o->json) {
        json_t *event = json_event("done");
        json_add(&event, "", "task", json_text(d->name));
        json_add(&event, "", "findings", json_integer(findings));
        return json_write(event);
    }
    if (!findings && shows_all(d)) printf("no findings\n");
    if (!findings && !shows_all(d))
        printf("%s: no findings; the rows are on the screen of %s\n", d->name, doctor_task_name(d->cluster, 0, chief));
    fflush(stdout);
    return json_check_output();
}

static int end_status(const doctor *d) {
    if (signals_caught())
        return command_fail(EXIT_SIGNAL + signals_caught(), "%s: stopped before all was checked", d->name);
    if (d->report.findings)
        return command_fail(EXIT_FAILED, "%s: %d finding%s", d->name, d->report.findings,
                            d->report.findings == 1 ? "" : "s");
    return EXIT_DONE;
}

/* ---- the command ---- */

static int examine(doctor *d) {
    char data[600] = "", cluster[256];
    mst_status status = MST_OK;
    if (!d->is_alone && !d->o->json && mst_cluster_self(d->cluster) == 0)
        printf("%s\n", mst_cluster_print(d->cluster, cluster, sizeof cluster));
    check_alone(d, data, sizeof data);
    if (d->checkup) status = check_together(d, data);
    if (!status && d->report.failed) status = MST_FAIL(MST_OUT_OF_MEMORY, "no memory for what was found");
    if (!status) status = show_report(d);
    return status ? command_fail_library(EXIT_FAILED, NULL) : end_status(d);
}

static int look_over(const doctor_options *o, doctor_trial *trial) {
    mst_cluster *cluster;
    if (signals_end_at_once()) return command_fail_library(EXIT_FAILED, NULL);
    if (find_cluster(o, &cluster)) return command_fail_usage("doctor");
    doctor d = {.o = o, .cluster = cluster, .is_alone = mst_cluster_num_training_tasks(cluster) < 2, .trial = trial};
    int status = check_doctor_cluster(cluster);
    if (!status) {
        if (d.is_alone)
            snprintf(d.name, sizeof d.name, "localhost");
        else
            doctor_task_name(cluster, mst_cluster_self(cluster), d.name);
        status = signals_catch() ? command_fail_library(EXIT_FAILED, NULL) : examine(&d);
        mst_checkup_close(d.checkup);
        doctor_report_free(&d.report);
    }
    mst_cluster_release(cluster);
    return status;
}

static int doctor_run(const command_call *call) {
    const doctor_options *o = call->options;
    doctor_trial *trial = NULL;
    if (o->devices && doctor_trial_create(o, &trial)) return command_fail_library(EXIT_FAILED, "devices");
    const int status = look_over(o, trial);
    doctor_trial_free(trial);
    return status;
}

const command command_doctor = {
    .name = "doctor",
    .summary =
        "looks over a cluster before it trains: names, ports, keys, versions, processors, accelerators, links, data",
    .usage = "[options]",
    .notes =
        "Start it as each task of the cluster, with one command:\n"
        "    muster launch --workers 2 -- muster doctor\n"
        "The chief prints a row for each check, the others what they have found. A finding has one line that says "
        "what\n"
        "to do, and makes the exit status 1. Without a cluster it looks over this machine alone:\n"
        "    muster doctor --devices gpu",
    .sections = sections,
    .options_size = sizeof(doctor_options),
    .run = doctor_run,
};
