/* Whether one thread runs the programs of all devices (src/run/threading_choice.h) is not measured in tests, which
 * must not depend on the load of the machine. With MUSTER_TEST_ALONE=1 in the environment one thread always does, by
 * default never. With MUSTER_TEST_ALONE=measured it is measured as usual. */
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
