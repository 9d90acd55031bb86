"""What a sentence in German says about the one who speaks, as a table (`tongues.py` says how it is read): its words
and their order here, the forms of facts beside it.

Precision before recall: in doubt a sentence says nothing.
"""

from __future__ import annotations

from looseleaf.distill.languages.forms import reader
from looseleaf.distill.languages.german_forms import FORMS

_TABLE = r"""
# what makes a sentence none of ours
never = \b(?:schreib|verfass|formulier|erstell|entwirf|generier)\w*\b[^:]{0,60}:|\?[\s"'“”»)]*\Z|\x00|\b(?:wenn
  |falls|sofern) (?!ich <any>{1,40} (?:sage|schreibe)\b)<any>{0,80}\b(?:wäre|hätte|würde|könnte|bin|habe)\b|\b(?:wäre
  |hätte|könnte|würde) (?:ich|wir)\b|\b(?:ich|wir) (?:wären?|hätten?|könnten?|würden?)\b|\bals ob\b|\bals wäre
  |\b(?:angenommen|stell(?:t|en)? (?:dir|euch|sie sich)|nehmen wir(?: mal)? an|vielleicht|möglicherweise|eventuell
  |vermutlich|wahrscheinlich|hypothetisch|theoretisch|sagen wir(?: mal)?)\b|\b(?:tu(?:e|n sie|t)?(?: mal| bitte)? so
  |spiel(?:e|en|t)?(?: \w+)? (?:die rolle|einen?)|du bist (?:jetzt |ab jetzt |nun |ab sofort )?(?:ein|der|die|mein)
  |in der rolle|rollenspiel|gib dich als|verhalte dich wie|fantasy\w*|im spiel)\b|\b(?:scherz|spaß|witz|haha\w*|hihi
  |lol|xd|rofl|ironie|nicht ernst)\b|[😂🤣😜😉🙃]|;-?\)|\b(?:sagte[nt]?|sagt|meinte[nt]?|meint|schrieb|schreibt
  |behaupte\w*|erzählt\w*|fragte?|antwortete|zitat\w*|laut|zufolge|(?:hat|haben) (?:\w+ ){0,3}(?:gesagt|gemeint
  |geschrieben|erzählt|gefragt))\b|\b(?:beispiel\w*|testdaten|(?:im|in meinem|in einem) (?:roman|buch|film|spiel
  |traum)|geschichte|protagonist\w*|(?:haupt)?figur|übersetz(?:e|en|t|ung\w*)?|gedicht|liedtext|korrigiere
  |mein traum war|träumte)\b|\bich (?:glaube|denke|hoffe|überlege|frage mich)\b|\bob ich\b
hollow = (?:(?:gerade|jetzt|aktuell|nun) )?(?:(?:das|die|der|den) neue[nrs]? .*|(?:die |der |den )?(?:option
  |variante|version|vorschlag|lösung)\b.*|(?:den|die|das) (?:erste|zweite|dritte|obige|letzte)[nrs]?\b.*)
  |(?:(?:gerade|jetzt|aktuell|nun) )?(?:es|das|dies(?:es)?|dich|sie|ihn|mich|dir|euch|sowas|so etwas|etwas|was|alles
  |nichts|sehr|den|die|der|dass|wie|ja|ihr|ihm|diese[rns]?|das hier|hier|da|dort|beide[sn]?|eine|einen|ein|viel|mehr
  |ich)|(?:(?:gerade|jetzt|aktuell|nun) )?(?:diese[nrms]?(?! (?:jahr|woche|monat|sommer|herbst|winter|frühling))
  |folgende[nrms]?|deine?[nrms]?|dir|dich|jene[nrms]?) .*
negative = \b(?:nicht|kein\w*|nie|niemals|nichts|niemand)\b
tail = (?:^|[ ,]+)(?:bitte|danke|übrigens|auch|und so|halt|eben|oder so|usw|etc|sehr|total|wirklich|gern|gerne|mal
  |jetzt|ja|und|aber|schon|noch|einfach|so|seit (?:\w+ ){1,3}\w+)$
joins = (?:\s*,\s*(?:und |sowie )?|\s+(?:und|sowie)\s+)(?:(?:auch|etwas|ein bisschen|ein wenig|fließend) )?
stops = (?:ich|wir|mein\w*|aber|wohne|arbeite|bin|habe|spreche|lebe|komme|studiere|das|es|er|sie|weil|vor allem
  |besonders|vertrage|also|nicht|esse|trinke|mag|hasse|liebe|bitte|denk\w*|obwohl|wenn|und|je|egal)\b
corrects = \A(?:nein|nee|nö|moment|stopp|korrektur|falsch|stimmt nicht|sorry|ach|ups|doch)\b[ ,:!.–-]
  |\b(?:eigentlich|tatsächlich|in wirklichkeit|genau genommen|ich meinte|korrektur|nicht mehr|inzwischen
  |mittlerweile)\b
current = \b(?:derzeit|zurzeit|zur zeit|momentan|im moment|gerade(?! nach| von| aus)|vorübergehend|aktuell
  |vorerst)\b
recent = \b(?:heute|gestern|vorgestern|letzte woche|diese woche|vor (?:ein paar|wenigen|zwei|drei|[2-9]) tagen
  |(?:letzten|am) (?:wochenende|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag))\b
once = \b(?:heute|für diese (?:aufgabe|sitzung|session)|in dieser (?:sitzung|session|unterhaltung)|diesmal
  |nur jetzt|für dieses mal)\b
asks = [,.;!–—] ?(?:und |also |aber )?(?:kannst|könntest|kennst|hast|weißt|würdest|gibt es|gibt's|was|wie|wo|wohin
  |wann|welche\w*|wer|warum|soll|sollte|darf|lohnt|empfiehlst|habt|könnt|können sie|ist|sind
  |hättest)\b[^,;\x00]{2,90}\?\s*\Z
supposes = \b(?:wenn|falls|sofern|ob|angenommen)\b
here = \bdiese[nrms]?\b(?! (?:projekt|repo|chat|unterhaltung|gespräch))
other = (?!)
# parts of patterns
begin = (?:\A|[,;:.!()–—]|\x00|- |\b(?:und|aber|denn|also|sondern|mit|(?:merke? dir|beachte|denk daran
  |vergiss nicht|notiere?|wichtig ist),? dass)\b)\s*
lead = (?:bitte|ja|nein|also|und|aber|übrigens|hallo|hi|hey|ok|okay|ach|achso|bitte merk dir|merk dir|merke dir
  |tatsächlich|eigentlich|genau|dann|zur info|kurz|außerdem|ferner|zudem|moin|inzwischen|jetzt|mittlerweile|derzeit
  |momentan|zurzeit|privat|beruflich|seit (?:(?:dem|der|letztem|letzter|anfang|ende|mitte|\w+(?= (?:jahr|monat|woche
  |tag))) )?\w+|dort)[ ,:!]+
and = bitte|und ich|und mein\w*|und (?:wohne|arbeite|bin|habe|spreche|lebe|komme|mag|liebe|studiere|esse|nutze
  |heiße|trinke)|aber|weil|denn|obwohl|damit|sondern|während|wobei|sodass|da ich|und (?:das|es|wir|er|sie|nicht)|seit
  |seitdem
but = aber|weil|denn|obwohl|und ich|und mein\w*|damit|nicht mehr|wenn|da ich|wobei
particle = von|van|de|der|zu|an der|am|im|ob der|bei|den|da|di|bin|al|le|la
noname = nicht|kein\w*|anders|übrigens|auch|so|mich|dich|das|es|noch|halt|doch|ja|bitte|jetzt|einfach|wie|er|sie
  |ihn|hier
now = (?:(?:jetzt|nun|derzeit|zurzeit|momentan|aktuell|gerade|inzwischen|mittlerweile|übrigens|auch|schon
  |immer noch|noch|seit (?:\w+ ){0,2}\w+|ab sofort|eigentlich|gern|gerne|sehr|total|wirklich|besonders|ja|halt
  |bereits|hier|ursprünglich|tatsächlich|doch|vor allem|privat|beruflich|täglich|hauptsächlich|meistens|oft
  |am liebsten|im moment|zur zeit) ){0,3}
soon = (?:(?:gerade|vor kurzem|endlich|jetzt|inzwischen|mittlerweile|leider|schon lange|seit (?:\w+ ){0,2}\w+
  |übrigens|heute) ){0,2}
home = (?:wohne|lebe)
land = (?:der (?:Schweiz|Türkei|Ukraine|Slowakei|Mongolei|Pfalz|Eifel|Lausitz|Oberpfalz|Steiermark|Toskana|Bretagne
  |Normandie|Provence|Ukraine)|den (?:USA|Niederlanden|Philippinen|Vereinigten Staaten)|dem (?:Iran|Irak|Libanon
  |Jemen|Sudan|Kosovo|Saarland|Schwarzwald|Ruhrgebiet|Rheinland|Allgäu|Harz|Münsterland|Emsland|Sauerland|Odenwald
  |Vogtland|Erzgebirge|Burgenland)|(?!(?:Angst|Frieden|Armut|Sorge|Trennung|Scheidung|Miete|Untermiete|Gewohnheit
  |Zufall|Spaß|Urlaub|Büro|Haus|Hause|Arbeit|Kino|Training|Bett|Schule|Not|Neugier|Freude)\b)<Words>)
choice = (?:auf |zu |für )?(?P<o>.+?)(?: (?:als|für) .+)?(?: (?:zu )?(?:verwenden|nutzen|benutzen|nehmen|setzen
  |wechseln|einzusetzen|umzusteigen))?
notwas = (?:,? (?:und )?nicht(?: mehr)? (?:in |bei |bei der |aus |als )?<Was>)?
day = montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag
month = januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember
season = sommer|winter|herbst|frühling|frühjahr
count = [0-9]{1,2}|zwei|drei|vier|fünf|sechs|sieben|acht|zehn|einem|einer|ein paar
unit = tagen?|wochen?|monat(?:en)?|jahr(?:en)?
clock = (?: (?:um|ab) [0-9]{1,2}(?:[:․][0-9]{2})?(?: uhr(?: [0-9]{2})?)?)?
date = (?:(?:am |zum |der |den |dem |im |vom |ab )?(?:(?:<day>),? )?(?:dem |de
  n |der )?(?:[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?|[0-9]{1,2}․[0-9]{1,2}(?:․[0-9]{2,4}|\.)?
  |[0-9]{4}-[0-9]{2}-[0-9]{2})|(?:am |im |ab |zum )?(?:nächste[nrms]?|kommende[nrms]?|diese[nrms]?
  |übernächste[nrms]?) (?:<day>|<season>|<month>|woche|monat|jahr|wochenende)|(?:am |im |ab )(?:<month>|<day>
  |<season>)(?: [0-9]{4})?|übermorgen|heute abend|morgen(?: früh| abend| nachmittag| vormittag| mittag)?
  |in (?:<count>) (?:<unit>))<clock>
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
  |verstaucht|aufgenommen|geworden|absolviert|(?:nach|in) <Words> (?:um)?gezogen|operiert worden)
job = (?:entwickler|lehrer|ingenieur|arzt|ärztin|helfer|pfleger|krankenschwester|anwalt|anwältin|architekt|designer
  |informatiker|student|schüler|koch|köchin|bäcker|journalist|autor|künstler|musiker|forscher|wissenschaftler
  |programmierer|berater|tischler|elektriker|mechaniker|polizist|physiker|chemiker|biologe|biologin|mathematiker
  |psychologe|psychologin|übersetzer|fotograf|verkäufer|buchhalter|manager|admin|administrator|rentner|apotheker
  |hebamme|professor|dozent|techniker|schreiner|gärtner|friseur|pilot|richter|therapeut|bibliothekar|grafiker
  |redakteur|analyst|erzieher|landwirt|hausfrau|hausmann|kellner|leiter|scientist|engineer|doktorand|azubi
  |(?<!stuhl)(?<!rad)(?<!auto)(?<!bei)fahrer|arbeiter|führer|händler|meister|monteur|illustrator|kurator|moderator
  |restaurator|ologe|ologin|kaufmann|kauffrau|beamter|beamtin|schauspieler|sänger|trainer|metzger|maler|dachdecker
  |klempner|installateur|optiker|soldat|imker|winzer|referent|assistent|sekretär|reporter|lektor|regisseur|texter
  |controller|logistiker|jurist|notar|pädagoge|pädagogin|zimmermann|kameramann|florist|konditor|sanitäter
  |chemielaborant|laborant|tänzer)(?:in)?
folk = deutscher?|österreicher(?:in)?|schweizer(?:in)?|franzose|französin|spanier(?:in)?|italiener(?:in)?|türk(?:e
  |in)|pol(?:e|in)|chines(?:e|in)|japaner(?:in)?|brit(?:e|in)|engländer(?:in)?|amerikaner(?:in)?|russ(?:e|in)
  |ukrainer(?:in)?|griech(?:e|in)|niederländer(?:in)?|brasilianer(?:in)?|inder(?:in)?|portugies(?:e|in)|syrer(?:in)?
  |iraner(?:in)?
diet = vegan|vegetarisch|vegetarier(?:in)?|veganer(?:in)?|pescetarier(?:in)?|flexitarier(?:in)?|glutenfrei
  |laktosefrei|halal|koscher
on = am
week = in der Woche vom {}
more = (?:, (?:ohne|außer|es sei denn|bevor|auch wenn|sondern|selbst wenn) <any>{2,80}?)?
used = (?: (?:geschrieben|gebaut|entwickelt|programmiert|umgesetzt|implementiert))?(?: (?:als|für
  |zum) <any>{2,30}?)?<end>
weuse = (?:wir (?:nutzen|benutzen|verwenden|nehmen|setzen auf|testen(?: alles)? mit|arbeiten mit)|(?:unser|das
  |mein) (?:projekt|backend|frontend|team) (?:nutzt|verwendet|läuft mit|setzt auf|basiert auf|ist mit)
  |als (?:datenbank|framework|paketmanager|test-?runner|testframework) (?:nutzen|benutzen|verwenden|nehmen) wir
  |unsere? (?:datenbank|db|framework|paketmanager|test-?runner) ist) <then>
written = (?:(?:unsere?|das|der|die|mein) (?:ganzes? )?(?:projekt|backend|frontend|code|server|app
  |anwendung) (?:ist|wurde|haben wir)(?: komplett)? (?:in|mit)|wir (?:schreiben|programmieren|entwickeln|machen
  |bauen)(?: jetzt| inzwischen)?(?: alles| das backend| das frontend)? (?:in|mit))[ ]
wehost = (?:wir (?:hosten|deployen|betreiben)(?: alles| das| (?:das|die|den|unsere?n?) \w+)?|(?:unser
  |das) projekt (?:läuft|wird gehostet)|gehostet wird(?: das| alles)?|(?:die app|der server|die seite
  |alles) läuft) (?:bei|auf)[ ]
licence = (?:(?:unser|das) projekt|(?:der|unser) code|wir veröffentlichen(?: alles)?) (?:steht |is
  t |läuft )?unter (?:der )?|unsere lizenz ist (?:die )?
port = (?:der (?:server|dienst|dev-server)|die (?:api|app|anwendung)|unser (?:server|backend)|das (?:backend
  |frontend)) (?:läuft|lauscht|hört) auf port[ ]
branch = (?:unser|der) (?:haupt-?branch|hauptzweig|standard-?branch|default-?branch) (?:heißt|ist)[ ]
version = (?:wir sind|unser projekt ist|aktuell sind wir) (?:jetzt |aktuell )?(?:auf|bei) versio
  n |die aktuelle version ist[ ]
repository = (?:unser|das|mein) (?:repo|repository) (?:ist|liegt|ist unter|liegt unter|liegt auf
  |findest du unter)[ ]
# names of languages, relatives, animals, verbs
deutsch deutsche deutscher > German; englisch englische englischer > English; französisch > French
spanisch > Spanish; italienisch > Italian; chinesisch mandarin > Chinese; japanisch > Japanese
portugiesisch > Portuguese; russisch > Russian; türkisch > Turkish; polnisch > Polish; niederländisch > Dutch
koreanisch > Korean; arabisch > Arabic; ukrainisch > Ukrainian; schwedisch > Swedish; schwester > Sister > Sibling
bruder zwillingsbruder > Brother > Sibling; zwillingsschwester > Sister > Sibling; mutter mama > Mother > Parent; va
  ter papa > Father > Parent; tochter > Daughter > Child
sohn > Son > Child; frau ehefrau > Wife > Partner; mann ehemann > Husband > Partner; freundin > Girlfriend > Partner
partnerin partner verlobte verlobter > Partner > Partner; freund > Friend > Friend
chefin chef vorgesetzter vorgesetzte > Manager > Manager; kollegin kollege > Colleague > Colleague
hund hündin welpe > Dog > Pet; katze kater kätzchen > Cat > Pet; hamster > Hamster > Pet; kaninchen > Rabbit > Pet
papagei wellensittich > Parrot > Pet; pferd > Horse > Pet; meerschweinchen > Guinea pig > Pet
schildkröte > Tortoise > Pet; fahre > fahren > verb; fliege > fliegen > verb; reise > reisen > verb
ziehe > ziehen > verb; heirate > heiraten > verb; starte > starten > verb; beginne > beginnen > verb
laufe > laufen > verb; besuche > besuchen > verb; mache > machen > verb; gehe > gehen > verb; fange > anfangen > ver
  b
fahren > fahren > verb; fliegen > fliegen > verb; reisen > reisen > verb; ziehen > ziehen > verb
heiraten > heiraten > verb; starten > starten > verb; beginnen > beginnen > verb; laufen > laufen > verb
besuchen > besuchen > verb
"""

propose = reader(_TABLE + FORMS)
"""The facts that one sentence of a user states, said at a time."""
