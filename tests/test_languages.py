"""What sentences in five languages state about the one who says them, and what they do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import LINEAR, growth
from language_facts import FACTS, OTHER_WORDS
from language_no_facts import NO_FACTS, OTHER_WORDS_IN_VAIN
from looseleaf.core.relations import BY_LABEL
from looseleaf.distill.languages import tongues
from looseleaf.distill.languages.forms import LONGEST, read
from looseleaf.talk import Proposal

NOW = datetime(2026, 2, 26, 12, tzinfo=UTC).timestamp()
"""A Thursday."""

LANGUAGES = tuple(FACTS)


def entries(table: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (name, entry)
        for name in LANGUAGES
        for line in table[name].strip().splitlines()
        for entry in line.split(" / ")
    ]


STATED = [(name, *entry.split(" -> ")) for name, entry in entries(FACTS)]
SAID_IN_VAIN = entries(NO_FACTS)


def propose(language: str, sentence: str) -> list[Proposal]:
    said: Callable[[str, float], list[Proposal]] = import_module(
        f"looseleaf.distill.languages.{language}"
    ).propose
    return said(sentence, NOW)


def shown(proposal: Proposal) -> str:
    was = f" (was {proposal.was})" if proposal.was else ""
    return f"{proposal.relation}: {proposal.object}{was}{' (no more)' if proposal.ended else ''}"


def only(language: str, sentence: str) -> Proposal:
    (proposal,) = propose(language, sentence)
    return proposal


@pytest.mark.parametrize(("language", "sentence", "facts"), STATED)
def test_a_sentence_states_these_facts_and_no_others(language: str, sentence: str, facts: str) -> None:
    assert [shown(each) for each in propose(language, sentence)] == facts.split(" | ")


@pytest.mark.parametrize(("language", "sentence"), SAID_IN_VAIN)
def test_a_sentence_that_states_no_fact_gives_none(language: str, sentence: str) -> None:
    assert propose(language, sentence) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_facts_are_found_in_other_words(language: str) -> None:
    expected = {
        sentence: facts.split(" | ")
        for name, entry in entries(OTHER_WORDS)
        if name == language
        for sentence, facts in [entry.split(" -> ")]
    }
    assert {
        sentence: [shown(each) for each in propose(language, sentence)] for sentence in expected
    } == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_made_up_of_other_words(language: str) -> None:
    sentences = [sentence for name, sentence in entries(OTHER_WORDS_IN_VAIN) if name == language]
    assert len(sentences) > 50
    made_up = {sentence: [shown(each) for each in propose(language, sentence)] for sentence in sentences}
    assert {sentence: facts for sentence, facts in made_up.items() if facts} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_examples_enough_of_both_kinds(language: str) -> None:
    assert sum(name == language for name, *_ in STATED) >= 40
    assert sum(name == language for name, _ in SAID_IN_VAIN) >= 20


def is_sound(proposal: Proposal, sentence: str) -> bool:
    known = BY_LABEL.get(proposal.relation.casefold())
    return (
        proposal.quote != ""
        and proposal.quote in sentence
        and proposal.object.strip() == proposal.object != ""
        and "\n" not in proposal.object
        and (proposal.kind == known.kind if known else "'s " in proposal.relation)
        and proposal.topic in ("user", "project")
        and (proposal.was is None or proposal.correction)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_quote_is_a_stretch_of_the_sentence_and_the_relation_is_a_known_one(language: str) -> None:
    for name, sentence, _ in STATED:
        if name == language:
            assert all(is_sound(each, sentence) for each in propose(language, sentence)), sentence


WORDS = sorted(
    {word for _, sentence, _ in STATED for word in sentence.split()} | set("，。、？!?.,:;()«»「」\n\x00 ")
)


@given(st.sampled_from(LANGUAGES), st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=20))
def test_no_text_makes_it_fail_and_every_quote_is_in_the_text(language: str, words: list[str]) -> None:
    for sentence in (" ".join(words), "".join(words)):
        assert all(each.quote in sentence for each in propose(language, sentence))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_of_the_same_words_states_nothing(language: str) -> None:
    for name, sentence, _ in STATED:
        if name == language:
            assert propose(language, sentence.rstrip("。.!") + "?") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_needles_only_save_work(language: str) -> None:
    """A form that is skipped for want of its needles would not have been found."""
    module = import_module(f"looseleaf.distill.languages.{language}")
    made = tongues.tongue(module._TABLE + module.FORMS)
    members: tuple[str, ...] = tongues.Tongue.__match_args__
    forms = tuple(tongues.Form(f.relation, f.shape, f.marks, f.words, frozenset()) for f in made.forms)
    thorough = tongues.Tongue(**({name: getattr(made, name) for name in members} | {"forms": forms}))
    assert any(form.needles for form in made.forms)
    for name, sentence, _ in STATED:
        if name == language:
            assert read(thorough, sentence, NOW) == read(made, sentence, NOW)


def test_a_text_too_long_for_a_sentence_is_not_looked_at() -> None:
    sentence = "Ich wohne in Köln" + " und so weiter" * LONGEST
    assert propose("german", sentence[:LONGEST]) != []
    assert propose("german", sentence) == []


@pytest.mark.parametrize(
    ("language", "unit"),
    [
        ("german", "und ich bin "),
        ("german", "nie immer "),
        ("german", "Aa "),
        ("german", ", was ist "),
        ("french", ", je ne "),
        ("french", "j'ai le "),
        ("spanish", "y no siempre "),
        ("chinese", "我在我用"),
        ("chinese", "，他 "),
        ("chinese", "，用Vim"),
        ("japanese", "私はAと"),
        ("japanese", "「、"),
        ("japanese", "、何か"),
        ("japanese", "は東京に住んでいます、"),
    ],
)
def test_time_is_linear_in_the_sentence(language: str, unit: str) -> None:
    def work(size: int) -> Callable[[], object]:
        sentence = unit * (size // len(unit))
        return lambda: propose(language, sentence)

    propose(language, unit * (LONGEST // len(unit)))  # what is compiled on first use is not what is measured
    assert growth(work, LONGEST // 16) < LINEAR


def test_a_rule_matters_most_and_lasts_unless_it_is_for_today() -> None:
    rule = only("german", "Ab jetzt bitte immer in Stichpunkten antworten.")
    assert (rule.kind, rule.salience, rule.time_span) == ("constraint", 0.95, "long_term")
    assert (
        only("german", "Ab jetzt bitte immer kurz antworten, nur für diese Aufgabe.").time_span
        == "short_term"
    )


@pytest.mark.parametrize(
    ("language", "sentence", "kind", "span", "salience"),
    [
        ("german", "Ich heiße Anna.", "identity", "long_term", 0.9),
        ("german", "Ich wohne momentan in Rom.", "identity", "current", 0.9),
        ("french", "J'adore le jazz.", "preference", "long_term", 0.6),
        ("french", "Je suis végétarienne.", "preference", "long_term", 0.8),
        ("spanish", "Toco el piano.", "trait", "long_term", 0.6),
        ("spanish", "Ayer adopté un gato.", "event", "short_term", 0.5),
        ("spanish", "Me gradué en 2015.", "event", "long_term", 0.5),
        ("french", "Je me suis cassé le poignet le mois dernier.", "event", "medium_term", 0.5),
        ("chinese", "下周五我要去上海出差。", "commitment", "future", 0.85),
        ("japanese", "Rustを採用することにしました。", "decision", "long_term", 0.8),
        ("chinese", "我妹妹住在广州。", "identity", "long_term", 0.9),
    ],
)
def test_kind_span_and_salience_follow_from_the_relation(
    language: str, sentence: str, kind: str, span: str, salience: float
) -> None:
    found = only(language, sentence)
    assert (found.kind, found.time_span, found.salience) == (kind, span, salience)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("german", "Eigentlich bin ich 35."),
        ("french", "En fait j'ai 35 ans."),
        ("spanish", "En realidad tengo 35 años."),
        ("chinese", "其实我今年35岁。"),
        ("japanese", "実は35歳です。"),
    ],
)
def test_a_correction_is_known_by_its_words(language: str, sentence: str) -> None:
    assert only(language, sentence).correction
    assert shown(only(language, sentence)) == "Age: 35"


@pytest.mark.parametrize(
    ("language", "sentence", "planned"),
    [
        ("german", "Nächste Woche fliege ich nach Oslo.", "in der Woche vom 2026-03-02 nach Oslo fliegen"),
        ("german", "Ich werde im Sommer 2027 nach Peru reisen.", "im Sommer 2027 nach Peru reisen"),
        ("french", "Cet été je vais voyager au Pérou.", "voyager au Pérou Cet été 2026"),
        ("french", "Ce week-end je vais courir un trail.", "courir un trail le 2026-02-28"),
        ("spanish", "Voy a correr el maratón en abril.", "correr el maratón en abril de 2026"),
        ("chinese", "我打算9月跑马拉松。", "2026年9月跑马拉松"),
        ("japanese", "今週末、大阪に行きます。", "2026-02-28 大阪に行く"),
        ("japanese", "来年の夏にペルーに行きます。", "2027年の夏ペルーに行く"),
    ],
)
def test_relative_dates_are_written_out_as_the_language_does(
    language: str, sentence: str, planned: str
) -> None:
    assert shown(only(language, sentence)) == f"Plan: {planned}"


@pytest.mark.parametrize(
    ("language", "sentence", "fact"),
    [
        ("german", "Ich wohne in Erfurt, kennst du ein gutes Lokal?", "Home: Erfurt"),
        ("french", "J'habite à Metz, tu connais un bon resto ?", "Home: Metz"),
        ("spanish", "Vivo en León, ¿conoces un buen restaurante?", "Home: León"),
        ("chinese", "我住在南京，有什么好吃的推荐吗？", "Home: 南京"),
        ("japanese", "私は神戸に住んでいます、おすすめのカフェはありますか？", "Home: 神戸"),
    ],
)
def test_what_stands_before_a_question_about_something_else_is_said(
    language: str, sentence: str, fact: str
) -> None:
    assert shown(only(language, sentence)) == fact


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("german", "Wenn ich in Erfurt wohne, was kostet das?"),
        ("french", "Si j'habite à Metz, que dois-je payer ?"),
        ("spanish", "Si vivo en León, ¿qué pago?"),
        ("chinese", "如果我住在南京，应该怎么办？"),
        ("japanese", "もし神戸に住んでいたら、何がいいですか？"),
    ],
)
def test_what_stands_before_a_question_may_be_supposed(language: str, sentence: str) -> None:
    assert propose(language, sentence) == []


@pytest.mark.parametrize(
    ("language", "plan", "event"),
    [
        ("german", "Im Sommer 2024 reise ich nach Peru.", "2031 habe ich geheiratet."),
        ("chinese", "我打算2019年去秘鲁旅行。", "我2031年骨折了。"),
        ("japanese", "2019年にペルーに行きます。", "2031年に結婚しました。"),
    ],
)
def test_no_plan_is_past_and_no_event_is_to_come(language: str, plan: str, event: str) -> None:
    assert propose(language, plan) == propose(language, event) == []
    assert propose(language, plan.replace("2024", "2027").replace("2019", "2027")) != []
    assert propose(language, event.replace("2031", "2016")) != []


def test_a_day_may_be_written_in_characters() -> None:
    assert shown(only("chinese", "我的论文五月二十一号截止。")) == "Deadline: 2026-05-21, 论文"
    assert shown(only("chinese", "我的论文十一月十号截止。")) == "Deadline: 2026-11-10, 论文"


def test_a_verb_of_liking_becomes_an_infinitive() -> None:
    assert shown(only("german", "Ich wandere gerne.")) == "Likes: wandern"
    assert shown(only("german", "Ich spiele gern Karten.")) == "Likes: Karten spielen"


def test_a_clause_that_tells_more_of_a_noun_states_nothing() -> None:
    assert propose("japanese", "東京に住んでいる友達がいます。") == []
    assert propose("chinese", "我在腾讯工作的时候认识了他。") == []


def test_what_is_told_of_the_one_thing_at_hand_is_no_rule() -> None:
    assert propose("german", "Lösche niemals diese Datei hier.") == []
    assert propose("german", "Lösche niemals Dateien in diesem Projekt.") != []
