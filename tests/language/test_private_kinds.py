"""Private kinds: sentences of health, family, address and money, in the languages that the program knows."""

from __future__ import annotations

import pytest

from looseleaf.language.private_kinds import KINDS, private_kinds, speaks_of_self

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


def test_the_writer_is_named_in_their_own_words() -> None:
    assert speaks_of_self("I’m late.")
    assert not speaks_of_self("The train is late.")
