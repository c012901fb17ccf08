#include "cli/standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/signals.h"

bool standard_output_is(const char *path) {
    return path && strcmp(path, "-") == 0;
}

mst_status standard_output_take(FILE **out) {
    *out = NULL;
    (void)fflush(stdout);
    const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (copy >= 0) *out = fdopen(copy, "w");
    if (*out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
        signals_move_output(copy);
        return MST_OK;
    }
    const mst_status status = MST_FAIL(MST_IO, "standard output cannot be written: %s", strerror(errno));
    if (*out)
        (void)fclose(*out);
    else if (copy >= 0)
        (void)close(copy);
    *out = NULL;
    return status;
}
