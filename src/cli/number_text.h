/** Numbers as people write them. */
#ifndef MUSTER_CLI_NUMBER_TEXT_H
#define MUSTER_CLI_NUMBER_TEXT_H

#include <stdint.h>

enum { NUMBER_TEXT = 40 };

/** 45930 as "45,930"; writes to TEXT and returns it. */
const char *number_text(int64_t number, char text[NUMBER_TEXT]);

#endif
