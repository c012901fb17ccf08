/** A row of `muster top`: what is known of a task, as a line of a table or of JSON. */
#ifndef MUSTER_CLI_TOP_TOP_ROW_H
#define MUSTER_CLI_TOP_TOP_ROW_H

#include <stdbool.h>

#include "cluster/address.h"
#include "cluster/task_report.h"

enum { TOP_NAME = MST_ADDRESS_TEXT };

typedef struct top_row {
    char name[TOP_NAME], address[TOP_NAME]; /**< "worker:1"; "": not known */
    char why[200];                          /**< it has not answered the last question; "": it has */
    char whom[MST_TASK_REPORT_WHOM + 1];
    int64_t heard;               /**< when it has answered last (base/clock.h); 0: never */
    mst_task_report now, before; /**< numbers of the last two answers; their texts are gone */
    int num_answers;
} top_row;

/** The task has not answered: WHY. */
void top_row_lost(top_row *row, const char *why);
/** The task has answered with REPORT, the task NUMBER of its cluster; or else a row says why not. */
void top_row_hear(top_row *row, const mst_task_report *report, int number);
/** Of the time of the COUNT tasks, what workers wait for messages alone: that is what the one waits that waits least,
 *  since it waits for no slower one. -1: not known, as where one does not train. */
double top_rows_network(const top_row *row, int count);
void top_row_print_head(int name_width);
/** NETWORK: top_rows_network. */
void top_row_print(const top_row *row, double network, int name_width);
MST_CHECKED mst_status top_row_write_json(const top_row *row, double network);

#endif
