/** Options of commands: one table drives parsing, checks, help and shell completion.
 *
 *  A command lists sections. A section is a table of options, a table of mst_field, or both. (A mst_field is a member
 *  of a library struct inside the command's options.) All sections are made into one list when the command starts.
 */
#ifndef MUSTER_CLI_OPTION_LIST_H
#define MUSTER_CLI_OPTION_LIST_H

#include "muster/op.h"

typedef enum option_type {
    OPTION_FLAG,     /**< bool: --name, --no-name, --name=false */
    OPTION_INTEGER,  /**< int64_t */
    OPTION_INT,      /**< int */
    OPTION_UNSIGNED, /**< uint64_t, below 2^63 */
    OPTION_NUMBER,   /**< double */
    OPTION_BYTES,    /**< int64_t: 512MB, where KB, MB, GB are powers of 1024 */
    OPTION_CHOICE,   /**< int: the index of one of the choices */
    OPTION_WORD,     /**< const char *: one of the choices */
    OPTION_WORDS,    /**< const char *: one of the choices, or OUTPUT=CHOICE,OUTPUT=CHOICE as it was written */
    OPTION_FORM,     /**< const char *: one of the choices; one with a colon, "idx:DIR", stands for any text after it */
    OPTION_TEXT,     /**< const char * */
    OPTION_FILE,     /**< const char *: the name of a file */
    OPTION_INTEGERS, /**< integer_list: 500,200 */
    OPTION_NUMBERS   /**< number_list: 0.1,0.01 */
} option_type;

enum { OPTION_LIST_SIZE = 16, OPTION_MOST_CHOICES = 31 };

typedef struct integer_list {
    int count;
    int64_t value[OPTION_LIST_SIZE];
} integer_list;

typedef struct number_list {
    int count;
    double value[OPTION_LIST_SIZE];
} number_list;

typedef struct option {
    const char *name; /**< with dashes: "batch-size" */
    option_type type;
    size_t offset;       /**< of the member in the command's options */
    const char *metavar; /**< "N"; NULL for flags and choices */
    const char *initial; /**< the default as a user would write it; NULL: none */
    double low, high;    /**< the range of the number, or of each number of a list; both 0: any */
    bool above_low;      /**< low itself is not allowed */
    bool may_be_none;    /**< for a list: the word "none" is the list without numbers */
    bool may_be_empty;   /**< for a text: the empty text is a valid value */
    bool noted;          /**< decides the result of training: noted in checkpoints; resuming with another value warns */
    bool of_field;       /**< made of a mst_field, where 0 means "not given": a given 0 is stored as MST_ZERO */
    const char *help;
    const char *const *choices;   /**< ended by NULL; for a text, words that it may contain, which are not checked */
    const char *(*choice)(int i); /**< instead of `choices`: returns the I-th choice, NULL past the last */
    /** Returns an explanation of the I-th choice; NULL: none. If this or a metavar is given, the help of the option
     *  ends with a list of the choices. May be NULL. */
    const char *(*choice_help)(int i);
    const char *const *also;  /**< other words for choices, each followed by its choice, ended by NULL; may be NULL */
    const char *const *later; /**< words that are known but not supported yet, ended by NULL; may be NULL */
    const char *alias;        /**< another name, such as that in TensorFlow's programs; may be NULL */
    const char *excludes;     /**< another option that cannot be given together with this one; may be NULL */
} option;

/** The name of the option that a mst_field becomes, if it differs; option NULL: the field does not become an option. */
typedef struct field_name {
    const char *field, *option;
} field_name;

typedef struct option_section {
    const char *title;
    const option *options;   /**< ended by a NULL name; may be NULL */
    const mst_field *fields; /**< ended by a NULL name; may be NULL */
    const field_name *names; /**< those of `fields` that have other names as options, ended by a NULL field */
    size_t offset;           /**< of the struct with these fields in the command's options */
    bool noted;              /**< all options made of these fields are noted */
} option_section;

typedef struct option_entry {
    option option;
    const char *title; /**< the title of a section, at its first option; else NULL */
    bool common;       /**< an option of every command, whose member is in the list itself */
    bool given;
    bool from_file;             /**< given only in the file of --config */
    const char *text;           /**< the given value; that of the command line if the file has one too */
    int config_line;            /**< its line in the file of --config; 0: it is not there */
    char name[48], initial[32]; /**< memory for an option made of a field */
    const char *choices[OPTION_MOST_CHOICES + 1]; /**< memory for an option with `choice` */
} option_entry;

typedef struct option_list {
    int count;
    option_entry *entry;
    const char *config; /**< the file of --config; NULL: none */
    bool print_config;
    char *config_text; /**< the text of that file; values point into it */
} option_list;

/** Makes the list of the options of SECTIONS (ended by a NULL title). If there are any, --config and --print-config are
 *  added. Free it with option_list_free. */
MST_CHECKED mst_status option_list_make(const option_section *sections, option_list *out);
void option_list_free(option_list *list);

/** Fills VALUES with the defaults and the values in ARGUMENTS (ended by NULL); texts are not copied. Arguments that are
 *  not options, and all after "--", go to POSITIONAL, at most MAX of them. MST_INVALID if an argument is wrong; the
 *  message tells which, and what is allowed. */
MST_CHECKED mst_status options_parse(option_list *list, char *const *arguments, void *values, const char **positional,
                                     int max, int *num_positional);
/** Sets the option NAME to TEXT, from line LINE of a file. If the command line gave a value, that value stays; TEXT is
 *  checked anyway. */
MST_CHECKED mst_status options_set(option_list *list, const char *name, const char *text, int line, void *values);
/** Decides between options that exclude each other, after all have been read. An option of the command line takes
 *  precedence over one of the file, which is reset to its default. MST_INVALID if both come from the same place. */
MST_CHECKED mst_status options_exclude(option_list *list, void *values);
/** The name, perhaps with underscores, of the option that FIELD of SECTION becomes; NULL if it does not become one. */
const char *option_of_field(const option_section *section, const mst_field *field);
/** Whether the option NAME was given. */
bool option_given(const option_list *list, const char *name);

/** Whether two words are equal, ignoring case and taking '-' and '_' as equal. */
bool option_same_word(const char *a, const char *b);
/** Reads TEXT, the value of a flag: "true", "0", "off" and the like. False if it is none of them. */
bool option_flag_word(const char *text, bool *out);
/** Writes the form of the option to TEXT: "--batch-size N", with the metavar or the choices. */
void option_print(const option *option, char *text, size_t size);

#endif
