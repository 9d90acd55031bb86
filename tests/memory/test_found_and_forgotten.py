"""Whatever the words are: what is written is found, and what is forgotten is nowhere."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from drawing import COSTLY, core, few
from forgetting import POLICY, holding
from looseleaf import Memory
from looseleaf.language.terms import terms
from recalling import recall

LETTERS = "abcdefghijklmnopqrstuvwxyzäéñøßжяλ한猫"
names = st.text(LETTERS, min_size=3, max_size=8).map("qz{}".format)
"""Words that neither the program nor a language has."""

texts = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(max_codepoint=0x17FF), max_size=60),
    st.lists(names, min_size=1, max_size=6).map(" ".join),
)
SAID = (
    "I am allergic to {}.",
    "I live in {}. I work at Acme.",
    "TODO: order {} for Monday.",
    "We decided to use {}, “{}” and (as ever) {}!",
    "My dog is called {}.",
)
said = st.sampled_from(SAID)


@settings(core, max_examples=few(100, COSTLY))
@given(text=texts, others=st.lists(texts, max_size=3))
def test_what_was_recorded_is_found_by_its_own_words(text: str, others: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder, "m"), policy=POLICY) as memory:
        wanted = terms(text)
        for other in others:
            if other and set(wanted).isdisjoint(terms(other)):  # what says nearly the same is told once
                memory.record(user=other)
        trace = memory.record(user=text if text.strip() else "-")
        found = [hit.where for hit in recall(memory, trace.content, k=50)]
        assert not wanted or trace.id in found


@settings(core, max_examples=few(100, COSTLY))
@given(word=names, first=said, last=said, on_a_page=st.booleans(), is_distilled=st.booleans())
def test_a_word_that_is_forgotten_stands_in_no_file(
    word: str, first: str, last: str, on_a_page: bool, is_distilled: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder, "m"), policy=POLICY) as memory:
        memory.record(user=first.replace("{}", word))
        memory.record(assistant=f"So it is {word.upper()}.")
        if on_a_page:
            memory.pages.edit("facts/garden.md", f"# Garden\n\n- Grows: {word}\n", reason=f"{word} is mine")
        if is_distilled:
            memory.distill()
        kept = memory.record(user=last.replace("{}", "tea"))
        assert holding(Path(folder), word)
        memory.forget(match=word)
        assert holding(Path(folder), word) == []
        assert [str(each) for each in memory.check() if each.severity == "error"] == []
        assert memory.talk.turns(9)[-1].traces[-1].content == kept.content
