/* Lines of a log that contain texts of other tasks are printed without their control characters. */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/task_log.h"
#include "support/obeyed.h"
#include "support/test.h"

static void __attribute__((format(printf, 3, 4)))
log_line(FILE *out, const mst_cluster *cluster, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(out, cluster, format, list);
    va_end(list);
}

static void texts_of_other_tasks_are_printed_plainly(void **state) {
    (void)state;
    mst_cluster *cluster;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    EXPECT_OK(mst_cluster_from_tf_config(
        "{\"cluster\":{\"worker\":[\"a:1\",\"b:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}", &cluster));
    for (int i = 0; obeyed_names[i]; i++) log_line(out, cluster, "worker:0 says '%s'", obeyed_names[i]);
    log_line(out, cluster, "all is well");
    log_line(NULL, cluster, "nobody hears it");
    fclose(out);
    assert_false(has_obeyed(text, size, true));
    assert_non_null(strstr(text, "worker:1: worker:0 says 'a?"));
    assert_string_equal(text + size - strlen("worker:1: all is well\n"), "worker:1: all is well\n");
    free(text);
    mst_cluster_release(cluster);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_of_other_tasks_are_printed_plainly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
