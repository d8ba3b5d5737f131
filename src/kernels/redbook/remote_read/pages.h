/* The page cache: remove a file from it, and measure how much of a file is in it. */
#ifndef ONESIDED_PAGES_H
#define ONESIDED_PAGES_H

/* Write changed pages to the device, then give up all pages. A file system may keep them. */
void pages_drop(int descriptor);

/* The share of a file's pages that are in memory, 0 to 1; -1 if the system does not tell. */
double pages_resident(int descriptor, long long bytes);

#endif
