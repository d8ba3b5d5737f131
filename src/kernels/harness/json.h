/* Write JSON into memory: one line, keys in the order given. */
#ifndef ONESIDED_JSON_H
#define ONESIDED_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct json {
    char *bytes;
    size_t length;
    size_t capacity;
    bool separate; /* the next value or key needs a comma before it */
};

void json_free(struct json *json);
void json_open(struct json *json, char bracket);  /* '{' or '[' */
void json_close(struct json *json, char bracket); /* '}' or ']' */
void json_key(struct json *json, const char *key);
void json_text(struct json *json, const char *text); /* NULL becomes null */
void json_integer(struct json *json, long long value);
void json_number(struct json *json, double value); /* NAN and INFINITY become null */
void json_boolean(struct json *json, bool value);
void json_null(struct json *json);

/* Append text that is JSON already; nothing if it is empty. */
void json_raw(struct json *json, const char *text, size_t length);

/* A key and its value in one call. */
void json_key_text(struct json *json, const char *key, const char *text);
void json_key_integer(struct json *json, const char *key, long long value);
void json_key_number(struct json *json, const char *key, double value);
void json_key_boolean(struct json *json, const char *key, bool value);

#endif
