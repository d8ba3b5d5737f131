/* How many operations a burst has, and how many bursts are sampled. */
#include "harness/plan.h"

/* A tenth of a burst, but one operation at least. */
static long long shorter_burst(long long burst)
{
    return burst < 10 ? 1 : burst / 10;
}

long long burst_within(long long asked, long long most)
{
    long long burst = asked;
    while (burst > 1 && burst > most) {
        burst = shorter_burst(burst);
    }
    return burst < 1 ? 1 : burst;
}

struct plan plan_bursts(struct plan asked, double one_s, double budget_s)
{
    struct plan plan = asked;
    while (plan.burst > 1 && one_s * (double)plan.burst * (double)plan.samples > budget_s) {
        plan.burst = shorter_burst(plan.burst);
    }
    while (plan.samples > 1 && one_s * (double)plan.burst * (double)plan.samples > budget_s) {
        plan.samples--;
    }
    return plan;
}
