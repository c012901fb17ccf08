/** What is in files: one file of this folder for each format, NAME.c, with its mst_inspector; the build makes the table
 *  of them. An inspector fills a report, which is text for people and an object of JSON for programs at once. */
#ifndef MUSTER_INSPECT_INSPECTOR_H
#define MUSTER_INSPECT_INSPECTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "muster/inspect.h"
#include "muster/tensor.h"

/** ---- which format ------------------------------------------------------------------------------------- */

/** Bytes from the beginning of a file that are enough to know any format. */
enum { MST_INSPECT_HEAD = 4096 };

/** What is at a path. */
typedef struct mst_inspect_source {
    const char *path;
    bool is_folder;
    bool is_file;                   /**< neither: it may be the prefix of a checkpoint */
    bool is_packed;                 /**< gzip: the head is decompressed */
    uint8_t head[MST_INSPECT_HEAD]; /**< of a file: its first bytes */
    size_t size;                    /**< of the head: less where the file is shorter */
    uint64_t bytes;                 /**< of the file */
} mst_inspect_source;

/** Whether a source is of a format; the inspector that is most sure of a file has it. Of a folder, all inspectors that
 *  are sure of something in it, or if none is, all that know something. */
typedef enum mst_inspect_match {
    MST_INSPECT_NO = 0,
    MST_INSPECT_POSSIBLE, /**< nothing speaks against it, or only the name speaks for it */
    MST_INSPECT_LIKELY,
    MST_INSPECT_SURE /**< by a magic number, or a check sum */
} mst_inspect_match;

/** Whether all bytes of the head may stand in a text of UTF-8. */
bool mst_inspect_is_text(const mst_inspect_source *source);

/** ---- what is told of it ------------------------------------------------------------------------------- */

typedef struct mst_report {
    const char *path;
    FILE *text;   /**< NULL where JSON is wanted */
    json_t *json; /**< the object of this file */
    json_t *damage;
    int64_t num_damage;
    mst_failure first; /**< damage */
    bool no_memory;
} mst_report;

/** "PATH: FORMAT, and what the arguments print", the first line; in JSON the format alone. */
void mst_report_title(mst_report *report, const char *format, const char *form, ...)
    __attribute__((format(printf, 3, 4)));
/** A line of text below it. */
void mst_report_line(mst_report *report, const char *form, ...) __attribute__((format(printf, 2, 3)));

/** Member KEY of OBJECT (NULL: the file's) becomes VALUE, which is taken. */
void mst_report_set(mst_report *report, json_t *object, const char *key, json_t *value);
/** A new object at the end of the list KEY of the file's object. */
json_t *mst_report_item(mst_report *report, const char *key);
/** A number; null where it is NaN or infinite, which JSON does not have. */
json_t *mst_report_number(double value);
/** SIZE bytes as a string; what is not UTF-8 as "\xff". */
json_t *mst_report_string(const char *data, size_t size);
json_t *mst_report_shape(mst_shape shape);

/** Bytes that hold a name as text. */
enum { MST_REPORT_NAME = 256 };
/** SIZE bytes on one line, cut off where they are too many; returns TEXT. */
const char *mst_report_name(const char *data, size_t size, char text[MST_REPORT_NAME]);

/** "  NAME  f32 [10, 3]  0 to 1, mean 0.5, 2 NaN" and NOTE ("" for none), and an item of the list "tensors", which is
 *  returned. */
json_t *mst_report_tensor(mst_report *report, const char *name, const mst_tensor *tensor, const char *note);

/** The calling thread's error, whose code is STATUS, is damage of the file, whose path goes before a message without
 *  it; it is told below all else. */
void mst_report_damage(mst_report *report, mst_status status);

/** ---- formats ------------------------------------------------------------------------------------------ */

typedef struct mst_inspector {
    const char *name;     /**< "safetensors", for the list of all formats */
    const char *suffixes; /**< of files whose bytes say nothing, as they are damaged: ".png .PNG"; may be NULL */
    mst_inspect_match (*knows)(const mst_inspect_source *source);
    /** A failure is damage as well, and the end of the report. */
    mst_status (*print)(const mst_inspect_source *source, mst_report *report);
} mst_inspector;

/** All of them, ended by NULL. */
extern const mst_inspector *const mst_inspector_table[];

/** Whether there is an index of the checkpoint PREFIX. */
bool mst_checkpoint_is_there(const char *prefix);
/** The tensors of the checkpoint PREFIX. LIST: a line for each; else they are only checked. */
MST_CHECKED mst_status mst_report_checkpoint(mst_report *report, const char *prefix, bool list);

#endif
