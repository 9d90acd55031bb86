"""The lines that looseleaf puts into git's files, and takes out again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drawing import core
from looseleaf.integrations.git_files import LOG, PAGES, driver, sharing_log, with_lines, without_lines
from looseleaf.pages.folder import PRIVATE, PRIVATE_BUT_LOG

texts = st.one_of(
    st.none(),
    st.lists(st.sampled_from(["*.png binary", "", "/*.md text", PAGES[0], "# é\r"]), min_size=1).map(
        "\n".join
    ),
).filter(lambda text: text != "")


@core
@given(texts, st.permutations([PAGES, LOG]))
def test_lines_that_were_put_in_are_taken_out_to_the_byte(
    text: str | None, blocks: list[tuple[str, ...]]
) -> None:
    one, other = blocks
    once = with_lines(text, one)
    assert with_lines(once, one) == once
    assert without_lines(once, one) == text
    both = with_lines(once, other)
    assert without_lines(without_lines(both, other), one) == text
    assert set(one) | set(other) <= set(both.split("\n"))
    assert without_lines(text, one) == text


def test_a_memory_that_shares_its_log_keeps_the_rest_out() -> None:
    assert sharing_log(None) == sharing_log(PRIVATE) == sharing_log(PRIVATE_BUT_LOG) == PRIVATE_BUT_LOG
    own = sharing_log(f"*.bak\n{PRIVATE}")
    assert own.startswith("*.bak\nPROJECT.local.md\nviews/\nreview/\n")
    assert set(PRIVATE_BUT_LOG.split("\n")) <= set(own.split("\n"))
    assert "log/" not in own.split("\n")
    assert sharing_log(own) == own


def test_a_program_in_an_odd_folder_is_quoted_for_the_shell_and_for_git() -> None:
    assert driver(["/a b/100%/looseleaf"]).startswith("'/a b/100%%/looseleaf' merge-file -- %O %A %B %P || ")
