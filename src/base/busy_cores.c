#include "base/busy_cores.h"

#include <stdio.h>

int mst_others_running(const char *path) {
    int running = 0;
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    if (fscanf(file, "%*s %*s %*s %d/", &running) != 1) running = 0;
    fclose(file);
    return running > 1 ? running - 1 : 0;
}

bool mst_cores_are_taken(int others, int hardware_threads) {
    return hardware_threads > 0 && others >= hardware_threads;
}
