"""Values that have several names, and the words around a value that say nothing which its relation does not say.

Invariant: an alias is another name of the very same thing; what is merely alike or contained is none.
"""

from __future__ import annotations

from looseleaf.language.relations import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    Table = dict[tuple[str, ...], tuple[str, ...]]


def _table(text: str) -> Table:
    """From the words of each other name to the words of the first."""
    return {tuple(other.split()): tuple(first.split()) for other, first in rows(text).items()}


def _phrases(text: str) -> dict[str, frozenset[tuple[str, ...]]]:
    """The phrases of each relation, whose words are joined by `_`."""
    return {
        relation: frozenset(tuple(phrase.split("_")) for phrase in words)
        for relation, words in _words(text).items()
    }


def _words(text: str) -> dict[str, frozenset[str]]:
    """The words of each relation."""
    found = (row.partition(":") for row in text.strip().replace("\n    ", " ").splitlines())
    return {relation: frozenset(words.split()) for relation, _, words in found}


TECHNICAL = _table("""
wifi: wi fi
photography: taking photos | taking pictures | taking photographs
rock n roll: rock'n'roll | rock and roll | rock 'n' roll | rock & roll
ice cream: icecream
postgresql: postgres | postgre sql | pgsql | psql
javascript: js | java script | ecmascript
typescript: ts | type script
python: py | cpython
python 3: python3 | py3
golang: go lang | go language
kubernetes: k8s
vs code: vscode | visual studio code | vs-code
nodejs: node.js | node js
nextjs: next.js | next js
vuejs: vue.js | vue js
react: react.js | reactjs | react js
mongodb: mongo | mongo db
c++: cpp | c plus plus
c#: csharp | c sharp
github: git hub | github.com
gitlab: git lab
aws: amazon web services | amazon aws
gcp: google cloud | google cloud platform
azure: microsoft azure | ms azure
macos: mac os | os x | osx | mac os x
windows: ms windows | microsoft windows
emacs: gnu emacs
intellij: intellij idea
mysql: my sql
sqlite: sqlite3 | sq lite
mit: mit license
apache 2.0: apache license 2.0 | apache 2 | apache license version 2.0 | apache-2.0 | apache license 2
gpl 3: gplv3 | gnu gpl v 3 | gnu gpl 3 | gpl v3 | gpl-3.0 | gpl 3.0
pytest: py.test | py test
ml: machine learning
ai: artificial intelligence
ci: continuous integration
ui: user interface
os: operating system
api: apis
dark mode: dark theme | night mode | darkmode | dark colour scheme
light mode: light theme
pull request: pr | prs | pull requests
docs: documentation
config: configuration
repo: repository | repositories | repos
db: database
app: application
info: information
bullet: bullet point | bullet points | bullets | bulleted list | bullet list
emoji: emojis | emoticon | emoticons
phd: ph.d | doctorate
msc: m.sc | master of science | masters of science
bsc: b.sc | bachelor of science
ma: m.a | master of arts
ba: b.a | bachelor of arts
mba: m.b.a
cto: chief technology officer | chief technical officer
ceo: chief executive officer
cfo: chief financial officer
qa: quality assurance
hr: human resources
frontend: front end | front-end
backend: back end | back-end
fullstack: full stack | full-stack
freelance: free lance
vegetarian: veggie | veg
gluten free: glutenfree | gluten-free diet
science fiction: sci fi | sci-fi | scifi
board game: boardgame | boardgames | board games
video game: videogame | videogames | video games
type 1 diabetes: type i diabetes | diabetes type 1 | t1d
type 2 diabetes: type ii diabetes | diabetes type 2 | t2d
adhd: attention deficit hyperactivity disorder | attention-deficit disorder
car: automobile
university: uni
email: e mail
""")

NARROW = _table("""
golang: go
nodejs: node
vuejs: vue
postgresql: pg
kubernetes: kube
rust: rust lang | rustlang
""")
"""Names that are other words elsewhere: only where tools and languages stand."""

