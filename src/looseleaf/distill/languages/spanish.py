"""What a sentence in Spanish says about the one who speaks, as a table (`tongues.py` says how it is read): its words
and their order here, the forms of facts beside it.

Precision before recall: in doubt a sentence says nothing.
"""

from __future__ import annotations

from looseleaf.distill.languages.forms import reader
from looseleaf.distill.languages.spanish_forms import FORMS

_TABLE = r"""
# what makes a sentence none of ours
never = \b(?:escribe|redacta|inventa|genera|compón)\b[^:]{0,60}:|\?[\s"'”»)]*\Z|¿|\x00|\bsi (?:yo )?(?:fuera|fuese
  |tuviera|viviera|pudiera|trabajara|ganara|estuviera|me llamara|vivo|soy|tengo|algún día)\b|\b(?:me gustaría|sería
  |viviría|tendría|podría|quisiera|debería|querría|imagina(?:te|mos|d)?|imagínate|imaginemos|supón|supongamos
  |suponiendo|pongamos que|digamos que|hipotéticamente|en teoría|quizás?|tal vez|a lo mejor|probablemente
  |posiblemente|igual me)\b|\b(?:haz como (?:si|que)|finge|fingir|finjamos|actúa como|hazte pasar|eres (?:un|una|el
  |la|mi|ahora)\b|juega a ser|juego de rol|en el papel de|compórtate como|interpreta)|\b(?:es broma|broma|bromeo
  |bromeando|jaja\w*|jeje\w*|lol|xd|ironía|de coña)\b|[😂🤣😜😉🙃]|;-?\)|\b(?:dijo|dice|dicen|decía|me ha dicho
  |ha dicho|dijeron|escribió|afirma|según|comenta|comentó|preguntó|pregunta si|respondió|contó)\b|\b(?:ejemplo|novela
  |personaje|protagonista|en la historia|traduce\w*|traducir|traducción|poema|canción|corrige\w*|en la película|soñé
  |frase siguiente|siguiente frase|siguiente texto)\b|\b(?:creo que|pienso que|me pregunto|dudo|no sé|espero que)\b
hollow = (?:el|la|los|las) nuev[oa]s?\b .*|(?:la )?(?:opción|versión|variante|solución|propuesta)\b.*|(?:el|la|los
  |las) (?:primer|segund|últim|tercer)\w*\b.*|(?:lo|la|los|las|el|eso|esto|esta|este|te|ti|tú|usted|me|mí|él|ella
  |ellos|nada|todo|algo|mucho|muy|más|un|una|unos|unas|de|que|cómo|así|aquí|ahí|bien|ese|esa|yo|ya|tu|tus)
  |(?:est[eao]s?|es[eao]s?|tus?) .*|(?:el|la|los|las) siguientes? .*
negative = \b(?:no|nunca|jamás|ningun[oa]?|ningún|nada|nadie|tampoco)\b
tail = (?:^|[ ,]+)(?:por favor|porfa|gracias|también|además|la verdad|en realidad|etc|ahora|ahora mismo|actualmente
  |desde (?:\w+ ){0,3}\w+|hace (?:\w+ ){1,2}\w+|de momento|mucho|muchísimo|eh|vale|y|pero|por cierto|sobre todo
  |bastante|siempre)$
joins = (?:\s*,\s*(?:y |e )?|\s+(?:y|e|así como)\s+)(?:un poco de |también |algo de |a la |al |a las |a los )?
stops = (?:yo|pero|mi|mis|me|porque|vivo|trabajo|soy|tengo|hablo|que|no|nunca|él|ella|es|son|para|con|tú|aunque|así
  |uso|estudio|odio|prefiero|sobre todo|cuando)\b
corrects = \A(?:no|perdón|perdona|corrección|error|falso|espera|ups|mejor dicho) ?[,:.!–]|\b(?:en realidad|de hecho
  |en verdad|mejor dicho|quise decir|corrección|ya no|al final)\b
current = \b(?:actualmente|de momento|por ahora|por el momento|ahora mismo|temporalmente|provisionalmente)\b
recent = \b(?:hoy|ayer|anteayer|antier|anoche|esta semana|la semana pasada|esta mañana|hace (?:dos|tres|unos|pocos
  |[2-9]) días|el (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo) pasado|este fin de semana)\b
once = \b(?:hoy|para esta (?:tarea|sesión)|en esta (?:sesión|conversación)|esta vez|por esta vez|solo por hoy)\b
asks = [,.;!–—] ?(?:y |así que |entonces )?¿[^¿;\x00]{2,90}\?\s*\Z|[,.;!] ?(?:qué|cuál(?:es)?|cómo|dónde|cuándo
  |puedes|podrías|conoces|sabes|tienes|hay|me recomiendas|me ayudas)\b[^,;\x00]{2,90}\?\s*\Z
supposes = \b(?:si|supón|supongamos|imagina\w*)\b
here = \b(?:est[ea]s?|es[ea]s?)\b(?! (?:proyecto|repo|repositorio|chat|conversación))
other = (?!)
# parts of patterns
begin = (?:\A|[,;:.!¡()–—]|\x00|- |\b(?:y|e|pero|así que|pues|con)\b)\s*
lead = (?:sí|no,|no:|y|pero|pues|bueno|hola|buenas|buenos días|vale|ok|oye|por cierto|en realidad|de hecho
  |la verdad es que|la verdad|además|también|(?:ten en cuenta|recuerda|apunta|anota|no olvides|resulta|es|sabes) que
  |para que lo sepas|actualmente|ahora|ahora mismo|desde (?:(?:hace|el|la|principios de|finales de) )?(?:\w+ (?=año
  |mes|día|semana))?\w+|hace (?:\w+ ){1,2}que|entonces|personalmente|yo|al final|finalmente|de momento|perdón)[ ,:!]+
and = por favor|porfa|y (?:yo|mi|mis|me|vivo|trabajo|soy|tengo|hablo|no|es|estoy|estudio|uso|nosotros|ella|él)|pero
  |porque|ya que|pues|aunque|cuando|mientras|desde|para que|donde|que|así que|puesto que|hace
but = pero|porque|ya que|aunque|y (?:yo|mi|mis|me|vivo|trabajo|soy|tengo|no|odio|detesto)|desde|cuando|sobre todo
  |así que
particle = de|del|de la|de las|de los|la|las|los|el|y|san|van|von|da|al|bin
noname = no|así|como|cómo|igual|también|lo|la|el|un|una|te|ti|tú|ya|mucho|siempre|ahora|si|que
now = (?:(?:también|ahora|actualmente|siempre|todavía|aún|realmente|mucho|bastante|principalmente|sobre todo|ya
  |desde (?:\w+ ){0,2}\w+|normalmente|habitualmente|a diario|solo|en realidad|originalmente|muy|casi siempre) ){0,3}
yo = (?:yo )?
notwas = (?:,? (?:y )?(?:ya )?no (?:en |de |para )?<Was>)?
day = lunes|martes|miércoles|jueves|viernes|sábado|domingo
month = enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre
season = verano|invierno|otoño|primavera
count = [0-9]{1,2}|una?|dos|tres|cuatro|cinco|seis|siete|ocho|diez|unos|unas
unit = días?|semanas?|mes(?:es)?|años?
clock = (?: a las? [0-9]{1,2}(?:[:․][0-9]{2})?(?: (?:de la (?:mañana|tarde|noche)|horas))?)?
date = (?:(?:el |al |del |para el |antes del )?(?:(?:<day>),? )?(?:el |día |día )?(?:(?:[0-9]{1,2}|primero
  |uno) de (?:<month>)(?: del? [0-9]{4})?|[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{2,4})?|[0-9]{4}-[0-9]{2}-[0-9]{2})|(?:e
  l |la )?(?:próxim[oa]|siguiente) (?:<day>|<season>|semana|mes|año|<month>|fin de semana)|(?:el |la )?(?:<day>
  |semana|mes|año|<season>) (?:que viene|próxim[oa]|siguiente)|(?:este|esta) (?:<day>|<season>|semana|mes|año
  |fin de semana|tarde|noche)|en (?:<month>)(?: del? [0-9]{4})?|en (?:<season>)(?: del? [0-9]{4})?|en 20[0-9]{2}
  |el (?:<day>)(?: por la (?:mañana|tarde|noche))?|pasado mañana|mañana(?: por la (?:mañana|tarde|noche))?
  |dentro de (?:<count>) (?:<unit>)|en (?:<count>) (?:<unit>))<clock>
past = (?:ayer|anteayer|antier|anoche|hoy|esta mañana|(?:el |la )?(?:<day>|<season>|semana|mes|año|<month>
  |fin de semana) pasad[oa]|hace (?:<count>) (?:<unit>)|hace poco|en (?:<month>)(?: (?:pasado|del? [0-9]{4}))?
  |en (?:19|20)[0-9]{2}|el (?:[0-9]{1,2}) de (?:<month>)(?: del? [0-9]{4})?|esta semana|este (?:mes|año)
  |recientemente)
my = (?:mi|nuestr[oa])
old = (?:(?:querid[oa]|mejor|nuev[oa]|pequeñ[oa]) )?
after = (?: (?:mayor|menor|pequeñ[oa]|grande|gemel[oa]))?
use = usamos|usemos|utilizamos|utilicemos|usa|usad|utiliza|usaremos|elegimos|vamos a usar|vamos con
  |nos quedamos con|voy a usar|usar|uso|mejor usa
from = (?:a partir de ahora|de ahora en adelante|desde ahora|a partir de hoy|en adelante|en el futuro
  |de aquí en adelante)
please = (?:(?:por favor|porfa|debes|tienes que|hay que|quiero que)[ ,]+){0,2}
talk = (?:discut|habl|respond|convers|escrib|explic|comunic|contest|charl|debat)\w*
code = (?:el |tu |mi |todo el |los )?(?:código(?: fuente)?|comentarios(?: del código)?)
job = (?:(?:desarrollador|programador|investigador|profesor|maestr[oa]|ingenier[oa]|enfermer[oa]|médic[oa]
  |abogad[oa]|arquitect[oa]|diseñador|estudiante|cociner[oa]|panader[oa]|periodista|autor|escritor|artista|músic[oa]
  |científic[oa]|consultor|carpinter[oa]|electricista|mecánic[oa]|policía|físic[oa]|químic[oa]|biólog[oa]
  |matemátic[oa]|psicólog[oa]|traductor|fotógraf[oa]|vendedor|contable|contador|gerente|administrador|jubilad[oa]
  |farmacéutic[oa]|dentista|veterinari[oa]|matrona|técnic[oa]|jardiner[oa]|peluquer[oa]|pilot[oa]|juez[a]?
  |fisioterapeuta|terapeuta|bibliotecari[oa]|redactor|analista|educador|agricultor|camarer[oa]|director|jef[ea]|data
  |bomber[oa]|doctorand[oa]|autónom[oa]|emprendedor|responsable|conductor|fontaner[oa]|secretari[oa]|librer[oa]
  |notari[oa]|obrer[oa]|emplead[oa]|asistente|auxiliar|animador|actor|actriz|cantante|pintor|albañil|cajer[oa]|editor
  |ilustrador|logopeda|óptic[oa]|nutricionista|sociólog[oa]|geólog[oa]|economista|urbanista|florista|apicultor
  |militar|soldado|azafat[oa]|camioner[oa]|taxista|repartidor|ganader[oa]|pescador|zapater[oa]|soldador|guionista
  |locutor|docente|funcionari[oa]|product|freelance|chef|barista)\w*)(?: (?!y |pero |en |desde |para )[\w'-]+){0,4}?
folk = español[a]?|mexican[oa]|argentin[oa]|colombian[oa]|chilen[oa]|peruan[oa]|venezolan[oa]|cuban[oa]
  |ecuatorian[oa]|uruguay[oa]|bolivian[oa]|frances[a]?|francés|alemán|alemana|italian[oa]|portugues[a]?|portugués
  |inglés|inglesa|estadounidense|brasileñ[oa]|chin[oa]|japonés|japonesa|polac[oa]|rus[oa]|ucranian[oa]|marroquí
  |dominican[oa]|guatemaltec[oa]|catalán|catalana|paraguay[oa]|costarricense|hondureñ[oa]|puertorriqueñ[oa]
diet = vegan[oa]|vegetarian[oa]|pescetarian[oa]|flexitarian[oa]|celíac[oa]|sin gluten|halal|kosher
big = (?:adopté|adoptamos|compré|compramos|vendí|vendimos|aprobé|obtuve|conseguí|me gradué|me casé|nos casamos
  |me rompí|me fracturé|me operaron|me mudé|nos mudamos|empecé|gané|fundé|fundamos|abrí|abrimos|corrí|visité
  |visitamos|publiqué|publicamos|firmé|dejé|renuncié|me divorcié|me comprometí|me ascendieron|me despidieron|nació mi
  |terminé (?:la|mi) (?:carrera|tesis|máster)|me jubilé|me torcí|me torcí|tuve un (?:bebé|hijo|accidente)|tuvimos un)
choice = (?:usar |utilizar |pasar(?:nos)? a |adoptar |elegir |ir con |migrar a )?(?P<o>.+?)(?: (?:como|para) .+)?
on = el
week = la semana del {}
more = (?:, (?:salvo|excepto|a menos que|aunque|sin|antes) <any>{2,80}?)?
used = (?: (?:como|para|en) <any>{2,30}?)?<end>
weuse = (?:usamos|utilizamos|probamos con|trabajamos con|nuestro (?:proyecto|backend|frontend|equipo) (?:usa
  |utiliza)|el proyecto (?:usa|utiliza)|nuestra base de datos es|nuestro (?:framework|gestor de paquetes) es)[ ]
written = (?:el|nuestro|mi|la|nuestra) (?:proyecto|backend|frontend|código|servidor|app|aplicación
  |web) está (?:todo |tod[oa] )?(?:escrit|hech|desarrollad|programad|construid)[oa] (?:en|con) |(?:programamos
  |desarrollamos)(?: todo)? en[ ]
wehost = (?:(?:vamos a |hemos decidido |decidimos )?(?:alojar|hospedar|desplegar|alojamos|hospedamos
  |desplegamos)(?: todo| (?:el|la|nuestro|nuestra) \w+)?|(?:el|nuestro) (?:proyecto|sitio|servidor) (?:está alojado
  |corre|está desplegado)|todo (?:está alojado|corre)) en[ ]
licence = (?:(?:el|nuestro) (?:proyecto|código) (?:está |se publica )?bajo (?:la )?licenci
  a |nuestra licencia es (?:la )?)
port = (?:el servidor|la api|la aplicación|nuestro servidor|el backend) (?:corre|escucha|está) en el puerto[ ]
branch = (?:nuestra|la) rama (?:principal|por defecto) (?:es|se llama)[ ]
version = (?:estamos en la versión |la versión actual es (?:la )?)
repository = (?:el|nuestro|mi) (?:repositorio|repo) (?:es|está en)[ ]
# names of languages, relatives, animals, verbs
español castellano > Spanish; inglés > English; alemán > German; francés > French; italiano > Italian; chino mandarí
  n > Chinese
japonés > Japanese; portugués > Portuguese; ruso > Russian; árabe > Arabic; polaco > Polish; holandés neerlandés > D
  utch
coreano > Korean; turco > Turkish; catalán > Catalan; gallego > Galician; euskera > Basque; ucraniano > Ukrainian; q
  uechua > Quechua
hermana > Sister > Sibling; hermano > Brother > Sibling; madre mamá > Mother > Parent; padre papá > Father > Parent
hija > Daughter > Child; hijo > Son > Child; mujer esposa > Wife > Partner; marido esposo > Husband > Partner
novia > Girlfriend > Partner; novio > Boyfriend > Partner; pareja prometida prometido > Partner > Partner
amigo amiga > Friend > Friend; jefe jefa > Manager > Manager; compañero compañera colega > Colleague > Colleague
perro perra perrito perrita cachorro > Dog > Pet; gato gata gatito gatita > Cat > Pet; hámster > Hamster > Pet
conejo > Rabbit > Pet; loro periquito > Parrot > Pet; caballo > Horse > Pet; tortuga > Tortoise > Pet
viajo > viajar > verb; viajamos > viajar > verb; vuelo > volar > verb; volamos > volar > verb; salgo > salir > verb
empiezo > empezar > verb; empezamos > empezar > verb; visito > visitar > verb; corro > correr > verb; participo > pa
  rticipar > verb
voy > ir > verb; vamos > ir > verb; comienzo > comenzar > verb; caso > casarse > verb; casamos > casarse > verb; mud
  o > mudarse > verb; mudamos > mudarse > verb
"""

propose = reader(_TABLE + FORMS)
"""The facts that one sentence of a user states, said at a time."""
