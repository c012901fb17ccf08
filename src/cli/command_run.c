/* How a command runs, from the arguments of `main` to the exit status. If help is asked for, it is printed. Otherwise
 * the options are read from the command line, then from the file of --config, and given to the command's function. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config.h"
#include "cli/help_text.h"
#include "cli/long_work_line.h"
#include "cli/signals.h"

bool command_is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

/* Arguments after "--" are not searched: they belong to another program (muster launch). */
static bool asks_for_help(char *const *arguments) {
    for (; *arguments && strcmp(*arguments, "--") != 0; arguments++)
        if (command_is_help(*arguments)) return true;
    return false;
}

/* The command line takes precedence over the file of --config. */
static mst_status read_options(const command *command, char *const *arguments, command_call *call, option_list *list) {
    MST_TRY(options_parse(list, arguments, call->options, call->positional, command->max_positional,
                          &call->num_positional));
    if (list->config) MST_TRY(config_read(list, call->options));
    return options_exclude(list, call->options);
}

/* Runs the command, with a line about work that takes long. */
static int run_watched(const command *command, const command_call *call) {
    long_work_line_show(call->list, call->options);
    const int status = command->run(call);
    long_work_line_pause();
    return status;
}

static int run_with(const command *command, char *const *arguments, option_list *list) {
    const char *positional[COMMAND_MOST_POSITIONAL];
    command_call call = {.list = list, .positional = positional, .options = calloc(1, command->options_size + 1)};
    if (!call.options) return command_fail(EXIT_FAILED, "cannot get memory for the options of %s", command->name);
    int status;
    if (read_options(command, arguments, &call, list))
        status = command_fail_usage(command->name);
    else if (list->print_config)
        config_print(command_program, command->name, list), status = EXIT_DONE;
    else
        status = run_watched(command, &call);
    free(call.options);
    return status;
}

int command_run(const command *command, char *const *arguments) {
    if (asks_for_help(arguments)) return command_print_help(command);
    if (command->unavailable) return command_fail(EXIT_USAGE, "%s: %s", command->name, command->unavailable);
    option_list list;
    if (option_list_make(command->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
    int status = run_with(command, arguments, &list);
    option_list_free(&list);
    return status;
}

int command_main(int argc, char **argv, int (*dispatch)(char **arguments)) {
    signal(SIGXFSZ, SIG_IGN); /* a file that exceeds the size limit becomes a failed write, which is reported */
    signals_begin();
    int status = argc > 0 ? dispatch(argv + 1) : EXIT_USAGE;
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (failed && signals_reader_left()) return status == EXIT_DONE ? EXIT_SIGNAL + SIGPIPE : status;
    if (failed && status == EXIT_DONE)
        status = command_fail(EXIT_FAILED, "standard output: %s: nothing more could be written",
                              errno ? strerror(errno) : "a write failed");
    return status;
}
