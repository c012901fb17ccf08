/** A row of `muster top`: what is known about a task, printed as a line of a table or of JSON. */
#ifndef MUSTER_CLI_TOP_TOP_ROW_H
#define MUSTER_CLI_TOP_TOP_ROW_H

#include <stdbool.h>

#include "cluster/address.h"
#include "cluster/task_report.h"

enum { TOP_NAME = MST_ADDRESS_TEXT, TOP_DEVICES = 4096 };

typedef struct top_row {
    char name[TOP_NAME], address[TOP_NAME]; /**< "worker:1"; "": not known */
    char why[200];                          /**< why it has not answered the last query; "": it has answered */
    char whom[MST_TASK_REPORT_WHOM + 1];    /**< for whom it waits; "": for nobody */
    char devices[TOP_DEVICES];              /**< lines about its devices in the report, as many as there is room for */
    int num_devices;                        /**< devices in the report; 0: it does not train, or reports none */
    int64_t heard;                          /**< time of its last answer (mst_clock_now); 0: it has not answered */
    mst_task_report now, before; /**< the numbers of the last answer and of the one before; their texts are not valid */
    int num_answers;
} top_row;

/** Notes that the task has not answered; WHY is the reason. */
void top_row_lost(top_row *row, const char *why);
/** Notes that the task has answered with REPORT. If REPORT is not from task NUMBER, ROW notes that as an error. */
void top_row_hear(top_row *row, const mst_task_report *report, int number);
/** The share of their time, from 0 to 1, that the workers among COUNT tasks spend waiting for the network. It is the
 *  share of the worker that waits least, because that worker waits for no slower one. -1: not known, for example if a
 *  worker does not train. */
double top_rows_network(const top_row *row, int count);
void top_row_print_head(int name_width);
/** Prints the row. NETWORK is the result of top_rows_network. */
void top_row_print(const top_row *row, double network, int name_width);
MST_CHECKED mst_status top_row_write_json(const top_row *row, double network);

#endif
