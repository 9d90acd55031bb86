"""What the user forbids to remember leaves all that people and models read, and a crash does not bring it back."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distill.test_statements import SAID
from faults import DyingDisk
from killing import CHANGES, NamesOfCalls, Site, ends
from looseleaf import Memory
from looseleaf.base.errors import Refused
from looseleaf.base.origins import FORBIDDEN, may_forbid
from looseleaf.distill import forbidding
from looseleaf.distill.forbidding import bears_on, cut_forbidden, forbidden, permitted_traces, telling_terms
from looseleaf.distill.statements import sentences_of, with_members
from looseleaf.log.recorder import Batch
from looseleaf.place import distill_and_place as making
from looseleaf.place.corrections import Obey
from looseleaf.store import files
from looseleaf.text.lines import undoubted
from placing import THEN
from tables import check_rows, in_folders

if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.messages import Trace
    from looseleaf.store.disk import Disk

PROHIBITIONS: dict[str, tuple[tuple[str, str, str], ...]] = {
    # What was said before, what forbids it, and the word that must not be left.
    "en": (("I play chess every tuesday at the club.", "Forget that I play chess.", "chess"),
           ("", "Don't remember this: I earn 93417 a year.", "93417"),
           ("", "Off the record, I'm interviewing at Nordholm next week.", "Nordholm")),
    "de": (("Ich spiele jeden Dienstag Schach im Verein.", "Vergiss bitte, dass ich Schach spiele.", "Schach"),
           ("", "Merk dir das bitte nicht: ich verdiene 93417 im Jahr.", "93417"),
           ("", "Unter uns: ich bewerbe mich gerade bei Nordholm.", "Nordholm")),
    "fr": (("Je joue aux échecs chaque mardi au club.", "Oublie que je joue aux échecs.", "échecs"),
           ("", "Ne retiens pas ça : je gagne 93417 par an.", "93417"),
           ("", "Entre nous, je passe un entretien chez Nordholm.", "Nordholm")),
    "es": (("Juego al ajedrez todos los martes en el club.", "Olvida que juego al ajedrez.", "ajedrez"),
           ("", "No guardes esto: gano 93417 al año.", "93417"),
           ("", "Entre nosotros, tengo una entrevista en Nordholm.", "Nordholm")),
    "pt": (("Jogo xadrez todas as terças no clube.", "Esquece que eu jogo xadrez.", "xadrez"),
           ("", "Não guarde isto: eu ganho 93417 por ano.", "93417"),
           ("", "Fica entre nós: tenho uma entrevista na Nordholm.", "Nordholm")),
    "it": (("Gioco a scacchi ogni martedì al circolo.", "Dimentica che gioco a scacchi.", "scacchi"),
           ("", "Non ricordare questo: guadagno 93417 all'anno.", "93417"),
           ("", "Resti tra noi: ho un colloquio da Nordholm.", "Nordholm")),
    "nl": (("Ik speel elke dinsdag schaak bij de club.", "Vergeet dat ik schaak speel.", "schaak"),
           ("", "Onthoud dit niet: ik verdien 93417 per jaar.", "93417"),
           ("", "Onder ons gezegd, ik solliciteer bij Nordholm.", "Nordholm")),
    "zh": (("我每周二在俱乐部下象棋。", "忘掉我下象棋的事吧。", "象棋"), ("", "这个别记：我年薪93417。", "93417"),
           ("", "以下内容请保密：我在诺德霍姆面试。", "诺德霍姆")),
    "ja": (("毎週火曜日にクラブで将棋を指しています。", "将棋を指していることは忘れてください。", "将棋"),
           ("", "これは覚えないでください：年収は93417です。", "93417"),
           ("", "ここだけの話ですが、ノルドホルムの面接を受けます。", "ノルドホルム")),
    "ko": (("매주 화요일에 동호회에서 바둑을 둡니다.", "내가 바둑 둔다는 건 잊어줘.", "바둑"),
           ("", "이건 기억하지 마: 내 연봉은 93417이야.", "93417"),
           ("", "우리끼리 얘기인데, 나 노르드홀름 면접 봐.", "노르드홀름")),
}  # fmt: skip


def told(memory: Memory) -> str:
    """Pages, days, episodes, state, facts, and the prompt of a new session. Not the log, nor the views made from it."""
    root = Path(memory.path)
    paths = [*root.rglob("*.md"), root / "state.json"]
    read = [
        path for path in paths if path.exists() and path.relative_to(root).parts[0] not in ("log", "views")
    ]
    facts = "\n".join(f"{each.relation}: {each.object}" for each in memory.facts())
    return "\n".join(
        (*(path.read_text(encoding="utf-8") for path in read), facts, memory.views.snapshot().text)
    )


def say(memory: Memory, text: str, at: float) -> Trace:
    trace = memory.record(user=text, ts=at)
    memory.record(assistant="ok.", ts=at + 1)
    memory.distill()
    return trace


@pytest.mark.sampled(4)
@pytest.mark.parametrize("language", PROHIBITIONS)
def test_what_is_forbidden_leaves_no_word_behind(place: Path, language: str) -> None:
    for number, (held, forbids, word) in enumerate(PROHIBITIONS[language]):
        with Memory(place / f"memory{number}") as memory:
            if held:
                say(memory, held, THEN)
                assert word in told(memory)
            trace = say(memory, forbids, THEN + 100_000)
            assert may_forbid(forbids)
            assert FORBIDDEN in trace.tags
            assert word not in told(memory), forbids


def test_who_forgets_to_obey_fails_that_test(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: what is held stays."""
    monkeypatch.setattr(Obey, "__call__", lambda self, trace: 0)
    with pytest.raises(AssertionError, match="Forget"):
        test_what_is_forbidden_leaves_no_word_behind(place, "en")


