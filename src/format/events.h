/** Event files, which TensorBoard shows.
 *
 *  A file is a sequence of records, each a serialized Event (format/events.proto); the first one has the version of the
 *  format. A folder with such files is a run in TensorBoard, and its files are read in the order of their names:
 *
 *      events.out.tfevents.TIME.HOST.PID.NUMBER
 *
 *  A file may be read while it is written, so it may end in the middle of a record. Reading then ends after the last
 *  complete record.
 */
#ifndef MUSTER_FORMAT_EVENTS_H
#define MUSTER_FORMAT_EVENTS_H

#include <stdbool.h>

#include "base/folder.h"
#include "format/byte_source.h"
#include "format/events.pb-c.h"

/* ---- writing ---- */

typedef struct mst_event_file mst_event_file;

/** Makes a new file in FOLDER, with its first record. FOLDER is created if it does not exist. */
MST_CHECKED mst_status mst_event_file_create(const char *folder, mst_event_file **out);
/** The path of the file; valid as long as FILE. */
const char *mst_event_file_path(const mst_event_file *file);
/** Appends an event; it is in the file after the next flush. Once a write has failed, nothing more is written, and each
 *  call fails. After half a record, a reader could not find the records that follow. */
MST_CHECKED mst_status mst_event_file_append(mst_event_file *file, const Muster__Event *event);
MST_CHECKED mst_status mst_event_file_flush(mst_event_file *file);
/** Flushes, closes and frees FILE. NULL is allowed. */
MST_CHECKED mst_status mst_event_file_close(mst_event_file *file);

/* ---- reading ---- */

typedef struct mst_event_reader mst_event_reader;

/** Opens the file at PATH. *OUT is NULL on failure. */
MST_CHECKED mst_status mst_event_reader_open(const char *path, mst_event_reader **out);
/** The same from SIZE bytes at DATA, which the caller keeps until mst_event_reader_close; NAME stands for the path in
 *  messages. */
MST_CHECKED mst_status mst_event_reader_parse(const char *name, const void *data, size_t size, mst_event_reader **out);
/** NULL is allowed. */
void mst_event_reader_close(mst_event_reader *reader);
/** Reads the next event, valid until the next call; NULL at the end. Fails with MST_CORRUPT, naming file and offset, if
 *  a CRC or a message is wrong. */
MST_CHECKED mst_status mst_event_reader_next(mst_event_reader *reader, const Muster__Event **out);
/** The bytes of the record of the last event; *SIZE is their number. */
const void *mst_event_reader_payload(const mst_event_reader *reader, size_t *size);
/** Call it at the end: whether the file ends in the middle of a record. */
bool mst_event_reader_is_torn(const mst_event_reader *reader);
/** Reads VALUE as a scalar, in the form of TensorFlow 1 or TensorFlow 2; false if it is something else. */
bool mst_event_scalar(const Muster__Summary__Value *value, double *out);

/* ---- folders ---- */

/** Lists the paths of the event files in FOLDER in the order of their names. *OUT is ended by NULL; free it with
 *  mst_event_files_free. If there are no files, or no folder, the list is empty. */
MST_CHECKED mst_status mst_event_files_list(const char *folder, char ***out);
void mst_event_files_free(char **files);

/** Passed to a filter as the tag of a graph, which has none. */
#define MST_EVENT_GRAPH "(graph)"
/** Returns whether to keep a value of a summary, the times of a step, or a graph. */
typedef bool (*mst_event_filter)(void *context, const char *tag, int64_t step);
/** Removes each event with a value that FILTER does not keep, and incomplete records at the end, from the event files
 *  in FOLDER. Files that change are written under another name and renamed, so that kept values are never missing. A
 *  symbolic link to such a file is replaced by the new file. */
MST_CHECKED mst_status mst_event_files_filter(const mst_folder *folder, mst_event_filter filter, void *context);

#endif
