#include "device/quota.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096, TEXT_SIZE = 64 };

static void read_text(const char *folder, const char *name, char *text) {
    char path[PATH_SIZE + TEXT_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *text = '\0';
    FILE *file = fopen(path, "r");
    if (!file) return;
    if (!fgets(text, TEXT_SIZE, file)) *text = '\0';
    fclose(file);
}

/* The processors that the group in FOLDER may use; 0: no limit. */
static double quota_of(const char *folder) {
    char text[TEXT_SIZE], period_text[TEXT_SIZE];
    double quota = 0, period = 0;
    read_text(folder, "cpu.max", text); /* "50000 100000", "max 100000" */
    if (sscanf(text, "%lf %lf", &quota, &period) != 2) {
        read_text(folder, "cpu.cfs_quota_us", text); /* "-1": no limit */
        read_text(folder, "cpu.cfs_period_us", period_text);
        if (sscanf(text, "%lf", &quota) != 1 || sscanf(period_text, "%lf", &period) != 1) return 0;
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double least(double a, double b) {
    if (a <= 0 || b <= 0) return a > b ? a : b;
    return a < b ? a : b;
}

/* The least quota of group PATH below ROOT and of the groups that contain it. Where the process sees only its own
 * part of the tree, PATH may not exist. */
static double least_quota(const char *root, const char *path) {
    char folder[PATH_SIZE];
    double quota = quota_of(root);
    const int length = snprintf(folder, sizeof folder, "%s%s", root, path);
    if (length < 0 || length >= PATH_SIZE) return quota;
    while (strlen(folder) > strlen(root)) {
        quota = least(quota, quota_of(folder));
        *strrchr(folder, '/') = '\0';
    }
    return quota;
}

/* Lines are "0::/path" for version 2, "4:cpu,cpuacct:/path" for version 1. */
static double quota_of_line(const char *groups, char *line) {
    char root[PATH_SIZE];
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return 0;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    controllers++;
    if (*controllers == '\0') return least_quota(groups, path);
    char *rest = controllers;
    for (const char *name; (name = strsep(&rest, ","));) {
        if (strcmp(name, "cpu") != 0) continue;
        snprintf(root, sizeof root, "%.4000s/cpu", groups);
        return least_quota(root, path);
    }
    return 0;
}

double mst_cpu_quota(const char *groups, const char *membership) {
    char line[PATH_SIZE];
    double quota = 0;
    FILE *file = fopen(membership, "r");
    while (file && fgets(line, sizeof line, file)) quota = least(quota, quota_of_line(groups, line));
    if (file) fclose(file);
    return quota;
}
