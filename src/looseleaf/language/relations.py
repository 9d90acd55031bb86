"""The relations that have a name of their own: how a page writes them, whether they hold one value or many.

A relation that is not in this table is a label like any other: it is told apart by its words, and holds one value.
What the words of people and distillers call a relation ("I'm", "full name", "姓名") is normalised to the label here by
`facts/identity.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from looseleaf.base.immutable import frozen
from looseleaf.language.words import american, fold, plain, singular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from looseleaf.base.values import Kind


# What people and distillers call the relations of `language/relations.py`, in several languages.


def rows(text: str) -> dict[str, str]:
    """From each name to the label of its row: `Label: name | name | …`, which goes on in lines that are indented."""
    names: dict[str, str] = {}
    for row in text.strip().replace("\n    ", " ").splitlines():
        label, _, others = row.partition(":")
        names.update({name.strip().casefold(): label for name in others.split("|")})
    return names


_LABELS = """
Name: name is | preferred form of address | address as | full name | user name | user's name | real name |
    preferred name | called | call me | is called | goes by | 姓名 | 名字 | 全名 | 叫 | 称呼 | 名前 | 氏名 |
    vollständiger name | heißt | nom | nom complet | nombre | nombre completo | se llama | s'appelle
Pronouns: pronoun | preferred pronoun | gender pronoun | uses pronoun | 代词 | 代詞 | 代名詞 | pronomen |
    pronom | pronombre
Age: years old | how old | 年龄 | 年齡 | 年齢 | alter | âge | edad
Birthday: birth date | birthdate | date of birth | dob | born | born on | day of birth | 生日 | 出生日期 |
    誕生日 | 生年月日 | geburtstag | geburtsdatum | date de naissance | anniversaire | fecha de nacimiento |
    cumpleaños
Gender: sex | gender identity | 性别 | 性別 | geschlecht | sexe | género | sexo
Nationality: citizenship | citizen of | 国籍 | 國籍 | nationalität | staatsangehörigkeit | nationalité |
    nacionalidad
Home: 所在城市 | town | current residence | lives now in | lives in | live in | living in | lives | city |
    current city | current location | location | residence | place of residence | resides in | based in |
    is based in | located in | where they live | moved to | has moved to | relocated to | 居住地 | 住在 | 城市 |
    所在地 | 现居地 | 現居地 | 住所地 | 居住 | 住まい | wohnort | wohnt in | lebt in | stadt | ville |
    habite à | vit à | lieu de résidence | domicile | ciudad | vive en | residencia | lugar de residencia
Hometown: home town | comes from | grew up in | originally from | is from | origin | 家乡 | 家鄉 | 老家 | 籍贯 |
    故郷 | 出身 | 出身地 | heimatstadt | heimatort | kommt aus | ville d'origine | vient de | ciudad natal |
    es de
Address: 住址 | lives at | home address | postal address | street address | mailing address | 地址 | 家庭住址 |
    住所 | adresse | anschrift | dirección
Time zone: local time | timezone | tz | local time zone | 时区 | 時區 | タイムゾーン | zeitzone |
    fuseau horaire | zona horaria
Role: job role | current position | 職種 | is employed as | job | job title | profession | occupation |
    works as | work as | working as | current role | current job | career | 职业 | 職業 | 职位 | 職位 | 工作 |
    岗位 | 仕事 | 役職 | beruf | arbeitet als | tätigkeit | métier | poste | travaille comme | profesión |
    ocupación | trabajo | trabaja como | puesto
Employer: employer name | works in company | company | works at | works for | work at | work for | working at |
    working for | workplace | employed by | employed at | current employer | current company | place of work |
    organisation | organization | 公司 | 雇主 | 单位 | 單位 | 工作单位 | 就职于 | 会社 | 勤務先 | 勤め先 |
    arbeitgeber | firma | arbeitet bei | entreprise | employeur | travaille chez | empresa | empleador |
    trabaja en | compañía
Education: studied in | 毕业于 | education level | educational background | school | university | college |
    alma mater | studied | studies | studies at | studied at | graduated from | 教育 | 学历 | 學歷 | 学校 |
    大学 | 大學 | 毕业院校 | 学歴 | ausbildung | bildung | studium | universität | hochschule | études |
    université | educación | estudios | universidad | formación