PLACES = _table("""
saint: st
new york: new york city | nyc | n.y.c | new york ny | new york usa | new york united states | new york new york
san francisco: sf | san francisco ca | san francisco california | san fran | san francisco usa
los angeles: la | l.a | los angeles california | los angeles ca | los angeles usa
washington dc: washington d.c | dc | d.c
seattle: seattle washington | seattle wa | seattle usa
chicago: chicago illinois | chicago il | chicago usa
boston: boston massachusetts | boston ma | boston usa
austin: austin texas | austin tx
united states: usa | us | u.s | u.s.a | united states of america | america | 美国 | états-unis
united kingdom: uk | u.k | great britain | 英国
germany: deutschland | 德国 | allemagne | alemania | ドイツ
china: 中国 | 中國
japan: 日本
france: 法国 | frankreich | francia
spain: españa | spanien | espagne | 西班牙
netherlands: holland | the netherlands
london: london uk | london united kingdom | london england | 伦敦 | 倫敦 | londres | ロンドン
paris: paris france | 巴黎 | パリ
berlin: berlin germany | berlin deutschland | 柏林 | ベルリン
munich: munich germany | münchen | munchen | munich bavaria | 慕尼黑 | múnich
cologne: köln | koln | cologne germany
hamburg: hamburg germany | 汉堡
frankfurt: frankfurt am main | frankfurt germany
vienna: vienna austria | wien | 维也纳
zurich: zurich switzerland | zürich | 苏黎世
geneva: geneva switzerland | genf | genève | geneve | 日内瓦
lyon: lyon france | lyons | 里昂
marseille: marseille france | marseilles
rome: rome italy | roma | 罗马
milan: milan italy | milano | 米兰
madrid: madrid spain | 马德里
barcelona: barcelona spain | 巴塞罗那
lisbon: lisbon portugal | lisboa | 里斯本
porto: porto portugal | oporto
amsterdam: amsterdam netherlands | 阿姆斯特丹
brussels: brussels belgium | bruxelles | brussel
copenhagen: copenhagen denmark | københavn | kobenhavn
stockholm: stockholm sweden
oslo: oslo norway
helsinki: helsinki finland
dublin: dublin ireland
edinburgh: edinburgh scotland | edinburgh uk
prague: prague czech republic | praha
warsaw: warsaw poland | warszawa
krakow: cracow | krakow poland
budapest: budapest hungary
athens: athens greece
istanbul: istanbul turkey
moscow: moscow russia
kyiv: kiev | kyiv ukraine
beijing: peking | beijing china | 北京 | 北京市
shanghai: shanghai china | 上海 | 上海市
shenzhen: shenzhen china | 深圳 | 深圳市
guangzhou: guangzhou china | 广州 | 广州市
hangzhou: hangzhou china | 杭州 | 杭州市
chengdu: chengdu china | 成都 | 成都市
hong kong: hongkong | hk | 香港
taipei: taipei taiwan | 台北 | 臺北 | 台北市
tokyo: tokyo japan | 東京 | 东京 | 東京都 | tokio
kyoto: kyoto japan | 京都
osaka: osaka japan | 大阪 | 大阪市
seoul: seoul south korea | seoul korea | 首尔 | 서울
singapore: 新加坡
bangalore: bengaluru | bangalore india | bengaluru india
mumbai: bombay | mumbai india
delhi: new delhi | delhi india
sydney: sydney australia | 悉尼
melbourne: melbourne australia | 墨尔本
toronto: toronto canada | toronto ontario | 多伦多
montreal: montreal canada | montréal | montreal quebec
vancouver: vancouver canada | vancouver bc | 温哥华
mexico city: cdmx | ciudad de mexico | mexico df
sao paulo: sao paulo brazil
rio de janeiro: rio
buenos aires: buenos aires argentina
cairo: cairo egypt
nairobi: nairobi kenya
cape town: cape town south africa | kapstadt
tel aviv: tel aviv israel
dubai: dubai uae
""")

