/** Summary writers: the queue and its entries.
 *
 *      callers --push--> queue --thread--> encode.c --> event file
 *
 *  The thread sleeps while the queue is empty. After the first entry it waits until flush_seconds have passed, the
 *  queue is half full, or a caller waits for it. It then takes the whole queue at once. So callers seldom wake the
 *  thread, and a value costs its caller one allocation and one lock. */
#ifndef MUSTER_SUMMARY_WRITER_H
#define MUSTER_SUMMARY_WRITER_H

#include "format/events.h"
#include "muster/summary.h"

typedef enum mst_entry_kind {
    MST_ENTRY_SCALAR,
    MST_ENTRY_HISTOGRAM,
    MST_ENTRY_COUNTS, /**< `tensor` is i64 [n]: how often the numbers 0, 1, ..., n - 1 occur */
    MST_ENTRY_IMAGE,
    MST_ENTRY_TEXT,
    MST_ENTRY_GRAPH,
    MST_ENTRY_RUN_METADATA,
    MST_ENTRY_HPARAMS, /**< `data` is a packed HParamsPluginData */
    MST_ENTRY_START    /**< the start of a resumed training */
} mst_entry_kind;

/** An entry of the queue. */
typedef struct mst_entry {
    struct mst_entry *next;
    mst_entry_kind kind;
    int64_t bytes; /**< bytes of the entry and the data that it owns, which count towards queue_bytes */
    double wall_time;
    int64_t step;
    double scalar;
    mst_tensor *tensor;
    void *data; /**< for text, graph, run metadata and hparams; freed with free() */
    size_t size;
    char tag[]; /**< ended by a zero byte */
} mst_entry;

/** Makes an entry without a value. If TAG is NULL or empty, or memory runs out, returns NULL, and WRITER keeps the
 *  error. */
mst_entry *mst_entry_create(mst_summary_writer *writer, mst_entry_kind kind, const char *tag, int64_t step);
void mst_entry_free(mst_entry *entry);
/** Adds a histogram of whole numbers. COUNTS, i64 [n], says how often each of 0, 1, ..., n - 1 occurs; at least one of
 *  them must occur. Number i has the bucket from i - 0.5 to i + 0.5. COUNTS is retained. */
void mst_summary_counts(mst_summary_writer *writer, const char *tag, mst_tensor *counts, int64_t step);
/** Puts ENTRY on the queue, which then owns it. BYTES is the size of what ENTRY owns. */
void mst_summary_push(mst_summary_writer *writer, mst_entry *entry, size_t bytes);
/** Stores the calling thread's error, whose code is STATUS, for the next flush or close, unless an earlier error is
 *  stored. */
void mst_summary_fail(mst_summary_writer *writer, mst_status status);
/** Notes that the run has hyperparameters, so that its end is written too. */
void mst_summary_has_hparams(mst_summary_writer *writer);
/** Appends ENTRY to the file as an event. */
MST_CHECKED mst_status mst_entry_write(const mst_entry *entry, mst_event_file *file);
/** Makes the entry for the end of a run with hyperparameters; NULL if there is no memory. */
mst_entry *mst_hparams_end(mst_summary_writer *writer, bool failed);
/** Encodes the last run of TRACE as a RunMetadata; free *DATA with free(). */
MST_CHECKED mst_status mst_run_metadata_encode(const mst_trace *trace, void **data, size_t *size);

#endif
