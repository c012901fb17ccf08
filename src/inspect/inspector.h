/** Inspectors report what is in files. This folder has one file for each format, inspect_NAME.c, with its
 *  mst_inspector. The build makes a table of all inspectors. An inspector fills a report: text for people, or a JSON
 *  object for programs. */
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

/** How many bytes from the beginning of a file are enough to recognise any format. */
enum { MST_INSPECT_HEAD = 4096 };

/** The file or folder at a path. */
typedef struct mst_inspect_source {
    const char *path;
    bool is_folder;
    bool is_file;                   /**< if neither is set, PATH may be the prefix of a checkpoint */
    bool is_packed;                 /**< gzip: the head is decompressed */
    uint8_t head[MST_INSPECT_HEAD]; /**< the first bytes of a file */
    size_t size;                    /**< number of bytes in head: fewer if the file is shorter */
    uint64_t bytes;                 /**< size of the file */
} mst_inspect_source;

/** How likely it is that a source has a format. The inspector with the best match reports a file. All inspectors that
 *  are sure report a folder; if none is sure, all that do not answer MST_INSPECT_NO. */
typedef enum mst_inspect_match {
    MST_INSPECT_NO = 0,
    MST_INSPECT_POSSIBLE, /**< nothing contradicts it, or only the name suggests it */
    MST_INSPECT_LIKELY,
    MST_INSPECT_SURE /**< such as by a magic number or a checksum */
} mst_inspect_match;

/** Whether the head may be UTF-8 text. */
bool mst_inspect_is_text(const mst_inspect_source *source);

/** ---- reports ------------------------------------------------------------------------------------------- */

typedef struct mst_report {
    const char *path;
    FILE *text;   /**< NULL: the report is JSON */
    json_t *json; /**< the object for this file */
    json_t *damage;
    int64_t num_damage;
    mst_failure first; /**< the first damage; without damage, the error that the contents are not supported, if any */
    bool no_memory;
} mst_report;

/** Writes the first line: "PATH: FORMAT, " and the formatted arguments. JSON gets only the format. */
void mst_report_title(mst_report *report, const char *format, const char *form, ...)
    __attribute__((format(printf, 3, 4)));
/** Adds a line of text to the report. */
void mst_report_line(mst_report *report, const char *form, ...) __attribute__((format(printf, 2, 3)));

/** Sets member KEY of OBJECT (NULL: the object for the file) to VALUE, and takes over VALUE. */
void mst_report_set(mst_report *report, json_t *object, const char *key, json_t *value);
/** Adds a new object to the list KEY in the object for the file, and returns it; the list owns it. */
json_t *mst_report_item(mst_report *report, const char *key);
/** A number in JSON; null for NaN and infinities, which JSON does not have. */
json_t *mst_report_number(double value);
/** SIZE bytes as a JSON string; bytes that are not UTF-8 become "\xff". */
json_t *mst_report_string(const char *data, size_t size);
json_t *mst_report_shape(mst_shape shape);

/** Size of the text of mst_report_name, in bytes. */
enum { MST_REPORT_NAME = 256 };
/** Writes SIZE bytes of a name to TEXT on one line, cut off if they are too many. Returns TEXT. */
const char *mst_report_name(const char *data, size_t size, char text[MST_REPORT_NAME]);

/** Adds the line "  NAME  f32 [10, 3]  0 to 1, mean 0.5, 2 NaN" followed by NOTE, which may be "". Also adds an object
 *  with the same facts to the list "tensors", and returns it. */
json_t *mst_report_tensor(mst_report *report, const char *name, const mst_tensor *tensor, const char *note);

/** Adds the calling thread's error, whose code is STATUS, as damage of the file. The path is prefixed to a message
 *  without it. Damage is printed at the end of the report. */
void mst_report_damage(mst_report *report, mst_status status);

/** ---- formats ------------------------------------------------------------------------------------------ */

typedef struct mst_inspector {
    const char *name;     /**< "safetensors", for the list of all formats */
    const char *suffixes; /**< suffixes by which damaged files are recognised, in lower case: ".png .jpg"; may be
                               NULL */
    /** How likely it is that SOURCE has this format. */
    mst_inspect_match (*knows)(const mst_inspect_source *source);
    /** Fills the report. A failure ends the report and counts as damage, except MST_UNIMPLEMENTED: then the contents
     *  are not supported. */
    mst_status (*print)(const mst_inspect_source *source, mst_report *report);
} mst_inspector;

/** All inspectors, ended by NULL. */
extern const mst_inspector *const mst_inspector_table[];

/** Whether the checkpoint PREFIX has an index file. */
bool mst_checkpoint_is_there(const char *prefix);
/** Reports the tensors of the checkpoint PREFIX: with LIST a line for each; otherwise they are only checked. */
MST_CHECKED mst_status mst_report_checkpoint(mst_report *report, const char *prefix, bool list);

#endif
