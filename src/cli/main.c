/* muster COMMAND [options] */
#include <string.h>

#include "cli/command.h"

enum { MOST_COMMANDS = 64 };

const char *const command_program = "muster";

static int unknown_command(const char *name) {
    const char *names[MOST_COMMANDS] = {NULL};
    for (int i = 0; command_table[i] && i < MOST_COMMANDS - 1; i++) names[i] = command_table[i]->name;
    if (strcmp(name, "bench") == 0)
        return command_fail(EXIT_USAGE, "benchmarks are the program muster-bench, which is built with the tests");
    return command_unknown("command", name, names, "'muster help' lists them");
}

static int dispatch(char **arguments) {
    char *const none[] = {NULL};
    const char *name = arguments[0];
    if (!name || command_is_help(name)) return command_run(command_find("help"), none) || name ? EXIT_DONE : EXIT_USAGE;
    if (strcmp(name, "--version") == 0) return command_run(command_find("version"), none);
    const command *command = command_find(name);
    return command ? command_run(command, arguments + 1) : unknown_command(name);
}

int main(int argc, char **argv) {
    return command_main(argc, argv, dispatch);
}
