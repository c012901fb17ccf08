#include "base/did_you_mean.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 }; /* letters; the distance between longer words is not computed: it counts as LONGEST */

static char folded(char c) {
    if (c == '-') return '_';
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Optimal string alignment: row[i][j] is the distance between the first i letters of A and the first j of B. Three rows
 * are enough. */
static int distance(const char *a, const char *b) {
    size_t m = strlen(a), n = strlen(b);
    if (m > LONGEST || n > LONGEST) return LONGEST;
    int rows[3][LONGEST + 1];
    for (size_t j = 0; j <= n; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            char x = folded(a[i - 1]), y = folded(b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && folded(a[i - 2]) == y)
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

static int begins(const char *name, const char *word) {
    size_t i = 0;
    while (word[i] && folded(word[i]) == folded(name[i])) i++;
    return !word[i] && i >= 3;
}

const char *mst_nearest(const char *word, const char *const *names) {
    const char *best = NULL;
    int fewest = 2 + (int)(strlen(word) / 4);
    for (; *names; names++) {
        int slips = distance(word, *names);
        if (slips > 1 && begins(*names, word)) slips = 1;
        if (slips >= fewest) continue;
        fewest = slips;
        best = *names;
    }
    return best;
}

const char *mst_did_you_mean(const char *word, const char *const *names, char *text, size_t size) {
    const char *nearest = mst_nearest(word, names);
    snprintf(text, size, "%s%s%s", nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return text;
}