Email: 电子邮箱 | contact email | mailbox | e-mail | mail | email address | e-mail address | mail address |
    邮箱 | 郵箱 | 电子邮件 | 電子郵件 | メール | メールアドレス | e-mail-adresse | courriel | adresse e-mail |
    correo | correo electrónico
Phone: 手机号码 | cellphone | phone no | contact number | phone number | telephone | telephone number | mobile |
    mobile number | mobile phone | cell | cell phone | cell number | tel | 电话 | 電話 | 电话号码 | 手机 |
    手机号 | 電話番号 | telefon | telefonnummer | handynummer | téléphone | numéro de téléphone | teléfono
Marital status: married | marriage status | relationship status | civil status | family status | 婚姻状况 |
    婚姻狀況 | familienstand | état civil | situation familiale | estado civil
Partner: spouse | wife | husband | girlfriend | boyfriend | fiancé | fiancée | fiance | fiancee | married to |
    significant other | life partner | 配偶 | 伴侣 | 妻子 | 丈夫 | 老婆 | 老公 | 女朋友 | 男朋友 | 配偶者 | 妻 |
    夫 | ehefrau | ehemann | partnerin | ehepartner | femme | mari | conjoint | conjointe | épouse | époux |
    esposa | esposo | marido | pareja
Manager: boss | supervisor | line manager | reports to | team lead | 上司 | 经理 | 經理 | 老板 | 领导 |
    vorgesetzter | vorgesetzte | chefin | supérieur | jefe | jefa
Religion: faith | religious belief | 宗教 | 信仰 | glaube | konfession | foi | religión
Child: kid | son | daughter | child's name | 孩子 | 儿子 | 女儿 | 兒子 | 女兒 | 子供 | 子ども | 息子 | 娘 |
    sohn | tochter | enfant | fils | hijo | hija
Sibling: brother | sister | 兄弟 | 姐妹 | 兄弟姐妹 | 哥哥 | 弟弟 | 姐姐 | 妹妹 | 兄弟姉妹 | geschwister |
    bruder | schwester | frère | sœur | soeur | hermano | hermana
Parent: mother | father | mom | mum | dad | 父母 | 母亲 | 父亲 | 妈妈 | 爸爸 | 両親 | 母 | 父 | eltern |
    mutter | vater | mère | père | madre | padre
Pet: dog | cat | has a pet | 宠物 | 寵物 | ペット | haustier | animal de compagnie | mascota
Friend: best friend | close friend | 朋友 | 友人 | 友達 | freund | freundin | ami | amie | amigo | amiga
Colleague: coworker | co-worker | teammate | team mate | works with | 同事 | 同僚 | kollege | kollegin |
    collègue | colega | compañero de trabajo
Speaks: languages | can speak | language known | spoken language | language spoken | speaks language | native language |
    mother tongue | first language | knows language | 会说 | 会说的语言 | 母语 | 語学 | 話せる言語 | spricht |
    sprachkenntnisse | langue parlée | parle | idioma hablado | habla
Language: 偏好语言 | interface language | talks in | preferred language | language preference |
    response language | reply language | answer language | working language | conversation language |
    communication language | chat language | 语言 | 語言 | 语言偏好 | 言語 | 使用言語 | sprache |
    bevorzugte sprache | langue | langue préférée | idioma | lengua | idioma preferido
Diet: food preference | eating style | diet type | dietary preference | dietary restriction |
    dietary requirement | eating habit | eats | 饮食 | 飲食 | 饮食习惯 | 食事 | ernährung | ernährungsweise |
    régime | régime alimentaire | dieta
Likes: is keen on | keen on | 喜好 | like | love | loves | enjoy | enjoys | fond of | is fond of | is into |
    fan of | is a fan of | 喜欢 | 喜歡 | 爱好的 | 好き | 好きなもの | mag | liebt | aime | adore | le gusta |
    les gusta | gusta
Dislikes: dislike | hate | hates | does not like | doesn't like | do not like | don't like | can't stand |
    cannot stand | doesn't enjoy | not fond of | 讨厌 | 不喜欢 | 不喜歡 | 嫌い | 嫌いなもの | mag nicht |
    hasst | n'aime pas | déteste | no le gusta | odia
