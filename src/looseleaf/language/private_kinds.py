"""Private kinds: whether a sentence tells of a person's health, family, address or money.

Such lines do not belong in a folder that others read. A sentence is private if it has a word of one of these kinds and
speaks of a person: of the writer, or of a relative. So a table of patients, or the price of a server, is not private.
Words are beginnings of words; in Chinese, Japanese and Korean they may stand anywhere.
"""

from __future__ import annotations

import re
from functools import cache

KINDS = ("health", "family", "address", "money")

_SELF = (
    "i i'm i've i'd i'll im my mine me myself user user's "
    "ich mein meine meinem meinen meiner meines mir mich "
    "je j'ai j'habite j'étais j'suis mon ma mes moi m'a "
    "yo mi mis me soy tengo vivo gano debo estoy "
    "eu meu minha meus minhas tenho moro ganho devo estou "
    "io mio mia miei mie ho abito vivo guadagno sono "
    "ik mijn mij ben woon verdien heb"
)
"""Words by which the writer is named, whole; a model says "the user"."""

_SELF_ANYWHERE = "我 俺 私 僕 わたし うちの 나는 내가 제가 저는 나의 제 내 우리"

_HEALTH = (
    "asthma allerg diabet cancer tumor tumour chemo insulin antidepress depress anxiety bipolar adhd autis migraine "
    "epilep surger pregnan miscarr diagnos medicat prescri therapist therapy psychiat hospital illness disease chronic "
    "arthritis hiv addict alcoholi rehab blood-pressure sick vaccin dentist doctor disab "
    "krank krankheit krebs zucker herz operat schwanger fehlgeburt medikament tablette rezept therap psychi depressi "
    "angststör migräne klinik arzt ärzt zahnarzt behinder sucht impfung "
    "malade maladie cancer asthme enceinte grossesse fausse-couche opér chirurg médicament ordonnance thérap dépress "
    "angoisse hôpital médecin dentiste handicap addict vaccin "
    "enferm cáncer embaraz aborto operaci cirug medicament pastilla receta terapia depresi ansiedad hospital médico "
    "dentista discapac adicci vacuna alergi "
    "doente doença câncer cancro grávid gravidez cirurgi remédio receita terapia depress ansiedade "
    "malat malattia cancro tumore incinta gravidanza aborto operazi chirurg farmac ricetta terapia depress ansia "
    "ospedale medico disabil dipenden vaccin "
    "ziek ziekte kanker zwanger miskraam operatie medicijn recept depressie ziekenhuis arts tandarts verslaaf"
)
_HEALTH_ANYWHERE = (
    "病 癌 手術 手术 妊娠 怀孕 流产 抑郁 鬱 うつ 糖尿 喘息 哮喘 过敏 アレルギー 薬を 吃药 住院 入院 "
    "确诊 診断 诊断 治疗 治療 "
    "임신 우울 암에 암을 수술 당뇨 천식 알레르기 입원 진단 복용 유산 정신과"
)
_FAMILY = (
    "wife husband spouse girlfriend boyfriend fiancé fiancée fiance fiancee daughter son sons stepson kid kids child "
    "children baby mother mum mom father dad brother sister sibling parents grandma grandmother grandpa grandfather "
    "uncle aunt niece nephew cousin divorce divorced custody married "
    "ehefrau ehemann frau mann freundin tochter sohn kind kinder baby mutter vater mama papa bruder schwester eltern "
    "oma opa großmutter großvater tante onkel nichte neffe cousin cousine geschieden scheidung verheiratet "
    "femme mari épouse époux copine copain fille fils enfant enfants bébé mère père maman frère soeur sœur parents "
    "grand-mère grand-père oncle tante nièce neveu cousin cousine divorce divorcé divorcée marié mariée "
    "esposa esposo marido novia novio hija hijo hijos hijas bebé madre padre mamá papá hermano hermana padres abuela "
    "abuelo tía tío sobrina sobrino prima primo divorcio divorciado divorciada casado casada "
    "mulher namorada namorado filha filho filhos mãe pai irmão irmã pais avó avô tia tio sobrinha sobrinho divórcio "
    "moglie marito fidanzata fidanzato figlia figlio figli bambino bambina bambini mamma fratello sorella genitori "
    "nonna nonno zia zio nipote cugina cugino divorzio divorziato divorziata sposato sposata "
    "vrouw echtgenoot vriendin dochter zoon kind kinderen moeder vader broer zus ouders oma opa tante oom nicht neef "
    "gescheiden scheiding getrouwd"
)
"""Whole words: beginnings of them begin too much else (`son`, `mann`)."""
_FAMILY_ANYWHERE = (
    "妻子 老婆 丈夫 老公 女儿 女兒 儿子 兒子 孩子 妈妈 媽媽 爸爸 父母 母亲 父亲 哥哥 弟弟 姐姐 妹妹 "
    "离婚 結婚 结婚 女朋友 男朋友 "
    "妻は 妻が 夫は 夫が 娘 息子 子ども 子供 母は 父は 母が 父が 両親 兄は 弟 姉 妹 離婚 彼女 彼氏 "
    "아내 남편 딸이 딸은 아들 아이가 엄마 아빠 어머니 아버지 부모 누나 언니 오빠 여동생 남동생 이혼 여자친구 남자친구"
)
_ADDRESS = (
    "address street zip postcode apartment "
    "adresse anschrift straße strasse hausnummer postleitzahl wohne "
    "habite rue domicile "
    "dirección calle domicilio vivo "
    "endereço rua morada moro "
    "indirizzo abito "
    "adres straat woon "
)
_ADDRESS_AS_SAID = (
    r"\blive (?:at|in|on)\b|\bmoved (?:to|into)\b|\bhome address\b|\blives? at\b|\bvis à\b|"
    r"\bwohnen? (?:in|am|bei)\b"
)
_ADDRESS_ANYWHERE = "住在 地址 家在 住所 住んで 自宅 살고 주소 거주"
_MONEY = (
    "salary salaries wage income earn mortgage debt loan bankrup savings pension overdraft iban "
    "gehalt lohn verdien einkommen schulden kredit hypothek insolven rente erspar kontostand "
    "salaire revenu gagne dette dettes emprunt hypothèque faillite retraite épargne "
    "sueldo salario nómina gano ingresos deuda deudas préstamo hipoteca bancarrota ahorros pensión "
    "salário ganho renda dívida dívidas empréstimo poupança aposentadoria "
    "stipendio guadagno reddito debito debiti prestito mutuo fallimento risparmi pensione "
    "salaris loon inkomen schuld schulden lening hypotheek spaargeld pensioen"
)
_MONEY_ANYWHERE = (
    "工资 薪水 薪资 收入 债 贷款 存款 房贷 給料 年収 月収 借金 住宅ローン 貯金 월급 연봉 대출 빚 적금 소득"
)

