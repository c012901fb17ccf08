/** cmocka, with the headers that it needs before it, and what most tests use. */
#ifndef MUSTER_TEST_SUPPORT_TEST_H
#define MUSTER_TEST_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/engine.h"
#include "support/expect.h"

#endif
