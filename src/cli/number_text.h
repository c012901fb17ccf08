/** Numbers as people write them. */
#ifndef MUSTER_CLI_NUMBER_TEXT_H
#define MUSTER_CLI_NUMBER_TEXT_H

#include <stdint.h>

enum { NUMBER_TEXT = 40 };

/** Writes NUMBER to TEXT with separators, 45930 as "45,930", and returns TEXT. */
const char *number_text(int64_t number, char text[NUMBER_TEXT]);

#endif
