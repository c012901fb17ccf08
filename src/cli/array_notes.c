#include "cli/array_notes.h"

#include "cli/command.h"
#include "data/array_report.h"

void array_notes_warn(const char *spec) {
    mst_array_pair pair[MST_MOST_ARRAY_PAIRS];
    const int count = mst_array_pairs(spec, pair);
    for (int i = 0; i < count; i++)
        command_warn("'%s': has the arrays '%s' and '%s', and '%s' is read: leave one out, or give it another name",
                     spec, pair[i].read, pair[i].other, pair[i].read);
}
