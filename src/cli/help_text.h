/** The text of --help for any command of a program. */
#ifndef MUSTER_CLI_HELP_TEXT_H
#define MUSTER_CLI_HELP_TEXT_H

#include "cli/command.h"

/** Prints the help of one command to standard output; returns the exit status. */
int command_print_help(const command *command);

enum { OPTION_HELP_TEXT = 4096 };
/** Writes the explanation of OPTION to HELP of SIZE bytes: its help, its choices, its default and its other name. */
void option_help(const option *option, char *help, size_t size);

#endif
