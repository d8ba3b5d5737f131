/* SHA-256 (FIPS 180-4) of a file, as `sha256sum` prints it: which binary ran. */
#ifndef ONESIDED_SHA256_H
#define ONESIDED_SHA256_H

#include <stdbool.h>

#define SHA256_TEXT_BYTES 65 /* 64 digits and the end */

/* Write the digest of a file's bytes in hexadecimal digits; false if it cannot be read. */
bool sha256_of_file(const char *path, char *digest);

#endif
