/** What the file of --load notes of its training: how data was read, and which layers there were. */
#ifndef MUSTER_CLI_TRAIN_LOADED_NOTE_H
#define MUSTER_CLI_TRAIN_LOADED_NOTE_H

#include "cli/train/training.h"

/** Options that were not given get the values noted in the file of --load. The commands evaluate and predict do the
 *  same. If no data was named, the noted data is taken. Data of another kind takes no options. O and LIST are the
 *  options of T. This is for files of weights, and comes before the network is found. If the file cannot be read,
 *  nothing changes: the error is reported when it is restored. */
MST_CHECKED mst_status loaded_note_take(training *t, train_options *o, option_list *list);
/** The same for a whole model of --load, which T has loaded. No options of layers are taken: it has its own. */
MST_CHECKED mst_status loaded_note_take_data(training *t, train_options *o, option_list *list);

#endif
