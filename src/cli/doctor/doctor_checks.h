/** The checks of `muster doctor`. Each adds rows to a report. */
#ifndef MUSTER_CLI_DOCTOR_DOCTOR_CHECKS_H
#define MUSTER_CLI_DOCTOR_DOCTOR_CHECKS_H

#include "cli/doctor/doctor_report.h"
#include "cli/option_list.h"
#include "messages/checkup.h"
#include "muster/cluster.h"

typedef struct doctor_options {
    const char *worker_hosts, *ps_hosts, *job_name, *bind, *cluster_key, *transport;
    int task_index;
    bool insecure, json;
    double wait;
    const char *data, *checkpoint_dir, *optimizer, *model;
    integer_list hidden_units; /**< of the model of muster train */
    int64_t batch_size, memory_limit, image_size;
} doctor_options;

enum { DOCTOR_NAME = 64 };
/** "worker:1" into TEXT, which is returned. */
const char *doctor_task_name(const mst_cluster *cluster, int task, char text[DOCTOR_NAME]);

/* What a task can check by itself; SELF is its name. */

/** What the addresses of all tasks stand for here. */
void doctor_check_names(doctor_report *report, const mst_cluster *cluster, const char *self);
/** Processor, memory, and what Muster uses of them. */
void doctor_check_machine(doctor_report *report, const char *self);
/** The folder of --checkpoint-dir. */
void doctor_check_folder(doctor_report *report, const char *path, const char *self);
/** Opens the train part of --data, as the network of --model takes it. DATA gets what all tasks must have alike, as
 *  text, or "" after a finding. */
void doctor_check_data(doctor_report *report, const doctor_options *options, const char *self, char *data, size_t size);

/** Makes a step of the model that `muster train` would train on --data, and says what memory that takes. WORKERS share
 *  a batch. */
void doctor_check_model(doctor_report *report, const doctor_options *options, int workers, const char *self);

/* What takes all tasks. */

/** What this task tells the others, JSON, to be freed; NULL where there is no memory. OWN: its report so far; DATA: of
 *  doctor_check_data, "" where there is none. */
char *doctor_facts(const doctor_report *own, const mst_cluster *cluster, const char *data);
/** Compares what the others have told with the FACTS of this task: who is there, versions, processors, data, clocks,
 *  links. The rows that they have found by themselves are added where this task is the chief. */
void doctor_compare(doctor_report *report, const doctor_options *options, const mst_cluster *cluster,
                    const mst_checkup *checkup, const char *facts);

#endif
