/* How many operations a burst has, and how many bursts are sampled. */
#ifndef ONESIDED_PLAN_H
#define ONESIDED_PLAN_H

struct plan {
    long long burst;   /* operations */
    long long samples; /* bursts */
};

/* What was asked for where it takes budget_s at most, at one_s an operation; else bursts a tenth as
 * long, or a hundredth, so that launches seldom differ, then fewer of them. Never less than one. */
struct plan plan_bursts(struct plan asked, double one_s, double budget_s);

/* The burst that was asked for, or a tenth of it, or a hundredth: the longest of these that has no
 * more operations than `most`. Never less than one. */
long long burst_within(long long asked, long long most);

#endif
