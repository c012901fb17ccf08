/** The manual page muster(1), from the tables of the commands. */
#ifndef MUSTER_CLI_HELP_MAN_PAGE_H
#define MUSTER_CLI_HELP_MAN_PAGE_H

/** Prints it in the language of man (roff). Returns an exit status. */
int man_page_print(void);

#endif