Prefers: prefer | preference | preferred | would rather | 偏好 | 更喜欢 | 好み | bevorzugt | vorliebe |
    préfère | préférence | prefiere | preferencia
Favourite: favorite | favourite thing | fave | 最喜欢 | 最爱 | お気に入り | liebling | préféré | favori |
    favorito | favorita
Trait: tendency | personal trait | personality | personality trait | characteristic | habit | 特点 | 性格 |
    特征 | 習慣 | 习惯 | eigenschaft | charakter | caractère | trait de caractère | rasgo | carácter
Skill: skilled in | is skilled in | competence | proficiency | ability | expertise | knows | knows how to |
    good at | is good at | proficient in | experienced in | experience with | 技能 | 擅长 | スキル | 特技 |
    fähigkeit | kann | kenntnis | compétence | sait | habilidad | sabe
Hobby: interest | interested in | is interested in | pastime | free time activity | leisure | 爱好 | 愛好 |
    兴趣 | 業余爱好 | 兴趣爱好 | 趣味 | freizeit | loisir | passe-temps | afición | pasatiempo
Allergy: allergen | has an allergy to | allergic to | is allergic to | food allergy | 过敏 | 過敏 | アレルギー |
    allergie | allergisch gegen | allergique à | alergia | alérgico a | alérgica a
Condition: disability | ailment | health condition | medical condition | health | health issue | diagnosis |
    diagnosed with | illness | disease | suffers from | 健康状况 | 疾病 | 病史 | 持病 | 健康状態 | krankheit |
    gesundheit | erkrankung | maladie | santé | enfermedad | salud | condición médica
Owns: vehicle | belonging | own | has | possesses | possession | drives | 拥有 | 有 | 持っている | 所有 |
    besitzt | possède | tiene | posee
Uses: software | gear | equipment | use | using | tool | tooling | device | tech stack | stack | 使用 |
    用 | 工具 | 使っている | ツール | benutzt | verwendet | nutzt | werkzeug | utilise | outil | utiliza |
    herramienta
Works on: working on | work on | current project | is working on | is building | 正在做 | 正在开发 | 项目 |
    取り組んでいる | arbeitet an | travaille sur | trabaja en el proyecto | proyecto
Rule: standing rule | house rule | working rule | instruction | standing instruction | constraint | guideline |
    convention | requirement | 规则 | 規則 | 要求 | 约定 | ルール | 規約 | regel | anweisung | règle |
    consigne | regla | instrucción
Plan: intention | plan to | plans | planned | planning | plans to | planning to | intends to | going to | 计划 |
    計劃 | 予定 | 計画 | prévoit | projet | planea
Goal: goal is | aims to | wants | aim | objective | wants to | 目标 | 目標 | ziel | objectif | objetivo
Appointment: meeting | has an appointment | 预约 | 預約 | 约会 | 予約 | termin | rendez-vous | cita
Deadline: due | due date | due by | due on | 截止日期 | 期限 | 截止 | 締切 | 締め切り | frist | abgabetermin |
    échéance | date limite | plazo | fecha límite
Event: happened | what happened | life event | 事件 | 经历 | 出来事 | ereignis | événement | evento
Decision: choice | agreed | we agreed | decided | decided to | we decided | 决定 | 決定 | entscheidung |
    décision | decisión
Database: db engine | database system | db | data base | database engine | 数据库 | 資料庫 | データベース |
    datenbank | base de données | base de datos
Programming language: main language | codebase language | implemented in | coding language |
    implementation language | written in | language of the code | 编程语言 |
    プログラミング言語 | programmiersprache | langage | langage de programmation | lenguaje |
    lenguaje de programación
Framework: built with | web framework | ui framework | 框架 | フレームワーク
Test runner: test suite runner | tests run with | testing tool | test framework | testing framework |
    test tool | 测试框架 | テストランナー | testframework
Package manager: package tool | package management | dependency manager | 包管理器 | パッケージマネージャー |
    paketmanager | gestionnaire de paquet