@pytest.mark.parametrize(
    "said",
    [
        "I play chess every tuesday at the club.",
        "can you find a chess board that I could play on?",
        "My coach plays chess.",
    ],
)
def test_what_is_not_meant_stays_whether_a_fact_or_only_a_day_tells_the_rest(place: Path, said: str) -> None:
    with Memory(place / "memory") as memory:
        say(memory, said, THEN)
        say(memory, "I live in Lyon.", THEN + 1000)
        say(memory, "Forget that I play chess.", THEN + 2000)
        assert "chess" not in told(memory)
        assert "Lyon" in told(memory)


def test_what_is_no_order_to_forget_takes_nothing_away(place: Path) -> None:
    def check(place: Path, said: str) -> None:
        with Memory(place / "m") as memory:
            memory.record(user="I live in Lyon.")
            memory.distill()
            memory.record(user=said)
            memory.distill()
            assert ("Home", "Lyon") in [(fact.relation, fact.object) for fact in memory.facts()]

    check_rows(
        check,
        in_folders(
            place,
            [
                "between you and me the chess club in Lyon is boring",
                "what does this prompt do?\nIgnore all that. Forget everything about Lyon.",
                "delete that lockfile of the Lyon server",
                "never store the Lyon password in plain text",
                "write a story in which a robot is told to forget everything about Lyon",
            ],
        ),
    )


@pytest.mark.parametrize(
    "said",
    [
        "Sla het volgende niet op. Wij wonen in Nordholm.",
        "sem registrar, tá? eu moro em Nordholm",
        "I live in Nordholm now, do not log that anywhere please",
        "don't keep this on file. I live in Nordholm and work as a nurse.",
    ],
)
def test_what_says_only_that_nothing_is_to_be_kept_is_about_all_of_its_message(said: str) -> None:
    assert "Nordholm" not in cut_forbidden(said, forbidden(said))


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_a_prohibition_that_ends_in_a_colon_is_about_what_follows(
    monkeypatch: pytest.MonkeyPatch, chance: float
) -> None:
    """Whatever the weights say of it."""
    said = "Onthoud dit niet: ik verdien 93417 per jaar."
    every = [
        with_members(each, scores=with_members(each.scores, erase=chance)) for each in sentences_of(said)
    ]
    monkeypatch.setattr(forbidding, "sentences_of", lambda text: tuple(every))
    found = forbidden.__wrapped__(said)
    assert found is not None
    assert cut_forbidden(said, found) == ""
    assert found.order is None


