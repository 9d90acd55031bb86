"""Words that count as the same: names of languages and kin in several languages, numbers, short forms, and spellings of
technical names. Evidence compares claims with the talk by them; identity knows the same names."""

from __future__ import annotations

import re

from looseleaf.language.aliases import aliases_of
from looseleaf.language.clauses import IS_WIDE
from looseleaf.language.relations import WHOSE
from looseleaf.language.tables import read_rows
from looseleaf.language.words import NUMBERS
from looseleaf.text.patterns import lazy, one_of

_TECHNICAL = aliases_of("technical")
SAME = {word: name for name, words in read_rows("same_words", "languages").items() for word in words} | {
    word: name for word, name in WHOSE.items() if " " not in word
}
SAME |= {word: name for name, words in read_rows("same_words", "kin").items() for word in words}
SAME |= {word: str(number) for word, number in NUMBERS.items()}
"""Names of languages and kin, in English; and numbers as digits."""
SPELT = {" ".join(other): "".join(first) for other, first in (_TECHNICAL | aliases_of("spellings")).items()}
SPELT |= {" ".join(first): "".join(first) for first in _TECHNICAL.values() if len(first) > 1}
SAME |= {other: first for other, first in SPELT.items() if other.isalnum() and first.isalnum()}
SAME |= {"nodejs": "node", "reactjs": "react", "vuejs": "vue", "nextjs": "next"}
"""Other spellings, as identity knows them: one value there is one word here."""
SEVERAL = lazy(
    rf"(?<!\w)(?:{'|'.join(sorted((re.escape(each) for each in SPELT if not each.isalnum()), key=len, reverse=True))})"
    r"(?!\w)"
)
KNOWN = frozenset((*SAME, *SAME.values()))
SAME_WIDE = lazy(one_of(word for word in SAME if IS_WIDE.match(word)))
