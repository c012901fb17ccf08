/** The manual page muster(1), made from the tables of the commands. */
#ifndef MUSTER_CLI_HELP_MAN_PAGE_H
#define MUSTER_CLI_HELP_MAN_PAGE_H

/** Prints the page in roff, the language of man. Returns an exit status. */
int man_page_print(void);

#endif
