/** What a schema (data/schema.h) says about texts that have become numbers, beside its columns:
 *
 *      {"columns": [...],
 *       "text": {"component": 0, "standardize": "lower", "split": "whitespace", "sequence_length": 300,
 *                "pad_front": false, "truncate_front": false, "vocabulary": ["the", "of", "and"]}}
 *
 *  The first token of the vocabulary has number 2 (data/text/vocabulary.h).
 */
#ifndef MUSTER_DATA_TEXT_TEXT_SCHEMA_H
#define MUSTER_DATA_TEXT_TEXT_SCHEMA_H

#include "data/text/vocabulary.h"

/** Whether TEXT (may be NULL) is a schema with a "text" member. */
bool mst_text_schema_is(const char *text);
/** Reads TEXT. VOCABULARY, which is empty, gets the tokens, numbered in the schema's order. O gets the members that the
 *  schema has, except O->component, which does not change. MST_INVALID if TEXT is no such schema. */
MST_CHECKED mst_status mst_text_schema_read(const char *text, mst_text_options *o, mst_vocabulary *vocabulary);
/** Writes BASE, the schema of the dataset of the texts (NULL: none), with O and VOCABULARY added. Free *OUT with
 *  free(). */
MST_CHECKED mst_status mst_text_schema_write(const char *base, const mst_text_options *o,
                                             const mst_vocabulary *vocabulary, char **out);

#endif
