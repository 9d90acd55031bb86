"""Words that are the same word: names of languages and of kin in several languages, numbers, short forms, and other
spellings of technical names. Evidence holds claims against what was said by them; identity knows the same names."""

from __future__ import annotations

import re

from looseleaf.language.aliases import SPELLINGS, TECHNICAL
from looseleaf.language.clauses import IS_WIDE
from looseleaf.language.relations import WHOSE
from looseleaf.language.words import NUMBERS
from looseleaf.text.patterns import lazy, one_of

_TONGUES = """
english: englisch englische englischen anglais anglaise inglés inglesa 英语 英文 英語
german: deutsch deutsche deutschen allemand allemande alemán alemana 德语 德文 德語 ドイツ語
french: französisch französische français française francés francesa 法语 法文 法語 フランス語
spanish: spanisch spanische espagnol espagnole español española castellano 西班牙语 西班牙文 スペイン語
chinese: chinesisch chinesische chinois chinoise chino china 中文 汉语 漢語 中国語
japanese: japanisch japanische japonais japonaise japonés japonesa 日语 日文 日語 日本語
korean: koreanisch coréen coreano 韩语 韩文 韓語 韓国語
italian: italienisch italien italiano 意大利语 イタリア語
portuguese: portugiesisch portugais portugués 葡萄牙语 ポルトガル語
russian: russisch russe ruso 俄语 ロシア語
dutch: niederländisch néerlandais neerlandés holandés 荷兰语 オランダ語
mandarin: 普通话 国语
cantonese: kantonesisch cantonais cantonés 粤语 広東語
"""
_MORE_KIN = (
    "frau/partner ehefrau/partner ehemann/partner femme/partner mari/partner esposa/partner esposo/partner "
    "marido/partner mujer/partner 妻/partner 娘/daughter 息子/son 母/mother 父/father "
    "妹/sister 姉/sister 弟/brother 兄/brother 友達/friend 友人/friend 同僚/colleague"
)
SAME = {
    word: name
    for name, words in (line.split(":") for line in _TONGUES.strip().splitlines())
    for word in words.split()
} | {word: name for word, name in WHOSE.items() if " " not in word}
SAME |= dict(pair.split("/") for pair in _MORE_KIN.split())
SAME |= {word: str(number) for word, number in NUMBERS.items()}
"""Names of languages and of kin, in the one language in which relations are written; and numbers as digits."""
SPELT = {" ".join(other): "".join(first) for other, first in (TECHNICAL | SPELLINGS).items()}
SPELT |= {" ".join(first): "".join(first) for first in TECHNICAL.values() if len(first) > 1}
SAME |= {other: first for other, first in SPELT.items() if other.isalnum() and first.isalnum()}
SAME |= {"nodejs": "node", "reactjs": "react", "vuejs": "vue", "nextjs": "next"}
"""Other spellings, as identity knows them: what is one value there is one word here."""
SEVERAL = lazy(
    rf"(?<!\w)(?:{'|'.join(sorted((re.escape(each) for each in SPELT if not each.isalnum()), key=len, reverse=True))})"
    r"(?!\w)"
)
KNOWN = frozenset((*SAME, *SAME.values()))
SAME_WIDE = lazy(one_of(word for word in SAME if IS_WIDE.match(word)))
