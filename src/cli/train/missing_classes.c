#include "cli/train/missing_classes.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIST_SIZE = 112, ONE = 64 }; /* ONE: room for one item of the list */

/* The first class from FIRST on that has an example; CLASSES if none has. COUNT[i] is the number
 * of examples of class i, for the first NUM classes; the others have none. */
static int64_t end_of_gap(const int64_t *count, int64_t num, int64_t classes, int64_t first) {
    while (first < classes && (first >= num || count[first] == 0)) first++;
    return first;
}

/* Writes the classes without examples to LIST: "0", "0, 2", "1 to 499", "0, 2, 4, ...". "" if there are none. */
static const char *list_gaps(const int64_t *count, int64_t num, int64_t classes, char list[LIST_SIZE]) {
    size_t used = 0;
    *list = '\0';
    for (int64_t i = 0, end; i < classes; i = end + 1) {
        end = end_of_gap(count, num, classes, i);
        if (end == i) continue;
        if (used + ONE > LIST_SIZE) {
            snprintf(list + used, LIST_SIZE - used, ", ...");
            return list;
        }
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s%" PRId64, used ? ", " : "", i);
        if (end > i + 1) used += (size_t)snprintf(list + used, LIST_SIZE - used, " to %" PRId64, end - 1);
    }
    return list;
}

void missing_classes_warn(const int64_t *count, int64_t num, int64_t classes, const char *label) {
    char list[LIST_SIZE];
    if (!*list_gaps(count, num, classes, list)) return;
    fprintf(stderr,
            "warning: no example is of class %s, but the model has an output for each of the %" PRId64
            " classes from 0 to %" PRId64 ": number the classes from 0 without gaps%s%s; --classes %" PRId64
            " is for labels that are meant so\n",
            list, classes, classes - 1, *label ? ", or make a class of each number that occurs with --categories " : "",
            label, classes);
}
