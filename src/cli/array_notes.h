/** Warnings about the names of the arrays in an npz file. */
#ifndef MUSTER_CLI_ARRAY_NOTES_H
#define MUSTER_CLI_ARRAY_NOTES_H

/** Warns of arrays whose names are probably wrong, in the file of SPEC (npz:FILE or word-ids:FILE). Such a name differs
 *  only in upper and lower case from the name of an array that is read. Does nothing if the file cannot be read or if
 *  SPEC is of another kind. */
void array_notes_warn(const char *spec);

#endif
