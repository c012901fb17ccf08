/** How mst_text_to_hashes, mst_text_vectorization and mst_dataset_vectorize_text split texts into tokens: by the rules
 *  of Keras' TextVectorization. As in TensorFlow, only ASCII has lower case and punctuation. */
#ifndef MUSTER_TEXT_H
#define MUSTER_TEXT_H

/** What becomes of a text before it is split. */
typedef enum mst_text_standardize {
    MST_TEXT_LOWER_AND_STRIP_PUNCTUATION = 0,
    MST_TEXT_LOWER,
    MST_TEXT_STRIP_PUNCTUATION,
    MST_TEXT_AS_IT_IS
} mst_text_standardize;

/** A token is what stands between white space, or one character. */
typedef enum mst_text_split { MST_TEXT_SPLIT_WHITESPACE = 0, MST_TEXT_SPLIT_CHARACTER } mst_text_split;

#endif
