/** Options that describe data, by their names in commands: which kinds of data they are for. */
#ifndef MUSTER_DATA_SPEC_SPEC_OPTIONS_H
#define MUSTER_DATA_SPEC_SPEC_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

enum { MST_SPEC_REASON = 512 };

/** The name of option number I, such as "delimiter"; NULL past the last. Options that are not here are for all data. */
MST_API const char *mst_spec_option(int i);
/** Whether OPTION has no meaning for data of the kind of SPEC, "idx:DIR". Then WHY says so and names the kinds that it
 *  is for: "has no cells in columns: --delimiter is for csv:FILE". DASHES, "--" or "", comes before names of options.
 *  HAS_TEXTS: of a table, a column of texts is the input. False if the option or the kind is not known. */
MST_API bool mst_spec_lacks(const char *spec, const char *option, bool has_texts, const char *dashes,
                            char why[MST_SPEC_REASON]);

#endif
