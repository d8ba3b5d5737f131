/* The page cache: throw a file out of it, and look how much of the file is there. */
#ifndef ONESIDED_PAGES_H
#define ONESIDED_PAGES_H

/* Write what is new to the device, then give the pages up. A file system may keep them: look. */
void pages_drop(int descriptor);

/* The share of a file's pages that are in memory, 0 to 1; -1 where the system does not tell. */
double pages_resident(int descriptor, long long bytes);

#endif
