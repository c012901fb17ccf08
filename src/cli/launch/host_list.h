/** Machines on which tasks are started: the file of --hosts. */
#ifndef MUSTER_CLI_LAUNCH_HOST_LIST_H
#define MUSTER_CLI_LAUNCH_HOST_LIST_H

#include "muster/status.h"

typedef struct host {
    const char *target; /**< for ssh: "anna@node1" */
    const char *name;   /**< in the addresses of its tasks: "node1" */
    int slots;          /**< the most workers that it runs */
} host;

typedef struct host_list {
    int count;
    host *host;
    char *text; /**< the text of the file; targets point into it */
} host_list;

/** Reads the file at PATH: a machine on each line, "[USER@]HOST [slots=N]", where N is 1 if not given; '#' begins a
 *  comment. MST_INVALID if a line has another form; the message tells its number. Free the list with host_list_free. */
MST_CHECKED mst_status host_list_read(const char *path, host_list *out);
/** Frees a list that was read or is zero-initialised. */
void host_list_free(host_list *list);

#endif
