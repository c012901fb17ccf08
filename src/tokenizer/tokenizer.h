/** The functions that each type of tokenizer defines, and the files from which a tokenizer is made. */
#ifndef MUSTER_TOKENIZER_TOKENIZER_H
#define MUSTER_TOKENIZER_TOKENIZER_H

#include "muster/tokenizer.h"

/** Largest size of a text in bytes. Indices into it then fit in 32 bits. */
enum { MST_TOKENIZER_MOST_BYTES = 1 << 30 };

/** The whole contents of a file from which a tokenizer is made. */
typedef struct mst_tokenizer_file {
    const char *name; /**< one of mst_tokenizer_file_names */
    void *data;       /**< a zero byte follows */
    size_t size;
} mst_tokenizer_file;

enum { MST_TOKENIZER_MOST_FILES = 3 };
typedef struct mst_tokenizer_files {
    char *path; /**< the path that was opened, for messages */
    mst_tokenizer_file file[MST_TOKENIZER_MOST_FILES];
    int num_files;
} mst_tokenizer_files;

extern const char mst_tokenizer_json_name[], mst_tokenizer_vocab_name[], mst_tokenizer_merges_name[],
    mst_tokenizer_config_name[], mst_tokenizer_model_name[];

/** Reads the files of PATH, which is as for mst_tokenizer_open. Free OUT also after a failure. */
MST_CHECKED mst_status mst_tokenizer_files_read(const char *path, mst_tokenizer_files *out);
/** The file of that name; NULL: there is none. */
const mst_tokenizer_file *mst_tokenizer_files_find(const mst_tokenizer_files *files, const char *name);
void mst_tokenizer_files_free(mst_tokenizer_files *files);

/** A kind of tokenizer. No pointer is NULL. */
typedef struct mst_tokenizer_type {
    /** As mst_tokenizer_encode. TEXT is valid UTF-8. May leave ids in IDS on failure. */
    mst_status (*encode)(const mst_tokenizer *tokenizer, const char *text, size_t size, const mst_encode_options *o,
                         mst_token_ids *ids);
    /** As mst_tokenizer_decode with raw_bytes. */
    mst_status (*decode)(const mst_tokenizer *tokenizer, const int32_t *ids, int64_t n, const mst_decode_options *o,
                         char **text, size_t *size);
    int64_t (*num_ids)(const mst_tokenizer *tokenizer);
    const char *(*token)(const mst_tokenizer *tokenizer, int64_t id); /**< ID is below num_ids */
    int64_t (*find)(const mst_tokenizer *tokenizer, const char *token);
    void (*free)(mst_tokenizer *tokenizer); /**< frees all but the files */
} mst_tokenizer_type;

struct mst_tokenizer {
    const mst_tokenizer_type *type;
    mst_tokenizer_files files;
    int64_t special[MST_NUM_SPECIAL]; /**< -1: there is none */
    bool adds_begin, adds_end;        /**< of a SentencePiece model: what add_special adds */
};

/** Makes a tokenizer of FILES. The tokenizer owns them from now on; on failure they are freed. */
MST_CHECKED mst_status mst_tokenizer_make(mst_tokenizer_files *files, mst_tokenizer **out);

#endif
