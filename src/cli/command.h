/** Commands: what `muster NAME` does. A command is one file with one `const command command_NAME`. */
#ifndef MUSTER_CLI_COMMAND_H
#define MUSTER_CLI_COMMAND_H

#include "cli/option_list.h"

/** Exit status of a command. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 /* plus the number of the signal */ };

/** The largest number of positional arguments of any command. */
enum { COMMAND_MOST_POSITIONAL = 1000 };

typedef struct command_call {
    option_list *list; /**< the options, with the values that were given */
    void *options;     /**< zeroed, then filled from the command line */
    const char **positional;
    int num_positional;
} command_call;

typedef struct command {
    const char *name;
    const char *summary;            /**< one line */
    const char *usage;              /**< positional arguments and options: "[options]" */
    const char *notes;              /**< paragraphs below the options; may be NULL */
    const option_section *sections; /**< ended by a NULL title */
    size_t options_size;
    int max_positional;
    const char *words;                    /**< possible positional arguments, for completion; may be NULL */
    bool takes_specs;                     /**< positional arguments are data specs, for completion */
    const char *unavailable;              /**< for a command that cannot run yet: what to do instead; else NULL */
    int (*run)(const command_call *call); /**< prints its errors itself, and returns the exit status */
} command;

/** The name of the program, for help: "muster". The benchmarks in bench/ are another program with its own commands. */
extern const char *const command_program;
/** All commands of the program, ended by NULL. For `muster`, CMake generates this table, sorted by name, from the files
 *  of this folder and its subfolders. */
extern const command *const command_table[];
/** The command with this name, or NULL. */
const command *command_find(const char *name);
/** The body of `main`: calls DISPATCH with the arguments without the program's name, ended by NULL. Returns its exit
 *  status, or EXIT_FAILED if standard output could not be written. */
int command_main(int argc, char **argv, int (*dispatch)(char **arguments));
/** Runs COMMAND, or prints its help if ARGUMENTS, ended by NULL, ask for it; returns the exit status. */
int command_run(const command *command, char *const *arguments);
/** Whether ARGUMENT is --help or -h. */
bool command_is_help(const char *argument);

/** Prints the one `error:` line, and returns STATUS. */
int command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The same with the message of the library's last error. OPTION is the option that led to the error; NULL: none. */
int command_fail_library(int status, const char *option);
/** The same if the arguments of COMMAND led to the error. Returns EXIT_USAGE, or EXIT_FAILED if memory ran out. */
int command_fail_usage(const char *command);
/** Fails with "there is no WHAT 'WORD'" and returns EXIT_USAGE. The message suggests the most similar of NAMES if WORD
 *  looks like a typing error, else HINT. */
int command_unknown(const char *what, const char *word, const char *const *names, const char *hint);
/** Prints a `warning:` line. Control characters, which may come from file names and from texts in files, become '?', as
 *  in the `error:` line. */
void command_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same without `warning:`; it too goes to standard error. */
void command_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same to standard output. */
void command_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