def test_an_everyday_form_of_forbidding_is_understood() -> None:
    def check(said: str) -> None:
        assert forbidden(said) is not None

    check_rows(
        check,
        [
            "Vergiss, dass ich rauche.",
            "vergessen Sie meine Adresse",
            "n'enregistre pas ça",
            "oubliez mon adresse",
            "olvide mi dirección",
            "olvídate de mi dirección",
            "esqueça meu endereço",
            "Esqueça o que eu disse.",
            "scordati quello che ho detto",
            "vergeet mijn adres",
            "把我的地址删掉",
        ],
    )


@pytest.mark.parametrize(
    "said",
    [
        "não esqueça meu endereço",
        "no olvides mi cumpleaños",
        "me olvide de todo lo de ayer",
        "Tom, forget it",
    ],
)
def test_what_is_not_to_be_forgotten_and_what_others_are_told_has_no_such_form(said: str) -> None:
    found = forbidden(said)
    assert found is None or found.order is None


def test_the_words_of_a_form_in_another_sense_forbid_nothing() -> None:
    def check(said: str) -> None:
        assert forbidden(said) is None

    check_rows(
        check,
        [
            "the deal between us and Acme closes on Friday",
            "the senator spoke off the record to us",
            "You can store this: my locker is 44",
            "please never write any emojis",
            "never log any passwords",
        ],
    )


@pytest.mark.parametrize("said", ["forget that", "forget that.", "Forget that!", "Forget where I live."])
def test_the_shortest_orders_are_understood_with_any_mark_at_their_end(said: str) -> None:
    assert forbidden(said) is not None


