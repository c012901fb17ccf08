/** The texts of the programs that a session has made for devices that compile, as a set. */
#ifndef MUSTER_TEST_SUPPORT_PROGRAM_TEXTS_H
#define MUSTER_TEST_SUPPORT_PROGRAM_TEXTS_H

#include "muster/session.h"

/** All zeros: the empty set. */
typedef struct program_texts {
    char **text, **name; /**< name: that of one of the nodes with this text */
    int64_t count, text_capacity, name_capacity;
} program_texts;

/** Adds the texts of all plans that SESSION has now. */
void program_texts_add(program_texts *texts, mst_session *session);
/** Adds the texts of MORE. */
void program_texts_join(program_texts *texts, const program_texts *more);
/** Fails the test if one has a text that the other has not: prints WHAT, and the texts that only one has. */
void program_texts_expect_same(const char *what, const program_texts *got, const program_texts *wanted);
/** Fails the test if GOT has a text that WANTED has not. Texts that only add, divide and move elements do not count:
 *  their bits cannot depend on what is in one program. */
void program_texts_expect_part(const char *what, const program_texts *got, const program_texts *wanted);
void program_texts_free(program_texts *texts);

#endif
