/** Lists picture files in folders of classes: DIR/cat/1.jpg, DIR/dog/1.png. */
#ifndef MUSTER_DATA_SOURCES_IMAGE_FOLDER_H
#define MUSTER_DATA_SOURCES_IMAGE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/dataset.h"

/** Zero-initialised is empty. */
typedef struct mst_image_folder {
    char **class_name; /**< names of the folders, sorted by their bytes */
    int64_t num_classes;
    char **path;    /**< paths of the files, class by class, each class sorted */
    int64_t *label; /**< class of each file; NULL: the files have no classes */
    int64_t num_files;
    mst_files_left_out left_out;
    bool has_pictures; /**< mst_image_folder_list found pictures; it may have failed because of them */
} mst_image_folder;

/** Lists the pictures of DIR, whose folders are the classes. Pictures in subfolders of a class belong to it too; they
 *  come after those of the class folder itself. Hidden folders and files are left out and counted, and so are empty
 *  files, broken links, and files without the suffix of a picture. Fails if there are no classes (MST_NOT_FOUND), if
 *  DIR cannot be read (MST_IO), or if a picture would be left out, such as a TIFF file or one in DIR itself
 *  (MST_INVALID). Free it also after a failure. */
MST_CHECKED mst_status mst_image_folder_list(const char *dir, mst_image_folder *out);
/** MST_INVALID if a class of FOLDER, which lists DIR, has no pictures. */
MST_CHECKED mst_status mst_image_folder_check_classes(const char *dir, const mst_image_folder *folder);
/** Lists pictures without classes from N PATHS. A path is a file of any name, or a folder. A folder's own
 *  pictures are listed first, sorted, then the pictures in its subfolders. Errors and freeing as above. */
MST_CHECKED mst_status mst_image_folder_take(const char *const *paths, int n, mst_image_folder *out);
/** Gives FOLDER, which is empty, N classes. NAMES must be sorted by their bytes; they are copied. */
MST_CHECKED mst_status mst_image_folder_name_classes(mst_image_folder *folder, const char *const *names, int64_t n);
/** Renumbers the classes of FOLDER as in LIKE. MST_INVALID if LIKE lacks a class that has files. */
MST_CHECKED mst_status mst_image_folder_match(mst_image_folder *folder, const char *dir, const mst_image_folder *like);
void mst_image_folder_free(mst_image_folder *folder);

#endif