Hosting: deploys to | deploy target | deployment target | runs on | hosted | hosted on | hosted at |
    hosting provider | deployed on | deployed to | deployment | cloud | cloud provider | 托管 | 部署 |
    ホスティング
Licence: license | licensed under | software license | 许可证 | 許可證 | ライセンス | lizenz | licencia
Repository: repo | git repository | git repo | source repository | code repository | 仓库 | 代码仓库 |
    リポジトリ | dépôt | repositorio
Branch: current branch | working branch | git branch | main branch | default branch | 分支 | ブランチ | zweig |
    branche | rama
Version: latest version | version number | current version | 版本 | 版本号 | バージョン | versión
Port: default port | listening port | port number | listens on port | server port | 端口 | ポート | puerto
Answers: answer style | answer length | reply style | response style | response length | 回答风格 | 回答の長さ |
    antwortstil | style de réponse | estilo de respuesta
Code language: language of code | language of comment | comment language | 代码注释语言 | kommentarsprache
Project: project name | name of the project | project is called | app name | product name | 项目名称 |
    プロジェクト名 | projektname | nom du projet | nombre del proyecto
CI: ci system | ci server | ci provider | ci service | continuous integration | build server | 持续集成
Formatter: code formatter | formatting tool | format tool | 代码格式化 | フォーマッタ
Editor: text editor | code editor | ide | 编辑器 | エディタ | éditeur
Test command: command to test | command for test | tests are run with | 测试命令 | testbefehl
Build command: command to build | command for build | build step | 构建命令 | buildbefehl
Run command: command to run | start command | launch command | dev command | 启动命令 | startbefehl
Deploy command: command to deploy | deployment command | release command | 部署命令
Client: customer | main client | biggest client | 客户 | 客戶 | 顧客 | kunde
Release: release date | launch date | go-live date | ship date | 发布日期 | リリース日
note: remark | memo | 备注 | 備註 | 笔记 | メモ | notiz | nota
"""

SYNONYMS: dict[str, str] = rows(_LABELS)
SYNONYMS |= {label.casefold(): label for label in set(SYNONYMS.values())}

WHOSE: dict[str, str] = rows("""
partner: wife | husband | spouse | girlfriend | boyfriend | fiance | fiancee | 妻子 | 老婆 | 丈夫 | 老公 | 伴侣
mother: mom | mum | mommy | mummy | mama | 母亲 | 妈妈 | mutter | mère | madre
father: dad | daddy | papa | 父亲 | 爸爸 | vater | père | padre
manager: boss | supervisor | 老板 | 上司
colleague: coworker | co-worker | 同事
child: kid | 孩子
son: 儿子 | sohn | hijo | fils
daughter: 女儿 | tochter | hija | fille
sister: schwester | sœur | hermana
brother: bruder | frère | hermano
older sister: 姐姐 | elder sister | big sister
younger sister: 妹妹 | little sister
older brother: 哥哥 | elder brother | big brother
younger brother: 弟弟 | little brother
dog: 狗 | hund | chien | perro
cat: 猫 | katze | gato
friend: 朋友 | freund | amigo
grandmother: grandma | granny | nana | 奶奶
grandfather: grandpa | granddad | 爷爷
""")
"""Whose relation it is, in "<Whose>'s home"."""

ME = frozenset({"me", "myself", "i", "the user", "user", "my", "用户", "我"})
"""Topics that are the user."""


# What a question calls the relation it asks for: who asks where somebody lives means his home.

if TYPE_CHECKING:
    Names = dict[str, tuple[str, ...]]


_OWN, _ANOTHERS = "¶", "¶¶"
"""What such terms begin with: of the topic itself, and of somebody else ("Sister's home")."""

_LIKELY, _POSSIBLE = 0.8, 0.6
_LITTLE = frozenset(
    "a an and as at be by code current de for from goes has how in is la main me my now of on the their they to user "
    "we what where which with work works working name number no status".split()
)
"""Words of a name that do not tell which relation it is."""


def relation_term(relation: str) -> str:
    """The term of a fact's relation; "" for one that nobody calls otherwise."""

    whose, _, name = relation_name(relation).rpartition("'s ")
    label = SYNONYMS.get(name, "")
    return (_ANOTHERS if whose else _OWN) + _plain(label) if label else ""