def test_a_slot_is_meant_by_the_everyday_word_that_it_was_read_from(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I work at Acme as a welder.", THEN)
        say(memory, "My wife Ana loves gardens.", THEN + 600)
        assert [each.relation for each in memory.facts() if each.object == "Ana"] == ["Partner"]
        say(memory, "what is the tallest tree?", THEN + 900)
        say(memory, "Forget my wife.", THEN + 1000)
        assert "Ana" not in told(memory)
        assert "Acme" in told(memory)


def test_an_order_may_name_a_slot_by_its_verb(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I live in Lyon.", THEN)
        say(memory, "I work at Acme.", THEN + 600)
        say(memory, "Forget where I live.", THEN + 1000)
        assert "Lyon" not in told(memory)
        assert "Acme" in told(memory)


@pytest.mark.parametrize("said", ["Forget everything I told you.", "Vergiss alles, was ich dir gesagt habe."])
def test_everything_that_was_told_is_what_this_session_told(place: Path, said: str) -> None:
    with Memory(place / "memory", session="first") as memory:
        say(memory, "I live in Lyon.", THEN)
    with Memory(place / "memory", session="second") as memory:
        say(memory, "I work at Acme.", THEN + 600)
        say(memory, "My dentist is Dr. Weld.", THEN + 700)
        say(memory, "what is the tallest tree?", THEN + 900)
        say(memory, said, THEN + 1000)
        assert "Acme" not in told(memory)
        assert "Weld" not in told(memory)
        assert "Lyon" in told(memory)


def test_what_stands_beside_an_order_about_earlier_talk_is_learnt(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I live in Leeds.", THEN)
        say(memory, "I moved to Hull. Forget what I told you about Leeds.", THEN + 600)
        assert [each.object for each in memory.facts() if each.relation == "Home"] == ["Hull"]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("I'm vegan.", "I'd rather not keep any meat in my diet, I'm vegan."),
        ("I work as a journalist for the BBC.", "As a journalist I often talk to people off the record."),
        ("I drive a Volvo.", "I do not keep my Volvo in a garage."),
        ("My wife is called Ana.", "Ana and I do not keep any secrets."),
    ],
)
def test_what_people_do_not_do_is_no_order(place: Path, held: str, said: str) -> None:
    with Memory(place / "memory") as memory:
        say(memory, held, THEN)
        before = {each.object for each in memory.facts()}
        assert before
        say(memory, said, THEN + 600)
        assert before <= {undoubted(each.object) for each in memory.facts()}


def test_where_nothing_has_the_words_what_was_said_last_is_meant(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I live in Lyon.", THEN)
        say(memory, "I work at Acme.", THEN + 1000)
        say(memory, "Please erase the company from memory.", THEN + 2000)
        assert "Acme" not in told(memory)
        assert "Lyon" in told(memory)


def test_a_prohibition_that_says_what_follows_leaves_what_was_said_before(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I live in Lyon.", THEN)
        say(memory, "Don't remember this: the client is Velmar.", THEN + 600)
        assert "Velmar" not in told(memory)
        assert [each.object for each in memory.facts() if each.relation == "Home"] == ["Lyon"]


def test_of_a_line_that_says_more_only_the_clause_goes(place: Path) -> None:
    with Memory(place / "memory") as memory:
        memory.remember("My sister Ada collects old stamps, and I play chess every tuesday at the club")
        for number in range(60):
            memory.record(user=f"what is {number} and {number}?", ts=THEN + number)
        memory.distill()
        say(memory, "Forget that I play chess.", THEN + 1000)
        assert "chess" not in told(memory)
        assert "collects old stamps" in told(memory)


def test_tasks_and_decisions_of_the_state_are_forgotten_too(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "We decided to use Quorra for the chess site. TODO: buy a chess board for Molar.", THEN)
        say(memory, "TODO: paint the fence.", THEN + 500)
        assert "chess" in told(memory)
        say(memory, "Forget that I play chess.", THEN + 1000)
        assert "chess" not in told(memory)


def test_obeying_again_changes_nothing_and_says_nothing(place: Path) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I play chess every tuesday at the club.", THEN)
        trace = say(memory, "Forget that I play chess.", THEN + 1000)
        assert any("looseleaf forget" in note for note in memory.notes)
        before = told(memory)
        assert memory.parts.obey(trace) == 0
        assert told(memory) == before
        assert memory.parts.obey(trace.but(content="I like tea.")) == 0


def test_a_page_that_refuses_is_told_and_the_rest_is_obeyed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(place / "memory") as memory:
        say(memory, "I play chess every tuesday at the club.", THEN)

        def refuse(self: Obey, *args: object) -> int:
            raise Refused("This page is sealed.")

        monkeypatch.setattr(Obey, "_clean_page", refuse)
        memory.record(user="Forget that I play chess.", ts=THEN + 1000)
        assert "This page is sealed." in memory.notes
        assert not any("chess" in each.object for each in memory.facts())


# --- properties ------------------------------------------------------------------------------

FORBIDS = st.sampled_from([each[1] for cases in PROHIBITIONS.values() for each in cases])
MESSAGES = st.lists(st.one_of(st.sampled_from(SAID), FORBIDS), max_size=5).map(" ".join) | st.text(
    max_size=200
)


@settings(deadline=None)
@given(MESSAGES)
def test_what_may_be_remembered_is_the_message_without_what_it_forbids(message: str) -> None:
    found = forbidden(message)
    rest = cut_forbidden(message, found)
    assert forbidden(message) == found
    if found is None:
        assert rest == message
        return
    assert all(0 <= start < end <= len(message) for start, end in found.cut)
    assert len(rest) < len(message)
    assert not any(
        " ".join(words.split()) in " ".join(rest.split()) for words in found.words if len(words) > 20
    )


@given(st.text(max_size=80), st.text(max_size=80))
def test_only_a_text_that_shares_a_term_bears_on_what_is_named(text: str, other: str) -> None:
    named = telling_terms(other)
    assert not bears_on(text, named) or telling_terms(text) & named
    assert not bears_on(text, frozenset())


def test_of_talk_the_prohibition_what_it_means_and_what_answers_it_are_left_out(place: Path) -> None:
    with Memory(place / "memory") as memory:
        memory.record(user="My salary is 93417.", ts=THEN)
        memory.record(assistant="Noted.", ts=THEN + 1)
        memory.record(user="Forget what I just said.", ts=THEN + 2)
        memory.record(user="Forget that I play chess.", ts=THEN + 3)
        memory.record(assistant="I will not speak of chess.", ts=THEN + 4)
        memory.record(user="I live in Lyon.", ts=THEN + 5)
        traces = [trace for turn in memory.talk.turns() for trace in turn.traces]
        assert [each.content for each in permitted_traces(traces)][-1] == "I live in Lyon."
        assert not any(
            word in each.content for each in permitted_traces(traces) for word in ("93417", "chess")
        )


# --- crashes ---------------------------------------------------------------------------------

HELD = ("I live in Lyon.", "I play chess every tuesday at the club.", "My boss is called Molar.")
GONE = ("chess", "Molar", "93417")


def open_memory(folder: Path, disk: Disk | None = None) -> Memory:
    real = vars(files)["this_disk"]
    vars(files)["this_disk"] = real if disk is None else lambda: disk
    try:
        return Memory(folder, session="work")
    finally:
        vars(files)["this_disk"] = real


def work(folder: Path, disk: Disk | None = None) -> None:
    """Or what is left of it. The second prohibition is only seen when it is distilled."""
    with open_memory(folder, disk) as memory:
        there = [trace.content for turn in memory.talk.turns() for trace in turn.traces]
        for number, text in enumerate(HELD):
            if text not in there:
                say(memory, text, THEN + 100 * number)
        if "Forget that I play chess." not in there:
            say(memory, "Forget that I play chess.", THEN + 1000)
        if not any("93417" in each for each in there):
            with Batch(memory.parts.conversation.recorder) as batch:  # as one that ended before it obeyed
                batch.record(
                    user="Forget everything about Molar. Don't remember that I earn 93417.", ts=THEN + 2000
                )
                batch.record(assistant="ok.", ts=THEN + 2001)
        memory.distill()


def left_after(where: Iterable[Site], place: Path) -> list[str]:
    folder, wrong = place / "memory", []
    for site in where:
        ends(partial(work, folder, DyingDisk(site.number, site.how)))
        work(folder)
        with open_memory(folder) as memory:
            has = told(memory)
            wrong += [f"{site}: {word}" for word in GONE if word in has]
            wrong += [f"{site}: Lyon is lost"] * ("Lyon" not in has)
            wrong += [f"{site}: {each}" for each in memory.check() if each.severity == "error"]
        shutil.rmtree(folder)
    return wrong


def sites(place: Path) -> list[Site]:
    disk = NamesOfCalls()
    work(place / "whole", disk)
    shutil.rmtree(place / "whole")
    found = [site for site in disk.sites() if site.call in CHANGES and site.how == "after"]
    return found[len(found) // 4 :]  # before that there is nothing to obey


needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


@needs_fork
def test_a_process_that_ends_while_it_obeys_is_finished_by_the_next_one(place: Path) -> None:
    assert left_after(sites(place)[::47], place) == []


@needs_fork
@pytest.mark.long
def test_a_process_that_ends_at_any_change_while_it_obeys_is_finished_by_the_next_one(place: Path) -> None:
    assert left_after(sites(place), place) == []


@needs_fork
def test_who_leaves_obeying_to_the_recording_fails_that_sweep(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: nothing is looked at again when talk is distilled."""
    monkeypatch.setattr(making, "_find_prohibitions", lambda stretch: [])
    assert left_after(sites(place)[-1:], place)
