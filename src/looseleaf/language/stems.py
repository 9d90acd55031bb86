"""A word as it is indexed: its language, its stem, its letters folded. `fold(fold(x)) == fold(x)`.

A script other than Latin tells the language by itself; among Latin ones the stop words of a text, then its letters and
its endings do. One stop word is not enough, since it may be an English word or a name (car, war, Tom, Los Angeles). A
text that tells nothing is taken for English. The stemmer sees a word with its accents, and they are
folded afterwards, so that `Häuser` and `haus`, `préparé` and `prepare` meet.
"""

from __future__ import annotations

import re
import unicodedata
from collections import namedtuple
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


# Words that say next to nothing of what a text is about, by language: articles, pronouns, auxiliaries,
# question words.

LATIN: dict[str, str] = {
    "english": """
        a an the this that these those i me my myself we us our ours ourselves you your yours yourself yourselves
        he him his himself she her hers herself it its itself they them their theirs themselves one ones
        who whom whose which what when where why how whatever whichever whoever whenever wherever
        am is are was were be been being do does did doing done have has had having can could will would shall should
        may might must ought dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant cannot couldnt wont
        wouldnt shouldnt mustnt ain aint im ive id youre youve theyre theyve weve hes shes thats whats lets
        and or but nor so yet if then else because as until while although though unless whether than
        of at by for with about against between into through during before after above below to from up down in out on
        off over under again further onto upon within without toward towards per via among amongst
        here there all any both each few more most other others another some such no not only own same too very just
        also ever even still already quite rather really please ok okay oh yes hey hi hello thanks thank
        get got gets getting let like s t re ve ll d m n o
        something anything everything nothing someone anyone everyone nobody anybody somebody everybody
        much many lot lots bit now
        """,
    "german": """
        der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines
        ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner er ihn ihm
        sein seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres es wir uns unser unsere unseren
        unserem unserer euch euer eure man sich selbst dieser diese dieses diesen diesem jener jene jenes
        jeder jede jedes jeden jedem alle alles allen aller wer wen wem wessen was welche welcher welches welchen
        welchem wann wo wohin woher warum weshalb wieso wie wieviel womit wofür worüber wovon wozu woran
        bin bist ist sind seid war warst waren wart gewesen habe hast hat haben habt hatte hatten hattest gehabt
        werde wirst wird werden werdet wurde wurden worden kann kannst können könnt konnte konnten könnte muss musst
        müssen musste mussten soll sollst sollen sollte sollten will willst wollen wollte darf dürfen durfte mag möchte
        möchten würde würden wäre wären und oder aber denn sondern weil dass daß ob wenn als während bevor nachdem damit
        obwohl in im an am auf aus bei beim bis durch für gegen hinter mit nach neben ohne seit über um unter von vom
        vor zu zum zur zwischen nicht nur auch noch schon sehr so dann da dort hier hin her doch ja nein mal etwa
        etwas nichts immer wieder mehr viel viele bitte danke eigentlich gerade dazu davon dabei darauf daran
        """,
    "french": """
        le la les l un une des du de d au aux ce cet cette ces c ça cela ceci je j me m moi tu te t toi il elle on
        nous vous ils elles lui leur leurs eux se s soi mon ma mes ton ta tes son sa ses notre nos votre vos
        qui que qu quoi dont où quel quelle quels quelles lequel laquelle quand comment pourquoi combien
        suis es est sommes êtes sont étais était étions étaient être sera seront serait ai as a avons avez ont
        avais avait avaient eu avoir aura aurait fait faire fais font peux peut peuvent pouvez pouvait doit dois doivent
        veux veut voulez vais va vont et ou mais donc or ni car si comme parce puisque lorsque afin
        à dans en par pour avec sans sous sur chez vers entre depuis pendant avant après contre jusque jusqu y n ne
        pas plus moins très trop aussi encore déjà toujours jamais bien tout toute tous toutes même autre autres
        quelque quelques chaque ici là alors oui non merci rien
        """,
    "spanish": """
        el la los las lo un una unos unas de del al a y e o u ni que qué quien quién quienes cual cuál cuales cuáles
        cuando cuándo donde dónde como cómo cuanto cuánto cuantos cuántos cuanta cuánta por para con sin sobre entre
        desde hasta hacia según durante ante bajo contra tras en yo me mí mi mis tú te ti tu tus él ella ello se si sí
        su sus nosotros nosotras nos nuestro nuestra nuestros nuestras vosotros os vuestro ellos ellas le les usted
        ustedes este esta esto estos estas ese esa eso esos esas aquel aquella aquello soy eres es somos son era eras
        eran fue fui fueron ser sido siendo será estoy estás está estamos están estaba estaban estar estado estuvo he
        has ha hemos han había habían haber hay hubo tengo tiene tienen tenía puede puedo pueden podría debe deben
        pero porque pues aunque mientras no más menos muy mucho mucha muchos muchas poco también tampoco ya aún todavía
        siempre nunca todo toda todos todas otro otra otros otras mismo misma algo nada alguien cada aquí ahí allí
        entonces así gracias
        """,
    "portuguese": """
        o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para pra
        com sem sob sobre entre até desde ao aos à às e ou mas nem que quê quem qual quais quando onde aonde como
        quanto quantos quanta quantas porque porquê se eu me mim meu minha meus minhas tu te ti teu tua teus tuas
        ele ela eles elas você vocês lhe lhes seu sua seus suas nós nosso nossa nossos nossas este esta isto estes
        estas esse essa isso esses essas aquele aquela aquilo sou és é somos são era eram foi fui foram ser sido
        estou está estamos estão estava estavam estar esteve ter tem têm tenho temos tinha tinham teve há havia
        pode posso podem deve devem vou vai vão não mais menos muito muita muitos muitas pouco também já ainda
        sempre nunca tudo todo toda todos todas outro outra outros outras mesmo mesma algo nada alguém cada aqui
        ali lá então assim sim obrigado obrigada
        """,
    "italian": """
        il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo alla ai agli alle all da dal
        dallo dalla dai dagli dalle dall in nel nello nella nei negli nelle nell su sul sullo sulla sui sugli sulle
        sull con per tra fra e ed o oppure ma né che chi cui cosa quale quali quando dove come quanto quanta quanti
        quante perché se io me mi mio mia miei mie tu te ti tuo tua tuoi tue lui lei egli ella esso essa si sé suo sua
        suoi sue noi ci nostro nostra nostri nostre voi vi vostro vostra loro questo questa questi queste quello quella
        quelli quelle ciò sono sei è siamo siete era erano ero fu stato stata stati state essere sarà sarebbe ho hai ha
        abbiamo avete hanno aveva avevano avevo avuto avere può posso possono deve devo devono sto sta stanno
        non più meno molto molta molti molte poco anche ancora già sempre mai tutto tutta tutti tutte altro altra altri
        altre stesso stessa qualcosa niente nulla qualcuno ogni qui lì là allora così sì grazie c d n
        """,
    "dutch": """
        de het een der den des dit dat deze die ik me mij mijn jij je jou jouw u uw hij hem zijn zij ze haar wij
        we ons onze jullie hen hun zich zelf er hier daar wie wat welke welk wanneer waar waarom hoe hoeveel
        waarheen waarmee waarover ben bent is was waren geweest heb hebt heeft hebben had hadden gehad word wordt
        worden werd werden kan kunt kunnen kon konden moet moeten moest zal zult zullen zou zouden wil wilt willen
        wilde mag mogen en of maar want omdat dus als dan toen terwijl hoewel dat zodat in op aan uit bij met van
        voor naar tot door over om onder tegen tussen zonder sinds na te niet geen ook nog al wel heel zeer veel
        meer meest alle alles elk elke iets niets iemand niemand ander andere zo ja nee altijd weer toch eens
        """,
    "swedish": """
        den det de en ett denna detta dessa jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes
        vi oss vår vårt våra ni er ert era dem deras sig sin sitt sina man vem vad vilken vilket vilka när var vart
        varför hur är var vara varit blir blev bli blivit har hade ha haft kan kunde ska skulle vill ville måste får
        fick och eller men för att om som än så då medan eftersom i på av till från med hos vid under över mellan mot
        utan efter innan inte ej bara också redan mycket många mer mest alla allt varje något någon några inget ingen
        annan annat andra samma här där ja nej alltid igen ju
        """,
    "danish": """
        den det de en et denne dette disse jeg mig min mit mine du dig din dit dine han ham hans hun hende hendes vi os
        vores i jer jeres dem deres sig sin sit sine man hvem hvad hvilken hvilket hvilke hvornår hvor hvorfor hvordan
        er var være været bliver blev blive blevet har havde have haft kan kunne skal skulle vil ville må måtte får fik
        og eller men for at om som end så da mens fordi på af til fra med hos ved under over mellem mod uden efter før
        ikke kun også allerede meget mange mere mest alle alt hver noget nogen nogle intet ingen anden andet andre samme
        her der ja nej altid igen jo
        """,
    "norwegian": """
        den det de en ei et denne dette disse jeg meg min mitt mine mi du deg din ditt dine han ham hans hun henne
        hennes vi oss vår vårt våre dere deres dem seg sin sitt sine man hvem hva hvilken hvilket hvilke når hvor
        hvorfor hvordan er var være vært blir ble bli blitt har hadde ha hatt kan kunne skal skulle vil ville må måtte
        får fikk og eller men for å at om som enn så da mens fordi i på av til fra med hos ved under over mellom mot
        uten etter før ikke bare også allerede mye mange mer mest alle alt hver noe noen intet ingen annen annet andre
        samme her der ja nei alltid igjen jo
        """,
    "finnish": """
        minä minun minua minulla minulle sinä sinun sinua sinulla hän hänen häntä hänellä hänelle me meidän meitä meillä
        te teidän teitä he heidän heitä se sen sitä siinä siitä sillä sille ne niiden niitä tämä tämän tätä tässä tästä
        tällä nämä tuo tuon tuota nuo joka jonka jota jossa josta jotka joiden kuka kenen ketä kenelle mikä minkä mitä
        missä mistä mihin milloin koska miksi miten kuinka millainen olen olet on olemme olette ovat oli olin olivat
        ollut olla ole olisi eivät ei en et emme ette älä voi voin voivat pitää täytyy ja tai sekä mutta vaan että jos
        kun kuin vaikka niin siis ennen jälkeen kanssa ilman myös vain jo vielä aina taas hyvin paljon kaikki kaikkien
        jokin joku jotain mitään toinen muu muut sama täällä siellä kyllä
        """,
    "polish": """
        i a o w we z ze na do od dla po pod nad przed przez przy za u bez między ku oraz albo lub ale lecz więc bo
        ponieważ że żeby aby jeśli jeżeli gdy kiedy gdzie dokąd skąd dlaczego czemu jak jaki jaka jakie jakiego jaką ile
        kto kogo komu kim co czego czym który która które którego której którą których ja mnie mi mną mój moja moje
        mojego mojej ty ciebie cię ci tobie twój twoja twoje on ona ono jego go jemu mu nim jej ją niej nią my nas nam
        nasz nasza nasze wy was wam oni one ich im nich nimi się siebie sobie swój swoja swoje ten ta to te tego tej tę
        tym tych tamten jest są był była było byli były być będzie będą jestem jesteś mam masz ma mają miał miała może
        mogę musi nie tak już jeszcze tylko też także bardzo wszystko wszyscy każdy inny inne tu tam czy
        """,
    "czech": """
        a i o u v ve z ze na do od pro po pod nad před přes při za bez mezi k ke s se si nebo ale tedy proto protože že
        aby jestli pokud když kdy kde kam odkud proč jak jaký jaká jaké kolik kdo koho komu kým co čeho čím který která
        které kterého kterou já mě mne mi mnou můj moje má mého ty tebe tě ti tvůj tvoje on ona ono jeho ho jemu mu jím
        její ji jí my nás nám náš naše vy vás vám váš vaše oni jejich jim svůj svoje ten ta to ti ty tu toho té tom
        je jsou byl byla bylo byli být bude budou jsem jsi jsme jste mám máš má mají měl měla může mohu musí ne ano už
        ještě jen také taky velmi všechno všichni každý jiný tady tam
        """,
    "turkish": """
        ve veya ya ile ama fakat ancak çünkü ki de da mi mı mu mü için gibi kadar göre sonra önce daha en çok az bir bu
        şu o bunu şunu onu buna ona bunun onun bunda onda bundan ondan bunlar onlar onların ben beni bana benim bende
        benden sen seni sana senin biz bizi bize bizim siz sizi size sizin kendi ne neyi neden niçin niye nasıl nerede
        nereye nereden kim kimi kime kimin hangi hangisi kaç zaman var yok değil olan olarak oldu olur olduğu idi ise
        her hiç bazı tüm bütün aynı başka diğer şey evet hayır artık hala
        """,
    "hungarian": """
        a az egy és vagy de hanem mert hogy ha mint is ez ezt ennek ebben az azt annak abban ezek azok én engem nekem
        enyém te téged neked ő őt neki mi minket nekünk ti titeket nektek ők őket nekik ki kit kinek mit minek mikor hol
        hova honnan miért hogyan milyen melyik mennyi hány van vannak volt voltak lesz lenni vagyok vagy vagyunk nem
        igen ne sem csak már még nagyon sok minden mindig soha valami valaki semmi senki más ugyanaz itt ott meg ki be
        el fel le között alatt után előtt nélkül által
        """,
    "romanian": """
        și sau dar iar ci că să dacă de la în din pe cu pentru prin spre fără sub peste între după înainte până lângă un
        o unui unei unor al a ai ale cel cea cei cele eu mă mine îmi meu mea mei mele tu te tine îți tău ta el ea îl îi
        lui ei noi ne nouă nostru noastră voi vă vouă ei ele lor se își său sa săi sale acest această acesta aceasta
        acești aceste acel acea aceia cine ce care cui când unde cum cât câți câte ce sunt ești este e suntem sunteți
        era erau fost fi va vor am ai are avem aveți au avea poate pot trebuie nu da mai foarte mult multe mulți tot
        toate toți alt altă alte același aici acolo atunci
        """,
}

