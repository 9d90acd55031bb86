"""Time grows with the length of a text, not with its square."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from looseleaf.integrations import json_edit
from looseleaf.language.own_words import mask_quotes
from looseleaf.transfer.formats.agent_lines import read_line

_RAN = "</bash-input><bash-stdout></bash-stdout><bash-stderr></bash-stderr>"


def shell(n: int) -> bytes:
    message = {"role": "user", "content": f"<bash-input>{_RAN * n}x"}
    return json.dumps({"type": "user", "message": message}).encode()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("work", "make", "n"),
    [
        (mask_quotes, lambda n: "".join(f"<a{i}>x</a{i}>" for i in range(n)), 4000),
        (mask_quotes, lambda n: "".join(f"<<data {i} x data {i}>>" for i in range(n)), 4000),
        (read_line, shell, 30),
        (
            lambda text: json_edit.add(text, ("a",), 1),
            lambda n: json.dumps({str(i): [1] for i in range(n)}),
            500,
        ),
    ],
    ids=["elements", "fences", "shell", "json on one line"],
)
def test_four_times_the_text_takes_at_most_ten_times_as_long(
    work: Callable[[Any], Any], make: Callable[[int], Any], n: int
) -> None:
    def taken(count: int) -> float:
        """Return the least processor time of three texts: each is new, as an answer may be kept."""
        times = []
        for more in range(3):
            text = make(count + more)
            start = time.process_time()
            work(text)
            times.append(time.process_time() - start)
        return min(times)

    work(make(2))
    short = max(taken(n), 0.002)
    assert taken(4 * n) <= 10 * short
