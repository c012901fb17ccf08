/** The text of --help, of any command of a program. */
#ifndef MUSTER_CLI_HELP_TEXT_H
#define MUSTER_CLI_HELP_TEXT_H

#include "cli/command.h"

/** Help of one command, on standard output; returns the exit status. */
int command_print_help(const command *command);

#endif
