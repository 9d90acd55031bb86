"""What a sentence in French says about the one who speaks, as a table (`tongues.py` says how it is read): its words
and their order here, the forms of facts beside it.

Precision before recall: in doubt a sentence says nothing.
"""

from __future__ import annotations

from looseleaf.distill.languages.forms import reader
from looseleaf.distill.languages.french_forms import FORMS

_TABLE = r"""
# what makes a sentence none of ours
never = \b(?:écris|écrivez|rédige[zs]?|compose|génère|invente)\b[^:]{0,60}:|\?[\s"'“”»)]*\Z|\x00|\bsi (?:j'(?:étais
  |avais|habitais|aimais|allais)|je (?:vivais|pouvais|devais|m'appelais|travaillais|gagnais|suis|vis)|j'(?:habite|ai)
  |un jour|jamais|on (?:était|avait))\b|\b(?:je|j'|on|nous) ?(?:serais|aurais|pourrais|devrais|voudrais|aimerais
  |vivrais|habiterais|serait|aurait)\b|\b(?:imagine[zr]?|imaginons|supposons|suppose[zr]?|admettons|disons que
  |mettons que|en théorie|hypothétiquement|peut-être|probablement|sans doute|éventuellement)\b|\b(?:fais (?:comme si
  |semblant)|faites comme si|joue (?:le rôle|un|une|à)|tu es (?:un|une|le|la|mon|ma|maintenant|désormais)\b
  |vous êtes (?:un|une)|agis comme|comporte-toi|mets-toi dans la peau|jeu de rôle|dans la peau de|prétends|prétendons
  |faisons semblant)|\b(?:je plaisante|je rigole|blague|lol|mdr|ptdr|haha\w*|hihi|pour rire|ironie|xd)\b|[😂🤣😜😉🙃]
  |;-?\)|\b(?:a dit|dit que|disait|m'a dit|ont dit|a écrit|écrit que|prétend|affirme|selon|d'après|raconte|demande si
  |a demandé|a répondu|répond que|dit :|citation)\b|\b(?:exemple|par ex\b|p\. ?ex|roman|personnage|héroïne?
  |dans l'histoire|tradui[st]\w*|traduction|poème|chanson|corrige\w*|dans le film|dans mon rêve|j'ai rêvé
  |texte suivant|phrase suivante)\b|\bje (?:crois|pense|me demande|doute|ne sais pas|hésite)\b|\bj'espère\b
hollow = (?:les?|la) nouve(?:au|lle|l|lles|aux)\b .*|(?:l')?option\b.*|(?:la |l')?(?:version|variante|solution
  |proposition)\b.*|(?:le|la|les) (?:premi|deuxi|second|derni|troisi)\w+\b.*|(?:ça|cela|ceci|le|la|les|l'|te|toi|vous
  |tu|moi|lui|elle|elles|eux|ce|cette|c'est|rien|tout|quoi|y|en|bien|beaucoup|trop|un|une|des|du|de|celui-ci|celle-ci
  |ici|là|plus|je|que|qui|comment)|(?:ce|cet|cette|ces|ton|ta|tes|votre|vos) .*|.* suivante?s?
negative = \b(?:pas|jamais|plus (?:de|du|d')|aucune?|rien|personne)\b|\bn'|\bne\b
tail = (?:^|[ ,]+)(?:s'il (?:te|vous) pla[iî]t|stp|svp|merci|aussi|également|d'ailleurs|en fait|quoi|voilà|etc
  |maintenant|actuellement|désormais|depuis (?:\w+ ){0,3}\w+|en ce moment|hein|beaucoup|énormément|vraiment|bien sûr
  |et|mais|pour info|à vrai dire|surtout)$
joins = (?:\s*,\s*(?:et )?|\s+(?:et|ainsi que)\s+)(?:un peu (?:d'|de )?|aussi |couramment |aux? (?=\w)|à la |à l')?
stops = (?:je|j'|mais|on|nous|mon|ma|mes|il|elle|c'est|car|parce|travaille|habite|vis|parle|suis|qui|que|où|pas
  |surtout|donc|alors|pour|avec|tu|ne|n'|vous)(?:\b|(?<='))
corrects = \A(?:non|nan|pardon|désolée?|correction|erreur|faux|attends|oups)\b[ ,:!.–-]|\b(?:en fait|en réalité
  |à vrai dire|finalement|plutôt que|je voulais dire|correction|ne \w+ plus|n'\w+ plus)\b
current = \b(?:actuellement|en ce moment|pour l'instant|pour le moment|temporairement|provisoirement)\b
recent = \b(?:aujourd'hui|hier|avant-hier|cette semaine|la semaine dernière|ce matin|il y a (?:deux|trois|quelques
  |[2-9]) jours|(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche) dernier|ce week-end)\b
once = \b(?:aujourd'hui|pour cette (?:tâche|session|fois)|dans cette (?:session|conversation)|cette fois)\b
asks = [,.;!–—] ?(?:et |donc |alors |mais )?(?:tu (?:peux|pourrais|connais|as|sais|me|aurais)|peux-tu|pourrais-tu
  |connais-tu|as-tu|est-ce|qu'est-ce|que |quels?|quelles?|comment|où|quand|pourquoi|combien|vous (?:pouvez|avez
  |connaissez)|pouvez-vous|avez-vous|y a-t-il|il y a)[^,;\x00]{2,90}\?\s*\Z
supposes = \b(?:si|supposons|imagine\w*)\b|\bs'il(?! (?:te|vous))
here = \b(?:ce|cet|cette|ces)\b(?! (?:projet|dépôt|repo|conversation|discussion|que|qui|n'est))
other = (?!)
# parts of patterns
begin = (?:\A|[,;:.!()–—]|\x00|- |\b(?:et|mais|donc|car|avec)\b)\s*
lead = (?:oui|non|alors|et|mais|donc|bonjour|salut|coucou|ok|d'accord|au fait|d'ailleurs|en fait|en réalité|sinon
  |(?:note[zr]?|notez bien|note bien|retiens|retenez|sache|sachez|rappelle-toi|souviens-toi|n'oublie pas
  |il se trouve) (?:que(?= )|qu(?=')) ?(?<=[ '])|il faut savoir que|pour info|finalement|aussi|également|actuellement
  |en ce moment|maintenant|désormais|depuis (?:(?:le|la|début|fin|une?|deux|trois|quatre|cinq|dix|[0-9]+|plusieurs
  |quelques) )?\w+|moi|bref|ah|perso|personnellement|à vrai dire|pour ma part|voilà)[ ,:!]+
and = s'il (?:te|vous) pla[iî]t|stp|svp|et (?:je|j'|mon|ma|mes|on|nous|il|elle|c'est|travaille|habite|parle|vis
  |suis|pas)|mais|car|parce que?|parce|puisque|quand|lorsque|depuis|afin|alors que|pour que|où|qui|donc|comme ça|sauf
but = mais|car|parce que?|puisque|et (?:je|j'|mon|ma|mes|nous|on|pas)|depuis|quand|surtout|sauf
particle = de|du|des|de la|la|le|les|sur|sous|en|d'|saint|van|von|al|bin|da|di
noname = pas|plus|comme|ainsi|comment|aussi|bien|tu|te|toi|le|la|les|un|une|ça|moi|encore|toujours|désormais
  |maintenant|quand|si
now = (?:(?:aussi|également|maintenant|actuellement|désormais|toujours|encore|vraiment|beaucoup|bien|plutôt|surtout
  |d'ailleurs|en ce moment|depuis (?:\w+ ){0,2}\w+|déjà|principalement|souvent|généralement|quotidiennement
  |originaire|en fait|énormément|particulièrement|simplement|plus souvent) ){0,3}
adverb = (?: (?:aussi|également|maintenant|actuellement|désormais|toujours|encore|vraiment|beaucoup|bien|plutôt
  |surtout|en ce moment|depuis (?:\w+ ){0,2}\w+|principalement|énormément|tous les jours))?+
je = (?:je |moi je |moi,? je )?
notwas = (?:,? (?:et )?(?:non |non pas |pas |plus )(?:à |chez |de |d'|en )?<Was>)?
to = (?:à |au |aux |en |dans (?:le |la |les )?|près de |près d'|sur )
day = lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche
month = janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre
season = été|hiver|automne|printemps
count = [0-9]{1,2}|une?|deux|trois|quatre|cinq|six|sept|huit|dix|quelques
unit = jours?|semaines?|mois|ans?|années?
clock = (?: à [0-9]{1,2} ?(?:h(?:eures?)?|:|․)?(?:[0-9]{2})?)?
date = (?:(?:le |du |au |pour le |d'ici le |avant le )?(?:(?:<day>),? )?(?:le )?(?:[0-9]{1,2}(?:er)? (?:<month>)
  (?: [0-9]{4})?|[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{2,4})?|[0-9]{4}-[0-9]{2}-[0-9]{2})|(?:le |la |l')?(?:<day>|<season>
  |semaine|mois|année|an|<month>|week-end) (?:prochaine?|suivante?|qui vient)|(?:ce |cet |cette )(?:<day>|<season>
  |semaine|mois|année|week-end|soir|après-midi)|(?:en |au mois de |au mois d')(?:<month>)(?: [0-9]{4})?|(?:en |a
  u |à l')(?:<season>)(?: [0-9]{4})?|en 20[0-9]{2}|(?:<day>)(?: matin| soir| après-midi)?|après-demain
  |demain(?: matin| soir| après-midi)?|dans (?:<count>) (?:<unit>))<clock>
past = (?:hier(?: soir)?|avant-hier|aujourd'hui|ce matin|(?:le |la |l')?(?:<day>|<season>|semaine|mois|année|an
  |<month>|week-end) (?:derni(?:er|ère)|passée?)|il y a (?:<count>) (?:<unit>)|en (?:<month>)(?: (?:dernier
  |[0-9]{4}))?|en (?:19|20)[0-9]{2}|le [0-9]{1,2}(?:er)? (?:<month>)(?: [0-9]{4})?|récemment|cette (?:semaine|année)
  |ce mois-ci)
old = (?:(?:petite?|grande?|jeune|cher|chère|meilleure?|nouvelle|nouveau|vieux|vieille) )?
my = (?:mon|ma|notre)
use = utilisons|utilise|utilisez|prenons|prends|prend|garde|choisit|prenez|choisissons|gardons|passons à|part sur
  |utiliserons
we = (?:nous |on |je |j')?
from = (?:à partir de maintenant|dorénavant|désormais|à l'avenir|dès maintenant|à compter d'aujourd'hui
  |à partir d'aujourd'hui)
please = (?:(?:s'il te pla[iî]t|s'il vous pla[iî]t|stp|svp|merci de|veuillez|tu dois|vous devez|il faut
  |il faudra)[ ,]+){0,2}
talk = (?:discut|parl|répond|échang|écri|expliqu|communiqu|cause)\w*
code = (?:le |du |ton |mon |tout le |les )?(?:code(?: source)?|commentaires(?: de code| du code)?)
job = (?:(?:développeu|programmeu|chercheu|enseignant|professeur|ingénieu|infirmi|médecin|avocat|architecte
  |designer|étudiant|lycéen|cuisini|boulang|journaliste|auteur|écrivain|artiste|musicien|scientifique|consultant
  |menuisi|électricien|mécanicien|polici|physicien|chimiste|biologiste|mathématicien|psychologue|traduct|photographe
  |vendeu|comptable|manager|administrat|retraité|pharmacien|dentiste|vétérinaire|sage-femme|technicien|jardini
  |coiffeu|pilote|juge|kiné|thérapeute|bibliothécaire|graphiste|rédact|analyste|éducat|agricult|serveu|directeu
  |directrice|chef|data|prof\b|instituteu|institutrice|pompi|doctorant|freelance|entrepreneu|responsable|chauffeu
  |artisan|plombi|webmaster|commercial|ouvri|assistant|aide-soignant|animat|comédien|act(?:eur|rice)|chanteu|peintre
  |maçon|caissi|gérant|éditeu|éditrice|illustrat|réalisat|magistrat|ostéopathe|opticien|orthophoniste|nutritionniste
  |sociologue|géologue|statisticien|économiste|urbaniste|paysagiste|fleuriste|apicult|viticult|militaire|gendarme
  |libraire|secrétaire|facteu|factrice|notaire)\w*)(?: (?!et |mais |à |chez |depuis )[\w'-]+){0,4}?
folk = français|française|belge|suisse|canadien(?:ne)?|québécoise?|espagnole?|italien(?:ne)?|allemande?|portugaise?
  |marocaine?|algérien(?:ne)?|tunisien(?:ne)?|sénégalaise?|chinoise?|japonaise?|anglaise?|américaine?
  |brésilien(?:ne)?|polonaise?|russe|ukrainien(?:ne)?|grecque|turque|libanaise?|camerounaise?|ivoirien(?:ne)?
  |roumaine?|vietnamien(?:ne)?|néerlandaise?
diet = végane?|vegan|végétarien(?:ne)?|végétalien(?:ne)?|pescétarien(?:ne)?|flexitarien(?:ne)?|sans gluten|halal
  |casher
big = (?:adopté|acheté|vendu|réussi|passé|obtenu|cassé|foulé|eu(?= une? (?:enfant|bébé|fille|fils|accident
  |promotion)| (?:mon|ma|le) (?:permis|bac|diplôme|licence|master|promotion|concours))|commencé|gagné|fondé|ouvert
  |couru|visité|publié|signé|quitté|démissionné|déménagé|divorcé|épousé|rencontré|soutenu|lancé|arrêté|changé|subi
  |décroché)
choice = (?:d'|de )?(?:utiliser |prendre |passer (?:à|sur) |partir sur |adopter |choisir )?(?P<o>.+?)(?: (?:comme
  |pour|en tant que) .+)?
on = le
week = la semaine du {}
more = (?:, (?:sauf|à moins|même si|sans|avant|même) <any>{2,80}?)?
used = (?: (?:comme|pour|en) <any>{2,30}?)?<end>
weuse = (?:(?:nous|on) (?:utilisons|utilise|se sert de|testons avec|teste(?: tout)? avec|prend|prenons
  |travaille avec|travaillons avec)|notre (?:projet|backend|frontend|équipe) (?:utilise|tourne avec|tourne sur)
  |le projet utilise|notre (?:base de données|framework|gestionnaire de paquets) (?:est|c'est))[ ]
written = (?:le|notre|mon|l') ?(?:projet|backend|frontend|code|serveur|appli(?:cation)?|site) est (?:entièremen
  t |tout )?(?:écrite?|faite?|codée?|développée?|construite?) (?:en|avec) |(?:on|nous) (?:code|codons|développe
  |développons)(?: tout)? en[ ]
wehost = (?:(?:on|nous) (?:héberge|hébergeons|déploie|déployons)(?: tout| (?:le|la|notre) \w+)?|(?:le
  |notre) (?:projet|site|serveur) est hébergé|tout est hébergé|(?:le|notre) (?:projet|site) tourne) (?:chez|sur)[ ]
licence = (?:(?:le|notre) (?:projet|code) est (?:publié |distribué )?sous (?:la )?licenc
  e |notre licence est (?:la )?)
port = (?:le serveur|l'api|l'application|notre (?:serveur|api)|le backend) (?:tourne|écoute) sur le port[ ]
branch = (?:notre|la) branche (?:principale|par défaut) (?:est|s'appelle|c'est)[ ]
version = (?:(?:on|nous) (?:est|sommes) (?:à|en|sur) (?:la )?version |la version actuelle est (?:la )?)
repository = (?:le|notre|mon) (?:dépôt|repo) (?:est|se trouve)(?: sur| à)? ?
# names of languages, relatives, animals, verbs
français française > French; anglais anglaise > English; allemand allemande > German; espagnol espagnole > Spanish
  ; italien > Italian
chinois mandarin > Chinese; japonais > Japanese; portugais > Portuguese; russe > Russian; arabe > Arabic; polonai
  s > Polish
néerlandais > Dutch; coréen > Korean; turc > Turkish; breton > Breton; catalan > Catalan; ukrainien > Ukrainian
sœur soeur > Sister > Sibling; frère > Brother > Sibling; mère maman > Mother > Parent; père papa > Father > Parent
fille > Daughter > Child; fils > Son > Child; femme épouse > Wife > Partner; mari époux > Husband > Partner
copine compagne fiancée > Girlfriend > Partner; copain compagnon fiancé > Boyfriend > Partner; conjoint conjointe pa
  rtenaire > Partner > Partner
ami amie > Friend > Friend; chef cheffe manager patron patronne > Manager > Manager; collègue > Colleague > Colleagu
  e
chien chienne chiot > Dog > Pet; chat chatte chaton > Cat > Pet; hamster > Hamster > Pet; lapin > Rabbit > Pet
perroquet perruche > Parrot > Pet; cheval > Horse > Pet; tortue > Tortoise > Pet
pars > partir > verb; partons > partir > verb; vais > aller > verb; allons > aller > verb; déménage > déménager > ve
  rb
déménageons > déménager > verb; voyage > voyager > verb; commence > commencer > verb; visite > visiter > verb; cour
  s > courir > verb
emménage > emménager > verb; marie > se marier > verb; marions > se marier > verb; participe > participer > verb; pa
  sse > passer > verb; prends > prendre > verb
"""

propose = reader(_TABLE + FORMS)
"""The facts that one sentence of a user states, said at a time."""
