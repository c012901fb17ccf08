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

/* A kind of limit of a control group. */
typedef struct resource {
    const char *controller;              /* its name in version 1 */
    double (*limit)(const char *folder); /* reads the limit of the group with this folder; 0: none */
} resource;

static double cpu_limit(const char *folder) {
    char text[TEXT_SIZE], period_text[TEXT_SIZE];
    double quota = 0, period = 0;
    read_text(folder, "cpu.max", text); /* for example "50000 100000" or "max 100000" */
    if (sscanf(text, "%lf %lf", &quota, &period) != 2) {
        read_text(folder, "cpu.cfs_quota_us", text); /* "-1": no limit */
        read_text(folder, "cpu.cfs_period_us", period_text);
        if (sscanf(text, "%lf", &quota) != 1 || sscanf(period_text, "%lf", &period) != 1) return 0;
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double memory_limit(const char *folder) {
    static const double NONE = 1e18; /* without a limit, version 1 has a number near the largest possible */
    char text[TEXT_SIZE];
    double bytes;
    read_text(folder, "memory.max", text); /* for example "100663296" or "max" */
    if (!*text) read_text(folder, "memory.limit_in_bytes", text);
    return sscanf(text, "%lf", &bytes) == 1 && bytes > 0 && bytes < NONE ? bytes : 0;
}

static const resource cpu = {"cpu", cpu_limit}, memory = {"memory", memory_limit};

/* The lesser of two limits, where 0 is none. */
static double least(double a, double b) {
    if (a <= 0 || b <= 0) return a > b ? a : b;
    return a < b ? a : b;
}

/* The least quota of group PATH below ROOT and of the groups that contain it. If the process sees only its own part of
 * the tree, PATH may not exist. */
static double least_quota(const resource *r, const char *root, const char *path) {
    char folder[PATH_SIZE];
    double quota = r->limit(root);
    const int length = snprintf(folder, sizeof folder, "%s%s", root, path);
    if (length < 0 || length >= PATH_SIZE) return quota;
    while (strlen(folder) > strlen(root)) {
        quota = least(quota, r->limit(folder));
        *strrchr(folder, '/') = '\0';
    }
    return quota;
}

/* The least quota of the group in LINE of the file of memberships: "0::/path" for version 2, "4:cpu,cpuacct:/path" for
 * version 1. */
static double quota_of_line(const resource *r, const char *groups, char *line) {
    char root[PATH_SIZE];
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) return 0;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    controllers++;
    if (*controllers == '\0') return least_quota(r, groups, path);
    char *rest = controllers;
    for (const char *name; (name = strsep(&rest, ","));) {
        if (strcmp(name, r->controller) != 0) continue;
        snprintf(root, sizeof root, "%.4000s/%s", groups, r->controller);
        return least_quota(r, root, path);
    }
    return 0;
}

static double quota_of(const resource *r, const char *groups, const char *membership) {
    char line[PATH_SIZE];
    double quota = 0;
    FILE *file = fopen(membership, "r");
    while (file && fgets(line, sizeof line, file)) quota = least(quota, quota_of_line(r, groups, line));
    if (file) fclose(file);
    return quota;
}

double mst_cpu_quota(const char *groups, const char *membership) {
    return quota_of(&cpu, groups, membership);
}

int64_t mst_memory_quota(const char *groups, const char *membership) {
    return (int64_t)quota_of(&memory, groups, membership);
}
