/** Networks that take texts as strings and split them themselves, by Keras' TextVectorization. */
#ifndef MUSTER_CLI_MODEL_NETWORK_TEXTS_H
#define MUSTER_CLI_MODEL_NETWORK_TEXTS_H

#include "cli/model/network_end.h"

/** Whether the first input is strings. */
bool network_takes_strings(const network_ends *ends);
/** MST_UNIMPLEMENTED if a network takes strings and has other inputs too: no kind of data of the commands has both. */
MST_CHECKED mst_status network_check_strings(const char *path, const network_ends *ends);
/** Sets the number of words that the layers of MODEL take of a text to LENGTH, the value of --sequence-length. If it is
 *  0, the option was not given: layers keep their own length, and the command warns if one has none. PATH is for the
 *  warning. */
void network_set_text_length(const char *path, mst_model *model, int64_t length);

#endif
