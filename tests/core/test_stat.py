"""Running totals with a peak, and sizes as text."""

import pytest

from tensix.core import Stat, format_size

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def test_new_stat_is_zero_al_13():
    assert Stat() == Stat(current=0, peak=0, allocated=0, freed=0)


def test_peak_is_the_highest_current_al_13():
    stat = Stat()
    for change in (100, -60, 50, -90, 99):
        (stat.increase if change > 0 else stat.decrease)(abs(change))
    assert stat == Stat(current=99, peak=100, allocated=249, freed=150)
    stat.increase(2)
    assert stat.peak == 101


def test_resets_al_13():
    stat = Stat()
    stat.increase(10)
    stat.decrease(4)
    stat.reset_accumulated()
    assert stat == Stat(current=6, peak=10, allocated=0, freed=0)
    stat.reset_peak()
    assert stat == Stat(current=6, peak=6, allocated=0, freed=0)
    stat.increase(1)
    assert stat == Stat(current=7, peak=7, allocated=1, freed=0)


def test_falling_below_zero_is_an_error_and_changes_nothing_al_13():
    stat = Stat()
    stat.increase(5)
    with pytest.raises(ValueError, match="cannot decrease by 6: only 5"):
        stat.decrease(6)
    assert stat == Stat(current=5, peak=5, allocated=5, freed=0)
    stat.decrease(5)
    assert stat.current == 0


@pytest.mark.parametrize(
    "nbytes, text",
    [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1023, "1023 bytes"),
        (KIB, "1024 bytes"),
        (KIB + 1, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (MIB - 10 * KIB, "1014.00 KiB"),
        (MIB + 1, "1.00 MiB"),
        (64 * MIB, "64.00 MiB"),
        (GIB + 1, "1.00 GiB"),
        (2500 * GIB, "2500.00 GiB"),
        (-100, "-100 bytes"),
        (-3 * MIB, "-3.00 MiB"),
    ],
)
def test_sizes_as_text_al_14(nbytes, text):
    assert format_size(nbytes) == text
