"""What a sentence in German says about the one who speaks, as a table of forms (`tongues.py` says how it is read).

Precision before recall: in doubt a sentence says nothing.
"""

from __future__ import annotations

from functools import cache

from looseleaf.distill.forms import read
from looseleaf.distill.tongues import Tongue, tongue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from looseleaf.talk import Proposal


def propose(sentence: str, ts: float) -> list[Proposal]:
    """The facts that one sentence of a user states, said at `ts`."""
    return read(_tongue(), sentence, ts)


@cache
def _tongue() -> Tongue:
    return tongue(_TABLE)


_TABLE = r"""
# what makes a sentence none of ours
never = \b(?:schreib|verfass|formulier|erstell|entwirf|generier)\w*\b[^:]{0,60}:|\?[\s"'“”»)]*\Z|\x00|\b(?:wenn|falls
  |sofern) (?!ich <any>{1,40} (?:sage|schreibe)\b)<any>{0,80}\b(?:wäre|hätte|würde|könnte|bin|habe)\b|\b(?:wäre|hätte
  |könnte|würde) (?:ich|wir)\b|\b(?:ich|wir) (?:wären?|hätten?|könnten?|würden?)\b|\bals ob\b|\bals wäre
  |\b(?:angenommen|stell(?:t|en)? (?:dir|euch|sie sich)|nehmen wir(?: mal)? an|vielleicht|möglicherweise|eventuell
  |vermutlich|wahrscheinlich|hypothetisch|theoretisch|sagen wir(?: mal)?)\b|\b(?:tu(?:e|n sie|t)?(?: mal| bitte)? so
  |spiel(?:e|en|t)?(?: \w+)? (?:die rolle|einen?)|du bist (?:jetzt |ab jetzt |nun |ab sofort )?(?:ein|der|die|mein)
  |in der rolle|rollenspiel|gib dich als|verhalte dich wie|fantasy\w*|im spiel)\b|\b(?:scherz|spaß|witz|haha\w*|hihi
  |lol|xd|rofl|ironie|nicht ernst)\b|[😂🤣😜😉🙃]|;-?\)|\b(?:sagte[nt]?|sagt|meinte[nt]?|meint|schrieb|schreibt
  |behaupte\w*|erzählt\w*|fragte?|antwortete|zitat\w*|laut|zufolge|(?:hat|haben) (?:\w+ ){0,3}(?:gesagt|gemeint
  |geschrieben|erzählt|gefragt))\b|\b(?:beispiel\w*|testdaten|(?:im|in meinem|in einem) (?:roman|buch|film|spiel
  |traum)|geschichte|protagonist\w*|(?:haupt)?figur|übersetz\w*|gedicht|liedtext|korrigiere|mein traum war|träumte)\b
  |\bich (?:glaube|denke|hoffe|überlege|frage mich)\b|\bob ich\b
hollow = (?:es|das|dies(?:es)?|dich|sie|ihn|mich|dir|euch|sowas|so etwas|etwas|was|alles|nichts|sehr|den|die|der|dass
  |wie|ja|ihr|ihm|diese[rns]?|das hier|hier|da|dort|beide[sn]?|eine|einen|ein|viel|mehr|ich)
  |(?:diese[nrms]?(?! (?:jahr|woche|monat|sommer|herbst|winter|frühling))|folgende[nrms]?|deine?[nrms]?|dir|dich
  |jene[nrms]?) .*
negative = \b(?:nicht|kein\w*|nie|niemals|nichts|niemand)\b
tail = (?:^|[ ,]+)(?:bitte|danke|übrigens|auch|und so|halt|eben|oder so|usw|etc|sehr|total|wirklich|gern|gerne|mal
  |jetzt|ja|und|aber|schon|noch|einfach|so|seit (?:\w+ ){1,3}\w+)$
joins = (?:\s*,\s*(?:und |sowie )?|\s+(?:und|sowie)\s+)(?:(?:auch|etwas|ein bisschen|ein wenig|fließend) )?
stops = (?:ich|wir|mein\w*|aber|wohne|arbeite|bin|habe|spreche|lebe|komme|studiere|das|es|er|sie|weil|vor allem
  |besonders|vertrage|also|nicht|esse|trinke|mag|hasse|liebe|bitte|denk\w*|obwohl|wenn|und|je|egal)\b
corrects = \A(?:nein|nee|nö|moment|stopp|korrektur|falsch|stimmt nicht|sorry|ach|ups|doch)\b[ ,:!.–-]|\b(?:eigentlich
  |tatsächlich|in wirklichkeit|genau genommen|ich meinte|korrektur|nicht mehr|inzwischen|mittlerweile)\b
current = \b(?:derzeit|zurzeit|zur zeit|momentan|im moment|gerade(?! nach| von| aus)|vorübergehend|aktuell|vorerst)\b
recent = \b(?:heute|gestern|vorgestern|letzte woche|diese woche|vor (?:ein paar|wenigen|zwei|drei|[2-9]) tagen
  |(?:letzten|am) (?:wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag))\b
once = \b(?:heute|für diese (?:aufgabe|sitzung|session)|in dieser (?:sitzung|session|unterhaltung)|diesmal|nur jetzt
  |für dieses mal)\b
other = (?!)
# parts of patterns
begin = (?:\A|[,;:.!()–—]|\x00|- |\b(?:und|aber|denn|also|dass|sondern|mit)\b)\s*
lead = (?:ja|nein|also|und|aber|übrigens|hallo|hi|hey|ok|okay|ach|achso|bitte merk dir|merk dir|merke dir|tatsächlich
  |eigentlich|genau|dann|zur info|kurz|außerdem|ferner|zudem|moin|inzwischen|jetzt|mittlerweile|derzeit|momentan
  |zurzeit|privat|beruflich|seit (?:(?:dem|der|letztem|letzter|anfang|ende|mitte|\w+(?= (?:jahr|monat|woche
  |tag))) )?\w+|dort)[ ,:!]+
and = bitte|und ich|und mein\w*|und (?:wohne|arbeite|bin|habe|spreche|lebe|komme|mag|liebe|studiere|esse|nutze|heiße
  |trinke)|aber|weil|denn|obwohl|damit|sondern|während|wobei|sodass|da ich|und (?:das|es|wir|er|sie|nicht)|seit|seitdem
but = aber|weil|denn|obwohl|und ich|und mein\w*|damit|nicht mehr|wenn|da ich|wobei
particle = von|van|de|der|zu|an der|am|im|ob der|bei|den|da|di|bin|al|le|la
noname = nicht|kein\w*|anders|übrigens|auch|so|mich|dich|das|es|noch|halt|doch|ja|bitte|jetzt|einfach|wie|er|sie|ihn
  |hier
now = (?:(?:jetzt|nun|derzeit|zurzeit|momentan|aktuell|gerade|inzwischen|mittlerweile|übrigens|auch|schon|immer noch
  |noch|seit (?:\w+ ){0,2}\w+|ab sofort|eigentlich|gern|gerne|sehr|total|wirklich|besonders|ja|halt|bereits|hier
  |ursprünglich|tatsächlich|doch|vor allem|privat|beruflich|täglich|hauptsächlich|meistens|oft|am liebsten|im moment
  |zur zeit) ){0,3}
soon = (?:(?:gerade|vor kurzem|endlich|jetzt|inzwischen|mittlerweile|leider|schon lange|seit (?:\w+ ){0,2}\w+|übrigens
  |heute) ){0,2}
home = (?:wohne|lebe)
notwas = (?:,? (?:und )?nicht(?: mehr)? (?:in |bei |bei der |aus |als )?<Was>)?
day = montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag
month = januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember
season = sommer|winter|herbst|frühling|frühjahr
count = [0-9]{1,2}|zwei|drei|vier|fünf|sechs|sieben|acht|zehn|einem|einer|ein paar
unit = tagen?|wochen?|monat(?:en)?|jahr(?:en)?
clock = (?: (?:um|ab) [0-9]{1,2}(?:[:․][0-9]{2})?(?: uhr(?: [0-9]{2})?)?)?
date = (?:(?:am |zum |der |den |dem |im |vom |ab )?(?:(?:<day>),? )?(?:dem |den |der )?(?:[0-9]{1,2}․? ?(?:<month>)(?
  : [0-9]{4})?|[0-9]{1,2}․[0-9]{1,2}(?:․[0-9]{2,4}|\.)?|[0-9]{4}-[0-9]{2}-[0-9]{2})
  |(?:am |im |ab |zum )?(?:nächste[nrms]?|kommende[nrms]?|diese[nrms]?|übernächste[nrms]?) (?:<day>|<season>|<month>
  |woche|monat|jahr|wochenende)|(?:am |im |ab )(?:<month>|<day>|<season>)(?: [0-9]{4})?|übermorgen|heute abend
  |morgen(?: früh| abend| nachmittag| vormittag| mittag)?|in (?:<count>) (?:<unit>))<clock>
past = (?:gestern(?: abend)?|vorgestern|heute(?: morgen| früh)?|(?:am |im )?(?:letzte|vorige
  |vergangene)[nrsm]? (?:<day>|<season>|<month>|woche|monat|jahr|wochenende)|vor (?:kurzem|(?:<count>) (?:<unit>))
  |im (?:<month>)(?: [0-9]{4})?|am (?:<day>|[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?)|(?:im jahr )?(?:19|20)[0-9]{2}
  |diese woche|dieses jahr)
old = (?:(?:ältere|jüngere|große|kleine|beste|neue|liebe)[rns]? )?
my = (?:mein(?:e|em|er|en)?|unser(?:e|em|er|en)?)
use = nutzen|benutzen|verwenden|nehmen|nutze|benutze|verwende|nimm|nehme|setzen auf|wechseln zu
then = (?:(?:wir|ich|ab jetzt|jetzt|künftig|bitte|lieber|also|nun|in zukunft|ab sofort) ){0,3}
from = (?:ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft|zukünftig|fortan)
no = (?:nie(?:mals)?|nie wieder|unter keinen umständen|auf keinen fall|keinesfalls|nicht ohne)
talk = (?:antworte|schreib|red|sprech|sprich|diskutier|unterhalt|besprech|kommunizier|erklär)\w*
code = (?:den |der |dein\w* |alle[rn]? )?(?:code|quellcode|quelltext|programmcode|codekommentare|kommentare)
big = (?:geheiratet|umgezogen|gekündigt|adoptiert|gekauft|bestanden|abgeschlossen|gebrochen|operiert|promoviert
  |gewonnen|(?:kind|baby|zusage|tochter|sohn|beförderung|diagnose) bekommen|gegründet|eröffnet|gelaufen|besucht
  |verlobt|getrennt|veröffentlicht|unterschrieben|verletzt|verkauft|befördert(?: worden)?|gewechselt|geflogen|gereist
  |verstaucht|aufgenommen|geworden|absolviert|operiert worden)
job = (?:entwickler|lehrer|ingenieur|arzt|ärztin|helfer|pfleger|krankenschwester|anwalt|anwältin|architekt|designer
  |informatiker|student|schüler|koch|köchin|bäcker|journalist|autor|künstler|musiker|forscher|wissenschaftler
  |programmierer|berater|tischler|elektriker|mechaniker|polizist|physiker|chemiker|biologe|biologin|mathematiker
  |psychologe|psychologin|übersetzer|fotograf|verkäufer|buchhalter|manager|admin|administrator|rentner|apotheker
  |hebamme|professor|dozent|techniker|schreiner|gärtner|friseur|pilot|richter|therapeut|bibliothekar|grafiker
  |redakteur|analyst|erzieher|landwirt|hausfrau|hausmann|kellner|leiter|scientist|engineer|doktorand|azubi)(?:in)?
folk = deutscher?|österreicher(?:in)?|schweizer(?:in)?|franzose|französin|spanier(?:in)?|italiener(?:in)?|türk(?:e|in)
  |pol(?:e|in)|chines(?:e|in)|japaner(?:in)?|brit(?:e|in)|engländer(?:in)?|amerikaner(?:in)?|russ(?:e|in)
  |ukrainer(?:in)?|griech(?:e|in)|niederländer(?:in)?|brasilianer(?:in)?|inder(?:in)?|portugies(?:e|in)|syrer(?:in)?
  |iraner(?:in)?
diet = vegan|vegetarisch|vegetarier(?:in)?|veganer(?:in)?|pescetarier(?:in)?|flexitarier(?:in)?|glutenfrei|laktosefrei
  |halal|koscher
on = am
week = in der Woche vom {}
more = (?:, (?:ohne|außer|es sei denn|bevor|auch wenn|sondern|selbst wenn) <any>{2,80}?)?
used = (?: (?:als|für) <any>{2,30}?)?<end>
weuse = (?:wir (?:nutzen|benutzen|verwenden|setzen auf|testen mit)|(?:unser|das) (?:projekt|backend|frontend) (?:nutzt
  |verwendet|läuft mit)|unsere? (?:datenbank|db|framework) ist) <then>
written = (?:(?:unser|das|der|mein) (?:ganze )?(?:projekt|backend|code|server) ist in|wir (?:schreiben|programmieren
  |entwickeln)(?: alles)? in) (?=\w+(?: \w+)? geschrieben|\w+(?: [0-9․]+)?<end>)
wehost = (?:wir hosten(?: alles| das| das projekt)?|(?:unser|das) projekt (?:läuft|wird gehostet)|gehostet wird(?: das
  | alles)?|(?:die app|der server|die seite|alles) läuft) (?:bei|auf)[ ]
licence = (?:(?:unser|das) projekt|(?:der|unser) code
  |wir veröffentlichen(?: alles)?) (?:steht |ist |läuft )?unter (?:der )?|unsere lizenz ist (?:die )?
port = (?:der (?:server|dienst|dev-server)|die (?:api|app|anwendung)|unser (?:server|backend)|das (?:backend
  |frontend)) (?:läuft|lauscht|hört) auf port[ ]
branch = (?:unser|der) (?:haupt-?branch|hauptzweig|standard-?branch|default-?branch) (?:heißt|ist)[ ]
version = (?:wir sind|unser projekt ist|aktuell sind wir) (?:jetzt |aktuell )?(?:auf
  |bei) version |die aktuelle version ist[ ]
repository = (?:unser|das|mein) (?:repo|repository) (?:ist|liegt|ist unter|liegt unter|liegt auf|findest du unter)[ ]
# names of languages, relatives, animals, verbs
deutsch deutsche deutscher > German; englisch englische englischer > English; französisch > French
spanisch > Spanish; italienisch > Italian; chinesisch mandarin > Chinese; japanisch > Japanese
portugiesisch > Portuguese; russisch > Russian; türkisch > Turkish; polnisch > Polish; niederländisch > Dutch
koreanisch > Korean; arabisch > Arabic; ukrainisch > Ukrainian; schwedisch > Swedish; schwester > Sister > Sibling
bruder > Brother > Sibling; mutter mama > Mother > Parent; vater papa > Father > Parent; tochter > Daughter > Child
sohn > Son > Child; frau ehefrau > Wife > Partner; mann ehemann > Husband > Partner; freundin > Girlfriend > Partner
partnerin partner verlobte verlobter > Partner > Partner; freund > Friend > Friend
chefin chef vorgesetzter vorgesetzte > Manager > Manager; kollegin kollege > Colleague > Colleague
hund hündin welpe > Dog > Pet; katze kater kätzchen > Cat > Pet; hamster > Hamster > Pet; kaninchen > Rabbit > Pet
papagei wellensittich > Parrot > Pet; pferd > Horse > Pet; meerschweinchen > Guinea pig > Pet
schildkröte > Tortoise > Pet; fahre > fahren > verb; fliege > fliegen > verb; reise > reisen > verb
ziehe > ziehen > verb; heirate > heiraten > verb; starte > starten > verb; beginne > beginnen > verb
laufe > laufen > verb; besuche > besuchen > verb; mache > machen > verb; gehe > gehen > verb; fange > anfangen > verb
fahren > fahren > verb; fliegen > fliegen > verb; reisen > reisen > verb; ziehen > ziehen > verb
heiraten > heiraten > verb; starten > starten > verb; beginnen > beginnen > verb; laufen > laufen > verb
besuchen > besuchen > verb
# ends and corrections
@ Home +fix :: (?:ich bin|bin ich|wir sind|sind wir) <soon>(?:<past> )?(?:von|aus) <Was> nach <Name> (?:um|ge)?gezogen
- (?:ich bin|bin ich|wir sind|sind wir) <soon>(?:<past> )?nach <Name> (?:um)?gezogen
- (?:ich )?<home> (?:ich )?nicht(?: mehr)? in <Was>,? sondern (?:jetzt )?in <Name>
@ Home +fix +end :: (?:ich )?<home> (?:ich )?<soon>nicht (?:mehr|länger) in <Name>
@ Employer +fix :: (?:ich )?arbeite (?:ich )?nicht(?: mehr)? (?:bei|für) <Was>,? sondern (?:jetzt )?(?:bei|für) <Name>
- (?:ich bin|bin ich|ich habe) <soon>(?:<past> )?von <Was> zu <Name> gewechselt
@ Employer +fix +end :: (?:ich )?arbeite (?:ich )?<soon>nicht (?:mehr|länger) (?:bei|für) (?:der |dem )?<Name>
- (?:ich habe|habe ich) <soon>(?:<past> )?(?:meinen job |meine stelle )?bei (?:der |dem )?<Name> (?:gekündigt
  |aufgehört)
@ Role +fix +end :: (?:ich )?bin (?:ich )?<soon>keine? (?P<o><Word>) mehr\b
- (?:ich )?arbeite (?:ich )?<soon>nicht (?:mehr|länger) als (?P<o><Word>)
@ Diet +fix +end :: (?:ich )?(?:bin|lebe|esse) (?:ich )?<soon>(?:nicht mehr|keine?) (?P<o><diet>)(?: mehr)?<end>
@ Diet +fix +not :: (?:ich )?(?:esse|trinke) (?:ich )?<soon>(?P<o>keine?n? <any>{2,40}?) mehr<end>
@ Uses +fix +end :: (?:ich )?(?:nutze|benutze|verwende) (?:ich )?<soon><Name> <soon>nicht mehr<end>
- (?:ich )?(?:nutze|benutze|verwende) (?:ich )?<soon>keine?n? (?P<o><any>{1,40}?) mehr<end>
@ Likes +fix +end :: (?:ich )?mag (?:ich )?(?P<o>(?!kein)<any>{1,40}?) <soon>nicht mehr<end>
- (?:ich )?mag (?:ich )?<soon>keine?n? (?P<o><any>{1,40}?) mehr<end>
@ Speaks +fix +end :: (?:ich )?spreche (?:ich )?<soon>kein (?P<o><lang>) mehr<end>
@ Event = {o} {p} +fix :: (?:ich habe|habe ich) (?P<p><past> )?(?P<o>mit dem (?:rauchen|trinken|alkohol) aufgehört)
@ Event +fix +not :: (?:ich )?(?P<o>(?:rauche|trinke) (?:ich )?<soon>nicht mehr)<end>
# who one is
@ Name :: (?:ich hei(?:ß|ss)e|hei(?:ß|ss)e ich|hei(?:ß|ss)e|mein (?:voller |vor)?name (?:ist
  |lautet)) (?:nicht <Not>,? sondern |<now>)<name>(?:,? (?:und )?nicht <Was>)?
- (?:nenn(?:t|en sie|e)? mich|du kannst mich|sie können mich) (?:(?:bitte|ab jetzt|einfach|ruhig|gerne?|lieber|also
  |nur) ){0,3}(?:nicht <Not>,? sondern )?["„“']?<Name>(?:["“”']? nennen)?<end>
- ich bin(?: übrigens)?(?: der| die)? (?P<o>(?!(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job>\b)(?!(?:<folk>
  |<diet>)\b)<Word>(?: <Word>)?)(?=,? (?:[0-9]{1,2}\b|aus [A-Z]|und (?:wohne|arbeite|komme|lebe|bin [0-9])
  |ich (?:wohne|arbeite|bin|komme|lebe)|wohne|arbeite|komme|lebe|freut))
- (?:das hier ist|hier (?:ist|spricht|schreibt)) (?P<o><Word>(?: <Word>)?)(?=\s*(?:[.!,]|\Z| aus [A-Z]))
- ich (?P<o><Words>) hei(?:ß|ss)e\b
@ Age :: (?:ich )?bin (?:ich )?<now>(?:<age>)(?: jahre?(?: alt| jung)?)?(?=\s*(?:[,.!;]|\Z
  |und\b))(?:,? (?:und )?nicht (?P<was>[0-9]{1,2}))?
- ich bin <Word>(?: <Word>)?, <age>(?=\s*(?:[,.!;]|\Z| jahre))
@ Birthday :: (?:ich habe |ich hab |mein geburts(?:tag
  |datum) ist )(?:immer )?(?:am |der )?(?P<o>[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?
  |[0-9]{1,2}․[0-9]{1,2}(?:․[0-9]{4})?)\.?(?= geburtstag|(?<=mein geburtstag ist )|\s*(?:[,.!;]|\Z))(?: geburtstag)?
- (?:ich bin|ich wurde|geboren (?:bin|wurde) ich) am (?P<o>[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?
  |[0-9]{1,2}․[0-9]{1,2}․[0-9]{4})(?: in <Words>)?(?: geboren|<end>)
@ Hometown :: (?:ich bin|ich wurde|bin ich) (?:ursprünglich )?in (?:der |dem )?<Name> (?:geboren|aufgewachsen
  |groß geworden)
- (?:ich )?(?:komme|stamme) (?:ich )?<now>aus (?P<o>(?:der |dem |den )?(?!Urlaub|Büro|Haus|Arbeit|Kino|Training|Bett
  |Schule)<Words>)(?! zurück)<notwas>
- ich bin <Word>(?: <Word>)?,? (?:[0-9]{1,2}(?: jahre(?: alt)?)?,? (?:und )?)?aus (?P<o>(?:der |dem |den )?<Words>)
- (?:ich bin|ich wurde) am <date> in <Name> geboren
@ Nationality :: (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o><folk>)<end>
@ Home :: (?:ich <home>|<home> ich|wohne) <now>(?:(?:zusammen )?mit <any>{1,40}? )?in (?:der nähe von )?(?P<o>(?:der |
  den |dem )?<Words>)<notwas>
- ich <now>in <Name> (?:wohne|lebe)\b
- mein (?:neuer )?wohnort ist <now><Name>
@ Employer = {o} :: (?:ich )?arbeite (?:ich )?<now>(?:bei
  |für) (?:der |dem |den )?(?P<o>(?!Stunden)<Words>)<notwas>(?= als |<end>| in | und )
- mein(?: neuer)? arbeitgeber (?:ist|heißt) <now><Name>
- bei (?:der |dem )?<Name>(?= als (?-i:[A-Z])[\w-]+<end>)
@ Role :: (?:ich )?arbeite (?:ich )?<now>(?:(?:bei|für) (?:der )?<Words> )?als (?P<o>(?!ob)<any>{2,50}?)(?= (?:bei|in
  |an|für|auf|am|im|und) |<end>)
- (?:ich )?bin (?:ich )?<now>(?:von beruf |beruflich )(?:eine? )?<thing>
- (?:ich )?bin (?:ich )?(?P<o><Word>) von beruf
- (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o>(?:(?:freiberufliche|selbständige|selbstständige|angehende|leitende
  |gelernte)[rn]? |senior[- ]|junior[- ]|data )?[\w-]*<job>)(?=\s*(?:[,.!;]|\Z| [-–—])| (?:und|in|bei|an|aus|für|am|im
  |von|mit)\b)
- mein beruf ist <thing>
@ Employer :: als (?:(?-i:[A-Z])[\w-]+) (?:bei|für) (?:der )?<Name>(?=<end>| in | und )
- (?:ich )?bin (?:ich )?<now>(?:eine? )?(?:\w+ )?(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job> bei (?:der )?<Name>
@ Education :: (?:ich )?studiere (?:ich )?<now>(?P<o><any>{2,60}?)(?= (?:und|im|seit)\b|<end>)
- (?:ich habe|habe ich) <now>(?P<o>(?-i:[A-ZÄÖÜ])<any>{2,50}?) studiert
@ Partner :: (?:ich )?bin (?:ich )?<now>mit <Name> (?:verheiratet|verlobt|zusammen)
@ Marital status :: (?:ich )?bin (?:ich )?<now>(?:glücklich )?(?P<o>verheiratet|ledig|geschieden|verwitwet|verlobt
  |single)<end>
@ Religion :: (?:ich )?bin (?:ich )?<now>(?P<o>katholisch|evangelisch|muslimisch|jüdisch|buddhistisch|atheist(?:in)?
  |muslima?|christ(?:in)?|buddhist(?:in)?)<end>
@ Email :: meine (?:e-?mail|mail)(?:-?adresse)? (?:ist|lautet) (?P<o><mail>)
@ Phone :: meine (?:telefon|handy|mobil)?nummer (?:ist|lautet) (?P<o>\+?[0-9][0-9 /-]{5,18}[0-9])
@ Pronouns :: meine pronomen sind <thing>
@ Time zone :: meine zeitzone ist <thing>
@ {R} :: <my> <old>(?P<k><kin>),? (?P<o>(?-i:[A-ZÀ-Þ])[\w'-]*+)(?= (?:wohnt|lebt|arbeitet|ist|hat|heißt|und ich)\b
  |\s*(?:[,.!;]|\Z))
- <my> <old>(?P<k><kin>) (?:hei(?:ß|ss)t|namens) <Name>
- (?:ich habe|habe ich|wir haben|habe) <now>eine?n? <old>(?P<k><kin>)(?: namens|,? (?:der|die) hei(?:ß|ss)t)? <Name>
@ {K}'s home :: <my> <old>(?P<k><kin>)(?:(?: hei(?:ß|ss)t)? <Word>)?(?: und)? (?:wohnt|lebt) <now>in <Name>
@ {K}'s role :: <my> <old>(?P<k><kin>)(?: <Word>)? (?:arbeitet als
  |ist) (?:eine? )?(?P<o>(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job>)<end>
@ {K}'s age :: <my> <old>(?P<k><kin>)(?: <Word>)? ist <now><age>(?: jahre?(?: alt)?)?<end>
@ {K}'s birthday :: <my> <old>(?P<k><kin>)(?: <Word>)? hat am (?P<o>[0-9]{1,2}․? ?(?:<month>)) geburtstag
@ Child :: (?:ich habe|wir haben|habe) (?P<o>(?:eine?n?|zwei|drei|vier|fünf|[1-9]) (?:(?:kleine
  |erwachsene)[rns]? )?(?:kind(?:er)?|töchter|söhne|tochter|sohn))<end>
@ Sibling :: (?:ich habe|habe) (?P<o>(?:eine?n?|zwei|drei|vier|[1-9]) <old>(?:geschwister|schwestern?|bruder
  |brüder))<end>
@ Pet = {o} ({k}) :: <my> <old>(?P<k><pet>)(?: (?:hei(?:ß|ss)t|namens)|,)? <Name>
- (?:ich habe|habe ich|wir haben|habe) <now>eine?n? <old>(?P<k><pet>)(?: namens|,? (?:der|die|das) (?:hei(?:ß|ss)t)?
  | mit (?:dem )?namen?)? (?P<o><Word>)
@ Pet :: (?:ich habe|habe ich|wir haben|habe) <now>(?P<o>(?:eine?n?|zwei|drei|vier|[1-9]) (?:hunde?|hündin|katzen?
  |kater|hamster|kaninchen|pferde?|wellensittiche?|papagei(?:en)?|meerschweinchen|schildkröten?))<end>
@ Speaks +many :: (?:ich )?spreche (?:ich )?<now>(?:(?:flie(?:ß|ss)end|auch|gut|etwas|ein bisschen
  |perfekt) )?(?P<o>(?:<lang>)(?:(?:,| und|, und| sowie) (?:(?:auch|etwas|ein bisschen|flie(?:ß
  |ss)end) )?(?:<lang>)){0,6})
@ Speaks :: meine muttersprache ist <now>(?P<o><lang>)
# languages wanted
@ Language = prefers {l} discussion, {c} code :: (?:ich |wir |lass uns )?(?:bitte )?<talk>(?: \w+){0,3} auf (?P<l><lan
  g>),?(?: und| aber)?,? (?:schreib\w* )?(?:ich )?(?:aber )?<code>(?: \w+){0,2} (?:auf|in) (?P<c><lang>)
- (?:ich )?(?:diskutiere|rede|spreche) (?:\w+ )?auf (?P<l><lang>),?(?: und| aber)?,? (?:ich )?(?:schreibe
  |programmiere) (?:ich )?(?:meinen |den )?(?:code )?(?:aber )?auf (?P<c><lang>)
- (?:diskussion(?:en)?|gespräche?|chat|unterhaltung|antworten|erklärungen)(?: bitte)? auf (?P<l><lang>),?(?: und
  | aber)?,? <code>(?: bitte)? auf (?P<c><lang>)
- (?:schreib\w* )?<code>(?: bitte| immer)? auf (?P<c><lang>),?(?: und| aber)?,? (?:\w+ ){0,4}(?:auf )?(?P<l><lang>)
@ Language = answers in {l} :: (?:bitte )?(?:<from> )?(?:bitte )?(?:antworte|schreibe?|rede|sprich|antworten sie
  |antwortet|schreiben sie|sprechen sie|kommuniziere)(?: (?:mir|mit mir|bitte|immer|ab jetzt|in zukunft|künftig|nur
  |stets|von nun an|ab sofort|grundsätzlich)){0,4} (?:auf|in) (?P<l><lang>)(?= und |<end>)
- (?:bitte )?(?:(?:<from>|immer|nur|bitte|mir|grundsätzlich) ){0,3}auf (?P<l><lang>)(?: (?:bitte|immer
  |nur)){0,2} (?:antworten|schreiben|sprechen|reden|kommunizieren)<end>
- (?:ich )?(?:möchte|will|bevorzuge)(?: \w+){0,3} (?:antworten|erklärungen) auf (?P<l><lang>)
- (?:ich )?bevorzuge (?:es auf )?(?P<l><lang>)<end>
- (?:lass uns) (?:bitte |ab jetzt )?(?:auf )?(?P<l><lang>) (?:sprechen|reden|schreiben)<end>
@ Language = {c} code :: (?:bitte )?(?:schreibe? |<code> (?:bitte )?)(?:<code> )?(?:bitte |immer )?(?:auf
  |in) (?P<c>englisch|deutsch)(?: schreiben)?<end>
# diet, health
@ Diet :: (?:ich )?(?:bin|lebe|esse|koche|ernähre mich) (?:ich )?<now>(?:eine? )?(?P<o><diet>)<end>
@ Diet +not :: (?:ich )?(?:esse|trinke) (?:ich )?<now>(?P<o>(?:keine?n?|nur) (?!mehr|heute|gerade)<any>{2,40}?)<end>
@ Allergy +many :: (?:ich )?(?:bin|reagiere) (?:ich )?<now>(?:stark |hoch|schwer )?allergisch (?:gegen|auf) <list>
- (?:ich )?(?:habe (?:ich )?<now>eine (?:starke |schwere )?allergie (?:gegen|auf)|vertrage (?:ich )?keine?n?) <list>
- (?:ich )?bin (?:ich )?<now>gegen (?P<o><any>{3,40}?) allergisch
@ Allergy :: (?:ich )?habe (?:ich )?<now>(?:eine )?(?:starke |schwere )?(?P<o>[\w-]{3,30}?)-?(?:allergie
  |unverträglichkeit)<end>
@ Condition :: (?:ich )?(?:habe|leide (?:ich )?(?:an|unter)) (?:ich )?<now>(?P<o>diabetes(?: typ [12])?|asthma|migräne
  |adhs|zöliakie|bluthochdruck|legasthenie|epilepsie|rheuma|multiple sklerose|autismus|tinnitus
  |eine? rot-grün-schwäche|depressionen|heuschnupfen|(?:eine )?\w+intoleranz)<end>
- (?:ich )?bin (?:ich )?<now>(?P<o>laktoseintolerant|farbenblind|schwerhörig|gehörlos|blind|legastheniker(?:in)?
  |diabetiker(?:in)?|kurzsichtig|schwanger|autist(?:in)?)<end>
# rules
@ Rule +not :: (?P<o>vor (?:jedem|jeder) <any>{3,30}? (?:müssen|muss|immer|bitte) <any>{3,60}?)<end>
- (?P<o>(?:duze?|sieze?) mich)(?: bitte)?<end>
- (?P<o>keine (?!ahnung|sorge|angst|zeit|frage|lust|panik|idee|ursache)<any>{3,40}?),? bitte<end>
- (?P<o>(?:verwende|benutze|nutze|schreibe?|mache?|setze|gib)(?: bitte)?(?: mir)? keine?n? (?!diese)<any>{3,60}?)<end>
- (?P<o>[a-zäöüß]{3,14}e?(?: mir)?(?: bitte)? <from> <any>{3,60}?)<end>
- ich (?:möchte|will), dass du (?P<o>(?:immer|nie(?:mals)?|ab jetzt|stets|nicht mehr|keine?) <any>{3,80}?)<end>
- (?P<o>(?:immer )?wenn ich (?:["'„“])?<any>{1,40}?(?:["'“”])? (?:sage|schreibe), (?:dann )?<any>{3,90}?<more>)<end>
- (?:bitte )?(?:<from>[ ,]+)(?:bitte )?(?!auf \w+isch|(?:\w+ ){0,2}(?:ich|wir(?! uns))\b|ist\b|wird\b
  |bin\b)(?P<o><any>{6,110}?<more>)<end>
- bitte (?:mir |mich |den |die |das )?(?P<o>(?:nie(?:mals)?|nicht mehr|nie wieder|immer|stets|auf keinen fall
  |keine? (?=<any>{2,60} (?:mehr|verwenden|benutzen|nutzen|schreiben|hinzufügen)\b)
  |grundsätzlich)\b<any>{3,100}?<more>)<end>
- (?:du |ihr |sie |man |es |wir )?(?:darfst|dürft|dürfen|sollst|sollt|sollen|darf|müssen|musst
  |muss) (?:bitte |<any>{2,20} )?(?P<o>(?:<no>|immer|stets)\b <any>{3,90}?<more>)<end>
- (?P<o>(?:nie(?:mals)?|immer|stets|auf keinen fall|unter keinen umständen|niemals) (?!(?:wenn|noch|mehr|wieder|bin
  |habe|war|wird|ist|hatte|mag|geht|kommt|muss|diese|ich|im\b|das gleiche)\b)<any>{4,90}?(?:en|tun|ern
  |eln))(?<!haben)(?<!worden)<end>
- (?!ich|wir|er\b|es\b|sie\b|das|ist|war|bin|hab|wohne|arbeite|esse|trinke|liebe|heute|geh|mein|kann|hatte|noch|fast
  |wie|so\b|schon)(?P<o>(?:[a-zäöüß]{2,14}(?:e|t|b|f|h|p|s|g|d|k|n sie) (?:(?:bitte|mir|mich|dich|den|die|das|in|code
  |tests|alle|deine|antworten) ){0,3}(?:immer|nie(?:mals)?|stets|auf keinen fall|unter keinen umständen
  |nie wieder)(?! (?:noch|mehr|wieder)\b) <any>{3,90}?|(?:push|lösch|commit|verwend|benutz|nutz|schreib|änder|fass
  |veröffentlich|antwort|frag|duz|siez)\w* (?:bitte )?(?:mir |mich |dich )?(?:immer
  |nie(?:mals)?)(?: <any>{2,90}?)?)<more>)<end>
# decisions
@ Decision = {o} statt {was} +fix +project :: (?:wir |ich |lass uns |bitte )?(?:<use>) <then>(?P<o><any>{1,50}?) (?:st
  att|anstatt|anstelle von|statt auf|statt zu) (?P<was><any>{1,40}?)(?: (?:verwenden|nutzen|benutzen|nehmen))?<end>
- lass uns <then>(?P<o><any>{1,50}?) (?:statt|anstatt|anstelle von) (?P<was><any>{1,40}?) (?:verwenden|nutzen|benutzen
  |nehmen)<end>
- (?:statt|anstatt|anstelle von) (?P<was><any>{1,40}?) (?:<use>) <then>(?P<o><any>{1,50}?)<end>
- (?:wir |ich )?(?:<use>) <then>(?P<o><any>{1,50}?), (?:und )?nicht(?: mehr)? (?P<was><any>{1,40}?)<end>
- (?:wir |ich )(?:<use>) <then>nicht (?:mehr )?(?P<was><any>{1,40}?),? sondern (?:jetzt )?(?P<o><any>{1,50}?)<end>
- wir sind (?:<past> )?von (?P<was><any>{1,40}?) (?:auf|zu|nach) (?P<o><any>{1,40}?) (?:gewechselt|umgestiegen
  |migriert)
- wir (?:steigen|wechseln|migrieren|ziehen) <then>(?:<date> )?von (?P<was><any>{1,40}?) (?:auf|zu
  |nach) (?P<o><any>{1,40}?)(?: um)?<end>
@ Decision +project :: (?:wir haben|ich habe|haben wir) (?:uns|mich) (?:(?:<past>|heute|jetzt
  |nun) )?(?:für) (?P<o><any>{2,60}?) entschieden
- (?:wir (?:steigen|wechseln|migrieren)) <then>(?P<o>(?:auf|zu|nach) <any>{1,40}?)(?: um)?<end>
@ Decision +not +project :: (?:wir haben|ich habe) (?:(?:<past>|heute|jetzt) )?(?:beschlossen|entschieden
  |vereinbart),? (?P<o><any>{4,90}?)<end>
# plans and dates
@ Deadline = {d}, {o} :: (?:die |der |meine |unsere )?(?:abgabefrist|frist|deadline|abgabetermin|abgabe
  |einsendeschluss) (?:für |von )?(?:den |die |das |der |des |meine?[nrs]? |unsere?[nrs]? )?(?P<o><any>{2,60}?) (?:ist
  |endet|läuft bis) (?P<d><date>)
- (?:der|die|das|mein|meine|unser|unsere) (?P<o><any>{2,50}?) (?:muss|müssen) (?:spätestens )?bis(?: zum
  | spätestens)? (?P<d>(?:am )?(?:<date>|<day>|<month>)) (?:fertig|abgegeben|eingereicht|raus|abgeschickt|live)\b
- (?:ich muss|wir müssen|muss ich) (?:spätestens )?bis(?: zum| spätestens)? (?P<d><date>
  |<day>) (?:den |die |das |meine?n? |unsere?n? )?(?P<o><any>{2,60}?) (?:abgeben|einreichen|abschicken|fertigstellen
  |liefern|abliefern)
- (?:ich muss|wir müssen|muss ich) (?:den |die |das |meine?n? |unsere?n? )?(?P<o><any>{2,60}?) (?:spätestens )?bis(?
  : zum| spätestens)? (?P<d><date>|<day>) (?:abgeben|einreichen|abschicken|fertigstellen|liefern|abliefern
  |fertig haben)
@ Deadline = {d} :: (?:die |meine |unsere )?(?:abgabefrist|frist|deadline|abgabe) ist (?P<d><date>)
@ Appointment = {o} {d} :: (?:ich habe|habe ich|wir haben|ich hab
  |hab ich) (?P<d><date>) (?:eine?n? )?(?P<o>(?:termin |verabredung )?(?:(?:beim|bei der|bei|mit) )?<any>{3,50}?)<end>
- (?:ich habe|wir haben|ich hab) (?:eine?n? )?(?P<o>(?:[\w-]*termin|[\w-]*gespräch|[\w-]*prüfung|interview|meeting
  |klausur|operation|impfung)(?: (?:beim|bei der|bei|mit) <any>{2,30}?)?) (?P<d><date>)
- (?P<d><date>) (?:habe ich|hab ich|haben wir) (?:eine?n? |um [0-9:․]{1,5}(?: uhr)? ){0,2}(?P<o>(?:[\w-]*termin
  |[\w-]*gespräch|[\w-]*prüfung|interview|meeting|klausur|operation|impfung|physiotherapie|[\w-]*therapie)(?: (?:beim
  |bei der|bei|mit) <any>{2,30}?)?)<end>
- <my> (?P<o>[\w-]*(?:termin|gespräch|prüfung|untersuchung|interview|meeting|besprechung|operation|klausur|hochzeit
  |op)(?: (?:beim|bei|mit|zur) <any>{2,30}?)?) (?:ist|findet) (?P<d><date>)(?: statt)?
@ Plan = {p} {o} {v} :: (?P<p><date>) (?P<v><verb>) (?:ich|wir) (?P<o><any>{2,70}?)<end>
- (?:ich|wir) (?P<v><verb>) (?P<p><date>) (?P<o><any>{2,70}?)<end>
@ Plan = {p} {v} :: (?P<p><date>) (?P<v>heirate|heiraten) (?:ich|wir)<end>
- (?:ich|wir) (?P<v>heirate|heiraten) (?P<p><date>)<end>
@ Plan = {o} {p} {v} :: (?:ich|wir) (?P<v><verb>) (?P<o>(?:nach|in|zu) <any>{2,40}?) (?P<p><date>)<end>
@ Plan = {p} {o} :: (?P<p><date>) (?:werden?|will|wollen|möchten?) (?:ich|wir) (?P<o><any>{4,80}?(?:en|rn|ln))<end>
@ Plan :: (?:ich|wir) (?:werden?|wollen|will|planen?|haben? vor|möchten?|beabsichtige)(?:,
  | es,)? (?P<o>(?=<any>{0,60}(?:<date>))<any>{4,90}?(?:en|rn
  |ln))(?<!versuchen)(?<!sehen)(?<!testen)(?<!schauen)(?<!prüfen)(?<!probieren)(?<!machen lassen)<end>
- (?:ich|wir) planen? (?P<o>(?=<any>{0,60}(?:<date>))<any>{4,90}?)<end>
@ Goal :: mein(?: großes)? ziel (?:ist(?: es)?|für \w+ ist(?: es)?),? (?P<o><any>{4,90}?)<end>
@ Event = {p} {o} :: (?P<p><past>) (?:habe|haben|bin|sind|hab) (?:ich
  |wir) (?:mir |uns |mich )?(?P<o>(?:<any>{2,70}? )?<big>)<end>
- (?:ich|wir) (?:habe|haben|bin|sind|hab) (?:mir |uns |mich )?(?P<p><past>) (?:mir |uns |mich )?(?P<o>(?:<any>{2,70}
  ? )?<big>)<end>
- (?:ich|wir) (?:habe|haben|bin|sind|hab) (?:mir |uns |mich )?(?P<o>(?!nicht
  |noch)<any>{2,40}? (?:<past>) (?:<any>{1,40} )?<big>)<end>
# tastes
@ Favourite = {p}: {o} :: meine? lieblings(?P<p>[\w-]{2,30}) (?:ist|sind|heißt) <thing>
@ Prefers = {o} gegenüber {p} :: (?:ich )?bevorzuge (?:ich )?<now>(?P<o><any>{2,60}?) (?:gegenüber|vor
  |statt) (?P<p><any>{2,40}?)<end>
- (?:ich )?ziehe (?:ich )?<now>(?P<o><any>{2,60}?) (?:dem |der |den )?(?P<p><Word>) vor<end>
@ Prefers :: (?:ich )?(?:bevorzuge|präferiere) (?:ich )?<now>(?P<o><any>{2,80}?)<end>
- (?:ich )?(?:mag|trinke|esse|nutze|habe|benutze|schreibe|arbeite
  |verwende) (?:ich )?(?:viel )?lieber (?P<o><any>{2,60}? als <any>{2,40}?)<end>
- (?:ich )?(?:mag|trinke|esse) (?P<o><Words>) lieber als <any>{2,40}?<end>
- mir (?:ist|sind) (?P<o><any>{2,60}?) lieber<end>
@ Prefers = {o} als {p} :: mir (?:ist|sind) (?P<o><any>{2,60}?) lieber als (?P<p><any>{2,40}?)<end>
@ Dislikes +many :: (?:ich )?(?:hasse|verabscheue) (?:ich )?<list>
- (?:ich )?mag (?:ich )?(?:überhaupt |gar )?keine?n? <list>
@ Dislikes :: (?:ich )?(?:mag|kann) (?:ich )?(?P<o>(?:(?!nicht)[\w-]+ ){1,4}?)(?:überhaupt |gar |wirklich |einfach |ab
  solut )?nicht(?: leiden| ausstehen|(?<!kann.)<end>)
@ Dislikes :: (?P<o><Words>) mag ich (?:überhaupt |gar |wirklich )?nicht<end>
@ Likes +many :: (?:ich )?stehe (?:ich )?(?:total |sehr |voll )?auf <list>
- (?:ich )?(?:mag|liebe) (?:ich )?<now>(?!es\b|wie|dass|keine?|lieber|dein|diese|dich|euch|ihr)<list>
- am liebsten (?:esse|trinke|höre|lese|schaue) ich <list>
- (?:ich )?(?:esse|trinke|höre|lese|koche|schaue) (?:ich )?(?:sehr |am )?(?:gerne?|liebsten) <list>
@ Hobby +many :: (?:meine hobbys sind|mein hobby ist|zu meinen hobbys (?:gehören|zählen)) <list>
@ Hobby :: in meiner freizeit (?:spiele|gehe|mache) ich (?:gerne? )?(?P<o><any>{2,50}?)<end>
@ Skill :: (?:ich )?spiele (?:ich )?(?:seit (?:\w+ ){1,2}?)?(?P<o>klavier|gitarre|geige|cello|schlagzeug|flöte
  |trompete|saxophon|bass|orgel|schach)<end>
@ Trait :: (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o>nachteule|frühaufsteher(?:in)?|morgenmensch|linkshänder(?:in)?
  |introvertiert|extrovertiert|perfektionist(?:in)?|nachtmensch|rechtshänder(?:in)?)<end>
@ Uses +many :: (?:ich )?(?:nutze|benutze|verwende|arbeite (?:ich )?(?:meistens |immer )?mit) (?:ich )?<now>(?!dich
  |das\b|es\b|die\b|meine[mnr]?\b|dein)(?P<o>[^;:.!?()…\x00]{2,80}?)(?= (?:als|für|zum|zur|auf|mit|bei|unter|um)\b
  |\s*(?:[;:.!?()…]|\Z)|,? (?:<but>)\b)
@ Uses :: mein (?:editor|betriebssystem|browser|laptop|rechner) ist (?:eine? )?<thing>
@ Owns :: (?:ich )?besitze (?:ich )?<now>(?P<o>eine?n? <any>{2,40}?)<end>
- (?:ich )?fahre (?:ich )?<now>(?P<o>eine?n? (?-i:[A-Z])<any>{2,30}?)<end>
@ Works on :: (?:ich )?(?:arbeite|schreibe) (?:ich )?<now>an (?P<o>(?:eine[mr]|meine[mr]|dem|der|unsere[mr]) (?!uni\b
  |hochschule|schule|fehler|bug|problem|aufgabe|funktion)<any>{4,70}?)<end>
"""
