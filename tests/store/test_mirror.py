"""What a process keeps of the store in memory is of one state of the store."""

from __future__ import annotations

from backstory.store.mirror import Mirror


def test_contents_of_another_state_are_dropped() -> None:
    mirror: Mirror[list[int]] = Mirror(list)
    with mirror.at("one") as contents:
        contents.append(1)
    with mirror.at("one") as contents:
        assert contents == [1]
    with mirror.at("two") as contents:
        assert contents == []


def test_rows_that_were_read_in_an_earlier_state_are_not_added() -> None:
    mirror: Mirror[list[int]] = Mirror(list)
    with mirror.at("one"):
        pass
    with mirror.at("two") as contents:
        contents.append(2)
    with mirror.still_at("one") as former:
        assert former is None
    with mirror.still_at("two") as present:
        assert present == [2]


def test_a_failure_while_the_contents_are_read_leaves_them_to_others() -> None:
    mirror: Mirror[list[int]] = Mirror(list)
    try:
        with mirror.at("one"):
            raise OSError
    except OSError:
        pass
    with mirror.at("one") as contents:
        assert contents == []
