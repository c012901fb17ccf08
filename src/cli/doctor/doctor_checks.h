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
    const char *devices, *visible_devices, *compile_cache; /**< devices: accelerators; NULL: none are looked at */
    double device_timeout;
    integer_list hidden_units; /**< as for muster train */
    int64_t batch_size, memory_limit, image_size;
} doctor_options;

enum { DOCTOR_NAME = 64 };
/** Writes the name of TASK, such as "worker:1", to TEXT and returns TEXT. */
const char *doctor_task_name(const mst_cluster *cluster, int task, char text[DOCTOR_NAME]);

/* Checks that a task makes without the others. SELF is its name. */

/** Checks that this machine resolves the hosts of all tasks, to addresses that other machines can reach. */
void doctor_check_names(doctor_report *report, const mst_cluster *cluster, const char *self);
/** Reports the processor and the memory, and how much of them Muster uses. */
void doctor_check_machine(doctor_report *report, const char *self);
/** Checks that the folder of --checkpoint-dir, PATH, can be written. */
void doctor_check_folder(doctor_report *report, const char *path, const char *self);
/** Checks that the folder of compiled programs, that of --compile-cache, can be used. */
void doctor_check_programs(doctor_report *report, const doctor_options *options, const char *self);
/** Opens the train part of --data in the form that the network of --model takes. DATA gets a text that must be the same
 *  on all tasks, or "" after a finding. */
void doctor_check_data(doctor_report *report, const doctor_options *options, const char *self, char *data, size_t size);

/** Runs one step of the model that `muster train` would train on --data, and reports the memory that it takes. WORKERS
 *  is the number of workers that share a batch. */
void doctor_check_model(doctor_report *report, const doctor_options *options, int workers, const char *self);

/* Checks that need all tasks. */

/** The facts that this task sends to the others: JSON, to be freed; NULL if memory is out. OWN is its report so far.
 *  DATA is the text of doctor_check_data, or "" without data; ACCELERATOR that of doctor_check_accelerators. */
char *doctor_facts(const doctor_report *own, const mst_cluster *cluster, const char *data, const char *accelerator);
/** Compares the facts of the others with the FACTS of this task: who is there, versions, processors, data, clocks,
 *  links. If this task is the chief, the rows that the others have found are added to REPORT. */
void doctor_compare(doctor_report *report, const doctor_options *options, const mst_cluster *cluster,
                    const mst_checkup *checkup, const char *facts);

#endif
