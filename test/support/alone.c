/* Whether one thread runs the programs of all devices (src/run/threading_choice.h) is not measured in tests, which must
 * not depend on what else the machine does: it does so with MUSTER_TEST_ALONE=1 in the environment, and else never;
 * MUSTER_TEST_ALONE=measured leaves it to the measurement. */
#include <stdlib.h>
#include <string.h>

#include "run/threading_choice.h"

bool __real_mst_threading_choice_is_alone(
    const mst_threading_choice *choice); /* NOLINT: a name that the linker gives */
bool __wrap_mst_threading_choice_is_alone(const mst_threading_choice *choice); /* NOLINT */

bool __wrap_mst_threading_choice_is_alone(const mst_threading_choice *choice) { /* NOLINT */
    const char *wanted = getenv("MUSTER_TEST_ALONE");
    return wanted && (strcmp(wanted, "measured") != 0 || __real_mst_threading_choice_is_alone(choice));
}
