/** A locale whose numbers have commas, for tests that must not notice it. */
#ifndef MUSTER_TEST_SUPPORT_COMMA_LOCALE_H
#define MUSTER_TEST_SUPPORT_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/** Makes de_DE.UTF-8 the locale of the program, where it is installed or localedef can make it. Tests skip where it is
 *  false, and end with setlocale(LC_ALL, "C"). */
static inline bool comma_locale_enter(void) {
    char folder[] = "/tmp/muster-locale-XXXXXX", command[256];
    if (setlocale(LC_ALL, "de_DE.UTF-8")) return true;
    if (!mkdtemp(folder)) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0;
    made = made && setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && made;
}

#endif
