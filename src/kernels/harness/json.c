/* Write JSON into memory: one line, keys in the order given. */
#include "harness/json.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/memory.h"

static void append(struct json *json, const char *bytes, size_t length)
{
    if (json->length + length + 1 > json->capacity) {
        json->capacity = 2 * (json->length + length + 1);
        json->bytes = reallocate(json->bytes, json->capacity);
    }
    memcpy(json->bytes + json->length, bytes, length);
    json->length += length;
    json->bytes[json->length] = '\0';
}

static void begin_value(struct json *json)
{
    if (json->separate) {
        append(json, ",", 1);
    }
    json->separate = true;
}

void json_free(struct json *json)
{
    free(json->bytes);
    *json = (struct json){0};
}

void json_open(struct json *json, char bracket)
{
    begin_value(json);
    append(json, &bracket, 1);
    json->separate = false;
}

void json_close(struct json *json, char bracket)
{
    append(json, &bracket, 1);
    json->separate = true;
}

/* Return the length of the UTF-8 sequence that begins here, 0 if it is none. */
static size_t utf8_length(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t extra = 0; extra < sizeof forms / sizeof forms[0]; extra++) {
        if ((text[0] & forms[extra].mask) != forms[extra].lead) {
            continue;
        }
        uint32_t point = text[0] & (unsigned char)~forms[extra].mask;
        for (size_t i = 1; i <= extra; i++) {
            if ((text[i] & 0xC0) != 0x80) {
                return 0;
            }
            point = point << 6 | (text[i] & 0x3F);
        }
        const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        return point < forms[extra].least || point > 0x10FFFF || surrogate ? 0 : extra + 1;
    }
    return 0;
}

static void append_escaped(struct json *json, const char *text)
{
    const unsigned char *rest = (const unsigned char *)text;
    while (*rest != '\0') {
        const size_t length = utf8_length(rest);
        char escape[8];
        if (length == 0) { /* host names and variables may hold any byte */
            append(json, "\\ufffd", 6);
            rest++;
        } else if (*rest == '"' || *rest == '\\') {
            append(json, escape, (size_t)snprintf(escape, sizeof escape, "\\%c", *rest++));
        } else if (*rest < 0x20) {
            append(json, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", *rest++));
        } else {
            append(json, (const char *)rest, length);
            rest += length;
        }
    }
}

void json_key(struct json *json, const char *key)
{
    json_text(json, key);
    append(json, ":", 1);
    json->separate = false;
}

void json_text(struct json *json, const char *text)
{
    if (text == NULL) {
        json_null(json);
        return;
    }
    begin_value(json);
    append(json, "\"", 1);
    append_escaped(json, text);
    append(json, "\"", 1);
}

void json_integer(struct json *json, long long value)
{
    char digits[32];
    begin_value(json);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%lld", value));
}

void json_number(struct json *json, double value)
{
    /* Twelve digits: nanoseconds in a stamp of up to a thousand seconds. */
    char digits[32];
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    begin_value(json);
    append(json, digits, (size_t)snprintf(digits, sizeof digits, "%.12g", value));
}

void json_boolean(struct json *json, bool value)
{
    begin_value(json);
    append(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json)
{
    begin_value(json);
    append(json, "null", 4);
}

void json_raw(struct json *json, const char *text, size_t length)
{
    if (length > 0) {
        begin_value(json);
        append(json, text, length);
    }
}

void json_key_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_text(json, text);
}

void json_key_integer(struct json *json, const char *key, long long value)
{
    json_key(json, key);
    json_integer(json, value);
}

void json_key_number(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_number(json, value);
}

void json_key_boolean(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_boolean(json, value);
}
