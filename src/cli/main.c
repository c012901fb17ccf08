/* muster COMMAND [options] */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/config.h"

enum { MOST_COMMANDS = 64 };

static bool asks_for_help(char *const *arguments) {
    for (; *arguments; arguments++)
        if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0) return true;
    return false;
}

static int run_with(const command *command, char *const *arguments, option_list *list) {
    const char *positional[COMMAND_MOST_POSITIONAL];
    command_call call = {.list = list, .positional = positional, .options = calloc(1, command->options_size + 1)};
    if (!call.options) return command_fail(EXIT_FAILED, "cannot get memory for the options of %s", command->name);
    int status;
    if (options_parse(list, arguments, call.options, positional, command->max_positional, &call.num_positional))
        status = command_fail_usage(command->name);
    else if (list->print_config)
        config_print(command, list), status = EXIT_DONE;
    else
        status = command->run(&call);
    free(call.options);
    return status;
}

static int run(const command *command, char *const *arguments) {
    if (asks_for_help(arguments)) return command_print_help(command);
    if (command->unavailable) return command_fail(EXIT_USAGE, "%s: %s", command->name, command->unavailable);
    option_list list;
    if (option_list_make(command->sections, &list)) return command_fail_library(EXIT_FAILED, NULL);
    int status = run_with(command, arguments, &list);
    option_list_free(&list);
    return status;
}

static int unknown_command(const char *name) {
    static const char *const later[] = {"server", "launch", "doctor", NULL};
    const char *names[MOST_COMMANDS] = {NULL};
    for (int i = 0; command_table[i] && i < MOST_COMMANDS - 1; i++) names[i] = command_table[i]->name;
    for (int i = 0; later[i]; i++)
        if (strcmp(later[i], name) == 0)
            return command_fail(EXIT_USAGE, "'%s' is not built yet: 'muster help' lists the commands there are", name);
    return command_unknown("command", name, names, "'muster help' lists them");
}

static int dispatch(char **arguments) {
    char *const none[] = {NULL};
    const char *name = arguments[0];
    if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return run(command_find("help"), none) || name ? EXIT_DONE : EXIT_USAGE;
    if (strcmp(name, "--version") == 0) return run(command_find("version"), none);
    const command *command = command_find(name);
    return command ? run(command, arguments + 1) : unknown_command(name);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit of its size is a failed write, told as such */
    int status = argc > 0 ? dispatch(argv + 1) : EXIT_USAGE;
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (failed && status == EXIT_DONE)
        status = command_fail(EXIT_FAILED, "standard output: %s: nothing more could be written",
                              errno ? strerror(errno) : "a write failed");
    return status;
}