LANGUAGES = _table("""
chinese: 中文 | 汉语 | 漢語 | chinesisch | chinois | chino | 中国語 | 华语 | zh | chinese language
mandarin: 普通话 | 国语 | mandarin chinese
cantonese: 粤语 | 广东话
english: 英文 | 英语 | 英語 | englisch | anglais | inglés | ingles | en | english language
german: 德语 | 德文 | deutsch | allemand | alemán | aleman | ドイツ語 | de
french: 法语 | 法文 | französisch | franzosisch | français | francais | francés | frances | フランス語 | fr
spanish: 西班牙语 | spanisch | espagnol | español | espanol | castellano | スペイン語 | es
japanese: 日语 | 日文 | 日本語 | japanisch | japonais | japonés | japones | ja
korean: 韩语 | 한국어 | koreanisch | coréen | coreen | 韓国語
russian: 俄语 | russisch | russe | ruso
italian: 意大利语 | italienisch | italien | italiano
portuguese: 葡萄牙语 | portugiesisch | portugais | portugués
talk: discussion | conversation | chat | answer | reply | response | discuss | communicate | respond | talking |
    communication | speak | 聊天 | 交流 | 讨论 | 回答 | answers | replies | conversations | discussions |
    responses | chatting | discussing | replying | answering
code: coding | 代码 | programming | 写代码 | 编码
comment: code comment | comments in code | 注释
""")

SPELLINGS = _table("""
developer: dev
repository: repo
application: app
environment: env
configuration: config | cfg
documentation: docs | doc
production: prod
development: devel
directory: dir
database: db
authentication: auth
administrator: admin
message: msg
package: pkg
information: info
specification: spec
version: ver
maximum: max
minimum: min
reference: ref
infrastructure: infra
monday: mon
tuesday: tue | tues
wednesday: wed
thursday: thu | thur | thurs
friday: fri
saturday: sat
sunday: sun
january: jan
february: feb
march: mar
april: apr
june: jun
july: jul
august: aug
september: sep | sept
october: oct
november: nov
december: dec
second: sec | secs
hour: hr | hrs
""")
"""Short forms that stand for one word wherever they are written."""

ROLES = _table("""
software engineer: swe | sde | software eng
software developer: software dev
developer: dev
vice president: vp
doctor: physician | medical doctor
lawyer: attorney
senior: sr
junior: jr
nurse: registered nurse
programmer: coder
""")

NEGATIONS = _table("""
not: don't | dont | doesn't | isn't | aren't | won't | didn't | wasn't | shouldn't | can't | cannot | does not |
    do not | is not | are not | no longer
""")

CHOICES = _table("""
over: rather than | instead of | more than | than | better than | in preference to | as opposed to | vs |
    versus | >
""")

MANNERS = _table("""
short: concise | brief | terse
answer: reply | replies | answers | response | responses
""")

RULES = _table("""
when: whenever | each time
not: never | do not | don't | dont | must not | mustn't | should not | shouldn't | not ever | no | does not |
    doesn't | avoid | refrain from | cannot | can't | may not | must never | should never | never ever |
    do not ever | don't ever | under no circumstances | 别 | 不要 | not allowed to
answer: reply | respond | replies | answers | responses | response
: always | please | you must | must | should | you should | make sure to | make sure you | make sure that you |
    be sure to | remember to | ensure that you | ensure to | i want you to | wants | at all times | every time |
    use | using | you | has to | have to | needs to | 总是 | 始终 | 请 | be
bullet: bullet point | bullet points | bullets | bulleted list
main: main branch | the main branch
commit message: commit messages | git commit message | git commit messages
ask: check with me | ask me | ask user | check with user | confirm with me | confirm with user | asking me |
    asking | confirming with me
""")

