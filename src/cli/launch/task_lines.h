/** What tasks print, passed on in whole lines.
 *
 *      standard output of worker:0 --> lines --+
 *      standard output of worker:1 --> lines --+--> sink --> standard output      "worker:1 | loss = 0.3"
 *      standard error of worker:0  --> lines -----> sink --> standard error
 *
 *  Nothing here waits: a sink keeps what its descriptor does not take yet, and while it is full nothing more is read
 *  for it, so that tasks wait for a slow reader as they would without a launcher.
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
    int error;          /**< of the write that failed; 0: none. Later lines are dropped */
    bool colored;       /**< a terminal, where NO_COLOR does not forbid it */
    line_buffer buffer; /**< what waits to be written, from SENT on */
    size_t sent;
} line_sink;

void line_sink_open(line_sink *sink, int descriptor);
/** Whether there is something to write. */
bool line_sink_is_pending(const line_sink *sink);
bool line_sink_is_full(const line_sink *sink);
/** Adds a line, whose end is not among its SIZE bytes. */
MST_CHECKED mst_status line_sink_add(line_sink *sink, const char *line, size_t size);
/** To be called when poll says that the descriptor can be written: writes so much that it does not wait. */
void line_sink_write(line_sink *sink);
void line_sink_close(line_sink *sink);

/** One stream of one task. */
typedef struct task_lines {
    int descriptor; /**< -1: it has ended */
    line_sink *sink;
    char prefix[64];    /**< before each line; with the colour of its task */
    int *log;           /**< a descriptor that gets the lines without prefix; -1: none, or a write failed */
    char *last;         /**< gets the last line that is not empty, where there is one for errors; may be NULL */
    size_t last_size;   /**< bytes of LAST */
    line_buffer buffer; /**< a line without its end so far */
} task_lines;

/** Reads what there is, once, and passes whole lines on; at the end of the stream closes it. A line of more than a
 *  megabyte is passed on in pieces. */
MST_CHECKED mst_status task_lines_read(task_lines *lines);
/** Reads the rest that is there, passes on a last line that has no end, and closes the stream; for a task that has
 *  ended. */
MST_CHECKED mst_status task_lines_finish(task_lines *lines);
/** Closes it and frees its memory. */
void task_lines_close(task_lines *lines);

#endif
