/** What the file of --load notes of its training: how data was read, and which layers there were. */
#ifndef MUSTER_CLI_TRAIN_LOADED_NOTE_H
#define MUSTER_CLI_TRAIN_LOADED_NOTE_H

#include "cli/train/training.h"

/** Sets options that were not given to the values noted in the file of --load, as evaluate and predict take them, and
 *  the data if none was named. O and LIST are the options of T. For a file of weights, before the network is found. A
 *  file that cannot be read changes nothing: whoever restores it tells why. */
MST_CHECKED mst_status loaded_note_take(training *t, train_options *o, option_list *list);
/** The same for a whole model of --load, which T has loaded: of its data alone, since it brings its layers. */
MST_CHECKED mst_status loaded_note_take_data(training *t, train_options *o, option_list *list);

#endif
