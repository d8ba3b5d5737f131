/* Elements: the predefined datatypes, and what each operator makes of two of their values. */
#include "rma/element.h"

#include <complex.h>
#include <stdbool.h>
#include <string.h>

#define OPERATOR(operation_, name_, handle_)                                                       \
    [operation_] = {                                                                               \
        .name = (name_), .handle = (handle_), .c_name = #handle_, .operation = (operation_)}

const struct reduction reductions[] = {
    OPERATOR(SUM, "sum", MPI_SUM),
    OPERATOR(PROD, "prod", MPI_PROD),
    OPERATOR(MAX, "max", MPI_MAX),
    OPERATOR(MIN, "min", MPI_MIN),
    OPERATOR(LAND, "land", MPI_LAND),
    OPERATOR(LOR, "lor", MPI_LOR),
    OPERATOR(LXOR, "lxor", MPI_LXOR),
    OPERATOR(BAND, "band", MPI_BAND),
    OPERATOR(BOR, "bor", MPI_BOR),
    OPERATOR(BXOR, "bxor", MPI_BXOR),
    OPERATOR(MAXLOC, "maxloc", MPI_MAXLOC),
    OPERATOR(MINLOC, "minloc", MPI_MINLOC),
    OPERATOR(REPLACE, "replace", MPI_REPLACE),
    OPERATOR(NO_OP, "no_op", MPI_NO_OP),
};

/* Values are read, combined and written back at any address; replace and no_op are the caller's. */
#define VALUES(name_, type_, number_, ...)                                                         \
    static void set_##name_(void *place, long long number, int index)                              \
    {                                                                                              \
        const type_ value = (number_);                                                             \
        (void)index;                                                                               \
        memcpy(place, &value, sizeof value);                                                       \
    }                                                                                              \
    static void apply_##name_(enum operator_kind operation, void *target, const void *origin)      \
    {                                                                                              \
        type_ t, o;                                                                                \
        memcpy(&t, target, sizeof t);                                                              \
        memcpy(&o, origin, sizeof o);                                                              \
        switch (operation) {                                                                       \
            __VA_ARGS__                                                                            \
        default:                                                                                   \
            return;                                                                                \
        }                                                                                          \
        memcpy(target, &t, sizeof t);                                                              \
    }

#define MAKES(operation_, type_, expression_)                                                      \
    case operation_:                                                                               \
        t = (type_)(expression_);                                                                  \
        break;

/* Sums and products of whole numbers wrap around. C does not define this for signed numbers, so
 * unsigned numbers are used. */
#define WHOLE(name_, type_)                                                                        \
    VALUES(                                                                                        \
        name_, type_, (type_)number,                                                               \
        MAKES(SUM, type_, (uint64_t)t + (uint64_t)o) MAKES(PROD, type_, (uint64_t)t *(uint64_t)o)  \
            MAKES(MAX, type_, t > o ? t : o) MAKES(MIN, type_, t < o ? t : o)                      \
                MAKES(LAND, type_, t &&o) MAKES(LOR, type_, t || o) MAKES(LXOR, type_, !t != !o)   \
                    MAKES(BAND, type_, t &o) MAKES(BOR, type_, t | o) MAKES(BXOR, type_, t ^ o))
#define REAL(name_, type_)                                                                         \
    VALUES(name_, type_, (type_)number,                                                            \
           MAKES(SUM, type_, t + o) MAKES(PROD, type_, t *o) MAKES(MAX, type_, t > o ? t : o)      \
               MAKES(MIN, type_, t < o ? t : o))
/* A number, and half of it as the imaginary part, so that both parts count. */
#define COMPLEX(name_, type_, part_)                                                               \
    VALUES(name_, type_, (part_)number + (part_)0.5 * (part_)number * I,                           \
           MAKES(SUM, type_, t + o) MAKES(PROD, type_, t * o))

WHOLE(int8, int8_t)
WHOLE(int16, int16_t)
WHOLE(int32, int32_t)
WHOLE(int64, int64_t)
WHOLE(uint8, uint8_t)
WHOLE(uint16, uint16_t)
WHOLE(uint32, uint32_t)
WHOLE(uint64, uint64_t)
REAL(float, float)
REAL(double, double)
REAL(long_double, long double)
COMPLEX(float_complex, float _Complex, float)
COMPLEX(double_complex, double _Complex, double)
VALUES(logical, bool, number != 0,
       MAKES(LAND, bool, t &&o) MAKES(LOR, bool, t || o) MAKES(LXOR, bool, t != o))
VALUES(byte, unsigned char, (unsigned char)number,
       MAKES(BAND, unsigned char, t &o) MAKES(BOR, unsigned char, t | o)
           MAKES(BXOR, unsigned char, t ^ o))

/* Pairs: of two equal values the value with the lower index is taken. */
#define PAIR(name_, type_)                                                                         \
    struct name_ {                                                                                 \
        type_ value;                                                                               \
        int index;                                                                                 \
    };                                                                                             \
    static void set_##name_(void *place, long long number, int index)                              \
    {                                                                                              \
        struct name_ pair;                                                                         \
        memcpy(&pair, place, sizeof pair);                                                         \
        pair.value = (type_)number;                                                                \
        pair.index = index;                                                                        \
        memcpy(place, &pair, sizeof pair);                                                         \
    }                                                                                              \
    static void apply_##name_(enum operator_kind operation, void *target, const void *origin)      \
    {                                                                                              \
        struct name_ t, o;                                                                         \
        memcpy(&t, target, sizeof t);                                                              \
        memcpy(&o, origin, sizeof o);                                                              \
        const bool is_beyond = operation == MAXLOC ? o.value > t.value : o.value < t.value;        \
        if (is_beyond || (o.value == t.value && o.index < t.index)) {                              \
            memcpy(target, &o, sizeof o);                                                          \
        }                                                                                          \
    }
PAIR(two_int, int)
PAIR(short_int, short)
PAIR(long_int, long)
PAIR(float_int, float)
PAIR(double_int, double)

#define BIT(operation_) (1u << (operation_))
#define ARITHMETIC (BIT(SUM) | BIT(PROD))
#define ORDER (BIT(MAX) | BIT(MIN))
#define LOGICAL (BIT(LAND) | BIT(LOR) | BIT(LXOR))
#define BITWISE (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define LOCATION (BIT(MAXLOC) | BIT(MINLOC))
#define EVERY (BIT(REPLACE) | BIT(NO_OP))
#define OF_WHOLE (ARITHMETIC | ORDER | LOGICAL | BITWISE | EVERY)

#define ROW(name_, type_, operations_, gap_begin_, gap_end_)                                       \
    .name = #name_, .bytes = sizeof(type_), .gap_begin = (gap_begin_), .gap_end = (gap_end_),      \
    .operations = (operations_), .set = set_##name_, .apply = apply_##name_
#define PLAIN(name_, handle_, type_, operations_)                                                  \
    {.handle = (handle_),                                                                          \
     .c_name = #handle_,                                                                           \
     ROW(name_, type_, operations_, sizeof(type_), sizeof(type_))}
#define WITH_GAP(name_, handle_, type_, operations_, gap_begin_, gap_end_)                         \
    {.handle = (handle_), .c_name = #handle_, ROW(name_, type_, operations_, gap_begin_, gap_end_)}
/* A long double has ten bytes on x86; on other processors it has no gap. */
#if defined(__x86_64__) || defined(__i386__)
#define LONG_DOUBLE_BYTES 10
#else
#define LONG_DOUBLE_BYTES sizeof(long double)
#endif

const struct element elements[] = {
    PLAIN(int8, MPI_INT8_T, int8_t, OF_WHOLE),
    PLAIN(int16, MPI_INT16_T, int16_t, OF_WHOLE),
    PLAIN(int32, MPI_INT32_T, int32_t, OF_WHOLE),
    PLAIN(int64, MPI_INT64_T, int64_t, OF_WHOLE),
    PLAIN(uint8, MPI_UINT8_T, uint8_t, OF_WHOLE),
    PLAIN(uint16, MPI_UINT16_T, uint16_t, OF_WHOLE),
    PLAIN(uint32, MPI_UINT32_T, uint32_t, OF_WHOLE),
    PLAIN(uint64, MPI_UINT64_T, uint64_t, OF_WHOLE),
    PLAIN(float, MPI_FLOAT, float, ARITHMETIC | ORDER | EVERY),
    PLAIN(double, MPI_DOUBLE, double, ARITHMETIC | ORDER | EVERY),
    WITH_GAP(long_double, MPI_LONG_DOUBLE, long double, ARITHMETIC | ORDER | EVERY,
             LONG_DOUBLE_BYTES, sizeof(long double)),
    PLAIN(float_complex, MPI_C_FLOAT_COMPLEX, float _Complex, ARITHMETIC | EVERY),
    PLAIN(double_complex, MPI_C_DOUBLE_COMPLEX, double _Complex, ARITHMETIC | EVERY),
    PLAIN(logical, MPI_C_BOOL, bool, LOGICAL | EVERY),
    PLAIN(byte, MPI_BYTE, unsigned char, BITWISE | EVERY),
    PLAIN(two_int, MPI_2INT, struct two_int, LOCATION | EVERY),
    WITH_GAP(short_int, MPI_SHORT_INT, struct short_int, LOCATION | EVERY, sizeof(short),
             offsetof(struct short_int, index)),
    /* there is a gap at the end, after the index */
    WITH_GAP(long_int, MPI_LONG_INT, struct long_int, LOCATION | EVERY,
             offsetof(struct long_int, index) + sizeof(int), sizeof(struct long_int)),
    PLAIN(float_int, MPI_FLOAT_INT, struct float_int, LOCATION | EVERY),
    WITH_GAP(double_int, MPI_DOUBLE_INT, struct double_int, LOCATION | EVERY,
             offsetof(struct double_int, index) + sizeof(int), sizeof(struct double_int)),
};

const struct element *element_named(const char *name)
{
    const struct element *row = elements;
    while (strcmp(row->name, name) != 0) {
        row++;
    }
    return row;
}

bool is_allowed(const struct element *element, enum operator_kind operation)
{
    return (element->operations & BIT(operation)) != 0;
}

bool is_swappable(const struct element *element)
{
    return (element->operations & (BITWISE | LOGICAL)) != 0;
}

bool is_same(const struct element *element, const void *one, const void *other)
{
    const char *a = one;
    const char *b = other;
    return memcmp(a, b, element->gap_begin) == 0 &&
           memcmp(a + element->gap_end, b + element->gap_end, element->bytes - element->gap_end) ==
               0;
}
