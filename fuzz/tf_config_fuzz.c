/* clang -fsanitize=fuzzer,address,undefined: the text of TF_CONFIG. The tasks of what is read are numbered, and one of
 * them is this process. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "muster/cluster.h"

static void check(const mst_cluster *cluster) {
    char line[256];
    const int num_tasks = mst_cluster_num_tasks(cluster), self = mst_cluster_self(cluster);
    if (self < 0 || self >= num_tasks || mst_cluster_num_training_tasks(cluster) > num_tasks) __builtin_trap();
    for (int i = 0; i < num_tasks; i++) {
        const mst_task_info task = mst_cluster_task(cluster, i);
        if (mst_cluster_find(cluster, task.job, task.index) != i) __builtin_trap();
    }
    if (strlen(mst_cluster_print(cluster, line, sizeof line)) >= sizeof line) __builtin_trap();
}

static void read_input(const uint8_t *data, size_t size) {
    mst_cluster *cluster;
    char *text = strndup((const char *)data, size);
    if (mst_cluster_from_tf_config(text, &cluster) == MST_OK) {
        check(cluster);
        mst_cluster_release(cluster);
    }
    free(text);
}

FUZZ(read_input, 256, 256 << 10)
