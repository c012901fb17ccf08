/* Formats: Linux, Documentation/admin-guide/cgroup-v2.rst ("cpu.max": QUOTA or "max", then PERIOD, in microseconds) and
 * scheduler/sched-bwc.rst (version 1: the same in two files, -1 for no limit). */
#include "device/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* The numbers of the file ROOT/GROUP/NAME; how many there are. */
static int read_numbers(const char *root, const char *group, const char *name, double *number, int most) {
    char path[2 * PATH_SIZE], text[128] = "";
    snprintf(path, sizeof path, "%s%s/%s", root, group, name);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    int count = 0;
    for (char *at = text, *end; count < most; at = end, count++) {
        number[count] = strtod(at, &end);
        if (end == at) break;
    }
    return count;
}

/* Processors that GROUP allows by itself; 0: no limit. */
static double limit_of(const char *root, const char *group) {
    double number[2], period;
    if (read_numbers(root, group, "cpu.max", number, 2) == 2 && number[1] > 0) return number[0] / number[1];
    if (read_numbers(root, group, "cpu.cfs_quota_us", number, 1) == 1 && number[0] > 0 &&
        read_numbers(root, group, "cpu.cfs_period_us", &period, 1) == 1 && period > 0)
        return number[0] / period;
    return 0;
}

/* The least limit of GROUP, which is changed, and of the groups around it. */
static double least_limit(const char *root, char *group) {
    double least = 0;
    for (;;) {
        const double limit = limit_of(root, group);
        if (limit > 0 && (least == 0 || limit < least)) least = limit;
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

int mst_cpu_quota(const char *root, const char *membership) {
    char line[PATH_SIZE], folder[PATH_SIZE];
    double least = 0;
    FILE *file = fopen(membership, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        if (*controllers && !strstr(controllers, "cpu")) continue; /* of version 1, for something else */
        snprintf(folder, sizeof folder, "%s%s", root, *controllers ? "/cpu" : "");
        const double limit = least_limit(folder, group);
        if (limit > 0 && (least == 0 || limit < least)) least = limit;
    }
    if (file) fclose(file);
    return least == 0 ? 0 : least < 1 ? 1 : (int)least;
}
