"""Matrix and vector: every bit of every product is right, however tasks and threads share it."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS, TWO_AND_THREE
from .launching import preloaded

FUNNELED = "--thread-level=funneled"
#: Three samples after four cold ones.
FEW = ("--samples=3", "--budget-s=60")
PRODUCTS = 4 + 3
ORDER = 90
VARIANTS = "rows,columns,rows_forked,columns_created,columns_lazy"


def cells(threads, order=ORDER):
    return f"--cells=variant={VARIANTS};threads={threads};order={order}"


@pytest.fixture(scope="module")
def product(each):
    return each("matrix_vector")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_product_that_is_lost_stale_or_altered_in_a_bit_is_found(product, fault):
    with_fault_everywhere(product, fault, *FEW, FUNNELED, cells("1,2"))


@pytest.mark.one_case("ranks")
@pytest.mark.parametrize("ranks", [1, *TWO_AND_THREE])
def test_every_element_is_verified_and_the_parts_add_up(product, ranks):
    run = product.launch(*FEW, FUNNELED, f"--ranks={ranks}", cells("1,2,3"), ranks=ranks)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        assert verified(result)["product"] == (ORDER * PRODUCTS, 0)
        total, part = samples(result, "total"), samples(result, "reduce_scatter")
        assert total.keys() == part.keys() == set(range(ranks))
        for rank in total:
            assert all(0 < p <= t for t, p in zip(total[rank], part[rank], strict=True))


def test_more_threads_than_rows_are_right(product):
    run = product.launch(*FEW, FUNNELED, cells("3", order=2))
    assert set(run.statuses.values()) == {"ok"}


@pytest.mark.first_mpi
def test_a_master_that_works_creates_a_thread_less_for_each_product(product, tmp_path):
    made = preloaded(
        f"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <pthread.h>
        #include <stdio.h>
        int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                           void *argument)
        {{
            static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
            next = next ? next : (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
            FILE *all = fopen("{tmp_path}/created", "a");
            fputc('x', all);
            fclose(all);
            return next(thread, how, run, argument);
        }}
        """,
        tmp_path,
    )
    created = {}
    for variant in VARIANTS.split(","):
        (tmp_path / "created").write_text("", "utf-8")
        own = f"--cells=variant={variant};threads=3;order={ORDER}"
        product.launch(*FEW, FUNNELED, "--ranks=1", own, ranks=1, variables=made)
        created[variant] = len((tmp_path / "created").read_text("utf-8"))
    assert created["rows"] == created["columns"] == created["rows_forked"]
    assert created["columns_created"] - created["columns"] == 2 * PRODUCTS
    assert created["columns_lazy"] - created["columns"] == 3 * PRODUCTS


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([cells("1", order=91)], "order is 91, no multiple of 2 tasks"),
        ([cells("2")], "several threads need MPI_THREAD_FUNNELED: asked for single, provided "),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(product, options, reason):
    run = product.launch(*FEW, *options)
    provided = run.lines[0]["thread_level"]["provided"]
    for result in run.results.values():
        if "threads" not in reason or provided == "single":
            assert (result["status"], result["detail"][: len(reason)]) == ("unsupported", reason)
