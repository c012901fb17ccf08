/** `muster convert` of whole models: m.h5 to m.keras, and so on. */
#ifndef MUSTER_CLI_CONVERT_NETWORK_H
#define MUSTER_CLI_CONVERT_NETWORK_H

#include <stdbool.h>

/** Writes the model of FROM, a file of a whole model, to TO. Prints errors, and returns an exit status. */
int convert_network(const char *from, const char *to, bool overwrite);

#endif
