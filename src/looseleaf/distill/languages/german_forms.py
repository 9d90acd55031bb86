"""The forms in which facts are said in German; `tongues.py` says how they are read."""

from __future__ import annotations

FORMS = r"""
# ends and corrections
@ Home +fix :: (?:ich bin|bin ich|wir sind|sind wir) <soon>(?:<past> )?(?:von|aus) <Was> nach <Name> (?:um
  |ge)?gezogen
- (?:ich bin|bin ich|wir sind|sind wir) <soon>(?:<past> )?nach <Name> (?:um)?gezogen
- (?:ich )?<home> (?:ich )?nicht(?: mehr)? in <Was>,? sondern (?:jetzt )?in <Name>
@ Home +fix +end :: (?:ich )?<home> (?:ich )?<soon>nicht (?:mehr|länger) in <Name>
@ Employer +fix :: (?:ich )?arbeite (?:ich )?nicht(?: mehr)? (?:bei|für) <Was>,? sondern (?:jetzt )?(?:bei
  |für) <Name>
- (?:ich bin|bin ich|ich habe?) <soon>(?:<past> )?von <Was> zu <Name> gewechselt
@ Employer +fix +end :: (?:ich )?arbeite (?:ich )?<soon>nicht (?:mehr|länger) (?:bei|für) (?:der |dem )?<Name>
- (?:ich )?bin (?:ich )?<soon>nicht (?:mehr|länger) bei (?:der |dem |den )?(?P<o>(?!Sinnen|Kräften|Trost
  |Verstand)<Words>)<end>
- (?:ich habe?|habe? ich) <soon>(?:<past> )?(?:meinen job |meine stelle )?bei (?:der |dem )?<Name> (?:gekündigt
  |aufgehört)
@ Role +fix +end :: (?:ich )?bin (?:ich )?<soon>keine? (?P<o>(?!(?:<diet>)\b)<Word>) mehr\b
- (?:ich )?arbeite (?:ich )?<soon>nicht (?:mehr|länger) als (?P<o><Word>)
@ Diet +fix +end :: (?:ich )?(?:bin|lebe|esse) (?:ich )?<soon>(?:nicht mehr|keine?) (?P<o><diet>)(?: mehr)?<end>
@ Diet +fix +not :: (?:ich )?(?:esse|trinke) (?:ich )?<soon>(?P<o>keine?n? <any>{2,40}?) mehr<end>
@ Uses +fix +end :: (?:ich )?(?:nutze|benutze|verwende) (?:ich )?<soon><Name> <soon>nicht mehr<end>
- (?:ich )?(?:nutze|benutze|verwende) (?:ich )?<soon>keine?n? (?P<o><any>{1,40}?) mehr<end>
@ Likes +fix +end :: (?:ich )?mag (?:ich )?(?P<o>(?!kein)<any>{1,40}?) <soon>nicht mehr<end>
- (?:ich )?mag (?:ich )?<soon>keine?n? (?P<o><any>{1,40}?) mehr<end>
@ Speaks +fix +end :: (?:ich )?spreche (?:ich )?<soon>kein (?P<o><lang>) mehr<end>
@ Event = {o} {p} +fix :: (?:ich habe?|habe? ich) (?P<p><past> )?(?P<o>mit dem (?:rauchen|trinken
  |alkohol) aufgehört)
@ Event +fix +not :: (?:ich )?(?P<o>(?:rauche|trinke) (?:ich )?<soon>nicht mehr)<end>
# who one is
@ Name :: (?:ich hei(?:ß|ss)e?|hei(?:ß|ss)e ich|hei(?:ß|ss)e|mein (?:voller |vor)?name (?:ist
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
@ Birthday :: (?:ich habe? |ich hab |mein geburts(?:tag|datum) ist )(?:immer )?(?:a
  m |der )?(?P<o>[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?|[0-9]{1,2}․[0-9]{1,2}(?:․[0-9]{4})?)\.?(?= geburtstag
  |(?<=mein geburtstag ist )|\s*(?:[,.!;]|\Z))(?: geburtstag)?
- (?:ich bin|ich wurde|geboren (?:bin|wurde) ich) am (?P<o>[0-9]{1,2}․? ?(?:<month>)(?: [0-9]{4})?
  |[0-9]{1,2}․[0-9]{1,2}․[0-9]{4})(?: in <Words>)?(?: geboren|<end>)
@ Hometown :: (?:ich bin|ich wurde|bin ich) (?:ursprünglich )?in (?:der |dem )?<Name> (?:geboren|aufgewachsen
  |groß geworden)
- (?:ich )?(?:komme|stamme) (?:ich )?<now>aus (?P<o><land>)(?! zurück| nicht| gerade)<notwas>
- ich bin <Word>(?: <Word>)?,? (?:[0-9]{1,2}(?: jahre(?: alt)?)?,? (?:und )?)?aus (?P<o>(?:der |dem |den )?<Words>)
- ich bin <Word>(?: <Word>)?, (?:[0-9]{1,2}(?: jahre(?: alt)?)?,? (?:und )?)?(?-i:[A-ZÄÖÜ])[\w-]+ aus (?P<o><land>)
- (?:ich bin|ich wurde) am <date> in <Name> geboren
@ Nationality :: (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o><folk>)<end>
@ Home :: (?:ich <home>|wir (?:wohnen|leben)|<home> ich|wohne
  |lebe) <now>(?:(?:zusammen )?mit <any>{1,40}? )?in (?:der nähe von )?(?P<o><land>)<notwas>
- ich <now>in <Name> (?:wohne|lebe)\b
- mein (?:neuer )?wohnort ist <now><Name>
@ Employer = {o} :: (?:ich )?arbeite (?:ich )?<now>(?:bei|für) (?:der |de
  m |den )?(?P<o>(?!Stunden)<Words>)<notwas>(?= als |<end>| in | und )
- mein(?: neuer)? arbeitgeber (?:ist|heißt) <now><Name>
- (?:ich )?bin (?:ich )?<now>bei (?:der |dem |den )?<Name> (?:angestellt|beschäftigt|tätig)
- (?:ich )?(?:arbeite|jobbe) (?:ich )?<now>beim (?P<o><Words>)(?= als |<end>)
- bei (?:der |dem )?<Name>(?= als (?-i:[A-Z])[\w-]+<end>)
@ Role :: (?:ich )?arbeite (?:ich )?<now>(?:(?:bei|für) (?:der )?<Words> )?als (?P<o>(?!ob)<any>{2,50}?)(?= (?:bei
  |in|an|für|auf|am|im|und) |<end>)
- (?:ich )?bin (?:ich )?<now>(?:von beruf |beruflich )(?:eine? )?<thing>
- (?:ich )?bin (?:ich )?(?P<o><Word>) von beruf
- (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o>(?:(?:freie|freischaffende|freiberufliche|selbständige|selbstständige
  |angehende|leitende|gelernte)[rn]? |senior[- ]|junior[- ]|data )?[\w-]*<job>)(?=\s*(?:[,.!;]|\Z| [-–—])| (?:und|in
  |bei|an|aus|für|am|im|von|mit)\b)
- mein beruf ist <thing>
- von beruf bin ich (?:eine? )?<thing>
- (?:ich )?bin (?:ich )?<now>(?:selbst(?:st)?ändig|freiberuflich|tätig
  |angestellt) als (?:eine? )?(?P<o>(?-i:[A-ZÄÖÜ])[\w-]+)(?= (?:bei|in|an|für|und)\b|<end>)
- ich bin <Word>(?: <Word>)?, (?:[0-9]{1,2}(?: jahre(?: alt)?)?,? (?:und )?)?(?P<o>(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job>)
  (?= aus | in | bei |<end>)
@ Employer :: als (?:(?-i:[A-Z])[\w-]+) (?:bei|für) (?:der )?<Name>(?=<end>| in | und )
- (?:ich )?bin (?:ich )?<now>(?:eine? )?(?:\w+ )?(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job> bei (?:der )?<Name>
@ Education :: (?:ich )?studiere (?:ich )?<now>(?P<o><any>{2,60}?)(?= (?:und|im|seit)\b|<end>)
- (?:ich habe?|habe? ich) <now>(?P<o>(?:in <Words> |an der <any>{2,30} )?(?-i:[A-ZÄÖÜ])<any>{2,50}?) studiert
@ Partner :: (?:ich )?bin (?:ich )?<now>mit <Name> (?:verheiratet|verlobt|zusammen)
@ Marital status :: (?:ich )?bin (?:ich )?<now>(?:glücklich )?(?P<o>verheiratet|ledig|geschieden|verwitwet|verlobt
  |single|witwer?|alleinstehend)<end>
@ Religion :: (?:ich )?bin (?:ich )?<now>(?P<o>katholisch|evangelisch|muslimisch|jüdisch|buddhistisch
  |atheist(?:in)?|muslima?|christ(?:in)?|buddhist(?:in)?)<end>
@ Email :: meine (?:e-?mail|mail)(?:-?adresse)? (?:ist|lautet) (?P<o><mail>)
@ Phone :: meine (?:telefon|handy|mobil)?nummer (?:ist|lautet) (?P<o>\+?[0-9][0-9 /-]{5,18}[0-9])
@ Pronouns :: meine pronomen sind <thing>
@ Time zone :: meine zeitzone ist <thing>
@ {R} :: <my> <old>(?P<k><kin>),? (?P<o>(?-i:[A-ZÀ-Þ])[\w'-]*+)(?<!Montag)(?<!Dienstag)(?<!Freitag)(?<!Samstag)
  (?<!Sonntag)(?= (?-i:[a-zäöü])\w+t\b| und ich\b|\s*(?:[,.!;]|\Z))
- <my> <old>(?P<k><kin>) (?:hei(?:ß|ss)t|namens) <Name>
- (?:ich habe?|habe? ich|wir haben|habe) <now>eine?n? <old>(?P<k><kin>)(?: namens|,? (?:der|die) hei(?:ß
  |ss)t)? <Name>
@ {K}'s home :: <my> <old>(?P<k><family>)(?:(?: hei(?:ß|ss)t)? <Word>)?(?: und)? (?:wohnt|lebt) <now>in <Name>
@ {K}'s role :: <my> <old>(?P<k><family>)(?: <Word>)? (?:arbeitet als
  |ist) (?:eine? )?(?P<o>(?=(?-i:[A-ZÄÖÜ]))[\w-]*<job>)<end>
@ {K}'s age :: <my> <old>(?P<k><family>)(?: <Word>)? ist <now><age>(?: jahre?(?: alt)?)?<end>
@ {K}'s birthday :: <my> <old>(?P<k><family>)(?: <Word>)? hat am (?P<o>[0-9]{1,2}․? ?(?:<month>)) geburtstag
@ Child :: (?:ich habe?|wir haben|habe) (?P<o>(?:eine?n?|zwei|drei|vier|fünf|[1-9]) (?:(?:kleine
  |erwachsene)[rns]? )?(?:kind(?:er)?|töchter|söhne|tochter|sohn))<end>
@ Sibling :: (?:ich habe?|habe) (?P<o>(?:eine?n?|zwei|drei|vier|[1-9]) <old>(?:geschwister|schwestern?|bruder
  |brüder))<end>
@ Pet = {o} ({k}) :: <my> <old>(?P<k><pet>)(?: (?:hei(?:ß|ss)t|namens)|,)? <Name>
- (?:ich habe?|habe? ich|wir haben|habe) <now>eine?n? <old>(?P<k><pet>)(?: namens|,? (?:der|die|das) (?:hei(?:ß
  |ss)t)?| mit (?:dem )?namen?)? (?P<o><Word>)
@ Pet :: (?:ich habe?|habe? ich|wir haben|habe) <now>(?P<o>(?:eine?n?|zwei|drei|vier|[1-9]) (?:hunde?|hündin
  |katzen?|kater|hamster|kaninchen|pferde?|wellensittiche?|papagei(?:en)?|meerschweinchen|schildkröten?))(?= zu hause
  | daheim|<end>)
@ Speaks +many :: (?:ich )?spreche (?:ich )?<now>(?:(?:flie(?:ß|ss)end|auch|gut|etwas|ein bisschen
  |perfekt) )?(?P<o>(?:<lang>)(?:(?:,| und|, und| sowie) (?:(?:auch|etwas|ein bisschen|flie(?:ß
  |ss)end) )?(?:<lang>)){0,6})
@ Speaks :: meine muttersprache ist <now>(?P<o><lang>)
- (?:ich )?kann (?:ich )?(?:(?:ganz|sehr|auch|etwas|ein bisschen|fließend|gut|recht) ){0,3}(?P<o><lang>)<end>
# languages wanted
@ Language = prefers {l} discussion, {c} code :: (?:ich |wi
  r |lass uns )?(?:bitte )?<talk>(?: \w+){0,3} auf (?P<l><lang>),?(?: und
  | aber)?,? (?:schreib\w* )?(?:ich )?(?:aber )?<code>(?: \w+){0,2} (?:auf|in) (?P<c><lang>)
- (?:ich )?(?:diskutiere|rede|spreche) (?:\w+ )?auf (?P<l><lang>),?(?: und| aber)?,? (?:ich )?(?:schreibe
  |programmiere) (?:ich )?(?:meinen |den )?(?:code )?(?:aber )?auf (?P<c><lang>)
- (?:diskussion(?:en)?|gespräche?|chat|unterhaltung|antworten|erklärungen)(?: bitte)? auf (?P<l><lang>),?(?: und
  | aber)?,? <code>(?: bitte)? auf (?P<c><lang>)
- (?:schreib\w* )?<code>(?: bitte| immer)? auf (?P<c><lang>),?(?: und| aber)?,? (?:\w+ ){0,4}(?:auf )?(?P<l><lang>)
@ Language = {L} :: (?:bitte )?(?:<from> )?(?:bitte )?(?:antworte|schreibe?|rede|sprich|antworten sie|antwortet
  |schreiben sie|sprechen sie|kommuniziere)(?: (?:mir|mit mir|bitte|immer|ab jetzt|in zukunft|künftig|nur|stets
  |von nun an|ab sofort|grundsätzlich)){0,4} (?:auf|in) (?P<l><lang>)(?= und |<end>)
- (?:bitte )?(?:(?:<from>|immer|nur|noch|bitte|mir|grundsätzlich) ){0,4}auf (?P<l><lang>)(?: (?:bitte|immer
  |nur)){0,2} (?:antworten|schreiben|sprechen|reden|kommunizieren)<end>
- (?:ich )?(?:möchte|will|bevorzuge)(?: \w+){0,3} (?:antworten|erklärungen) auf (?P<l><lang>)
- (?:ich )?bevorzuge (?:es auf )?(?P<l><lang>)<end>
- (?:lass uns) (?:bitte |ab jetzt )?(?:auf )?(?P<l><lang>) (?:sprechen|reden|schreiben)<end>
- (?:sprich|rede|schreib) (?:bitte )?(?:<from> )?(?:immer |nur )?(?P<l><lang>)(?: mit mir)?<end>
# diet, health
@ Diet :: (?:ich )?(?:bin|lebe|esse|koche|ernähre mich) (?:ich )?<now>(?:eine? )?(?P<o><diet>)<end>
@ Diet +not :: (?:ich )?(?:esse|trinke) (?:ich )?<now>(?P<o>(?:keine?n?|nur) (?!mehr|heute|gerade)<any>{2,40}?)<end>
@ Allergy +many :: (?:ich )?(?:bin|reagiere) (?:ich )?<now>(?:stark |hoch|schwer )?allergisch (?:gegen|auf) <list>
- (?:ich )?(?:habe? (?:ich )?<now>eine (?:starke |schwere )?allergie (?:gegen|auf)
  |vertrage (?:ich )?keine?n?) <list>
- (?:ich )?bin (?:ich )?<now>gegen (?P<o><any>{3,40}?) allergisch
@ Allergy :: (?:ich )?habe? (?:ich )?<now>(?:eine )?(?:starke |schwere )?(?P<o>[\w-]{3,30}?)-?(?:allergie
  |unverträglichkeit)<end>
@ Condition :: (?:ich )?(?:habe?|leide (?:ich )?(?:an|unter)) (?:ich )?<now>(?P<o>diabetes(?: typ [12])?|asthma
  |migräne|adhs|zöliakie|bluthochdruck|legasthenie|epilepsie|rheuma|multiple sklerose|autismus|tinnitus
  |eine? rot-grün-schwäche|depressionen|heuschnupfen|(?:eine )?\w+intoleranz)<end>
- (?:ich )?bin (?:ich )?<now>(?:in der [0-9]{1,2}(?:\.|․)? ?(?:ssw|woche) |im \w+ monat )?(?P<o>laktoseintolerant
  |farbenblind|schwerhörig|gehörlos|blind|legastheniker(?:in)?|diabetiker(?:in)?|kurzsichtig|schwanger
  |autist(?:in)?)<end>
# rules
@ Rule +not :: (?P<o>(?:code-?)?(?:kommentare|commit-?messages|commit-?nachrichten|code|variablennamen
  |dokumentation|docstrings)(?: bitte)?(?: immer| stets| grundsätzlich| nur)? (?:auf
  |in) (?:<lang>)(?: schreiben)?)<end>
- bitte (?P<o>keine? (?!diese|ahnung|sorge|angst|zeit|frage|panik|eile|stress)<any>{3,40}?)<end>
- (?P<o>vor (?:jedem|jeder) <any>{3,30}? (?:müssen|muss|immer|bitte) <any>{3,60}?)<end>
- (?P<o>(?:jedes mal|immer),? wenn du <any>{3,50}?, (?:sag|gib|frag|informier|schreib|warn|zeig
  |erinner)e?\b<any>{3,60}?)<end>
- (?!ich|wir|er\b|es\b|sie\b|das|der|die|mein|ein)(?P<o>(?:antworte|schreib|mach|gib|erklär|fass
  |halt)\w* <any>{3,50}?, (?:immer|stets|grundsätzlich))<end>
- (?:merke? dir(?: bitte)?|wichtig|regel|grundregel|denk(?: bitte)? dran)[:,] (?P<o>(?:keine?n?|nie|niemals|immer
  |nur) <any>{3,80}?)<end>
- (?P<o>(?:antworten|erklärungen|texte|commits|funktionen) bitte (?:immer |möglichst )?<any>{3,40}?en)<end>
- (?P<o>(?:schreibe?|verfasse?) (?:code-?kommentare|kommentare|commit-?messages|commits|docstrings
  |dokumentation)(?: bitte)?(?: immer| stets| nur)? auf (?:<lang>))<end>
- (?P<o>(?:duze?|sieze?) mich)(?: bitte)?<end>
- (?P<o>keine (?!ahnung|sorge|angst|zeit|frage|lust|panik|idee|ursache)<any>{3,40}?),? bitte<end>
- (?P<o>(?:verwende|benutze|nutze|schreibe?|mache?|setze|gib)(?: bitte)?(?: mir)? keine?n
  ? (?!diese)<any>{3,60}?)<end>
- (?P<o>[a-zäöüß]{3,14}e?(?: mir)?(?: bitte)? <from> <any>{3,60}?)<end>
- ich (?:möchte|will), dass du (?P<o>(?:immer|nie(?:mals)?|ab jetzt|stets|nicht mehr|keine?) <any>{3,80}?)<end>
- (?P<o>(?:immer )?wenn ich (?:["'„“])?<any>{1,40}?(?:["'“”])? (?:sage|schreibe), (?:dann )?<any>{3,90}?<more>)<end>
- (?:bitte )?(?:<from>[ ,]+)(?:bitte )?(?!auf \w+isch|(?:\w+ ){0,2}(?:ich|wir(?! uns))\b|ist\b|wird\b
  |bin\b)(?P<o><any>{6,110}?<more>)<end>
- bitte (?:mir |mich |den |die |das )?(?P<o>(?:nie(?:mals)?|nicht mehr|nie wieder|immer|stets|auf keinen fall
  |keine? (?=<any>{2,60} (?:mehr|verwenden|benutzen|nutzen|schreiben|hinzufügen)\b)
  |grundsätzlich)\b<any>{3,100}?<more>)<end>
- (?:du |ihr |sie |man |es |wir )?(?:darfst|dürft|dürfen|sollst|sollt|sollen|darf|müssen|musst|muss) (?:bitt
  e |<any>{2,20} )?(?P<o>(?:<no>|immer|stets)\b <any>{3,90}?<more>)<end>
- (?P<o>(?:nie(?:mals)?|immer|stets|auf keinen fall|unter keinen umständen|niemals) (?!(?:wenn|noch|mehr|wieder|bin
  |habe|war|wird|ist|hatte|mag|geht|kommt|muss|diese|ich|im\b|das gleiche)\b)<any>{4,90}?(?:en|tun|ern
  |eln))(?<!haben)(?<!worden)<end>
- (?!ich|wir|er\b|es\b|sie\b|das|ist|war|bin|hab|wohne|arbeite|esse|trinke|liebe|heute|geh|mein|kann|hatte|noch
  |fast|wie|so\b|schon)(?P<o>(?:[a-zäöüß]{2,14}(?:e|t|b|f|h|p|s|g|d|k|n sie) (?:(?:bitte|mir|mich|dich|den|die|das|in
  |code|tests|alle|deine|antworten) ){0,3}(?:immer|nie(?:mals)?|stets|auf keinen fall|unter keinen umständen
  |nie wieder)(?! (?:noch|mehr|wieder)\b) <any>{3,90}?|(?:push|lösch|commit|verwend|benutz|nutz|schreib|änder|fass
  |veröffentlich|antwort|frag|duz|siez)\w* (?:bitte )?(?:mir |mich |dich )?(?:immer
  |nie(?:mals)?)(?: <any>{2,90}?)?)<more>)<end>
# decisions
@ Decision = {o} statt {was} +fix +project :: (?:wir |ich |lass un
  s |bitte )?(?:<use>) <then>(?P<o><any>{1,50}?) (?:statt|anstatt|anstelle von|statt auf
  |statt zu) (?P<was><any>{1,40}?)(?: (?:verwenden|nutzen|benutzen|nehmen))?<end>
- lass uns <then>(?P<o><any>{1,50}?) (?:statt|anstatt|anstelle von) (?P<was><any>{1,40}?) (?:verwenden|nutzen
  |benutzen|nehmen)<end>
- (?:statt|anstatt|anstelle von) (?P<was><any>{1,40}?) (?:<use>) <then>(?P<o><any>{1,50}?)<end>
- (?:wir |ich )?(?:<use>) <then>(?P<o><any>{1,50}?), (?:und )?nicht(?: mehr)? (?P<was><any>{1,40}?)<end>
- (?:wir |ich )(?:<use>) <then>nicht (?:mehr )?(?P<was><any>{1,40}?),? sondern (?:jetzt )?(?P<o><any>{1,50}?)<end>
- wir sind (?:<past> )?von (?P<was><any>{1,40}?) (?:auf|zu|nach) (?P<o><any>{1,40}?) (?:gewechselt|umgestiegen
  |migriert)
- wir (?:steigen|wechseln|migrieren|ziehen) <then>(?:<date> )?von (?P<was><any>{1,40}?) (?:auf|zu
  |nach) (?P<o><any>{1,40}?)(?: um)?<end>
@ Decision +project :: wir sind (?:<past> |jetzt |gerade )?(?:auf|zu) (?P<o><any>{1,40}?) (?:umgestiegen|gewechselt
  |migriert)<end>
- (?:wir haben|ich habe?|haben wir) (?:uns|mich) (?:(?:<past>|heute|jetzt
  |nun) )?(?:für) (?P<o><any>{2,60}?) entschieden
- (?:wir (?:steigen|wechseln|migrieren)) <then>(?P<o>(?:auf|zu|nach) <any>{1,40}?)(?: um)?<end>
@ Decision +not +project :: (?:wir haben|ich habe?) (?:(?:<past>|heute|jetzt) )?(?:beschlossen|entschieden
  |vereinbart),? (?P<o><any>{4,90}?)<end>
# plans and dates
@ Deadline = {d}, {o} :: (?:die |der |meine |unsere )?(?:abgabefrist|frist|deadline|abgabetermin|abgabe
  |einsendeschluss) (?:für |von )?(?:den |die |das |der |des |meine?[nrs]
  ? |unsere?[nrs]? )?(?P<o><any>{2,60}?) (?:ist|endet|läuft bis) (?P<d><date>)
- (?:der|die|das|mein|meine|unser|unsere) (?P<o><any>{2,50}?) (?:muss|müssen) (?:spätestens )?bis(?: zum
  | spätestens)? (?P<d>(?:am )?(?:<date>|<day>|<month>)) (?:fertig|abgegeben|eingereicht|raus|abgeschickt|live)\b
- (?:ich muss|wir müssen|muss ich) (?:spätestens )?bis(?: zum| spätestens)? (?P<d><date>|<day>) (?:den |die |da
  s |meine?n? |unsere?n? )?(?P<o><any>{2,60}?) (?:abgeben|einreichen|abschicken|fertigstellen|liefern|abliefern)
- (?:ich muss|wir müssen|muss ich) (?:den |die |das |meine?n
  ? |unsere?n? )?(?P<o><any>{2,60}?) (?:spätestens )?bis(?: zum| spätestens)? (?P<d><date>|<day>) (?:abgeben
  |einreichen|abschicken|fertigstellen|liefern|abliefern|fertig haben)
- bis(?: zum| spätestens)? (?P<d><date>|<day>) (?:muss ich|müssen wir) (?:den |die |das |meine?n
  ? |unsere?n? )?(?P<o><any>{2,60}?) (?:abgeben|einreichen|abschicken|fertigstellen|liefern|abliefern|fertig haben)
@ Deadline = {d} :: (?:die |meine |unsere )?(?:abgabefrist|frist|deadline|abgabe) ist (?P<d><date>)
@ Appointment = {o} {d} :: (?:ich habe?|habe? ich|wir haben|ich hab
  |hab ich) (?P<d><date>) (?:eine?n? )?(?P<o>(?:termin |verabredung )?(?:(?:beim|bei der|bei|mit) )?<any>{3,50}?)<end>
- (?:ich habe?|wir haben|ich hab) (?:eine?n? )?(?P<o>(?:[\w-]*termin|[\w-]*gespräch|[\w-]*prüfung|interview|meeting
  |klausur|operation|impfung)(?: (?:beim|bei der|bei|mit) <any>{2,30}?)?) (?P<d><date>)
- (?P<d><date>) (?:habe? ich|hab ich|haben wir) (?:eine?n? |um [0-9:․]{1,5}(?: uhr)? ){0,2}(?P<o>(?:[\w-]*termin
  |[\w-]*gespräch|[\w-]*prüfung|interview|meeting|klausur|operation|impfung|physiotherapie|[\w-]*therapie)(?: (?:beim
  |bei der|bei|mit) <any>{2,30}?)?)<end>
- <my> (?P<o>[\w-]*(?:termin|gespräch|prüfung|untersuchung|interview|meeting|besprechung|operation|klausur|hochzeit
  |op)(?: (?:beim|bei|mit|zur) <any>{2,30}?)?) (?:ist|findet) (?P<d><date>)(?: statt)?
@ Plan = {p} {o} {v} :: (?P<p><date>) (?P<v><verb>) (?:ich
  |wir) (?P<o>(?!(?:\w+ )?(?-i:[a-zäöü])\w*en<end>)<any>{2,70}?)<end>
- (?:ich|wir) (?P<v><verb>) (?P<p><date>) (?P<o>(?!(?:\w+ )?(?-i:[a-zäöü])\w*en<end>)<any>{2,70}?)<end>
@ Plan = {p} {v} :: (?P<p><date>) (?P<v>heirate|heiraten) (?:ich|wir)<end>
- (?:ich|wir) (?P<v>heirate|heiraten) (?P<p><date>)<end>
@ Plan = {o} {p} {v} :: (?:ich|wir) (?P<v><verb>) (?P<o>(?:nach|in|zu) <any>{2,40}?) (?P<p><date>)<end>
@ Plan = {p} {o} :: (?P<p><date>) (?:werden?|will|wollen|möchten?) (?:ich|wir) (?P<o><any>{4,80}?(?:en|rn|ln))<end>
@ Plan :: (?:ich|wir) (?:werden?|wollen|will|planen?|haben? vor|möchten?|beabsichtige)(?:,
  | es,)? (?P<o>(?=<any>{0,60}(?:<date>))<any>{4,90}?(?:en|rn
  |ln))(?<!versuchen)(?<!sehen)(?<!testen)(?<!schauen)(?<!prüfen)(?<!probieren)(?<!machen lassen)<end>
- (?:ich|wir) planen? (?P<o>(?=<any>{0,60}(?:<date>))<any>{4,90}?)<end>
@ Goal :: mein(?: großes)? ziel (?:ist(?: es)?|für \w+ ist(?: es)?),? (?P<o><any>{4,90}?)<end>
@ Event = {p} {o} :: (?P<p><past>) (?:habe|haben|bin|sind|hab) (?:ich|wir) (?:mir |un
  s |mich )?(?P<o>(?:<any>{2,70}? )?<big>)<end>
- (?:ich|wir) (?:habe|haben|bin|sind|hab) (?:mir |uns |mich )?(?P<p><past>) (?:mir |un
  s |mich )?(?P<o>(?:<any>{2,70}? )?<big>)<end>
- (?:ich|wir) (?:habe|haben|bin|sind|hab) (?:mir |uns |mich )?(?P<o>(?!nicht
  |noch)<any>{2,40}? (?:<past>) (?:<any>{1,40} )?<big>)<end>
# tastes
@ Favourite = {p}: {o} :: meine? lieblings(?P<p>[\w-]{2,30}) (?:ist|sind|heißt) <thing>
@ Prefers = {o} gegenüber {p} :: (?:ich )?bevorzuge (?:ich )?<now>(?P<o><any>{2,60}?) (?:gegenüber|vor
  |statt) (?P<p><any>{2,40}?)<end>
- (?:ich )?ziehe (?:ich )?<now>(?P<o><any>{2,60}?) (?:dem |der |den )?(?P<p><Word>) vor<end>
@ Prefers :: (?:ich )?(?:bevorzuge|präferiere) (?:ich )?<now>(?P<o><any>{2,80}?)<end>
- (?:ich )?(?:mag|trinke|esse|nutze|habe|benutze|schreibe|arbeite|verwende|lese|höre|schaue|fahre|spiele|koche
  |programmiere|reise) (?:ich )?(?:viel )?lieber (?P<o><any>{2,60}? als <any>{2,40}?)<end>
- (?:ich )?(?:mag|trinke|esse) (?P<o><Words>) lieber als <any>{2,40}?<end>
- mir (?:ist|sind) (?P<o><any>{2,60}?) lieber<end>
- (?P<o><any>{3,40}?) (?:ist|sind) mir lieber<end>
@ Prefers = {o} als {p} :: mir (?:ist|sind) (?P<o><any>{2,60}?) lieber als (?P<p><any>{2,40}?)<end>
@ Prefers = {o} {v} :: ich (?P<v>arbeite|lerne|lese|schreibe|programmiere|fahre|reise
  |laufe) (?:viel )?lieber (?P<o>(?!erst|mal|selbst)<any>{3,30}?)<end>
@ Dislikes +many :: (?:ich )?(?:hasse|verabscheue) (?:ich )?<list>
- (?:ich )?mag (?:ich )?(?:überhaupt |gar )?keine?n? <list>
@ Dislikes :: (?:ich )?(?:mag|kann) (?:ich )?(?P<o>(?:(?!nicht)[\w-]+ ){1,4}?)(?:überhaupt |gar |wirklich |einfac
  h |absolut )?nicht(?: leiden| ausstehen|(?<!kann.)<end>)
@ Dislikes :: (?P<o><Words>) mag ich (?:überhaupt |gar |wirklich )?nicht<end>
@ Likes +many :: (?:ich )?stehe (?:ich )?(?:total |sehr |voll )?auf <list>
- (?:ich )?(?:mag|liebe) (?:ich )?<now>(?!es\b|wie|dass|keine?|lieber|dein|diese|dich|euch|ihr)<list>
- am liebsten (?:esse|trinke|höre|lese|schaue) ich <list>
- (?:ich )?(?:esse|trinke|höre|lese|koche|schaue) (?:ich )?(?:sehr |am )?(?:gerne?|liebsten) <list>
@ Likes = {o} {v} :: ich (?P<v>(?!hätte|wäre|würde|möchte|nutze|benutze|verwende|helfe|komme|mache|nehme|sehe
  |wüsste|hätte|habe|könnte|sage|zeige|gebe)[a-zäöüß]{2,12}e) (?:sehr |unheimlich |total |am )?(?:gerne?
  |liebsten) (?P<o>(?!mal\b|noch|wieder|hier|mit dir)<any>{2,40}?)<end>
@ Likes = {v} :: ich (?P<v>(?!hätte|wäre|würde|möchte|helfe|komme|mache|nehme|wüsste|habe|könnte|sage|zeige
  |gebe)[a-zäöüß]{2,12}e) (?:sehr |unheimlich |total |für mein leben )?gerne?<end>
@ Hobby +many :: (?:meine hobbys sind|mein hobby ist|zu meinen hobbys (?:gehören|zählen)) <list>
@ Hobby :: in meiner freizeit (?:spiele|gehe|mache) ich (?:gerne? )?(?P<o><any>{2,50}?)<end>
@ Hobby = {o} {v} :: (?:sonntags|samstags|am wochenende|in meiner freizeit|nach feierabend
  |an den wochenenden) (?P<v>(?!arbeite|schlafe|bleibe|habe|komme|werde)[a-zäöüß]{2,12}e) ich (?:gerne? |of
  t |meistens |immer )?(?P<o>(?!aus|nicht|lange|frei)<any>{2,40}?)<end>
@ Skill :: (?:ich )?spiele (?:ich )?(?:seit (?:\w+ ){1,2}?)?(?P<o>klavier|gitarre|geige|cello|schlagzeug|flöte
  |trompete|saxophon|bass|orgel|schach|posaune|klarinette|harfe|ukulele|akkordeon|bratsche)(?= (?:in|im|seit|und
  |bei)\b|<end>)
- (?:ich )?programmiere (?:ich )?(?:seit (?:\w+ ){1,3}?)?(?:hauptsächlich |meisten
  s |vor allem )?in (?P<o><program>)(?= (?:und|seit)\b|<end>)
- (?:ich )?kann (?:ich )?(?:gut |sehr gut |fließend )?(?P<o><program>)<end>
@ Trait :: (?:ich )?bin (?:ich )?<now>(?:eine? )?(?P<o>nachteule|frühaufsteher(?:in)?|morgenmensch
  |linkshänder(?:in)?|introvertiert|extrovertiert|perfektionist(?:in)?|nachtmensch|rechtshänder(?:in)?)<end>
@ Uses +many :: (?:ich )?(?:nutze|benutze|verwende|arbeite (?:ich )?(?:meistens |immer )?mit) (?:ich )?<now>(?!dich
  |das\b|es\b|die\b|meine[mnr]?\b|dein)(?P<o>[^;:.!?()…\x00]{2,80}?)(?= (?:als|für|zum|zur|auf|mit|bei|unter|um)\b
  |\s*(?:[;:.!?()…]|\Z)|,? (?:<but>)\b)
@ Uses :: mein (?:editor|betriebssystem|browser|laptop|rechner|handy|smartphone|telefon) ist (?:eine? )?(?!kaputt
  |weg|leer|alt|neu|langsam)<thing>
- (?:für|zum) <any>{2,20} (?:nutze|benutze|verwende|nehme) ich (?:meistens |immer |am liebsten )?(?P<o>(?!dein
  |diese|das\b)<any>{2,40}?)<end>
@ Owns :: (?:ich )?besitze (?:ich )?<now>(?P<o>eine?n? <any>{2,40}?)<end>
- (?:ich )?fahre (?:ich )?<now>(?P<o>eine?n? (?:[a-zäöüß]+e[nrs]? )?(?-i:[A-Z])<any>{2,30}?)<end>
@ Works on :: (?:ich )?(?:entwickle|baue|programmiere|schreibe) (?:ich )?<now>(?P<o>eine?n
  ? (?:[a-zäöüß]+e[nrs]? )?[\w-]*(?:app|spiel|roman|buch|compiler|webseite|website|plattform|bibliothek|tool
  |doktorarbeit|masterarbeit|bachelorarbeit|dissertation|editor|shop)\b<any>{0,50}?)<end>
- (?:ich )?(?:arbeite|schreibe) (?:ich )?<now>an (?=(?:eine[mr]|meine[mr]|dem|der|unsere[mr]) (?!uni\b|hochschule
  |schule|fehler|bug|problem|aufgabe|funktion))(?:meine[mr] |unsere[mr] )?(?P<o><any>{4,70}?)<end>"""
