/** The text of --help, of any command of a program. */
#ifndef MUSTER_CLI_HELP_TEXT_H
#define MUSTER_CLI_HELP_TEXT_H

#include "cli/command.h"

/** Help of one command, on standard output; returns the exit status. */
int command_print_help(const command *command);

enum { OPTION_HELP_TEXT = 4096 };
/** What is said of one option, in HELP of SIZE bytes: its help, its choices, its default and its other name. */
void option_help(const option *option, char *help, size_t size);

#endif
