/** Passes on the output of tasks in whole lines.
 *
 *      standard output of worker:0 --> lines --+
 *      standard output of worker:1 --> lines --+--> sink --> standard output      "worker:1 | loss = 0.3"
 *      standard error of worker:0  --> lines -----> sink --> standard error
 *
 *  No function here waits. A sink keeps the bytes that its descriptor does not take yet. While a sink is full, no more
 *  output is read for it. So tasks wait for a slow reader, as they would without a launcher.
 */
#ifndef MUSTER_CLI_LAUNCH_TASK_LINES_H
#define MUSTER_CLI_LAUNCH_TASK_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

typedef struct line_buffer {
    char *data;
    size_t size, capacity;
} line_buffer;

typedef struct line_sink {
    int descriptor;
    int error;          /**< errno of the write that failed; later lines are dropped. 0: none failed */
    bool colored;       /**< the descriptor is a terminal, and NO_COLOR is not set */
    line_buffer buffer; /**< the bytes from index `sent` on are still to be written */
    size_t sent;
} line_sink;

void line_sink_open(line_sink *sink, int descriptor);
/** Whether there are bytes to write. */
bool line_sink_is_pending(const line_sink *sink);
bool line_sink_is_full(const line_sink *sink);
/** Adds a line of SIZE bytes, which do not include its end. */
MST_CHECKED mst_status line_sink_add(line_sink *sink, const char *line, size_t size);
/** Writes as much as is possible without waiting. Call it when poll reports that the descriptor can be written. */
void line_sink_write(line_sink *sink);
void line_sink_close(line_sink *sink);

/** One stream of one task. */
typedef struct task_lines {
    int descriptor; /**< -1: it has ended */
    line_sink *sink;
    char prefix[64];    /**< printed before each line, with the colour of its task */
    int *log;           /**< a descriptor that gets the lines without prefix; -1: none, or a write failed */
    char *last;         /**< gets the last line that is not empty, preferably one of "error:"; may be NULL */
    size_t last_size;   /**< bytes of `last` */
    line_buffer buffer; /**< the beginning of a line whose end has not come yet */
} task_lines;

/** Reads available output once and passes on the whole lines. Closes the stream at its end. A line of more than a
 *  megabyte is passed on in pieces. */
MST_CHECKED mst_status task_lines_read(task_lines *lines);
/** For a task that has ended: reads the rest of its output, passes on a last line even without its end, and closes the
 *  stream. */
MST_CHECKED mst_status task_lines_finish(task_lines *lines);
/** Closes the stream and frees its memory. */
void task_lines_close(task_lines *lines);

#endif
