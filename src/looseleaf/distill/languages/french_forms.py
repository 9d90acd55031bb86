"""The forms in which facts are said in French; `tongues.py` says how they are read."""

from __future__ import annotations

FORMS = r"""
# ends and corrections
@ Home +fix :: (?:j'ai|nous avons|on a) (?:récemment |<past> )?(?:déménagé|emménagé) (?:<past> )?de (?:l
  a |l')?<Was> (?:à|vers|pour|en) (?:la )?<Name>
- (?:j'ai|nous avons|on a) (?:récemment |<past> )?(?:déménagé|emménagé) (?:<past> )?(?:à|en|au|vers|pour) <Name>
- (?:je me suis|nous nous sommes|on s'est) installée?s? (?:<past> )?(?:à|en|au) <Name>
- (?:je viens|nous venons) (?:de déménager|de m'installer|d'emménager) (?:de <Was> )?(?:à|en|au) <Name>
- (?:j'habite|je n'habite|je vis|je ne vis) (?:pas|plus) <to><Was>,? mais <to><Name>
- je n'habite plus <to><Was>,? (?:j'habite|je vis) (?:maintenant )?<to><Name>
@ Home +fix +end :: (?:je n'habite|je ne vis|j'habite|je vis) (?:plus|pas) (?:(?<=plus ))<to><Name>
@ Employer +fix :: (?:je ne travaille|je travaille) plus (?:chez|pour|à) <Was>,? (?:mais
  |je travaille) (?:maintenant )?(?:chez|pour|à) <Name>
- j'ai quitté <Was> pour (?:rejoindre )?<Name>
@ Employer +fix +end :: (?:je ne travaille|je bosse|je ne bosse|je travaille) plus (?:chez|pour|à) <Name>
- j'ai (?:démissionné de (?:chez )?|quitté mon (?:poste|emploi|travail) (?:chez|à) )<Name>
@ Role +fix +end :: (?:je ne suis|je suis) plus (?P<o><job>)<end>
@ Diet +fix +end :: (?:je ne suis|je suis) plus (?P<o><diet>)<end>
@ Diet +fix +not :: (?:je ne mange|je mange|je ne bois|je bois) (?P<o>plus (?:de |d'|du |la )<any>{2,40}?)<end>
@ Uses +fix +end :: (?:je n'utilise|j'utilise) plus (?:de |d')?(?P<o><any>{1,40}?)<end>
@ Likes +fix +end :: (?:je n'aime|j'aime) plus (?:du tout )?(?P<o><any>{1,40}?)<end>
@ Event +fix +not :: (?P<o>je ne (?:fume|bois) plus)<end>
@ Event = {o} {p} +fix :: j'ai (?P<o>arrêté (?:de fumer|de boire|l'alcool|la cigarette)
  |quitté la cigarette)(?: (?P<p><past>))?
# who one is
@ Name :: (?:je m'appelle|moi c'est|mon (?:pré)?nom (?:complet )?(?:est|c'est)
  |moi,? c'est) (?:<now>)<name>(?:,? (?:et )?(?:non |non pas |pas )<Was>)?
- je ne m'appelle pas <Was>,? (?:mais|je m'appelle) <Name>
- (?:appelle[sz]?-moi|tu peux m'appeler|vous pouvez m'appeler|on m'appelle|tout le monde m'appelle) (?:plutô
  t |simplement |juste |désormais )?["«]?\s*<Name><end>
- je suis (?P<o>(?!(?:<folk>|<job>|<diet>)<end>)<Word>(?: <Word>){0,2})(?=,? (?:et (?:j'|je)|j'ai|j'habite
  |je (?:vis|travaille|viens)|[0-9]{1,2} ans|de (?-i:[A-Z]))|, (?:<job>))
- (?:ici|c'est) (?P<o><Word>(?: <Word>)?)(?= de (?-i:[A-Z])| à l'appareil)
@ Age :: j'ai <now>(?:<age>) ans(?! de | d')(?:,? (?:et )?(?:non |pas )(?P<was>[0-9]{1,2})(?: ans)?)?
- je viens d'avoir <age> ans
- je suis <Word>(?: <Word>){0,2}, (?:<age>) ans
- moi,? c'est <Word>(?: <Word>)?, <age> ans
@ Birthday :: (?:mon anniv(?:ersaire)?,? (?:est|c'est|tombe)|je fête mon anniversaire
  |je suis née?) le (?P<o>[0-9]{1,2}(?:er)? (?:<month>)(?: [0-9]{4})?|[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{4})?)
@ Hometown :: (?:je suis née?|j'ai grandi)(?: le [0-9]{1,2}(?:er)? (?:<month>)(?: [0-9]{4})?)?(?: et j'ai grandi)
  ? (?:à|en|au|aux|dans (?:le|la|les)) <Name>
- je suis de <Name><end>
- (?:je viens|je suis originaire) (?:de la |de l'|de |d'|du |des )(?!commencer)<Name>(?! en (?:train|voiture|avion
  |bus))<notwas>
@ Nationality :: je suis <now>(?:de nationalité )?(?P<o><folk>)<end>
- j'ai la nationalité (?P<o><folk>)
@ Home :: (?:j'habite|je vis|je réside|on (?:habite|vit)|nous (?:habitons
  |vivons))<adverb> (?:avec <any>{2,30}? )?<to>(?P<o><Words>)<notwas>
@ Employer :: je suis (?:employée?|salariée?|embauchée?) (?:chez|à la|à l'|au|de la|de l') ?(?P<o><Words>)<end>
- je (?:travaille|bosse)<adverb> (?:comme <any>{2,40}? |en tant que? <any>{2,40}? )?(?:chez
  |pour) (?P<o><Words>)<notwas>
- (?:je (?:travaille|bosse))<adverb> à (?P<o>(?:la |l')<Words>)(?= comme |<end>)
- mon (?:nouvel )?employeur (?:est|c'est) <Name>
- je suis <job> chez <Name>
@ Role :: je (?:travaille|bosse)<adverb> (?:(?:chez|pour|à) <Words> )?(?:comme
  |en tant que?) (?:une? )?(?P<o><any>{2,50}?)(?= (?:chez|à|dans|pour|au|aux|en|depuis|et) |<end>)
- je suis <now>(?:une? )?(?P<o><job>)(?= (?:chez|à|dans|pour|au|aux|en|depuis|et) | de (?:métier|formation
  |profession)|<end>)
- (?:mon métier|ma profession) (?:est|c'est) <thing>
- je suis <Word>(?: <Word>){0,2}, (?:une? )?(?P<o><job>)(?= (?:chez|à|dans|pour|au|en|depuis|et) |<end>)
@ Education :: (?:j'étudie|je fais des études (?:de |d'|en )|je suis étudiante? en)<adverb> ?(?P<o>(?:l'|le |l
  a |les )?(?!ça|cette|ce |comment|pour)<any>{3,60}?)<end>
- j'ai étudié (?P<o>(?:l'|le |la |les )?<any>{3,60}?)<end>
@ Partner :: je suis <now>(?:mariée?|fiancée?|pacsée?|en couple) (?:à|avec) <Name>
@ Marital status :: je suis <now>(?P<o>mariée?|célibataire|divorcée?|veuve?|veuf|fiancée?|pacsée?)(?= (?:avec|à
  |depuis)|<end>)
@ Religion :: je suis <now>(?P<o>catholique|protestante?|musulmane?|juive?|juif|bouddhiste|athée)<end>
@ Email :: mon (?:adresse )?(?:e-?mail|mail|courriel)(?: est| c'est| :)? (?P<o><mail>)
- mon adresse (?:e-?mail|mail) (?:est|c'est) (?P<o><mail>)
@ Phone :: mon (?:numéro(?: de téléphone)?|téléphone|portable) (?:est
  |c'est)(?: le)? (?P<o>\+?[0-9][0-9 .․-]{6,18}[0-9])
@ Pronouns :: mes pronoms sont <thing>
@ Time zone :: mon fuseau horaire est <thing>
# others
@ {R} :: <my> <old>(?P<k><kin>),? (?P<o><Word>)(?= (?:habite|vit|travaille|est|a|et moi|s'appelle|va|fait|aime|joue
  |étudie|vient|entre|apprend|commence)\b|\s*(?:[,.!;]|\Z))
- <my> <old>(?P<k><kin>) (?:s'appelle|se nomme|c'est) <Name>
- (?:j'ai|nous avons|on a) une? <old>(?P<k><kin>)(?: qui s'appelle|,? (?:nommée?|prénommée?
  |appelée?))?,? (?P<o><Word>)<end>
- avec <my> <old>(?P<k><kin>),? <Name>
@ {K}'s home :: <my> <old>(?P<k><family>)(?:,? (?:s'appelle )?<Word>,?)?(?: et(?: il| elle)?)? (?:habite
  |vit)<adverb> <to><Name>
@ {K}'s role :: <my> <old>(?P<k><family>)(?:,? <Word>,?)? (?:est|travaille comme) (?P<o><job>)<end>
@ {K}'s age :: <my> <old>(?P<k><family>)(?:,? <Word>,?)? a <age> ans
@ Child :: (?:j'ai|nous avons|on a) (?P<o>(?:une?|deux|trois|quatre|cinq|[1-9]) (?:enfants?|filles?|fils
  |garçons?)(?: et (?:une?|deux|trois) (?:filles?|fils|garçons?))?)(?!, (?-i:[A-Z])| qui s')<end>
@ Sibling :: j'ai (?P<o>(?:une?|deux|trois|quatre|[1-9]) <old>(?:frères?|s(?:œ|oe)urs?)(?: et (?:une?|deux
  |trois) (?:frères?|s(?:œ|oe)urs?))?)<end>
@ Pet = {o} ({k}) :: <my> <old>(?P<k><pet>)(?: (?:s'appelle|se nomme)|,)? <Name>
- (?:j'ai|nous avons|on a) <now>une? <old>(?P<k><pet>)(?: qui s'appelle|,? (?:nommée?|appelée?|prénommée?)) <Name>
- (?:j'ai|nous avons|on a) <now>une? <old>(?P<k><pet>),? (?P<o><Word>)<end>
@ Pet :: (?:j'ai|nous avons|on a) <now>(?P<o>(?:une?|deux|trois|quatre|[1-9]) (?:chiens?|chiennes?|chats?|chattes?
  |chatons?|hamsters?|lapins?|chevaux|cheval|perroquets?|perruches?|tortues?|poules?
  |poissons rouges))(?!, (?-i:[A-Z])| qui s')<end>
@ Speaks +many :: je parle(?: (?:couramment|aussi|bien|un peu))? (?:le |l'|d')?(?P<o>(?:<lang>)(?:(?:,| et
  |, et) (?:(?:un peu|aussi|couramment) )?(?:le |l'|d'|de l')?(?:<lang>)){0,6})(?! avec| au)
@ Speaks :: ma langue maternelle est (?:le |l')?(?P<o><lang>)
# languages wanted
@ Language = prefers {l} discussion, {c} code :: (?:je |on |nous )?<please><talk>(?:-moi
  |-nous)?(?: \w+){0,3} en (?P<l><lang>),?(?: et| mais)?,? (?:j'écris |je code |écris |écrive
  z |avec )?(?:<code>)?(?: \w+){0,2} ?en (?P<c><lang>)(?<!\x00)
- (?:discussions?|échanges|réponses|explications)(?: \w+)? en (?P<l><lang>),?(?: et
  | mais)?,? <code>(?: \w+)? en (?P<c><lang>)
- (?:écris |j'écris )?<code>(?: \w+){0,2} en (?P<c><lang>),?(?: et| mais)?,? (?:[\w'-]+ ){0,4}en (?P<l><lang>)
@ Language = {L} :: <please>(?:<from>[ ,]+)?<please>(?:réponds|répondez|répondre|parle|parlez|parler|écris|écrivez
  |écrire|communique|réponse)(?:-moi|-nous)?(?: (?:moi|toujours|uniquement|seulement|désormais|dorénavant|stp|svp
  |s'il te plaît|plutôt|à l'avenir)){0,3} en (?P<l><lang>)<end>
- je (?:préfère|veux|souhaite)(?: que tu répondes| que vous répondiez| des réponses| les réponses| tes réponses
  | vos réponses| qu'on parle| parler| discuter| recevoir des réponses) en (?P<l><lang>)
- (?:en (?P<l><lang>)),? (?:s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp)<end>
- (?:parlons|continuons|restons)(?: \w+)? en (?P<l><lang>)<end>
# diet, health
@ Diet :: (?:je suis|je mange) <now>(?P<o><diet>)<end>
@ Diet +not :: (?:je ne (?:mange|bois)|je (?:mange|bois)) (?P<o>(?:pas|jamais) (?:de |d'|du )<any>{2,40}?
  |que (?:du |de la |des )<any>{2,40}?)<end>
@ Allergy +many :: (?:je suis|suis) <now>(?:très |fortement )?(?:allergique|intolérante?) (?:à la |à l'|au |au
  x |à )<list>
- j'ai une (?:grave |forte )?allergie (?:à la |à l'|au |aux |à )<list>
@ Condition :: (?:j'ai|je souffre) <now>(?:de l'|de la |de |d'|du |des |un |une )?(?P<o>diabète(?: de type [12])?
  |asthme|migraines?|tdah|hypertension|dyslexie|épilepsie|maladie cœliaque|sclérose en plaques|autisme
  |acouphènes)<end>
- je suis <now>(?P<o>asthmatique|diabétique|daltonien(?:ne)?|dyslexique|malentendante?|sourde?|aveugle|myope
  |enceinte|autiste|épileptique|cœliaque|migraineuse?)(?= de [0-9]|<end>)
# rules
@ Rule +not :: (?P<o>(?:les )?(?:commentaires(?: (?:du|de) code)?|messages de commit|commits|noms de variables
  |docstrings|documentation)(?: toujours| uniquement)? en (?:<lang>))<end>
- <please>(?P<o>(?:écris|écrivez|rédige) (?:toujours )?(?:les |tes |vos )?(?:commentaires(?: (?:du|de) code)?
  |messages de commit|commits|docstrings)(?: toujours)? en (?:<lang>))<end>
- <please>(?P<o>(?:ne |n')(?:me |m'|nous )?(?!oubli)\w+ pas (?:de |d')<any>{4,60}?)<end>
- (?P<o>(?:à )?(?:chaque fois|dès) que tu <any>{3,50}?, [\w]+-(?:moi|nous)\b<any>{0,50}?)<end>
- (?P<o>(?:fais|donne|écris|réponds|utilise|mets|garde|explique)(?:-moi)? <any>{4,50}?, toujours)<end>
- (?P<o>(?:tutoie|vouvoie|tutoyez|vouvoyez)-moi)<end>
- (?P<o>pas (?:de |d')(?!souci|problème|panique|soucis|quoi)<any>{3,40}?),? (?:s'il te pla[iî]t|s'il vous pla[iî]t
  |stp|svp)<end>
- je (?:veux|souhaite) que tu (?P<o>(?:n'|ne )?\w+ (?:toujours|jamais|plus) <any>{3,80}?)<end>
- (?P<o>(?:quand|lorsque|chaque fois que|si) (?:je dis|j'écris
  |je te dis) (?:["«])?<any>{1,40}?\s*(?:["»])?\s*, (?!que)<any>{3,90}?<more>)<end>
- <please>(?:<from>)[ ,]+<please>(?!j'|je |mon |ma |c'est|nous (?:habit|viv)
  |en (?:<lang>))(?P<o><any>{6,110}?<more>)<end>
- <please>(?P<o>(?:ne |n')(?:(?:me|te|le|la|les|nous|y|en) |m'|l')?(?:pa
  s |jamais )?[\w-]+(?:-\w+)? (?:(?:plus )?jamais|plus(?! de nouvelles))\b <any>{3,90}?|ne jamais <any>{3,90}?
  |ne (?:plus|pas) jamais <any>{3,90}?|jamais (?:de |d')(?!la vie)<any>{3,60}?)<end>
- <please>(?P<o>toujours (?!pas|plus|le même|la même|en train|un |une |rien|aussi|là|est|à )<any>{5,90}?)<end>
- <please>(?!je|j'|tu|il|elle|on|nous|c'est|ça|est|suis|ai|a |y a|pourquoi)(?P<o>[\w-]{3,15}(?:-moi)? (?:toujours
  |systématiquement) (?!pas|plus|le même|la même|en train)<any>{3,90}?<more>)<end>
- (?:tu dois|vous devez|il faut|on doit|il ne faut|tu ne dois|vous ne devez|on ne doit) (?P<o>(?:toujours|jamais
  |impérativement|absolument(?! que))\b <any>{3,90}?<more>)<end>
- (?P<o>(?:évite (?:toujours )?de |interdiction de |interdit de |ne (?:\w+ ){1,2}en aucun cas )<any>{4,90}?)<end>
- (?P<o>en aucun cas <any>{4,90}?)<end>
# decisions
@ Decision = {o} au lieu de {was} +fix +project :: <we>(?:a décidé d'|avons décidé d')?(?:<use>|utiliser|prendre
  |va utiliser|allons utiliser|vais utiliser) (?:plutôt |désormais |maintenant )?(?P<o><any>{1,50}?) (?:au lieu d
  e |au lieu d'|à la place de |à la place d'|plutôt que |et non )(?:la |le |l')?(?P<was><any>{1,40}?)<end>
- (?:au lieu de |au lieu d'|à la place de |plutôt que )(?:la |l
  e |l')?(?P<was><any>{1,40}?),? <we>(?:<use>) (?:plutôt )?(?P<o><any>{1,50}?)<end>
- <we>(?:<use>) (?P<o><any>{1,50}?),? (?:et )?pas (?P<was><any>{1,40}?)<end>
- (?:nous |on |je )?(?:passons|passe|migrons|migre) de (?P<was><any>{1,40}?) (?:à|vers) (?P<o><any>{1,40}?)<end>
- (?:on est|nous sommes) passée?s? de (?P<was><any>{1,40}?) à (?P<o><any>{1,40}?)<end>
- (?:nous |on |je )?(?:remplaçons|remplace) (?P<was><any>{1,40}?) par (?P<o><any>{1,40}?)<end>
@ Decision +project :: (?:nous avons|on a|j'ai) (?:finalement )?(?:choisi|opté pour|retenu) (?P<o><any>{2,60}?)<end>
- (?:on|nous) (?:part|partons) (?:finalement )?sur (?P<o><any>{2,50}?)<end>
- (?:on est|nous sommes) passée?s? (?:à|sur) (?P<o>(?-i:[A-Z])<any>{1,40}?)<end>
- (?:on|nous) (?:passe|passons) (?:à|sur) (?P<o>(?-i:[A-Z])<any>{1,40}?)<end>
@ Decision +not +project :: (?:nous avons|on a|j'ai) (?:finalement |<past> )?décidé (?:de |d'
  |que )(?P<o><any>{4,90}?)<end>
# plans and dates
@ Deadline = {d}, {o} :: (?:la |ma |notre )?(?:date limite|deadline|échéance) (?:pour |de |du |d')(?:rendr
  e |remettre )?(?:le |la |les |l'|mon |ma |mes |notre )?(?P<o><any>{2,60}?) (?:est|c'est|tombe) (?:fixée? )?(?:a
  u |le |pour )?(?P<d><date>)
- (?:je dois|nous devons|on doit|il faut) (?:rendre|remettre|livrer|finir|terminer|envoyer|soumettre
  |déposer) (?:le |la |les |l'|mon |ma |mes |notre )?(?P<o><any>{2,60}?) (?:avant|d'ici|pour|au plus tard)(?: le| la
  | au)? (?P<d><date>)
- (?:le|la|mon|ma|notre) (?P<o><any>{2,50}?) doit être (?:rendue?|remise?|livrée?|finie?|terminée?|prête?
  |envoyée?) (?:avant|d'ici|pour|au plus tard)(?: le| la)? (?P<d><date>)
@ Deadline = {d} :: (?:la |ma |notre )?(?:date limite|deadline|échéance) (?:est|c'est) (?:fixée? )?(?:au |l
  e |pour )?(?P<d><date>)
@ Appointment = {o} {d} :: (?:j'ai|nous avons|on a) (?:une? )?(?P<o>(?:rendez-vous|rdv|entretien|réunion|examen
  |consultation|opération|visio|contrôle)(?: (?:chez|avec|à|au|de|d'|pour) ?<any>{2,40}?)?) (?P<d><date>)
- (?P<d><date>),? (?:j'ai|nous avons|on a) (?:une? )?(?P<o>(?:rendez-vous|rdv|entretien|réunion|examen|consultation
  |opération|visio|contrôle|kiné|dentiste)(?: (?:chez|avec|à|au|de|d'|pour) ?<any>{2,40}?)?)<end>
- (?:j'ai|nous avons|on a) (?P<d><date>) (?:une? )?(?P<o>(?:rendez-vous|rdv|entretien|réunion|examen|consultation
  |opération)(?: (?:chez|avec|à|au|de|d'|pour) ?<any>{2,40}?)?)<end>
- mon (?P<o>(?:rendez-vous|rdv|entretien|examen|opération)(?: (?:chez|avec|à|au|de|d') ?<any>{2,40}?)?) (?:est
  |a lieu|c'est) (?P<d><date>)
@ Plan :: (?:je vais|nous allons|on va|je compte|je prévois de|je prévois d'|nous prévoyons de|j'ai prévu de
  |j'ai prévu d'|nous comptons|on compte) ?(?P<o>(?=<any>{0,70}(?:<date>))(?!essayer|voir|regarder|vérifier|tester
  |faire|réessayer|y |te |vous |le |la )[\w'-]+(?:er|ir|re|oir)\b <any>{3,90}?)<end>
@ Plan = {o} {p} :: (?P<p><date>),? (?:je vais|nous allons|on va|je compte) (?P<o>(?!essayer|voir|regarder|vérifier
  |tester|faire|réessayer|y |te |vous |le |la )[\w'-]+(?:er|ir|re|oir)\b(?: <any>{2,80}?)?)<end>
@ Plan = {v} {o} {p} :: (?P<p><date>),? (?:je|nous|on) (?P<v><verb>) (?P<o>(?!faire|voir|essayer|[\w'-]+(?:er|ir|re
  |oir)\b|te |vous )<any>{2,70}?)<end>
- (?:je|nous|on) (?P<v><verb>) (?P<o>(?:à|en|au|aux|chez|de|pour|dans) <any>{2,50}?) (?P<p><date>)<end>
- (?:je|nous|on) (?P<v><verb>) (?P<p><date>) (?P<o>(?:à|en|au|aux|chez|pour|dans) <any>{2,50}?)<end>
@ Plan = {v} {p} :: (?:je me|nous nous|on se) (?P<v>marie|marions) (?P<p><date>)
- (?P<p><date>),? (?:je me|nous nous|on se) (?P<v>marie|marions)<end>
@ Goal :: mon (?:grand )?(?:objectif|but|rêve) (?:est|c'est|pour \w+ est) (?:de |d')(?P<o><any>{4,90}?)<end>
# events
@ Event = {o} {p} :: (?P<p><past>),? (?:j'ai|nous avons|on a) (?P<o><big>\b(?: <any>{2,70}?)?)<end>
- (?P<p><past>),? je me suis (?P<o>(?:mariée?|cassée?|foulée?|fiancée?|installée?|fait opérer|inscrite?
  |blessée?)\b(?: <any>{2,70}?)?)<end>
- (?:j'ai|nous avons|on a) (?P<o><big>\b <any>{2,70}?) (?P<p><past>)<end>
- je me suis (?P<o>(?:mariée?|cassée?|foulée?|fiancée?|fait opérer|inscrite?
  |blessée?)\b(?: <any>{2,70}?)?) (?P<p><past>)<end>
- (?:ma fille|mon fils) (?P<o>est née?) (?P<p><past>)<end>
# tastes
@ Favourite = {p}: {o} :: (?:mon|ma|mes) (?P<p>[\w'-]{2,30}(?: [\w'-]{2,20})?) (?:préférée?s?|favorite?s?),? (?:est
  |sont|c'est|reste) <thing>
@ Prefers = {o} plutôt que {p} :: je préfère (?:largement |nettement )?(?P<o><any>{2,60}?) (?:plutôt que
  ? |plutôt qu'|au lieu de |aux |à la |à l'|au |à )(?P<p><any>{2,40}?)<end>
@ Prefers :: je préfère (?:largement |nettement )?(?!ne |que |pas|si|attendre|te |vous |y )(?P<o><any>{2,80}?)<end>
@ Dislikes +many :: je (?:déteste|hais|ne supporte pas|supporte pas) (?!quand|que |être)<list>
- j'ai horreur (?:de la |de l'|du |des |de |d')<list>
- (?:je n'aime|j'aime) (?:pas(?: du tout| vraiment| trop)?|guère) (?!quand|que |ta |ton |tes |cette |ce )<list>
@ Likes +many :: (?:j'adore|j'aime)<adverb>(?: (?:bien|beaucoup))?+ (?!pas|plus|quand|que |ta |ton |tes |votr
  e |vos |cette |ce |cet |ces |comment|autant|mieux|ça|ton|l'idée|savoir)<list>
- je suis (?:fan|passionnée?|amateur|amatrice) (?:de |d'|du |des |par (?:la |le |les |l')?)<list>
@ Hobby +many :: (?:mes (?:loisirs|passe-temps|hobbies) (?:sont|préférés sont)|mon (?:loisir|passe-temps
  |hobby) (?:est|c'est)) <list>
- (?:le week-end|les week-ends|le (?:<day>)|tous les (?:<day>)s|pendant mon temps libre
  |à mes heures perdues),? je (?:fais|pratique|joue) (?:de la |de l'|du |des |au |aux |la |le |à la )(?P<o>(?!courses
  |ménage|grasse)<any>{3,40}?)<end>
@ Skill :: je joue (?:depuis (?:\w+ ){1,3})?(?P<o>(?:du |de la |de l'|au |aux )(?:piano|guitare|violon|violoncelle
  |batterie|flûte|trompette|saxophone|basse|orgue|accordéon|échecs|harpe|clarinette|alto|ukulélé
  |trombone))(?= (?:dans|depuis|et|en|avec)\b|<end>)
- je (?:code|programme)(?: principalement| surtout| beaucoup)? en (?P<o><program>)(?= (?:depuis|et)\b|<end>)
@ Trait :: je suis <now>(?:une? )?(?P<o>couche-tard|lève-tôt|gauch(?:er|ère)|droiti(?:er|ère)|introvertie?
  |extravertie?|perfectionniste|matinale?|oiseau de nuit)<end>
# tools, work
@ Uses +many :: (?:j'utilise|je me sers de|je travaille (?:avec|sous)|je code (?:avec|sous|sur))<adverb> (?!ça|c
  e |cette |ces |ton|ta |un truc)(?P<o>[^;:.!?()…\x00]{2,80}?)(?= (?:comme|pour|au|sur|avec|afin)\b|\s*(?:[;:.!?()…]
  |\Z)|,? (?:<but>)\b)
@ Uses :: mon (?:téléphone|portable|ordi(?:nateur)?|éditeur|navigateur) (?:est|c'est) (?:une? )?(?!cassé|en panne
  |mort|lent|vieux)<thing>
- pour <any>{2,20},? j'utilise (?P<o>(?!ça|ce |cette |ton |ta )<any>{2,40}?)<end>
@ Owns :: (?:je possède|je conduis|je roule en) (?P<o>(?:une? )?<any>{2,40}?)<end>
@ Works on :: (?:je prépare|j'écris|je rédige|je développe|je construis)<adverb> (?P<o>(?:une?|mon|ma) (?:thèse
  |mémoire|livre|appli|application|jeu|site|logiciel|bibliothèque|compilateur|blog)\b<any>{0,60}?)<end>
- je travaille<adverb> sur (?P<o>(?:une?|mon|ma|notre|le projet|la refonte) (?!bug|problème|erreur
  |truc)<any>{4,70}?)<end>
"""
