/* Whether one thread runs the programs of all devices (src/run/pace.h) is not measured in tests, which must not depend
 * on what else the machine does: it does so with MUSTER_TEST_ALONE=1 in the environment, and else never;
 * MUSTER_TEST_ALONE=measured leaves it to the measurement. */
#include <stdlib.h>
#include <string.h>

#include "run/pace.h"

bool __real_mst_pace_is_alone(const mst_pace *pace); /* NOLINT: a name that the linker gives */
bool __wrap_mst_pace_is_alone(const mst_pace *pace); /* NOLINT */

bool __wrap_mst_pace_is_alone(const mst_pace *pace) { /* NOLINT */
    const char *wanted = getenv("MUSTER_TEST_ALONE");
    return wanted && (strcmp(wanted, "measured") != 0 || __real_mst_pace_is_alone(pace));
}
