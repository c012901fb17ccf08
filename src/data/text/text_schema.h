/** What a schema (data/schema.h) says of texts that have become numbers, beside its columns:
 *
 *      {"columns": [...],
 *       "text": {"component": 0, "standardize": "lower", "split": "whitespace", "sequence_length": 300,
 *                "pad_front": false, "truncate_front": false, "vocabulary": ["the", "of", "and"]}}
 *
 *  The vocabulary begins with number 2.
 */
#ifndef MUSTER_DATA_TEXT_TEXT_SCHEMA_H
#define MUSTER_DATA_TEXT_TEXT_SCHEMA_H

#include "data/text/vocabulary.h"

/** Whether TEXT, which may be NULL, is a schema that says something of texts. */
bool mst_text_schema_is(const char *text);
/** Reads TEXT: fills VOCABULARY, which is empty, ranked in the schema's order, and the members of O that it says. The
 *  component stays. MST_INVALID if it is no such schema. */
MST_CHECKED mst_status mst_text_schema_read(const char *text, mst_text_options *o, mst_vocabulary *vocabulary);
/** BASE, the schema of what the texts came with, NULL if it had none, with what O and VOCABULARY say added. To be
 *  freed with free(). */
MST_CHECKED mst_status mst_text_schema_write(const char *base, const mst_text_options *o,
                                             const mst_vocabulary *vocabulary, char **out);

#endif
