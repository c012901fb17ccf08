/** A temporary folder of one test: setup and teardown of cmocka, so that it goes also when the test fails. */
#ifndef MUSTER_TEST_SUPPORT_FOLDER_H
#define MUSTER_TEST_SUPPORT_FOLDER_H

#include <stddef.h>

int folder_create(void **state);
int folder_remove(void **state);

/** Path of NAME in the folder; valid until the eighth next call. "" is the folder itself. */
const char *folder_path(const char *name);
/** Writes a file and returns its path. */
const char *folder_write(const char *name, const void *data, size_t size);

/** The same of a string. */
const char *folder_write_text(const char *name, const char *text);

#define TEST_IN_FOLDER(function) cmocka_unit_test_setup_teardown(function, folder_create, folder_remove)

#endif
