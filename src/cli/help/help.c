/** muster help [COMMAND]: lists the commands, or explains one; muster help completion SHELL: prints a script for it. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "cli/help_text.h"

enum { MOST_NAMES = 64 };

static int print_commands(void) {
    printf(
        "Muster trains neural networks on every device you can muster. To begin:\n\n"
        "  muster train --data fashion-mnist --epochs 5 --evaluate\n\n"
        "usage: muster COMMAND [options]\n\n");
    for (int i = 0; command_table[i]; i++) printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
    printf(
        "\nmuster help COMMAND           the options of a command (also: muster COMMAND --help)\n"
        "muster help completion SHELL  for bash, zsh (eval \"$(muster help completion bash)\") and fish (... fish | "
        "source)\n"
        "muster help man               the manual page, for man\n");
    return EXIT_DONE;
}

static int help_run(const command_call *call) {
    if (call->num_positional == 0) return print_commands();
    const char *topic = call->positional[0];
    if (strcmp(topic, "completion") == 0) {
        if (call->num_positional > 1) return completion_print(call->positional[1]);
        return command_fail(EXIT_USAGE, "help completion: for which shell? write bash, zsh or fish behind it");
    }
    if (strcmp(topic, "man") == 0 && call->num_positional == 1) return man_page_print();
    const command *command = command_find(topic);
    if (command && call->num_positional == 1) return command_print_help(command);
    if (command) return command_fail(EXIT_USAGE, "help: '%s' is one argument too many", call->positional[1]);
    const char *names[MOST_NAMES] = {"completion", "man"};
    for (int i = 0; command_table[i] && i < MOST_NAMES - 3; i++) names[i + 2] = command_table[i]->name;
    return command_unknown("command", topic, names, "'muster help' lists them");
}

static const option_section sections[] = {{0}};

const command command_help = {
    .name = "help",
    .summary = "shows the commands, or the options of one",
    .usage = "[COMMAND | completion bash|zsh|fish | man]",
    .sections = sections,
    .max_positional = 2,
    .words = "completion bash zsh fish man",
    .run = help_run,
};