OTHER: dict[str, str] = {
    "russian": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее её мне было вот от меня еще
        ещё нет о об из ему когда даже ну ли если уже или ни быть был него до вас опять вам ведь там потом себя ничего
        ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж кто
        этот того потому этого какой какая какие каком совсем ним здесь этом почти мой моя мои моего моей тем чтобы нее
        неё были куда зачем всех при два об другой после над больше тот через эти нас про всего них эта это том такой им
        более всегда конечно всю между наш наша ваш свой свою своего который которая которые которого почему сколько
        откуда чей чья очень
        """,
    "greek": """
        ο η το οι τα του της των τον την τους τις ένας μια ένα και ή αλλά όμως γιατί επειδή ότι πως που αν όταν πότε πού
        πώς ποιος ποια ποιο ποιοι τι πόσο πόσα εγώ με μου εσύ σε σου αυτός αυτή αυτό αυτοί εμείς μας εσείς σας τους
        είναι είμαι είσαι ήταν ήμουν έχω έχει έχουν είχε να θα ας δεν μην στο στη στην στον στα στους από για προς χωρίς
        μετά πριν κατά όλα όλοι κάθε άλλο πολύ πιο και εδώ εκεί ναι όχι
        """,
    "arabic": """
        في من على إلى الى عن مع هذا هذه ذلك تلك هو هي هم هن أنا انا أنت انت نحن أنتم التي الذي الذين ما ماذا من متى أين
        اين كيف لماذا لمن كم أي اي هل قد لا لم لن ليس كان كانت يكون تكون كنت كانوا أن ان إن أو او ثم بل لكن حتى إذا اذا
        كل بعض غير بين عند منذ بعد قبل و يا له لها لهم لي لك به بها فيه فيها منه عليه هناك هنا أيضا جدا
        """,
    "hindi": """
        का के की को में से ने पर और या है हैं था थी थे हो हूँ हूं होता होती होते हुआ हुई हुए यह ये वह वे इस उस इन उन इसका उसका
        मैं मुझे मेरा मेरी मेरे हम हमें हमारा हमारी तुम तुम्हें तुम्हारा आप आपका आपकी आपको उसे उसने उन्हें कौन क्या कब कहाँ कहां क्यों
        कैसे कैसा किस किसने किसका कितना कितने कितनी जो तो भी ही कि लेकिन मगर नहीं न एक तक लिए साथ बाद पहले रहा रही रहे गया गई
        कर करना करता कुछ सब बहुत
        """,
}

UNSPACED = """
    什么 怎么 为什么 怎样 哪里 哪儿 哪个 哪些 谁的 多少 几个 几点 什么时候 时候 我们 你们 他们 她们 它们 我的
    你的 他的 她的 这个 那个 这些 那些 这里 那里 因为 所以 但是 如果 还是 或者 以及 已经 可以 没有 不是 就是
    一个 一下 请问 吗 呢 吧 啊 的 了 着 么 嘛 什麼 怎麼 為什麼 怎樣 哪裡 哪個 誰的 幾個 幾點 什麼時候 時候 我們
    你們 他們 她們 這個 那個 這些 這裡 那裡 因為 沒有 還是 已經 請問 嗎 です ます でした ました ません でしょう
    ください ですか ますか ましたか これ それ あれ この その あの ここ そこ どこ いつ だれ 誰 何 なに なぜ どう
    どの どれ どんな いくら いくつ について という から まで より ので のに けど して した する いる いた ある
    あった こと もの ため 무엇 뭐 언제 어디 어디서 누구 누가 왜 어떻게 어떤 얼마 몇 그리고 그러나 하지만 그래서
    입니다 합니다 했습니다 습니다 있습니다 있어요 해요 나요 인가요
"""
"""What counts for nothing in a question in Chinese, Japanese or Korean; a text keeps all of its characters."""

PARTICLES = frozenset("はがをにでとものへ은는이가을를에의도로와과是在我你他她")
"""Single characters that are mostly grammar, and parts of words besides: what touches one counts for less."""

_COMMON_ENGLISH = frozenset(
    "go care great good day see well make know take need want bye new love work time".split()
)
"""They are no stop words, but they speak for English where another language has one that looks the same."""

_ENGLISH_TOO = """
    ale allen alt ama andre ante aura bare ben bent bin bo car cine come comment contra dal dan dans dell den die dig
    din dine dir door dos dove ed ella elle end era eras fait font fra haft ham han hans hast hat hay heel hem hen hoe
    hon hun jag jen jim jo jos kim kit kun lei lo lub mag mai mal mam man mange mas med men mens mere met mia mina mine
    mint mir mod mot nada nee nell num ole olin op par peste plus pod pot pour pro proto sale sama sans sau ser sera
    sim sin sina sine sit size ska sob sok son soy sta state stato sub sue sui ta tam ten till tine tom ton tot
    tout tue tutti uno vain van var vers vid ville volt vos war waren wart weer wen wilt word yo
"""
"""English words, and names, that another language has as stop words: they alone speak for no language."""


@lru_cache(maxsize=1)
def by_language() -> dict[str, frozenset[str]]:
    """The stop words of each language."""
    return {
        language: frozenset(words.split()) for lists in (LATIN, OTHER) for language, words in lists.items()
    }


@lru_cache(maxsize=1)
def languages_by_word() -> dict[str, tuple[str, ...]]:
    """The languages of Latin letters that each stop word may be of."""
    found: dict[str, tuple[str, ...]] = {}
    for language in LATIN:
        for word in by_language()[language] | (_COMMON_ENGLISH if language == "english" else frozenset()):
            found[word] = (*found.get(word, ()), language)
    return found


@lru_cache(maxsize=40)
def certain_words(language: str) -> frozenset[str]:
    """The stop words of a language that are no English words."""
    return (
        by_language()[language] - by_language()["english"] - _COMMON_ENGLISH - frozenset(_ENGLISH_TOO.split())
    )


@lru_cache(maxsize=40)
def of_little_use(language: str) -> frozenset[str]:
    """The stop words of a language that mean nothing in English either."""
    return certain_words(language) | (by_language()[language] & by_language()["english"])


@lru_cache(maxsize=1)
def unspaced() -> tuple[frozenset[str], int]:
    """The stop words of a question without spaces, and the length of the longest."""
    words = frozenset(UNSPACED.split())
    return words, max(map(len, words))


_EDITION = "2"

_SAMPLE = 160
"""Words of a text that are looked at for its language."""

_SHARED = 8
"""A stop word of more languages than this tells nothing."""

_SURE = 0.9
"""What the votes for a language other than English must come to."""

_LIKE = 0.5
"""What the letters and endings of a text must come to where stop words speak for the same language."""

_PLAIN = str.maketrans(
    {
        "ß": "ss", "ẞ": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i",
        "ŋ": "n", "ħ": "h", "ŧ": "t", "ĸ": "k", "ſ": "s", "ə": "e", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ې": "ي", "ک": "ك", "ة": "ه", "ہ": "ه", "ؤ": "و",
        "ئ": "ي", "ء": "", "ـ": "", "ً": "",
    }
)  # fmt: skip

_ACCENTS = (
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u08d3-\u08ff\u093c\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]+"
)

_LETTERS: dict[str, tuple[tuple[str, float], ...]] = {
    "ß": (("german", 1.0),),
    "ä": (("german", 0.5), ("swedish", 0.4), ("finnish", 0.5)),
    "ö": (("german", 0.5), ("swedish", 0.4), ("finnish", 0.3), ("turkish", 0.3), ("hungarian", 0.3)),
    "ü": (("german", 0.6), ("turkish", 0.4), ("hungarian", 0.2)),
    "å": (("swedish", 0.6), ("danish", 0.5), ("norwegian", 0.5)),
    "ø": (("danish", 0.7), ("norwegian", 0.7)),
    "æ": (("danish", 0.8), ("norwegian", 0.6)),
    "ñ": (("spanish", 0.9),),
    "¿": (("spanish", 1.0),),
    "ã": (("portuguese", 0.9),),
    "õ": (("portuguese", 0.9),),
    "è": (("french", 0.6), ("italian", 0.4)),
    "ê": (("french", 0.6), ("portuguese", 0.3)),
    "à": (("french", 0.5), ("italian", 0.5)),
    "ù": (("french", 0.4), ("italian", 0.5)),
    "ì": (("italian", 0.8),),
    "ò": (("italian", 0.8),),
    "œ": (("french", 1.0),),
    "ç": (("french", 0.5), ("portuguese", 0.5), ("turkish", 0.4)),
    "é": (("french", 0.5), ("spanish", 0.2), ("czech", 0.1), ("hungarian", 0.2)),
    "ó": (("spanish", 0.4), ("polish", 0.4), ("hungarian", 0.2)),
    "í": (("spanish", 0.4), ("czech", 0.3), ("hungarian", 0.1)),
    "á": (("spanish", 0.3), ("hungarian", 0.3), ("czech", 0.3)),
    "ú": (("spanish", 0.4), ("czech", 0.2), ("hungarian", 0.2)),
    "ł": (("polish", 1.0),),
    "ą": (("polish", 0.9),),
    "ę": (("polish", 0.9),),
    "ś": (("polish", 0.9),),
    "ż": (("polish", 0.9),),
    "ź": (("polish", 0.9),),
    "ć": (("polish", 0.8),),
    "ř": (("czech", 1.0),),
    "ě": (("czech", 1.0),),
    "ů": (("czech", 1.0),),
    "š": (("czech", 0.8),),
    "č": (("czech", 0.8),),
    "ž": (("czech", 0.8),),
    "ğ": (("turkish", 1.0),),
    "ş": (("turkish", 0.9),),
    "ı": (("turkish", 1.0),),
    "ő": (("hungarian", 1.0),),
    "ű": (("hungarian", 1.0),),
    "ă": (("romanian", 0.9),),
    "ș": (("romanian", 1.0),),
    "ț": (("romanian", 1.0),),
    "î": (("romanian", 0.5), ("french", 0.3)),
    "â": (("romanian", 0.4), ("french", 0.4), ("portuguese", 0.3)),
}

_ENDINGS = {
    "german": "ungen ung keiten keit heiten heit lich liche lichen licher isch ische "
    "ischen ischer schaft cht chte chten tz tzt",
    "dutch": "heid heden lijk lijke ijn ijnen ijk ijd ijden ing aar oor uur uis ouw ouwen",
    "french": "eux euse euses eau eaux ité ités oire aire ette ique iques ée ées",
    "spanish": "ción ciones dad dades mente illo illa ador adora ando iendo ería anza "
    "ado ados ada adas ido idos ida idas",
    "portuguese": "ção cao ções coes dade dades mente inho inha agem eiro eira ado ados ada adas ido idos ida idas",
    "italian": "zione zioni ità mente ezza aggio aggi etto etta iere evole ato ata ati ate ito ita iti uto uta uti",
    "swedish": "ningen ning ningar het heten arna erna orna",
    "danish": "ningen ning hed heden erne else elser",
    "norwegian": "ningen ning het heten ene else elser",
    "finnish": "ssa ssä sta stä lla llä lta ltä lle nen sen set aan ään uus yys ksi kki kko kka mme",
    "polish": "ość ości anie ania enie enia owy owa owe ski ska skie czek ów ami ach",
    "czech": "ost osti ání ení ový ová ové ský ská ské ka ách ích",
    "turkish": "lar ler ları leri ların lerin mak mek daki deki lık lik cı ci yor dım dim",
    "hungarian": "ban ben nak nek ság ség ok ek ók ek ról ről hoz hez",
    "romanian": "ului ilor elor ție ții are ească ează",
}
"""How words often end. They tell something of a text that has no stop words."""

_ENGLISH_ENDINGS = tuple(
    "ing are ate ato ata ita ado ada ido ida ette etta etto aire ique iques eau ach ami ok ek lar ler ban ben nak nek "
    "hed het oor set sen nen aan sta lla lle lta else ene erne ost tz ska ski ka ci lik mak iere illo illa ando "
    "anza dad".split()
)
"""Of these, how English words end too: an ending that says nothing."""

_IRREGULAR_ENGLISH = """
    bear:bore,borne,born beat:beaten become:became begin:began,begun bend:bent bind:bound bite:bit,bitten
    bleed:bled blow:blew,blown break:broke,broken breed:bred bring:brought build:built burn:burnt buy:bought
    catch:caught choose:chose,chosen cling:clung come:came creep:crept deal:dealt dig:dug draw:drew,drawn
    dream:dreamt drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed feel:felt
    fight:fought find:found flee:fled fly:flew,flown forbid:forbade,forbidden forget:forgot,forgotten
    forgive:forgave,forgiven freeze:froze,frozen give:gave,given go:went,gone grind:ground grow:grew,grown
    hang:hung hear:heard hide:hid,hidden hold:held keep:kept kneel:knelt know:knew,known lay:laid lead:led
    leave:left lend:lent lie:lain light:lit lose:lost make:made mean:meant meet:met mistake:mistook,mistaken
    pay:paid prove:proven ride:rode,ridden ring:rang,rung rise:rose,risen run:ran say:said see:saw,seen
    seek:sought sell:sold send:sent sew:sewn shake:shook,shaken shine:shone shoot:shot show:shown
    shrink:shrank,shrunk sing:sang,sung sink:sank,sunk sit:sat sleep:slept slide:slid speak:spoke,spoken
    spend:spent spin:spun spring:sprang,sprung stand:stood steal:stole,stolen stick:stuck sting:stung
    strike:struck swear:swore,sworn sweep:swept swim:swam,swum swing:swung take:took,taken teach:taught
    tear:tore,torn tell:told think:thought throw:threw,thrown understand:understood undertake:undertook
    wake:woke,woken wear:wore,worn weave:wove,woven weep:wept win:won wind:wound withdraw:withdrew,withdrawn
    write:wrote,written child:children man:men woman:women foot:feet tooth:teeth mouse:mice goose:geese
    person:people wife:wives knife:knives half:halves shelf:shelves wolf:wolves
    loaf:loaves thief:thieves good:better,best bad:worse,worst
"""


def fold(text: str) -> str:
    """Without case, accents, and forms of letters that people do not tell apart."""
    if text.isascii():
        return text.lower()
    folded = _folded(text)
    while (again := _folded(folded)) != folded:
        folded = again
    return folded


@lru_cache(maxsize=1)
def _accents() -> re.Pattern[str]:
    return re.compile(_ACCENTS)


def _folded(text: str) -> str:
    # Case first: some capitals become a letter and a mark, and marks go next.
    text = unicodedata.normalize("NFKC", text).lower()
    text = _accents().sub("", unicodedata.normalize("NFD", text)).translate(_PLAIN)
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii() and any(map(str.isdecimal, text)):
        text = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)
    return text


@lru_cache(maxsize=1)
def irregular() -> dict[str, str]:
    """English words whose stem is another word's."""
    entries = (entry.split(":") for entry in _IRREGULAR_ENGLISH.split())
    return {form: word for word, forms in entries for form in forms.split(",")}


@lru_cache(maxsize=40)
def _stemmer(language: str) -> Any:
    import Stemmer  # type: ignore[import-not-found]  # a compiled module, found where a text is indexed or a question asked

    return Stemmer.Stemmer(language, 0)


def edition() -> str:
    """Changes whenever the same text may have other terms than before: what was indexed under another is made anew."""
    import Stemmer

    return f"{_EDITION}-{Stemmer.version()}"


def stem(word: str, language: str) -> str:
    """The folded stem of a word in lower case, in a language of Latin letters; other scripts choose their own."""
    if word.isascii():
        if language == "english":
            word = irregular().get(word, word)
        return fold(_stemmer(language).stemWord(word)) or word
    own = language_of_script(word)
    if own == "latin":
        return fold(_stemmer(language).stemWord(word)) or fold(word)
    return (fold(_stemmer(own).stemWord(word)) if own else fold(word)) or fold(word)


_SCRIPTS = (
    ("\u024f", "latin"),
    ("\u036f", ""),
    ("\u03ff", "greek"),
    ("\u052f", "russian"),
    ("\u0588", "armenian"),
    ("\u05ff", ""),
    ("\u06ff", "arabic"),
    ("\u08ff", ""),
    ("\u097f", "hindi"),
    ("\u0b7f", ""),
    ("\u0bff", "tamil"),
    ("\u1dff", ""),
    ("\u1eff", "latin"),
    ("\u1fff", "greek"),
)
"""The last letter of each run of letters, and which language's stems are taken there."""


def language_of_script(word: str) -> str:
    """`latin`, or the one language whose stems are taken for words of this script, or nothing."""
    first = word[0]
    return next((language for last, language in _SCRIPTS if first <= last), "")


Heard = namedtuple("Heard", "tongue is_sure")
"""The language of a text, or nothing; and whether that is sure without those stop words that are English words too."""


def language(words: Iterable[str]) -> Heard:
    """The language of the Latin words in a text, or nothing where they do not tell. Words in lower case."""
    sample = list(words)[:_SAMPLE]
    scores: dict[str, float] = {}
    speaking_for = languages_by_word()

    def hear(word: str) -> None:
        tongues = speaking_for.get(word, ())
        for tongue in tongues if len(tongues) <= _SHARED else ():
            scores[tongue] = scores.get(tongue, 0.0) + (1.0 if len(word) > 1 else 0.3) / len(tongues)

    for word in sample:
        if word in speaking_for:
            hear(word)
    if sum(scores.values()) < 3.0:
        for word in sample:
            before, apostrophe, _ = word.partition("'")
            if apostrophe:
                hear(before)
    own = scores.get("english", 0.0)
    if own >= 1.0 and own * 2 >= sum(scores.values()):
        return ENGLISH  # most texts: no need to look at letters
    looks = _looks(sample, with_endings=own < 1.0 and max(scores.values(), default=0.0) < 3 * _SURE)
    for tongue, votes in looks.items():
        scores[tongue] = scores.get(tongue, 0.0) + votes
    best = max(scores, key=lambda tongue: (scores[tongue], tongue == "english", tongue), default="")
    if not best or scores[best] < _SURE:
        return _UNHEARD
    if best == "english":
        return ENGLISH
    return _confirmed(best, set(sample), looks.get(best, 0.0)) if scores[best] >= 1.3 * own else _UNHEARD


ENGLISH, _UNHEARD = Heard("english", True), Heard("", False)


def _looks(sample: list[str], *, with_endings: bool) -> dict[str, float]:
    """What the letters and the endings of words say."""
    votes: dict[str, float] = {}
    for char in "".join(word for word in sample if not word.isascii())[: 8 * _SAMPLE]:
        for tongue, vote in _LETTERS.get(char, ()):
            votes[tongue] = votes.get(tongue, 0.0) + vote
    for word in sample[:40] if with_endings else ():
        if not (word.isascii() and word.endswith(_ENGLISH_ENDINGS)):
            for tongue in shapes(word):
                votes[tongue] = votes.get(tongue, 0.0) + _LIKE
    return votes


def _confirmed(tongue: str, sample: set[str], looks: float) -> Heard:
    """Whether what spoke for a language other than English is enough, and more than English words and names.

    Two stop words that are no English words are, or one and its looks. Without them it needs looks, or little else to
    be there than stop words; then those that are English words too are not dropped.
    """
    heard = sample & by_language()[tongue]
    certain = sum(len(word) > 1 for word in heard & certain_words(tongue))
    if certain > 1 or (certain and looks >= _LIKE):
        return Heard(tongue, True)
    crowded = len(heard) > 2 and 3 * len(heard) >= 2 * len(sample)
    return Heard(tongue, False) if crowded or looks >= (_LIKE if len(heard) > 1 else _SURE) else _UNHEARD


def doubtful(words: Iterable[str], heard: Heard) -> set[str]:
    """The words that may be no more than stop words, of a language which is not sure."""
    if heard.is_sure:
        return set()
    sample = set(words)
    found: set[str] = set()
    for tongue in [heard.tongue] if heard.tongue else LATIN:
        stops = sample & by_language()[tongue]
        if heard.tongue or len(stops) > 2 or stops & certain_words(tongue):
            found |= stops
    return found


_LONG_VOWELS = ("ää", "öö", "yy", "uu")
"""Hardly any language but Finnish has them."""


@lru_cache(maxsize=1)
def _endings() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((tongue, tuple(ends.split())) for tongue, ends in _ENDINGS.items())


@lru_cache(maxsize=4096)
def shapes(word: str) -> tuple[str, ...]:
    """The languages that a word, in lower case, looks as if it were of."""
    if not 5 <= len(word) <= 64 or not word.isalpha():
        return ()
    lettered = {tongue for char in word if not char.isascii() for tongue, _ in _LETTERS.get(char, ())}
    ended = [tongue for tongue, ends in _endings() if word.endswith(ends)]
    if any(vowel in word for vowel in _LONG_VOWELS):
        ended.append("finnish")
    return tuple(dict.fromkeys((*ended, *sorted(lettered))))


_RESTORED = (
    ("cao", "ção"),
    ("coes", "ções"),
    ("sao", "são"),
    ("soes", "sões"),
    ("cion", "ción"),
    ("ite", "ité"),
    ("ee", "ée"),
    ("ees", "ées"),
    ("e", "é"),
    ("es", "és"),
    ("er", "ér"),
    ("ita", "ità"),
    ("osc", "ość"),
    ("osci", "ości"),
)


def accented(word: str) -> tuple[str, ...]:
    """How a word that was typed without accents may really end."""
    if not word.isascii() or len(word) < 5:
        return ()
    return tuple(word[: -len(plain)] + real for plain, real in _RESTORED if word.endswith(plain))