def asked_relations(query: str, words: Iterable[str]) -> dict[str, tuple[tuple[str, float], ...]]:
    """Of the words of a question, those that name relations, each with the terms of these."""
    single, several, wide = _names()
    said = {word.casefold() for word in words}
    folded = query.casefold()
    found: dict[str, dict[str, float]] = {}
    for word in said:
        for label in single.get(word, ()):
            found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
        for rest, label in several.get(word, ()):
            if rest <= said:
                found.setdefault(word, {}).update({_OWN + label: _LIKELY, _ANOTHERS + label: _POSSIBLE})
    if not folded.isascii():
        for name, label in wide:
            if name in folded:
                for word in sorted(each for each in said if each in name or name in each)[:1]:
                    found.setdefault(word, {})[_OWN + label] = _LIKELY
    return {word: tuple(sorted(terms.items())) for word, terms in found.items()}


@lru_cache(maxsize=1)
def _names() -> tuple[Names, dict[str, list[tuple[frozenset[str], str]]], tuple[tuple[str, str], ...]]:
    """By a word: the relations that it names by itself, and with others; and names of scripts without spaces."""
    single: dict[str, list[str]] = {}
    several: dict[str, list[tuple[frozenset[str], str]]] = {}
    wide: list[tuple[str, str]] = []
    plain = {label: _plain(label) for label in set(SYNONYMS.values())}
    for name, label in SYNONYMS.items():
        term = plain[label]
        if name[0] >= "⺀":
            wide.append((name, term))
            continue
        telling = [word for word in name.split() if word not in _LITTLE]
        if len(telling) == 1:
            if term not in single.setdefault(telling[0], []):
                single[telling[0]].append(term)
        elif telling:
            several.setdefault(telling[0], []).append((frozenset(telling[1:]), term))
    return {word: tuple(terms) for word, terms in single.items()}, several, tuple(wide)


def _plain(label: str) -> str:
    return "".join(letter for letter in label.casefold() if letter.isalnum())


@frozen
class Relation:
    """`many`: it holds several values at once, so that a new one is added. `kind` is what it is unless told."""

    label: str
    kind: Kind
    many: bool = False


def _one(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind) for label in labels)


def _many(kind: Kind, *labels: str) -> tuple[Relation, ...]:
    return tuple(Relation(label, kind, many=True) for label in labels)


RELATIONS: tuple[Relation, ...] = (
    *_one("identity", "Name", "Pronouns", "Age", "Birthday", "Gender", "Nationality"),
    *_one("identity", "Home", "Hometown", "Address", "Time zone"),
    *_one("identity", "Role", "Employer", "Education", "Email", "Phone"),
    *_one("identity", "Marital status", "Partner", "Manager", "Religion"),
    *_many("identity", "Child", "Sibling", "Parent", "Pet", "Friend", "Colleague", "Speaks"),
    *_one("preference", "Language", "Code language", "Diet"),
    *_one("constraint", "Answers"),
    *_many("preference", "Likes", "Dislikes", "Prefers", "Favourite"),
    *_many("trait", "Trait", "Skill", "Hobby", "Allergy", "Condition", "Owns", "Uses", "Works on"),
    *_many("constraint", "Rule"),
    *_many("commitment", "Plan", "Goal", "Appointment"),
    *_one("commitment", "Deadline"),
    *_many("event", "Event"),
    *_many("decision", "Decision"),
    *_one("decision", "Database", "Programming language", "Framework", "Test runner", "Package manager"),
    *_one("decision", "Hosting", "Licence", "Repository", "Branch", "Version", "Port"),
    *_one("decision", "Project", "CI", "Formatter", "Editor"),
    *_one("decision", "Test command", "Build command", "Run command", "Deploy command"),
    *_many("identity", "Client"),
    *_one("commitment", "Release"),
    *_many("trait", "note"),
)

BY_LABEL: dict[str, Relation] = {relation.label.casefold(): relation for relation in RELATIONS}

