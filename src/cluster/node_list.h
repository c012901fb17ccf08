/** Slurm's short form for names of hosts: "node[01-03,7],login" means node01, node02, node03, node7 and login. */
#ifndef MUSTER_CLUSTER_NODE_LIST_H
#define MUSTER_CLUSTER_NODE_LIST_H

#include "base/arena.h"

/** Zero-initialised, it is empty. */
typedef struct mst_node_list {
    mst_arena arena;
    const char **name;
    int64_t count, capacity;
} mst_node_list;

/** Adds the hosts of TEXT. MST_INVALID if it does not have this form, or if LIST would have more than MOST hosts. Free
 *  LIST also after a failure. */
MST_CHECKED mst_status mst_node_list_read(const char *text, int64_t most, mst_node_list *list);
void mst_node_list_free(mst_node_list *list);

#endif
