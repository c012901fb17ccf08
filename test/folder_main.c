/* The tests of a folder as one program (CMakeLists.txt): it runs the test by whose name it is called. */
#include "folder_main.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *called = argc > 0 ? argv[0] : "";
    const char *slash = strrchr(called, '/');
    const char *name = slash ? slash + 1 : called;
    for (const folder_test *test = folder_tests; test->name; test++)
        if (strcmp(test->name, name) == 0) return test->run();
    fprintf(stderr, "error: '%s' is none of the tests in this program: call it by the name of one, such as %s\n", name,
            folder_tests[0].name);
    return 2;
}
