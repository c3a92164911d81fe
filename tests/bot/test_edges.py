"""What an issue says of other issues."""

import pytest

from bot.tickets.edges import HARD, PART, SOFT, Edge, cycles, read_edges


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("Depends on #3", ((HARD, 3),)),
        ("blocked by #3, #4 and #5", ((HARD, 3), (HARD, 4), (HARD, 5))),
        ("After #3. See also #9.", ((HARD, 3), (SOFT, 9))),
        ("Part of #2", ((PART, 2),)),
        ("Part of #2, blocked by #2", ((HARD, 2),)),
        ("- [ ] #4 first\n- [x] #5 done", ((HARD, 4),)),
        ("like #8", ((SOFT, 8),)),
        ("`depends on #3` and\n```\nblocked by #4\n```", ()),
        ("see other/repo#7 and https://x/y#12", ()),
        ("depends on #1", ()),
        ("", ()),
    ],
)
def test_edges_are_read_from_prose(text: str, edges: tuple[Edge, ...]) -> None:
    assert read_edges(text, own=1) == edges


@pytest.mark.parametrize(
    ("after", "circles"),
    [
        ({1: [2], 2: [3]}, []),
        ({1: [2], 2: [1]}, [[1, 2]]),
        ({3: [4], 4: [5], 5: [3], 1: [3]}, [[3, 4, 5]]),
        ({1: [1]}, [[1]]),
    ],
)
def test_circles_are_found(after: dict[int, list[int]], circles: list[list[int]]) -> None:
    assert cycles(after) == circles
