/** Files of --config: the options of a command, one on each line.
 *
 *      # a training of Fashion-MNIST          a line that begins with # is a comment;
 *      epochs = 10                            so is everything after a space and #
 *      hidden-units = 500,200                 dashes or underscores
 *      evaluate = true                        a flag
 *      save = "my model #2.npz"               quotes if a value has outer spaces or " #"; escapes: \" \\ \n \r \t
 */
#ifndef MUSTER_CLI_CONFIG_H
#define MUSTER_CLI_CONFIG_H

#include "cli/option_list.h"

/** Reads the options in the file list->config into VALUES and LIST. Error messages tell the file and the line. */
MST_CHECKED mst_status config_read(option_list *list, void *values);
/** Prints the options in effect for COMMAND of PROGRAM to standard output, in the form of such a file. A training with
 *  that file is the same training. Options with their default value are printed as comments. */
void config_print(const char *program, const char *command, const option_list *list);

#endif
