/** Commands: what `muster NAME` does. A command is one file with one `const command command_NAME`. */
#ifndef MUSTER_CLI_COMMAND_H
#define MUSTER_CLI_COMMAND_H

#include "cli/option_list.h"

/** Exit status of a command. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 /* and the number of the signal */ };

/** Positional arguments of any command. */
enum { COMMAND_MOST_POSITIONAL = 1000 };

typedef struct command_call {
    const option_list *list; /**< with what was given */
    void *options;           /**< zeroed, then filled from the command line */
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
    const char *words;                    /**< that can be positional arguments, for completion; may be NULL */
    bool takes_specs;                     /**< positional arguments are data specs, for completion */
    const char *unavailable;              /**< what to do instead, for a command that cannot run yet; else NULL */
    int (*run)(const command_call *call); /**< returns the exit status, having said what was wrong */
} command;

/** The name of the program, for help: "muster". The benchmarks of bench/ are a program with commands of its own. */
extern const char *const command_program;
/** All commands of the program, ended by NULL; those of `muster`, by name, CMake makes from the files of this folder
 *  and of the folders in it. */
extern const command *const command_table[];
/** The command of a name, or NULL. */
const command *command_find(const char *name);
/** What `main` does: gives the arguments without the program's name, ended by NULL, to DISPATCH, and returns the exit
 *  status, which is EXIT_FAILED where standard output could not be written. */
int command_main(int argc, char **argv, int (*dispatch)(char **arguments));
/** Runs COMMAND, or prints its help where ARGUMENTS, ended by NULL, ask for it; returns the exit status. */
int command_run(const command *command, char *const *arguments);
/** Whether ARGUMENT is --help or -h. */
bool command_is_help(const char *argument);

/** Prints the one `error:` line, and returns STATUS. */
int command_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The same from the library's last error, which OPTION (may be NULL: none) led to. */
int command_fail_library(int status, const char *option);
/** The same where what COMMAND was given led to the error: EXIT_USAGE, but EXIT_FAILED where memory ran out. */
int command_fail_usage(const char *command);
/** EXIT_USAGE, naming the nearest of NAMES where WORD looks like a slip: "unknown WHAT 'WORD'". HINT says what to do
 *  where nothing is near. */
int command_unknown(const char *what, const char *word, const char *const *names, const char *hint);
/** Prints a `warning:` line. As in the `error:` line, characters that a terminal would obey, which names of files and
 *  texts of files may have, become '?'. */
void command_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same without `warning:`, also to standard error. */
void command_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** The same to standard output. */
void command_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