LEADS: dict[str, frozenset[tuple[str, ...]]] = _phrases("""
name: is called named my i'm i_am goes_by full_name_is name_is the_name_is just mr mrs ms dr prof mister 叫 我叫 是
home: lives live living in based at resides located is currently now moved_to relocated_to the_city_of from
hometown: comes_from grew_up_in originally is born raised_in from in
role: works_as work_as working_as employed_as is a an the currently i'm i_am now
employer: works_at work_at working_at works_for work_for working_for employed_by employed_at is currently at the
education: studied studies studying at in a an the has holds graduated_from went_to attended degree_in
birthday: is born on the
likes: likes loves enjoys enjoying adores liking i_like i_love i_enjoy is_fond_of fond_of is_into is a_big_fan_of
    big_fan_of a_fan_of fan_of keen_on to the really
dislikes: dislikes hates detests doesn't_like does_not_like don't_like do_not_like can't_stand cannot_stand
    not_fond_of is_not_fond_of isn't_fond_of not_a_fan_of is_not_a_fan_of isn't_a_fan_of i_hate i_dislike is to the
prefers: prefers prefer preferred would_rather preference_for is to
favourite: favourite favorite is
hobby: likes enjoys loves hobby_is is to doing plays playing practises practices practising practicing the
skill: can is good_at knows_how_to knows plays playing play skilled_in proficient_in experienced_with experienced_in
    able_to the a an has
trait: is a an the very has being tends_to
allergy: is allergic_to allergy_to has an a the
condition: has is suffers_from diagnosed_with been_diagnosed_with living_with with a an the
owns: owns own has have a an the drives bought got
uses: uses use using a an the is works_with working_with
works on: working_on works_on work_on is building developing a an the project_called
speaks: speaks speak fluent_in fluent knows is
language: prefers prefer preferred is to use in language wants
diet: is a an eats on follows the
plan: plans plan planning to is going_to wants_to intends will the
goal: wants_to goal_is_to goal_is to aims_to aim_to hopes_to is the
appointment: has an a the appointment_with appointment_at appointment
deadline: is due on by the
decision: decided_to decided_on we will decision_is_to is going_to use using go_with chose choose the
partner: is married_to wife husband spouse partner girlfriend boyfriend fiance fiancee named called my the her his
manager: is reports_to boss manager named called my the
child: has a an is son daughter child kid baby named called my the
sibling: has a an is brother sister sibling twin older younger elder big little named called my the
parent: is mother father mom mum dad parent named called my the
friend: is best_friend close_friend good_friend friend named called my the a
colleague: is colleague coworker teammate named called my the a works_with
pet: has a an is named called my the pet
marital status: is currently
nationality: is a citizen_of
religion: is a the practising practicing
gender: is a identifies_as
database: uses use using is the we
programming language: uses use using is the written_in in we
framework: uses use using is the we
test runner: uses use using is the we
package manager: uses use using is the we
hosting: hosted_on hosted_at deployed_to deployed_on running_on runs_on on uses use using is the we
licence: is the under licensed_under licensed uses
branch: is the called named on
version: is the version release at on v
port: is the port on number runs_on listens_on
""")
"""What a value may begin with under its relation, and means the same without."""

TAILS: dict[str, frozenset[str]] = _words("""
skill: programming
age: years year old yo y.o of age
employer: inc ltd gmbh llc corp corporation co ag plc limited company incorporated
home: now currently
role: now currently by profession trade
allergy: allergy allergies
diet: diet food
speaks: language fluently
favourite: favourite favorite
database: database db
framework: framework
licence: license licence
branch: branch
hosting: hosting
programming language: language
likes: lot much
child: son daughter child kid
sibling: brother sister sibling
parent: mother father mom mum dad
partner: wife husband spouse partner girlfriend boyfriend
friend: friend
colleague: colleague coworker
manager: manager boss
""")
"""What it may end with."""

EASTERN_LEADS = (
    "我住在 住在 居住在 现居 我叫 名叫 叫 我喜欢 喜欢 喜歡 最喜欢 讨厌"
    " 不喜欢 我是 对 擅长 会说 正在 在 来自 使用 用 养了"
).split()

ANTONYMS: frozenset[frozenset[str]] = frozenset(
    frozenset(pair.split("/"))
    for pair in """
    aisle/window allow/forbid async/sync big/small brief/detailed brief/long casual/formal cold/hot
    concise/detailed concise/long concise/verbose dark/light detailed/short disable/enable double/single
    dynamic/static early/late evening/morning exclude/include first/last formal/informal hide/show hot/iced
    indoor/outdoor large/small less/more long/short loud/quiet lowercase/uppercase off/on office/remote
    savory/sweet short/verbose space/tab
    """.split()
)
"""Of two wishes that differ in nothing but these, the newer holds."""
