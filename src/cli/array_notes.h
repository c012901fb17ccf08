/** What is told of the arrays of an npz file. */
#ifndef MUSTER_CLI_ARRAY_NOTES_H
#define MUSTER_CLI_ARRAY_NOTES_H

/** Warns of arrays of SPEC, npz:FILE or word-ids:FILE, whose names differ in upper and lower case alone from one that
 *  is read. Says nothing of a file that cannot be read, and of other kinds of data. */
void array_notes_warn(const char *spec);

#endif
