from app.moment import in_utc


def test_a_moment_is_told_in_utc_to_the_millisecond():
    assert in_utc(1772503929.1239) == "2026-03-03T02:12:09.123+00:00"
