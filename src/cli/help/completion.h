/** Scripts that let a shell complete commands, options and values. They are made from the tables of all commands. */
#ifndef MUSTER_CLI_HELP_COMPLETION_H
#define MUSTER_CLI_HELP_COMPLETION_H

/** Prints the script for SHELL: bash, zsh or fish. Returns an exit status. */
int completion_print(const char *shell);

#endif
