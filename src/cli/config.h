/** Files of --config: options of a command, a line each.
 *
 *      # a training of Fashion-MNIST          a line that begins with # is a comment,
 *      epochs = 10                            as is what follows a space and #
 *      hidden-units = 500,200                 dashes or underscores
 *      evaluate = true                        a flag
 *      save = "my model #2.npz"               quotes where a value has spaces around it or " #"; \" \\ \n \r \t in them
 */
#ifndef MUSTER_CLI_CONFIG_H
#define MUSTER_CLI_CONFIG_H

#include "cli/option_list.h"

/** Takes the options of the file list->config into VALUES and LIST. Errors name file and line. */
MST_CHECKED mst_status config_read(option_list *list, void *values);
/** Prints the options of COMMAND of PROGRAM that are in effect on standard output: a training with this as its file is
 *  the same training. Defaults stand in it as comments. */
void config_print(const char *program, const char *command, const option_list *list);

#endif
