/** Options of commands: one table drives parsing, checks, help and shell completion.
 *
 *  A command lists sections; a section is a table of options, a table of mst_field (members of a library struct inside
 *  the command's options), or both. They are made into one list when the command starts.
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
    OPTION_BYTES,    /**< int64_t; 512MB, where KB, MB, GB are powers of 1024 */
    OPTION_CHOICE,   /**< int: which of the choices */
    OPTION_WORD,     /**< const char *: one of the choices */
    OPTION_WORDS,    /**< const char *: one of the choices, or OUTPUT=CHOICE,OUTPUT=CHOICE as it was written */
    OPTION_FORM,     /**< const char *: one of the choices, where those with a colon stand for more: "idx:DIR" */
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
    const char *initial; /**< the default as it would be written; NULL: none */
    double low, high;    /**< both 0: any. For a list, of each number */
    bool above_low;      /**< low itself is not allowed */
    bool may_be_none;    /**< of a list: the word "none" is the list without numbers */
    bool may_be_empty;   /**< of a text: the empty text is a valid value */
    bool noted;    /**< says what training makes: checkpoints note it, and a training that goes on otherwise warns */
    bool of_field; /**< of a mst_field, in which a number that is 0 was not given: 0 is kept as MST_ZERO */
    const char *help;
    const char *const *choices;   /**< ended by NULL; of a text the words that it is made of, which are not checked */
    const char *(*choice)(int i); /**< in place of choices: the I-th of them, NULL past the last */
    /** What the I-th choice is, NULL: nothing is said of it. Where this or a metavar is given, the help of the option
     *  ends with a list of the choices. May be NULL. */
    const char *(*choice_help)(int i);
    const char *const *also;  /**< other words for choices, each followed by the choice, ended by NULL; may be NULL */
    const char *const *later; /**< words that are known and not built yet, ended by NULL */
    const char *alias;        /**< another name, as TensorFlow's programs have it */
    const char *excludes;     /**< another option, which cannot be given beside this one */
} option;

/** How a mst_field becomes an option: under another name, or (option NULL) not at all. */
typedef struct field_name {
    const char *field, *option;
} field_name;

typedef struct option_section {
    const char *title;
    const option *options;   /**< ended by a NULL name; may be NULL */
    const mst_field *fields; /**< ended by a NULL name; may be NULL */
    const field_name *names; /**< exceptions of FIELDS, ended by a NULL field */
    size_t offset;           /**< of the struct of FIELDS in the command's options */
    bool noted;              /**< all of FIELDS are */
} option_section;

typedef struct option_entry {
    option option;
    const char *title; /**< of a section, at its first option */
    bool common;       /**< of every command: its member is one of the list itself */
    bool given;
    bool from_file;                               /**< given in the file of --config only */
    const char *text;                             /**< what was given; the command line counts before a file */
    int config_line;                              /**< where it stands in the file of --config; 0: it does not */
    char name[48], initial[32];                   /**< of an option made of a field */
    const char *choices[OPTION_MOST_CHOICES + 1]; /**< of an option with a function for them */
} option_entry;

typedef struct option_list {
    int count;
    option_entry *entry;
    const char *config;
    bool print_config;
    char *config_text; /**< of that file; texts point into it */
} option_list;

/** The options of SECTIONS (ended by a NULL title), and --config and --print-config where there are any; to be freed
 *  with option_list_free. */
MST_CHECKED mst_status option_list_make(const option_section *sections, option_list *out);
void option_list_free(option_list *list);

/** Fills VALUES with the defaults and what ARGUMENTS (ended by NULL) say; texts are not copied. What is no option,
 *  and all behind "--", goes to POSITIONAL, at most MAX of them. MST_INVALID names the argument, and what would be
 *  right. */
MST_CHECKED mst_status options_parse(option_list *list, char *const *arguments, void *values, const char **positional,
                                     int max, int *num_positional);
/** The option NAME as LINE of a file gives it; checked also where the command line gives another value, which stays. */
MST_CHECKED mst_status options_set(option_list *list, const char *name, const char *text, int line, void *values);
/** Decides between options that exclude each other, when all have been given: that of the command line counts before
 *  that of a file, which gets its default back. MST_INVALID where both were given in one place. */
MST_CHECKED mst_status options_exclude(option_list *list, void *values);
/** The name of the option that a field of SECTION becomes, perhaps with underscores; NULL where it becomes none. */
const char *option_of_field(const option_section *section, const mst_field *field);
/** Whether the option NAME stood among the arguments. */
bool option_given(const option_list *list, const char *name);

/** Whether two words are the same, where letter case does not count and '-' is '_'. */
bool option_same_word(const char *a, const char *b);
/** "--batch-size N", with the metavar or the choices. */
void option_print(const option *option, char *text, size_t size);

#endif