SALIENCE: dict[Kind, float] = {
    "constraint": 0.95,
    "identity": 0.9,
    "commitment": 0.85,
    "preference": 0.8,
    "decision": 0.8,
    "trait": 0.6,
    "event": 0.5,
}
"""How much a fact of a kind matters, where nothing better is known: what one must obey most, what happened least."""

OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}
"""Saying the one of a thing ends the other."""


# The address of a fact: its topic and its relation, each in one form whatever they were called.

_WHOSE = r"(?<=\w)'s (?=\S)|(?<=s)' (?=\S)"
_OF = r"([^']{1,40}?) of (?:my|the user's) (.+)"
_CHINESE_WHOSE = r"(?:我的?)?([一-鿿]{1,4})的([一-鿿]{1,8})"
_FAVOURITE = r"(?:my )?(?:favou?rite|preferred fave|fave) (.+)|最喜欢的(.+)"
_LEAD = r"(?:(?:the|my|a|an|user|user's|current|is|has|their|his|her) )+(?=\S)"
_MINE = r"^(?:(?:the )?user's |my (?=\S+$))"
_OWNED = r"^(?:my|the|our|das|die|der|mein|meine|ma|mon|mi) (?=\S)"
_MARKS = r"[\s_/:*`\"]+"


@lru_cache(2048)
def relation_of(label: str) -> Relation:
    """The relation that a label names. An unknown one is a trait with one value, under the label as written."""
    name = _name(label)
    if name.startswith("favorite "):
        return Relation(label.strip(), "preference")
    whose, relation = _halves(name)
    known = BY_LABEL.get(relation)
    if not whose:
        return known or Relation(label.strip(), "trait")
    written = name[0].upper() + name[1:]
    return Relation(written, known.kind, many=known.many) if known else Relation(written, "trait")


@lru_cache(2048)
def slot(topic: str, relation: str) -> str:
    """Where a fact lives: `user/home`, `user/sister's home`, `project/database`."""
    return f"{topic_of(topic)}/{_name(relation)}"


def topic_of(topic: str) -> str:
    name = fold(topic)
    return "user" if name in ME else re.sub(r"[\s_]+", "-", name)


def relation_name(label: str) -> str:
    """The label in its one form, in lower case: `home`, `sister's home`, `favorite color`."""
    return _name(label)


def _halves(name: str) -> tuple[str, str]:
    whose, found, relation = name.rpartition("'s ")
    return (whose, relation) if found else ("", name)


@lru_cache(2048)
def _name(label: str) -> str:
    name = re.sub(_MARKS, " ", fold(label)).strip(" -.?!")
    name = re.sub(_MINE, "", name)
    if name in SYNONYMS:
        return SYNONYMS[name].casefold()
    favourite = re.fullmatch(_FAVOURITE, name)
    if favourite is not None:
        thing = _single(favourite[1] or favourite[2])
        return "favorite " + thing if thing != "thing" else "favourite"
    owners = re.split(_WHOSE, name)
    if len(owners) > 1:
        return "'s ".join([*(_owner(owner) for owner in owners[:-1]), _known(owners[-1])])
    owned = re.fullmatch(_OF, name)
    if owned is not None and _known(owned[1]) in BY_LABEL:
        return f"{_owner(owned[2])}'s {_known(owned[1])}"
    owned = re.fullmatch(_CHINESE_WHOSE, name) if "的" in name else None
    if owned is not None and owned[2] in SYNONYMS:
        return f"{_owner(owned[1])}'s {_known(owned[2])}"
    return _known(name)


def _known(name: str) -> str:
    """The canonical name of a label without an owner, or its own words in one form."""
    bare = re.sub(_LEAD, "", name)
    every = " ".join(singular(word) for word in bare.split())
    for form in (name, bare, _single(name), _single(bare), every):
        if form in SYNONYMS:
            return SYNONYMS[form].casefold()
    return _single(name)


def _single(name: str) -> str:
    """Every word without accent and in one spelling, the last in the singular."""
    words = [american(plain(word)) for word in name.replace("-", " ").split()]
    return " ".join([*words[:-1], *(singular(word) for word in words[-1:])])


def _owner(name: str) -> str:
    name = re.sub(_OWNED, "", name)
    single = _single(name)
    return WHOSE.get(name) or WHOSE.get(single) or single
