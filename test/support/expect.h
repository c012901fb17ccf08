/** Checks of an error's code and message. */
#ifndef MUSTER_TEST_SUPPORT_EXPECT_H
#define MUSTER_TEST_SUPPORT_EXPECT_H

#include <string.h>

#include "muster/status.h"

/** The call fails with CODE, and its one-line message has TEXT in it. */
#define EXPECT_ERROR(call, expected_code, text)                                          \
    do {                                                                                 \
        assert_int_equal((call), (expected_code));                                       \
        assert_int_equal(mst_error()->code, (expected_code));                            \
        if (!strstr(mst_error()->message, (text)) || strchr(mst_error()->message, '\n')) \
            fail_msg("'%s' is not in one line in '%s'", (text), mst_error()->message);   \
    } while (0)

/** The call succeeds. */
#define EXPECT_OK(call)                                             \
    do {                                                            \
        if ((call) != MST_OK) fail_msg("%s", mst_error()->message); \
    } while (0)

#endif
