/** What a schema (data/schema.h) says about texts that have become numbers, beside its columns:
 *
 *      {"columns": [...],
 *       "text": {"component": 0, "standardize": "lower", "split": "whitespace", "sequence_length": 300,
 *                "pad_front": false, "truncate_front": false, "vocabulary": ["the", "of", "and"]}}
 *
 *  The first token of the vocabulary has number 2 (data/text/vocabulary.h). With a tokenizer, its files stand in
 *  place of how texts become tokens: "tokenizer": {"files": ...} (tokenizer/tokenizer_text.h).
 */
#ifndef MUSTER_DATA_TEXT_TEXT_SCHEMA_H
#define MUSTER_DATA_TEXT_TEXT_SCHEMA_H

#include "data/text/vocabulary.h"
#include "muster/tokenizer.h"

/** Whether TEXT (may be NULL) is a schema with a "text" member. */
bool mst_text_schema_is(const char *text);
/** Reads TEXT. If it has a tokenizer, *TOKENIZER gets it, to be closed; else it becomes NULL, and VOCABULARY, which is
 *  empty, gets the tokens, numbered in the schema's order. O gets the members that the schema has, except O->component,
 *  which does not change. MST_INVALID if TEXT is no such schema. */
MST_CHECKED mst_status mst_text_schema_read(const char *text, mst_text_options *o, mst_vocabulary *vocabulary,
                                            mst_tokenizer **tokenizer);
/** Writes BASE, the schema of the dataset of the texts (NULL: none), with O and TOKENIZER added, or VOCABULARY if
 *  TOKENIZER is NULL. Free *OUT with free(). */
MST_CHECKED mst_status mst_text_schema_write(const char *base, const mst_text_options *o,
                                             const mst_vocabulary *vocabulary, const mst_tokenizer *tokenizer,
                                             char **out);

#endif
