/** The trial of `muster doctor`: what is asked of accelerators, in processes of their own.
 *
 *  A plugin may never answer, or end its process, and a process compiles each text once. So two processes look at the
 *  devices, one after the other, since some accelerators serve one process at a time:
 *
 *      the whole trial    plugin, devices, memory; a program, its values beside those of CPUs, and its bits; copies
 *      the second one     the same program, which is compiled anew, and its bits
 *
 *  Each writes lines of JSON to a pipe: a list of rows (doctor_report_pack), or an object
 *
 *      {"stage": "compiling"}                    what it does from now on
 *      {"accelerator": "2 x NVIDIA H200, ..."}   the fact that all tasks must have alike
 *      {"hash": "1f0c..."}                       the bits that the program gave */
#ifndef MUSTER_CLI_DOCTOR_DOCTOR_TRIAL_H
#define MUSTER_CLI_DOCTOR_DOCTOR_TRIAL_H

#include "cli/doctor/doctor_checks.h"

/** The two processes, which have not begun yet. */
typedef struct doctor_trial doctor_trial;

/** Makes the processes for o->devices. Call it before this process has other threads, whose locks a child would keep.
 *  MST_IO or MST_OUT_OF_MEMORY if the system does not allow it. */
MST_CHECKED mst_status doctor_trial_create(const doctor_options *o, doctor_trial **out);
/** Ends the processes. NULL is allowed. */
void doctor_trial_free(doctor_trial *trial);
/** Lets both do their work, one after the other, and adds the rows that they find to REPORT. A process that does not
 *  answer for o->device_timeout seconds is ended, and is a finding; so is one that dies. ACCELERATOR, SIZE bytes, gets
 *  the text that all tasks must have alike, or "". STOP ends the wait. */
void doctor_check_accelerators(doctor_report *report, doctor_trial *trial, const doctor_options *o, const char *self,
                               bool (*stop)(void), char *accelerator, size_t size);

/** The work of a process: the whole trial, or the SECOND one. Lines go to OUT. */
void doctor_trial_run(const doctor_options *o, bool second, FILE *out);

#endif
