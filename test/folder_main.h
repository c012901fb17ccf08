/* A program that holds several tests: a table made by CMakeLists.txt. */
#ifndef MST_TEST_FOLDER_MAIN_H
#define MST_TEST_FOLDER_MAIN_H

typedef struct {
    const char *name; /* of the program that this test would be: test_FOLDER_NAME */
    int (*run)(void); /* its main */
} folder_test;

extern const folder_test folder_tests[]; /* the last has no name */

#endif