_LABELS = {
    "health": "allergy condition diet health medication",
    "family": "child sibling parent partner family spouse",
    "address": "address home phone",
    "money": "salary income debt",
}
"""Labels of facts that are private whatever they say: `Marital status` too, as its words are."""


@cache
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    whole = {"family": True}
    started = {"health": _HEALTH, "family": _FAMILY, "address": _ADDRESS, "money": _MONEY}
    anywhere = {
        "health": _HEALTH_ANYWHERE,
        "family": _FAMILY_ANYWHERE,
        "address": _ADDRESS_ANYWHERE,
        "money": _MONEY_ANYWHERE,
    }
    self_words = "|".join(map(re.escape, sorted(set(_SELF.split()), key=len, reverse=True)))
    speaks = re.compile(rf"(?<![\w'])(?:{self_words})(?![\w])|{'|'.join(_SELF_ANYWHERE.split())}")
    found: dict[str, re.Pattern[str]] = {}
    for kind in KINDS:
        words = "|".join(map(re.escape, sorted(set(started[kind].split()), key=len, reverse=True)))
        end = r"(?!\w)" if kind in whole else ""
        more = f"|{_ADDRESS_AS_SAID}" if kind == "address" else ""
        cjk = "|".join(anywhere[kind].split())
        found[kind] = re.compile(rf"(?<!\w)(?:{words}){end}{more}|{cjk}")
    return speaks, found


def speaks_of_self(text: str) -> bool:
    """True if a sentence names its writer: "I", "my"."""
    return bool(_patterns()[0].search(_fold(text)))


def private_kinds(text: str, relation: str = "") -> frozenset[str]:
    """Return the private kinds of a sentence. `relation`: the label of the fact that it tells, if it is a fact of a
    person."""
    label = relation.casefold()
    labelled = {kind for kind, labels in _LABELS.items() if label in labels.split()}
    small = _fold(text)
    found = {kind for kind, words in _patterns()[1].items() if words.search(small)}
    if found and not labelled and not speaks_of_self(text):
        return frozenset()  # trees have parents and children too, and tables have salaries
    return frozenset(found | labelled)


def _fold(text: str) -> str:
    return text.casefold().replace("’", "'")
