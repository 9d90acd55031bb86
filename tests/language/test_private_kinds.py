"""Private kinds: sentences of health, family, address and money, in the languages that the program knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.base.errors import Unreadable
from looseleaf.language import private_kinds as module
from looseleaf.language.linear_model import read_heads
from looseleaf.language.private_kinds import HEADS, KINDS, WEIGHTS, chances_of, head, private_kinds
from looseleaf.language.tables import read_words

PRIVATE = {
    "en": {
        "health": "I was diagnosed with asthma last year.",
        "family": "My daughter Mia starts school in May.",
        "address": "My address is 12 Harbour Street.",
        "money": "I earn 4,000 a month before tax.",
    },
    "de": {
        "health": "Ich bin gegen Nüsse allergisch.",
        "family": "Meine Schwester wohnt in Wien.",
        "address": "Ich wohne in der Bergstraße 5.",
        "money": "Mein Gehalt liegt bei 3.200 Euro.",
    },
    "fr": {
        "health": "Je suis enceinte de trois mois.",
        "family": "Ma fille s'appelle Léa.",
        "address": "J'habite rue de la Paix.",
        "money": "Mon salaire est de 2 500 euros.",
    },
    "es": {
        "health": "Tengo un embarazo de riesgo.",
        "family": "Mi hermano vive en Sevilla.",
        "address": "Mi dirección es calle Mayor 3.",
        "money": "Mi sueldo es de 1.900 euros.",
    },
    "it": {
        "health": "Sono malato da tre giorni.",
        "family": "Mia moglie lavora a Milano.",
        "address": "Il mio indirizzo è via Roma 1.",
        "money": "Il mio stipendio è basso.",
    },
    "pt": {
        "health": "Estou doente e tomo remédio.",
        "family": "Minha mãe mora comigo.",
        "address": "Moro na rua Augusta.",
        "money": "Meu salário caiu.",
    },
    "nl": {
        "health": "Ik ben ziek en slik medicijnen.",
        "family": "Mijn dochter is acht.",
        "address": "Mijn adres is Kerkstraat 4.",
        "money": "Mijn salaris is verhoogd.",
    },
    "zh": {
        "health": "我去年确诊了糖尿病。",
        "family": "我女儿在北京上学。",
        "address": "我住在上海静安区。",
        "money": "我的工资是一万元。",
    },
    "ja": {
        "health": "私は喘息の治療中です。",
        "family": "私の娘は小学生です。",
        "address": "私は横浜に住んでいます。",
        "money": "私の年収は五百万円です。",
    },
    "ko": {
        "health": "나는 당뇨 진단을 받았다.",
        "family": "제 아내는 의사입니다.",
        "address": "저는 부산에 살고 있어요.",
        "money": "제 연봉은 오천만 원입니다.",
    },
}

OF_WORK = (
    "The patients table has a diagnosis column.",
    "The API costs 5 dollars per hour.",
    "Parent nodes own their children.",
    "We deploy on Fridays at the harbour.",
    "The salary service runs on port 8080.",
    "Die Tabelle der Adressen hat einen Index.",
    "Le module de paiement est en Rust.",
    "El servidor de nóminas está caído.",
    "订单表有一个地址列。",
    "I prefer tabs over spaces.",
    "I refactored the parser yesterday.",
    "Ich mag kurze Antworten.",
)


@pytest.mark.parametrize(
    ("kind", "sentence"), [(kind, text) for kinds in PRIVATE.values() for kind, text in kinds.items()]
)
def test_a_private_sentence_is_found_in_every_language(kind: str, sentence: str) -> None:
    assert kind in private_kinds(sentence)


@pytest.mark.parametrize("sentence", OF_WORK)
def test_a_sentence_of_the_work_is_not_private(sentence: str) -> None:
    assert private_kinds(sentence) == frozenset()


def test_a_fact_is_private_by_its_label() -> None:
    assert private_kinds("peanuts", "Allergy") == {"health"}
    assert private_kinds("Lyon", "Home") == {"address"}
    assert private_kinds("Mia", "Child") == {"family"}
    assert private_kinds("green tea", "Prefers") == frozenset()


def test_every_kind_has_words_in_every_language() -> None:
    assert all(set(kinds) == set(KINDS) for kinds in PRIVATE.values())


@pytest.mark.parametrize(
    "talk",
    [
        "Our daughter Emma has asthma, so I leave at four.",
        "she's at 22 Quarry Close, I'm collecting her keys",
        "i lent Sofie 3000 eur and she still hasn't paid a cent back",
        "Meine Töchter heißen Anna und Lea.",
        "Soffro di depressione.",
        "糖尿病です。",
    ],
)
def test_what_is_told_in_passing_or_of_others_is_private(talk: str) -> None:
    assert private_kinds(talk)


@pytest.mark.parametrize(
    "talk",
    [
        "the parent keeps its child processes alive",
        "I want to address the review before noon",
        "I called the vendor about the operator",
        "The child theme inherits the colours of its parent theme",
    ],
)
def test_words_of_the_work_that_sound_private_are_not(talk: str) -> None:
    assert not private_kinds(talk)


def test_each_sentence_of_a_text_counts() -> None:
    assert private_kinds("We deploy on Fridays. My wife is ill.") >= {"family"}
    assert private_kinds("We deploy on Fridays.\nMy wife is ill") >= {"family"}


@settings(deadline=None)
@given(st.text(max_size=200))
def test_every_chance_is_a_probability_and_the_same_for_the_same_text(text: str) -> None:
    first = chances_of(text)
    assert first == chances_of(text)
    assert all(0.0 <= chance <= 1.0 for chance in first)
    assert private_kinds(text) <= {*KINDS}


def test_the_time_grows_with_the_text() -> None:
    def work(size: int) -> Callable[[], object]:
        text = "My sister said, (and) we'll see: 住んで 12 Rd. " * size
        return lambda: private_kinds(text)

    assert growth(work, 20) < LINEAR


def test_damaged_weights_are_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "belonging.bin"
    other.write_bytes(WEIGHTS.read_bytes()[:-1])
    monkeypatch.setattr(module, "WEIGHTS", other)
    head.cache_clear()
    try:
        with pytest.raises(Unreadable, match=r"belonging\.bin is damaged, or not belonging\.v1"):
            head("private")
    finally:
        monkeypatch.undo()
        head.cache_clear()
        read_heads.cache_clear()


def test_the_file_has_every_head_and_words_stand_once() -> None:
    assert {*module.heads()} == {*HEADS}
    for name in ("self", "ours", *KINDS):
        words = read_words("private_words", name)
        assert len(words) == len({*words})
        assert words == [each.casefold() for each in words]
