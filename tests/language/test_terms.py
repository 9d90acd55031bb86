"""Text → terms, on any text there is; and a set of questions in many languages whose answers are known."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from growth import LINEAR, growth
from looseleaf.language import stems
from looseleaf.language import stems as stopwords
from looseleaf.language import terms as unspaced
from looseleaf.language.terms import LONGEST, Word, fold, language, terms, words
from looseleaf.recall import near_matches as typos
from recall_languages import ASKED, LINES
from tables import check_rows

SAFE = re.compile(r"(?:[a-z0-9]|[^\x00-\x7f\s\ud800-\udfff])+")

texts = st.one_of(
    st.text(max_size=80),
    st.text(st.characters(max_codepoint=0x17FF), max_size=80),
    st.lists(
        st.sampled_from(
            [*LINES, *(query for query, _ in ASKED), "-", "_", "'", "’", "a.B", "\0", "\ud800", "İ", "猫"]
        ),
        max_size=4,
    ).map("".join),
)
"""Any characters, those of living scripts, and pieces of real lines run together."""


def asked(query: str) -> set[str]:
    return {term for word in words(query) for term, _ in word.forms}


# --- promises that hold for every text ---


@given(texts)
@example("\ufdfa")
@example("aA1bB2cC3dD4")
@example("1.000,50")
@example("''")
def test_every_term_is_kept_whole_by_a_tokenizer_that_knows_only_ascii(text: str) -> None:
    for term in [*terms(text), *asked(text)]:
        assert SAFE.fullmatch(term), term
        assert len(term) <= LONGEST


def test_the_tokenizer_of_the_index_keeps_terms_whole() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE line USING fts5(terms, tokenize = 'ascii', detail = none)")
    connection.execute("CREATE VIRTUAL TABLE word USING fts5vocab(line, row)")
    connection.executemany("INSERT INTO line VALUES (?)", [(" ".join(terms(line)),) for line in LINES])
    kept = {term for (term,) in connection.execute("SELECT term FROM word")}
    assert kept == {term for line in LINES for term in terms(line)}


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_a_text_finds_itself(text: str) -> None:
    assert bool(terms(text)) == bool(words(text))
    assert not terms(text) or asked(text) & set(terms(text))


@given(texts)
def test_the_same_text_has_the_same_terms(text: str) -> None:
    assert terms(text) == terms(text)
    assert words(text) == words(text)


@given(texts)
def test_factors_and_weights_are_shares(text: str) -> None:
    for word in words(text, ("german", "french")):
        assert word.text
        assert 0 < word.weight <= 1
        assert word.forms
        assert all(0 < factor <= 1 for _, factor in word.forms)
        assert len({term for term, _ in word.forms}) == len(word.forms)


@given(st.sampled_from([line for line in LINES if line.isascii()]), st.data())
def test_any_word_of_a_text_finds_it_unless_it_says_nothing(line: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(line.split()))
    stops = stopwords.by_language()[language(line) or "english"]
    bare = re.sub(r"\W+", "", word).lower()
    if bare not in stops and any(char.isalnum() for char in word):
        assert asked(word) & set(terms(line)) or re.sub(r"\W.*", "", word.strip("`'\"")).lower() in stops


@given(st.text(st.characters(categories=["L"], max_codepoint=0x24F), min_size=1, max_size=30))
def test_case_does_not_matter(word: str) -> None:
    assert fold(word.lower()) == fold(word)


# --- what is one word, and what are several ---


def test_what_the_terms_of_a_text_are() -> None:
    def check(text: str, expected: list[str]) -> None:
        assert terms(text) == expected

    check_rows(
        check,
        [
            ("parse_config", ["parseconfig", "pars", "config"]),
            ("ParseConfig", ["parseconfig", "pars", "config"]),
            ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
            ("src/foo/bar.py", ["srcfoobarpy", "barpy", "src", "foo", "bar", "py"]),
            ("os.path", ["ospath", "os", "path"]),
            ("https://www.example.org/notes", ["exampleorgnotes", "exampleorg", "exampl", "org", "note"]),
            (
                "anna.berg@example.org",
                ["annabergexampleorg", "annaberg", "exampleorg", "anna", "berg", "exampl", "org"],
            ),
            ("3.11.7", ["3·11·7", "3·11", "3", "11", "7"]),
            ("2024-03-05", ["2024·3·5", "2024·3", "2024", "3", "5"]),
            ("1,000", ["1000"]),
            ("1,250,000", ["1250000"]),
            ("3,5", ["3·5", "3", "5"]),
            ("14:30", ["14·30", "14", "30"]),
            ("٣٤", ["34"]),
            ("e-mail", ["email", "mail"]),
            ("U.S.", ["us"]),
            ("the IT team", ["it", "team"]),
            ("meet Will in May", ["meet", "will", "may"]),
            ("Anna's", ["anna"]),
            ("Anna’s don’t we're", ["anna"]),
            ("O'Brien", ["obrien", "brien"]),
            ("rock'n'roll", ["rocknroll", "rock", "roll"]),
            ("l’été", ["ete"]),
            ("C++ or C#", ["cplusplus", "csharp"]),
            ("APIs", ["api"]),
            ("__init__", ["init"]),
            ("the Łódź smørrebrød and its Æsir", ["lodz", "smorrebrod", "aesir"]),
            ("e\u0301te\u0301 ex\u00adact zero\u200bwidth", ["ete", "exact", "zerowidth"]),
            ("ＡＢＣ ﬁle", ["abc", "file"]),
            ("👍🏽 👩‍💻 🇵🇹 ❤️", ["👍", "👩", "💻", "🇵🇹", "❤"]),
            ("猫", ["猫"]),
            ("咖啡", ["咖", "咖啡", "啡"]),
            ("リンゴ", ["りん", "んご"]),
            ("用Python写", ["用", "python", "写"]),
            ("圖書", ["图", "图书", "书"]),
            ("서울", ["서", "서울", "울"]),
            ("แมว", ["แม", "แมว", "ว"]),
            ("a b", ["b"]),
            ("a", ["a"]),
            ("the who", ["the", "who"]),
            ("", []),
            ("… — → • ■ !?", []),
            ("\0\ud800\U000e0001", []),
        ],
    )


@pytest.mark.parametrize("key", ["9f3c2ab17de04f5a6b7c8d9e0f1a2b3c", "A1b2C3d4E5f6G7h8"])
def test_a_checksum_is_one_term(key: str) -> None:
    assert terms(key) == [key.lower()]


def test_a_long_word_is_cut_and_still_tells_itself_from_another() -> None:
    first, second = terms("x" * 500 + "a"), terms("x" * 500 + "b")
    assert len(first) == len(second) == 1
    assert first != second
    assert asked("x" * 500 + "a") >= set(first)
    assert not asked("x" * 500 + "a") & set(second)


def test_a_text_in_capitals_has_the_terms_of_any_other() -> None:
    assert terms("WHO MOVED THE LADDERS IN MAY") == ["move", "ladder"]


@pytest.mark.parametrize(
    ("query", "month"),
    [("what happened in may", True), ("may 2023", True), ("3 may", True), ("may i ask about ladders", False)],
)
def test_a_month_is_a_month_where_it_stands_as_one(query: str, month: bool) -> None:
    assert ("may" in asked(query)) is month


def test_a_question_does_not_ask_for_the_words_it_asks_with() -> None:
    assert asked("What did you say about the ladders, and when?") == {"say", "ladder", "ladders"}
    assert "ladderssay" not in asked("ladders and say")
    assert [word.text for word in words("妹妹的婚礼在哪里") if word.weight > 0.25] == ["妹妹", "婚礼"]


def test_a_question_of_nothing_but_stop_words_asks_for_them() -> None:
    assert {"to", "be"} <= asked("to be")
    assert asked("什么") == {"什么"}


def test_words_that_may_be_written_as_one_find_the_one() -> None:
    assert set(terms("database")) & asked("data base")
    assert set(terms("data base")) & asked("database-data")


def test_a_word_is_asked_for_once() -> None:
    assert len(words("ladder ladders ladder Ladder")) == 1


def test_what_is_asked_is_read_up_to_a_length() -> None:
    assert len(words("x" + " ladder" * 100_000)) == 2


# --- languages ---


def test_the_language_of_a_text() -> None:
    def check(text: str, expected: str) -> None:
        assert language(text) == expected

    check_rows(
        check,
        [
            ("Der Schlüssel liegt unter der Matte und nicht im Auto", "german"),
            ("Je ne sais pas où sont les clés de la voiture", "french"),
            ("No sé dónde están las llaves del coche", "spanish"),
            ("Não sei onde estão as chaves do carro", "portuguese"),
            ("Non so dove sono le chiavi della macchina", "italian"),
            ("Ik weet niet waar de sleutels van de auto zijn", "dutch"),
            ("Jag vet inte var nycklarna till bilen är", "swedish"),
            ("En tiedä missä auton avaimet ovat", "finnish"),
            ("Nie wiem, gdzie są kluczyki do samochodu", "polish"),
            ("Nevím, kde jsou klíče od auta", "czech"),
            ("Arabanın anahtarları nerede bilmiyorum", "turkish"),
            ("Nem tudom, hol vannak az autó kulcsai", "hungarian"),
            ("Nu știu unde sunt cheile de la mașină", "romanian"),
            ("I don't know where the keys of the car are", "english"),
            ("Versicherung Kündigung Verträge", "german"),
            ("12:30 ladders", ""),
            ("", ""),
            ("猫", ""),
        ],
    )


def test_forms_of_one_word_meet() -> None:
    def check(first: str, second: str) -> None:
        assert asked(first) & asked(second)

    check_rows(
        check,
        [
            ("Häuser", "Haus"),
            ("Muenchen", "München"),
            ("declaracao", "declarações"),
            ("cafés", "cafe"),
            ("книги", "книга"),
            ("ёлки", "елка"),
            ("βιβλίων", "βιβλια"),
            ("المدرسة", "مدرسه"),
            ("مِفْتَاحَ", "مفتاح"),
            ("किताबें", "किताब"),
            ("bought", "buying"),
            ("children", "child"),
            ("talossa", "talon"),
            ("kitapları", "kitap"),
            ("κόσμος", "ΚΟΣΜΟΣ"),
        ],
    )


def test_a_word_asked_alone_finds_a_text_in_its_language() -> None:
    def check(tongue: str) -> None:
        for line in LINES:
            if language(line) == tongue:
                found = set(terms(line))
                for word in re.findall(r"[^\W\d_]{5,}", line):
                    if word.lower() not in stopwords.by_language()[tongue]:
                        assert asked(word) & found, word

    check_rows(check, [*stopwords.latin_languages()])


def test_a_language_that_the_texts_have_is_asked_for_in_an_english_question() -> None:
    assert "kartoffel" in {
        form for word in words("where are the kartoffeln", ("german",)) for form, _ in word.forms
    }


def test_stop_words_are_words_in_lower_case() -> None:
    for each in stopwords.by_language().values():
        assert all(word == word.lower() and (word.isalpha() or not word.isascii()) for word in each)
    assert all(ord(char) > 127 for word in stopwords.unspaced()[0] for char in word)


def test_a_simpler_character_has_no_simpler_one() -> None:
    assert not unspaced.character_map().keys() & set(unspaced.character_map().values())


# --- English words that are stop words elsewhere ---


ELSEWHERE = sorted(
    {word for tongue in stopwords.latin_languages() for word in stopwords.by_language()[tongue]}
    & set(
        "allen bent bin car care come comment dan day dell den dig dine dir door dos dove ella end era eras font go "
        "good great ham han hans hat hay heel hem hen hoe jim kim kit know love make man mas men met mia mine mint mod "
        "need nell new ole pair par plus pod pot pour pro sale sans see sera sin sit size sob son state sub sue take "
        "ten till time tom ton tot van vain volt want war wart well wilt word work".split()
    )
    - stopwords.by_language()["english"]
)
PLAIN = ["zebra", "giraffe", "ladder", "invoice", "Saturday", "Lisbon", "budget", "cello", "5000"]


def test_many_english_words_are_stop_words_elsewhere() -> None:
    assert len(ELSEWHERE) > 70


def test_an_english_word_alone_finds_a_text_that_has_it() -> None:
    for word in ELSEWHERE:
        found = set(terms(f"zebra {word} giraffe"))
        assert stems.stem(word, "english") in found & asked(word), word
        assert word in [each.text for each in words(f"zebra {word} giraffe")]


@given(
    st.lists(st.sampled_from(ELSEWHERE), min_size=1, max_size=3),
    st.lists(st.sampled_from(PLAIN), min_size=2, max_size=5, unique=True),
    st.randoms(use_true_random=False),
)
def test_an_english_word_among_others_is_never_taken_for_a_stop_word(
    some: list[str], plain: list[str], random: Random
) -> None:
    text = [*some, *plain]
    random.shuffle(text)
    assert {stems.stem(word, "english") for word in some} <= set(terms(" ".join(text)))


def test_one_word_or_one_ending_does_not_make_a_text_foreign() -> None:
    def check(text: str, expected: list[str]) -> None:
        assert terms(text) == expected

    check_rows(
        check,
        [
            ("Sold car for 5000 euros.", ["sell", "car", "5000", "euro"]),
            ("Car: Honda Jazz", ["car", "honda", "jazz"]),
            ("Pet: Tom", ["pet", "tom"]),
            ("Hat: size 58", ["hat", "size", "58"]),
            ("Front door code 4711", ["front", "door", "code", "4711"]),
            ("A word of advice", ["word", "advic"]),
            ("Comic Sans font", ["comic", "san", "font"]),
            ("Los Angeles trip", ["los", "angel", "trip"]),
            ("Le Mans car race", ["le", "man", "car", "race"]),
            ("Café car park", ["cafe", "car", "park"]),
            ("Spare software square", ["spare", "softwar", "squar"]),
            ("Coach beach approach", ["coach", "beach", "approach"]),
            ("Finished, published, washed", ["finish", "publish", "wash"]),
            ("Meeting building booking", ["meet", "build", "book"]),
            ("week creek", ["week", "creek"]),
        ],
    )


def test_a_foreign_text_drops_its_stop_words_if_others_tell_its_language() -> None:
    def check(text: str, expected: list[str]) -> None:
        assert terms(text) == expected

    check_rows(
        check,
        [
            ("Der Hund war im Garten und hat die Katze gesehen", ["hund", "gart", "katz", "geseh"]),
            ("Ludwig war ein König", ["ludwig", "konig"]),
            ("Il pleut car les nuages sont plus bas", ["pleut", "nuag", "bas"]),
            ("Ich habe den car key und das door lock verloren", ["car", "key", "door", "lock", "verlor"]),
            ("Die Versicherung war teuer", ["die", "versicher", "war", "teu"]),
            ("Was hat die Katze", ["hat", "die", "katz"]),
        ],
    )


@pytest.mark.parametrize("query", ["Wer war Ludwig", "Ludwig und", "Was hat die Ludwig gesagt"])
def test_what_may_be_a_stop_word_weighs_less(query: str) -> None:
    weights = {word.text: word.weight for word in words(query)}
    rest = {text: weight for text, weight in weights.items() if text not in ("ludwig", "gesagt")}
    assert weights["ludwig"] == 1.0
    assert rest
    assert max(rest.values()) < 0.5


# --- time ---


def work_of(hostile: Callable[[int], str]) -> Callable[[int], Callable[[], object]]:
    def work(size: int) -> Callable[[], object]:
        text = hostile(size)
        return lambda: (terms(text), words(text))

    return work


def test_time_is_linear_in_a_word_of_many_parts() -> None:
    assert growth(work_of(lambda size: "'".join(f"a{at}b" for at in range(size))), 20) < LINEAR


@pytest.mark.long
@pytest.mark.parametrize(
    "hostile",
    [
        lambda size: "a" * size,
        lambda size: "a" + "\u0301\u0316" * size,
        lambda size: "a." * size,
        lambda size: "1." * size,
        lambda size: "aB" * size,
        lambda size: "ab'" * size,
        lambda size: "猫a" * size,
        lambda size: "แมว" * size,
        lambda size: " ".join(f"w{at}" for at in range(size)),
        lambda size: "_-" * size,
        lambda size: "in may " * size,
        lambda size: "c++#" * size,
    ],
)
def test_time_is_linear_in_the_text(hostile: Callable[[int], str]) -> None:
    assert growth(work_of(hostile), 80) < LINEAR


def test_a_word_of_many_parts_asks_for_each_part_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stemmed: Counter[str] = Counter()
    stem = stems.stem

    def count(word: str, tongue: str) -> str:
        stemmed[word] += 1
        return stem(word, tongue)

    monkeypatch.setattr("looseleaf.language.stems.stem", count)
    words("ab'" * 6000)
    assert stemmed["ab"] <= 2 * len(stopwords.latin_languages())
    stemmed.clear()
    parts = [
        f"{first}{second}{third}" for first in "bcdfghjk" for second in "aeiou" for third in "lmnprstvxz"
    ]
    words("_".join(parts))
    assert sum(count > 1 for count in stemmed.values()) <= 128 < len(stemmed)


# --- the set of many languages ---


def test_the_set_is_large_enough_to_mean_something() -> None:
    assert len(LINES) == len(set(LINES)) >= 120
    assert len(ASKED) == len(set(ASKED)) >= 240


def test_most_questions_share_a_term_with_their_answer() -> None:
    meeting = [bool(asked(query) & set(terms(line))) for query, line in ASKED]
    assert sum(meeting) >= 0.9 * len(meeting)


def threes(term: str) -> set[str]:
    return {term[at : at + 3] for at in range(len(term) - 2)}


def test_with_misspellings_and_compounds_every_answer_is_among_five() -> None:
    documents = {line: set(terms(line)) for line in LINES}
    vocabulary = Counter(term for found in documents.values() for term in found)
    sharing: dict[str, set[str]] = {}
    for term in vocabulary:
        for three in threes(term):
            sharing.setdefault(three, set()).add(term)

    def forms_of(word: Word) -> dict[str, float]:
        forms = dict(word.forms)
        known = any(term in vocabulary for term in forms)
        for term in [*forms]:
            near = sorted(set().union(*(sharing.get(three, ()) for three in threes(term))))
            for other, factor in [
                *typos.find_compounds(term, near),
                *([] if known else typos.find_misspelled(term, near)),
            ]:
                forms[other] = max(forms.get(other, 0.0), factor)
        return forms | ({} if known else dict(typos.join_pieces(word.text, vocabulary)))

    missed = []
    for query, answer in ASKED:
        scores: Counter[str] = Counter()
        for word in words(query):
            forms = forms_of(word)
            for line, found in documents.items():
                scores[line] += word.weight * max(
                    (
                        forms[term] * math.log(1 + len(LINES) / vocabulary[term])
                        for term in forms.keys() & found
                    ),
                    default=0.0,
                )
        better = sum(score >= scores[answer] for line, score in scores.items() if line != answer)
        if not scores[answer] or better >= 5:
            missed.append((query, answer))
    assert missed == []


def test_another_stemmer_is_another_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    before = stems.edition()
    monkeypatch.setattr("Stemmer.version", lambda: "another")
    assert stems.edition() != before
