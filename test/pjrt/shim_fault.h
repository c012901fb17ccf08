/** The faults of the plugin `shim`: which calls fail, wait or never end. The notation is in shim.c. */
#ifndef MUSTER_TEST_PJRT_SHIM_FAULT_H
#define MUSTER_TEST_PJRT_SHIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "pjrt/shim_functions.h"

enum { SHIM_MOST_TEXT = 512 }; /* bytes of a message or of the name of a file, with its end */

typedef enum shim_until_kind {
    SHIM_NOW,
    SHIM_AT,               /* from a time on */
    SHIM_WITHOUT_FILE,     /* when there is no file of a name */
    SHIM_WITH_OTHER_FAULTS /* when faults have been set anew: never, unless a test does so */
} shim_until_kind;

/** When a call or an event that is held back may go on. */
typedef struct shim_until {
    shim_until_kind kind;
    double at;                 /* SHIM_AT: seconds of the monotonic clock */
    int64_t generation;        /* SHIM_WITH_OTHER_FAULTS: how often faults had been set */
    char file[SHIM_MOST_TEXT]; /* SHIM_WITHOUT_FILE */
} shim_until;

bool shim_is_due(const shim_until *until);
/** Returns once UNTIL is due. */
void shim_wait(const shim_until *until);

typedef enum shim_effect {
    SHIM_WAIT,   /* the call is handed on when it is due */
    SHIM_FAIL,   /* the call fails with the code and message */
    SHIM_REFUSE, /* it fails so, and lines like those of a compiler's log are printed before */
    SHIM_EVENT,  /* the call is handed on; what it started is ready when it is due, and fails then if there is a code */
    SHIM_DIE,    /* the process ends */
    SHIM_FLIP    /* the call is handed on; one bit of what it copies is wrong */
} shim_effect;

/** What happens to a call. */
typedef struct shim_fault {
    shim_effect effect;
    shim_until until;
    size_t bit;           /* SHIM_FLIP: which one */
    PJRT_Error_Code code; /* PJRT_Error_Code_OK: it does not fail */
    char message[SHIM_MOST_TEXT];
} shim_fault;

/** What may be asked of a function. */
typedef struct shim_abilities {
    bool fails, gives_events, is_of_device, copies_out;
} shim_abilities;

/** The abilities of the function at PLACE, defined by shim.c. */
shim_abilities shim_abilities_of(int place);

/** Whether a fault is that a device is lost: then shim_fault_next needs the devices of calls. */
bool shim_faults_lose_devices(void);

/** The place of the function with that name, with its prefix; -1: there is none. */
int shim_find_function(const char *name);
/** The name of the function at PLACE, with its prefix. */
const char *shim_function_name(int place);

/** Sets the faults: see shim.h. */
const char *shim_faults_set(const char *faults);

/** Counts a call of the function at PLACE, which works with the devices of these identities. False: no fault meets the
 *  call. */
bool shim_fault_next(int place, int num_devices, const int *device, shim_fault *out);

#endif
