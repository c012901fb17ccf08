/** The inside of a summary writer.
 *
 *      callers --push--> queue --thread--> encode.c --> event file
 *
 *  The thread sleeps until something is on the queue, then until a moment has passed or the queue is half full or
 *  somebody waits; then it takes the whole queue at once. So a caller seldom wakes it, and a value costs its caller an
 *  allocation and a lock. */
#ifndef MUSTER_SUMMARY_WRITER_H
#define MUSTER_SUMMARY_WRITER_H

#include "format/events.h"
#include "muster/summary.h"

typedef enum mst_entry_kind {
    MST_ENTRY_SCALAR,
    MST_ENTRY_HISTOGRAM,
    MST_ENTRY_COUNTS, /**< `tensor`: i64 [n], how many numbers are 0, 1, ..., n - 1 */
    MST_ENTRY_IMAGE,
    MST_ENTRY_TEXT,
    MST_ENTRY_GRAPH,
    MST_ENTRY_RUN_METADATA,
    MST_ENTRY_HPARAMS, /**< `data` is a packed HParamsPluginData */
    MST_ENTRY_START    /**< of a resumed training */
} mst_entry_kind;

/** What waits on the queue. */
typedef struct mst_entry {
    struct mst_entry *next;
    mst_entry_kind kind;
    int64_t bytes; /**< that it counts for */
    double wall_time;
    int64_t step;
    double scalar;
    mst_tensor *tensor;
    void *data; /**< of a text, graph, run metadata, hparams; freed with free() */
    size_t size;
    char tag[]; /**< ended by 0 */
} mst_entry;

/** An entry without a value; NULL, and the writer has the error, where TAG is none or memory is out. */
mst_entry *mst_entry_create(mst_summary_writer *writer, mst_entry_kind kind, const char *tag, int64_t step);
void mst_entry_free(mst_entry *entry);
/** A histogram of whole numbers: COUNTS, i64 [n], has how many are 0, 1, ..., n - 1, at least one in all. Each number
 *  has a bucket of its own, around it. COUNTS is retained. */
void mst_summary_counts(mst_summary_writer *writer, const char *tag, mst_tensor *counts, int64_t step);
/** Puts ENTRY on the queue, which owns it from then on. BYTES: of what belongs to it. */
void mst_summary_push(mst_summary_writer *writer, mst_entry *entry, size_t bytes);
/** Keeps the calling thread's error, of code STATUS, for the next flush or close, where it is the first. */
void mst_summary_fail(mst_summary_writer *writer, mst_status status);
/** Marks that the run has hyperparameters, so that its end is written. */
void mst_summary_has_hparams(mst_summary_writer *writer);
/** Appends ENTRY to the file as an event. */
MST_CHECKED mst_status mst_entry_write(const mst_entry *entry, mst_event_file *file);
/** An entry that ends the run among those with hyperparameters; NULL where memory is out. */
mst_entry *mst_hparams_end(mst_summary_writer *writer, bool failed);
/** TRACE's last run as a RunMetadata, freed with free(). */
MST_CHECKED mst_status mst_run_metadata_encode(const mst_trace *trace, void **data, size_t *size);

#endif
