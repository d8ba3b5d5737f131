/* How many operations a burst has, and how many bursts are sampled. */
#ifndef ONESIDED_PLAN_H
#define ONESIDED_PLAN_H

struct plan {
    long long burst;   /* operations */
    long long samples; /* bursts */
};

/* The plan that was asked for, if it takes budget_s at most, with one_s for an operation. Otherwise
 * bursts a tenth or a hundredth as long, so that launches seldom differ; then fewer bursts. At
 * least one burst of one operation. */
struct plan plan_bursts(struct plan asked, double one_s, double budget_s);

/* The burst that was asked for, a tenth of it, or a hundredth: the longest of these three that has
 * at most `most` operations. At least one operation. */
long long burst_within(long long asked, long long most);

#endif
