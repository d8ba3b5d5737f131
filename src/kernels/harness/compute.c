/* Computing: fixed work, calibrated to a requested length on its core. */
#include "harness/compute.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/clock.h"

#define CALIBRATION_BLOCKS 40
#define CALIBRATION_BLOCK_S 250e-6
#define WIDTH_STEPS 500
#define WIDTH_TRIES 3
#define WIDTH_LINES 64
#define LINE_BYTES 64

/* Prevent the compiler from simplifying the chain of operations. */
#if defined(__GNUC__)
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))
#else
static volatile uint64_t opaque_store;
#define OPAQUE(value) (opaque_store = (value), (value) = opaque_store)
#endif

/* The work: a chain of dependent multiplications, as long as the number of iterations. */
static __attribute__((noinline)) uint64_t work(uint64_t iterations)
{
    uint64_t state = iterations;
    for (uint64_t i = 0; i < iterations; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        OPAQUE(state);
    }
    return state;
}

static double seconds_for(struct compute *compute, uint64_t iterations)
{
    const double begin_s = clock_now_s();
    compute->consumed = work(iterations);
    return clock_now_s() - begin_s;
}

void compute_calibrate(struct compute *compute)
{
    uint64_t iterations = 1000;
    while (seconds_for(compute, iterations) < CALIBRATION_BLOCK_S) {
        iterations *= 2;
    }
    /* Take the fastest of many short blocks: no interrupt and no other process disturbed it, even
     * if ranks share cores. */
    double least_s = INFINITY;
    for (int block = 0; block < CALIBRATION_BLOCKS; block++) {
        least_s = fmin(least_s, seconds_for(compute, iterations));
    }
    compute->iterations_per_second = (double)iterations / least_s;
}

double run_delay_s(void)
{
    static _Thread_local int descriptor = -2;
    char text[96];
    if (descriptor == -2) {
        descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    }
    const ssize_t length = descriptor < 0 ? -1 : pread(descriptor, text, sizeof text - 1, 0);
    unsigned long long on_cpu_ns = 0, waited_ns = 0;
    if (length <= 0) {
        return NAN;
    }
    text[length] = '\0';
    return sscanf(text, "%llu %llu", &on_cpu_ns, &waited_ns) == 2 ? 1e-9 * (double)waited_ns : NAN;
}

static double involuntary_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (double)usage.ru_nivcsw : NAN;
}

struct compute_sample compute_begin(void)
{
    struct compute_sample sample = {.run_delay_s = -run_delay_s(),
                                    .involuntary_switches = -involuntary_switches()};
    sample.begin_s = clock_now_s();
    return sample;
}

void compute_slice(struct compute *compute, double length_s)
{
    compute->consumed = work((uint64_t)(length_s * compute->iterations_per_second));
}

void compute_end(struct compute_sample *sample)
{
    sample->end_s = clock_now_s();
    sample->involuntary_switches += involuntary_switches();
    sample->run_delay_s += run_delay_s();
}

struct compute_sample compute_for(struct compute *compute, double length_s)
{
    struct compute_sample sample = compute_begin();
    compute_slice(compute, length_s);
    compute_end(&sample);
    return sample;
}

/* Each step has four additions, a load and a store; none waits for another. Returns operations per
 * second.
 *
 * The additions add a register, because some cores add constants without an execution unit. Each
 * store has a line of its own: a core with a second hardware thread has only half of its store
 * buffer, even while the second thread waits. */
static double independent_operations(void)
{
    static uint64_t lines[WIDTH_LINES][LINE_BYTES / sizeof(uint64_t)];
    uint64_t a = 0, b = 0, c = 0, d = 0;
    const double begin_s = clock_now_s();
    for (uint64_t step = 0; step < WIDTH_STEPS; step++) {
        volatile uint64_t *line = lines[step % WIDTH_LINES];
        a += step, b += step, c += step, d += step;
        OPAQUE(a);
        OPAQUE(b);
        OPAQUE(c);
        OPAQUE(d);
        (void)line[1];
        line[0] = step;
    }
    return 6 * WIDTH_STEPS / (clock_now_s() - begin_s);
}

/* Each step has two additions, and each waits for the one before. Returns additions per second. */
static double dependent_additions(void)
{
    uint64_t sum = 0;
    const double begin_s = clock_now_s();
    for (uint64_t step = 0; step < WIDTH_STEPS; step++) {
        sum += step;
        OPAQUE(sum);
        sum += step;
        OPAQUE(sum);
    }
    return 2 * WIDTH_STEPS / (clock_now_s() - begin_s);
}

double core_width(void)
{
    double independent = INFINITY, dependent = 0;
    for (int i = 0; i < WIDTH_TRIES; i++) {
        independent = fmin(independent, independent_operations());
        dependent = fmax(dependent, dependent_additions());
    }
    return round(1e3 * independent / dependent) / 1e3;
}

double random_unit(uint64_t *state)
{
    uint64_t bits = (*state += 0x9E3779B97F4A7C15u);
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return (double)((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}
