/** A data spec is one line of text that names a dataset ("idx:DIR"). Each kind has its own file in this folder. */
#ifndef MUSTER_DATA_SPEC_DATA_SPEC_H
#define MUSTER_DATA_SPEC_DATA_SPEC_H

#include "muster/dataset.h"

/** The members of mst_data_options that a kind takes; setting any other is an error. MST_SPEC_TABLE: label, weight,
 *  delimiter, comment, no_header, drop, categories, missing, decimal, thousands, dates and text. MST_SPEC_IMAGE_SIZE
 *  includes channels. MST_SPEC_TEXTS: max_tokens, sequence_length and pad_front. MST_SPEC_NAMES: several inputs or
 *  outputs. MST_SPEC_ENCODING: encoding. MST_SPEC_TOKENIZER: tokenizer. schema and unknown_categories need no bit:
 *  kinds that do not use them ignore them.
 *
 *  The others say what the rows are, for options of commands (spec_options.c). MST_SPEC_PICTURES: rows may be pictures.
 *  MST_SPEC_MASKS: with a class for each pixel. MST_SPEC_LONG_TEXT: they are parts of one text, all of one length.
 *  MST_SPEC_TEXT_COLUMN, of no kind: the input is a column of texts of a table. */
enum {
    MST_SPEC_SKIP_CORRUPT = 1,
    MST_SPEC_TABLE = 2,
    MST_SPEC_IMAGE_SIZE = 4,
    MST_SPEC_TEXTS = 8,
    MST_SPEC_NAMES = 16,
    MST_SPEC_ENCODING = 32,
    MST_SPEC_TOKENIZER = 64,
    MST_SPEC_PICTURES = 128,
    MST_SPEC_MASKS = 256,
    MST_SPEC_LONG_TEXT = 512,
    MST_SPEC_TEXT_COLUMN = 1024
};

typedef struct mst_data_spec {
    const char *form; /**< the name, with a placeholder for the argument if it takes one: "idx:DIR" */
    const char *help; /**< half a line for `muster train --help` */
    /** File suffix of this kind ("/": a folder), used to suggest the spec when the user gives only a path. May be
     *  NULL. */
    const char *suffix;
    /** Whether this kind can read PATH, for kinds without a suffix of their own. May be NULL. */
    bool (*holds)(const char *path);
    /** Whether ARGUMENT as a whole names data of this kind, even with commas or stars. NULL: it does if there is such a
     *  file. */
    bool (*has)(const char *argument);
    /** Whether `open_with` takes a list of names as ARGUMENT (data/spec/spec_list.h), and makes one dataset of them.
     *  Otherwise each is opened, and their rows follow one another. */
    bool reads_lists;
    /** Writes the argument of the validation part of ARGUMENT to PATH, of SIZE bytes. False: there is none. NULL:
     *  this kind has none. */
    bool (*validation)(const char *argument, char *path, size_t size);
    unsigned takes; /**< the options that this kind takes, and what its rows are, as bits MST_SPEC_... */

    /* At most one of open and open_with is set. If neither is, the kind is not supported yet. */

    /** Opens the train or the test part. ARGUMENT is the text after the colon, or "" if there is none. */
    mst_status (*open)(const char *argument, bool test, mst_dataset **out);
    /** The same with options. OPTIONS may be NULL. */
    mst_status (*open_with)(const char *argument, bool test, const mst_data_options *options, mst_dataset **out);
} mst_data_spec;

/** All kinds, ended by NULL; made by CMake from the files of this folder. */
extern const mst_data_spec *const mst_data_spec_table[];
/** The length of the name of KIND, including the colon if an argument follows (spec_find.c). */
size_t mst_data_spec_name_size(const mst_data_spec *kind);
/** The kind of SPEC, "idx:DIR"; NULL: it is not known. */
const mst_data_spec *mst_data_spec_find(const char *spec);

#endif
