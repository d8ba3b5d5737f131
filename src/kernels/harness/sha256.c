/* SHA-256 (FIPS 180-4) of a file, as `sha256sum` prints it: which binary ran. */
#include "harness/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 64
#define ROUNDS 64
#define WORDS 8

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t mix(uint32_t word, int first, int second, int third)
{
    return rotate(word, first) ^ rotate(word, second) ^ rotate(word, third);
}

/* The sixteen words of a block, and the 48 made of them. */
static void schedule_words(const unsigned char *block, uint32_t *words)
{
    for (int i = 0; i < 16; i++) {
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | (uint32_t)block[4 * i + 3];
    }
    for (int i = 16; i < ROUNDS; i++) {
        const uint32_t early = words[i - 15], late = words[i - 2];
        words[i] = words[i - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) +
                   words[i - 7] + (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
    }
}

static void add_block(uint32_t *state, const unsigned char *block)
{
    uint32_t words[ROUNDS];
    uint32_t v[WORDS]; /* a to h in the standard */
    schedule_words(block, words);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        const uint32_t first = v[7] + mix(v[4], 6, 11, 25) + choice + round_constants[i] + words[i];
        const uint32_t second = mix(v[0], 2, 13, 22) + majority;
        memmove(v + 1, v, (WORDS - 1) * sizeof v[0]);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < WORDS; i++) {
        state[i] += v[i];
    }
}

/* The last bytes, a one bit, zeros, and the length in bits: one block or two. */
static void add_end(uint32_t *state, const unsigned char *rest, size_t length, uint64_t total_bytes)
{
    unsigned char end[2 * BLOCK_BYTES] = {0};
    const size_t size_bytes = length + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    memcpy(end, rest, length);
    end[length] = 0x80;
    for (size_t i = 0; i < 8; i++) {
        end[size_bytes - 1 - i] = (unsigned char)(total_bytes * 8 >> 8 * i);
    }
    for (size_t begin = 0; begin < size_bytes; begin += BLOCK_BYTES) {
        add_block(state, end + begin);
    }
}

bool sha256_of_file(const char *path, char *digest)
{
    uint32_t state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char block[BLOCK_BYTES];
    uint64_t total_bytes = 0;
    size_t length = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return false;
    }
    while ((length = fread(block, 1, BLOCK_BYTES, stream)) == BLOCK_BYTES) {
        add_block(state, block);
        total_bytes += BLOCK_BYTES;
    }
    const bool whole = ferror(stream) == 0;
    fclose(stream);
    add_end(state, block, length, total_bytes + length);
    for (int i = 0; i < WORDS; i++) {
        snprintf(digest + 8 * i, 9, "%08x", (unsigned)state[i]);
    }
    return whole;
}
