/** Event files, which TensorBoard shows.
 *
 *  A file is a sequence of records, each a serialized Event (format/events.proto); the first names the version of the
 *  format. A folder with such files is a run of TensorBoard, and its files are read in the order of their names:
 *
 *      events.out.tfevents.TIME.HOST.PID.NUMBER
 *
 *  A file may be read while it is written, and may end in the middle of a record: after the last whole one is its end.
 */
#ifndef MUSTER_FORMAT_EVENTS_H
#define MUSTER_FORMAT_EVENTS_H

#include <stdbool.h>

#include "base/folder.h"
#include "format/byte_source.h"
#include "format/events.pb-c.h"

/* ---- writing ---- */

typedef struct mst_event_file mst_event_file;

/** A new file in FOLDER, which is made where it is missing, with its first record. */
MST_CHECKED mst_status mst_event_file_create(const char *folder, mst_event_file **out);
/** The path of the file; lives as long as it. */
const char *mst_event_file_path(const mst_event_file *file);
/** Appends an event; it is in the file after the next flush. Once a write has failed, nothing more is written and each
 *  call fails: a reader could find no record that follows half a record. */
MST_CHECKED mst_status mst_event_file_append(mst_event_file *file, const Muster__Event *event);
MST_CHECKED mst_status mst_event_file_flush(mst_event_file *file);
/** Flushes, closes and frees. NULL is allowed. */
MST_CHECKED mst_status mst_event_file_close(mst_event_file *file);

/* ---- reading ---- */

typedef struct mst_event_reader mst_event_reader;

/** Opens the file at PATH. *OUT is NULL on failure. */
MST_CHECKED mst_status mst_event_reader_open(const char *path, mst_event_reader **out);
/** The same from SIZE bytes at DATA, which the caller keeps until the close; NAME stands for the path in messages. */
MST_CHECKED mst_status mst_event_reader_parse(const char *name, const void *data, size_t size, mst_event_reader **out);
/** NULL is allowed. */
void mst_event_reader_close(mst_event_reader *reader);
/** The next event, valid until the next call; NULL at the end. Fails with MST_CORRUPT, naming file and offset, where a
 *  CRC or a message is wrong. */
MST_CHECKED mst_status mst_event_reader_next(mst_event_reader *reader, const Muster__Event **out);
/** The bytes of the record that the last event came from, and their number. */
const void *mst_event_reader_payload(const mst_event_reader *reader, size_t *size);
/** At the end: whether the file ends in the middle of a record. */
bool mst_event_reader_is_torn(const mst_event_reader *reader);
/** The number that VALUE is, as TensorFlow 1 or TensorFlow 2 writes scalars; false where it is something else. */
bool mst_event_scalar(const Muster__Summary__Value *value, double *out);

/* ---- folders ---- */

/** The paths of the event files in FOLDER in the order of their names; *OUT is ended by NULL, and freed with
 *  mst_event_files_free. No files, or no folder, is an empty list. */
MST_CHECKED mst_status mst_event_files_list(const char *folder, char ***out);
void mst_event_files_free(char **files);

/** Stands for the tag of a graph, which has none. */
#define MST_EVENT_GRAPH "(graph)"
/** Whether a value of a summary, the times of a step or a graph is to stay. */
typedef bool (*mst_event_filter)(void *context, const char *tag, int64_t step);
/** Takes the values that FILTER does not want, and half records at the end, out of the event files in FOLDER. Files
 *  that change are written to the side and renamed, so that nothing that stays is ever missing; where one is a symbolic
 *  link, the link is replaced. */
MST_CHECKED mst_status mst_event_files_filter(const mst_folder *folder, mst_event_filter filter, void *context);

#endif
