#include "cluster/fingerprint.h"

#include <stddef.h>
#include <string.h>

const char *mst_fingerprint_words(const char *name) {
    static const char *const words[][2] = {{"program", "the program's graph"},
                                           {"options", "the learning rate or another option"},
                                           {"data", "the data"},
                                           {"version", "the version of Muster"},
                                           {"calls", "what is called first, a collective or mst_fit,"},
                                           {"tasks", "the number of tasks"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i][0]) == 0) return words[i][1];
    return name;
}
