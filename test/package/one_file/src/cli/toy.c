/** muster toy: says that it is one. */
#include <stdio.h>

#include "cli/command.h"

static int run(const command_call *call) {
    (void)call;
    puts("this is the command toy");
    return EXIT_DONE;
}

static const option_section sections[] = {{0}};

const command command_toy = {
    .name = "toy",
    .summary = "says that it is one",
    .usage = "",
    .sections = sections,
    .run = run,
};
