/* A program that holds several tests: a table made by CMakeLists.txt. */
#ifndef MST_TEST_FOLDER_MAIN_H
#define MST_TEST_FOLDER_MAIN_H

typedef struct {
    const char *name; /* of the program that this test would be: test_FOLDER_NAME */
    int (*run)(void); /* its main */
} folder_test;

extern const folder_test folder_tests[]; /* the last has no name */

/* In a test, which gets this header first, main is a macro: the name of its main. */
#ifdef main
int main(void); /* An error here: main has arguments now, so configure the build again. */
#endif

#endif
