"""What a sentence in Spanish says about the one who speaks, as a table of forms (`tongues.py` says how it is read).

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
never = \b(?:escribe|redacta|inventa|genera|compón)\b[^:]{0,60}:|\?[\s"'”»)]*\Z|¿|\x00|\bsi (?:yo )?(?:fuera|fuese
  |tuviera|viviera|pudiera|trabajara|ganara|estuviera|me llamara|vivo|soy|tengo|algún día)\b|\b(?:me gustaría|sería
  |viviría|tendría|podría|quisiera|debería|querría|imagina(?:te|mos|d)?|imagínate|imaginemos|supón|supongamos
  |suponiendo|pongamos que|digamos que|hipotéticamente|en teoría|quizás?|tal vez|a lo mejor|probablemente|posiblemente
  |igual me)\b|\b(?:haz como (?:si|que)|finge|fingir|finjamos|actúa como|hazte pasar|eres (?:un|una|el|la|mi|ahora)\b
  |juega a ser|juego de rol|en el papel de|compórtate como|interpreta)|\b(?:es broma|broma|bromeo|bromeando|jaja\w*
  |jeje\w*|lol|xd|ironía|de coña)\b|[😂🤣😜😉🙃]|;-?\)|\b(?:dijo|dice|dicen|decía|me ha dicho|ha dicho|dijeron
  |escribió|afirma|según|comenta|comentó|preguntó|pregunta si|respondió|contó)\b|\b(?:ejemplo|novela|personaje
  |protagonista|en la historia|traduce\w*|traducir|traducción|poema|canción|corrige\w*|en la película|soñé
  |frase siguiente|siguiente frase|siguiente texto)\b|\b(?:creo que|pienso que|me pregunto|dudo|no sé|espero que)\b
hollow = (?:lo|la|los|las|el|eso|esto|esta|este|te|ti|tú|usted|me|mí|él|ella|ellos|nada|todo|algo|mucho|muy|más|un|una
  |unos|unas|de|que|cómo|así|aquí|ahí|bien|ese|esa|yo|ya|tu|tus)|(?:est[eao]s?|es[eao]s?|tus?) .*|(?:el|la|los
  |las) siguientes? .*
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
other = (?!)
# parts of patterns
begin = (?:\A|[,;:.!¡()–—]|\x00|- |\b(?:y|e|pero|así que|que|pues|con)\b)\s*
lead = (?:sí|no,|no:|y|pero|pues|bueno|hola|buenas|buenos días|vale|ok|oye|por cierto|en realidad|de hecho
  |la verdad es que|la verdad|además|también|ten en cuenta que|recuerda que|apunta que|para que lo sepas|actualmente
  |ahora|ahora mismo|desde (?:(?:hace|el|la|principios de|finales de) )?(?:\w+ (?=año|mes|día|semana))?\w+
  |hace (?:\w+ ){1,2}que|entonces|personalmente|yo|al final|finalmente|de momento|perdón)[ ,:!]+
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
  |uno) de (?:<month>)(?: del? [0-9]{4})?|[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{2,4})?|[0-9]{4}-[0-9]{2}-[0-9]{2})
  |(?:el |la )?(?:próxim[oa]|siguiente) (?:<day>|<season>|semana|mes|año|<month>|fin de semana)|(?:el |la )?(?:<day>
  |semana|mes|año|<season>) (?:que viene|próxim[oa]|siguiente)|(?:este|esta) (?:<day>|<season>|semana|mes|año
  |fin de semana|tarde|noche)|en (?:<month>)(?: del? [0-9]{4})?|en (?:<season>)(?: del? [0-9]{4})?|en 20[0-9]{2}
  |el (?:<day>)(?: por la (?:mañana|tarde|noche))?|pasado mañana|mañana(?: por la (?:mañana|tarde|noche))?
  |dentro de (?:<count>) (?:<unit>)|en (?:<count>) (?:<unit>))<clock>
past = (?:ayer|anteayer|antier|anoche|hoy|esta mañana|(?:el |la )?(?:<day>|<season>|semana|mes|año|<month>
  |fin de semana) pasad[oa]|hace (?:<count>) (?:<unit>)|hace poco|en (?:<month>)(?: (?:pasado|del? [0-9]{4}))?
  |en (?:19|20)[0-9]{2}|el (?:[0-9]{1,2}) de (?:<month>)(?: del? [0-9]{4})?|esta semana|este (?:mes|año)|recientemente)
my = (?:mi|nuestr[oa])
old = (?:(?:querid[oa]|mejor|nuev[oa]|pequeñ[oa]) )?
after = (?: (?:mayor|menor|pequeñ[oa]|grande|gemel[oa]))?
use = usamos|usemos|utilizamos|utilicemos|usa|usad|utiliza|usaremos|elegimos|vamos a usar|vamos con|nos quedamos con
  |voy a usar|usar|uso|mejor usa
from = (?:a partir de ahora|de ahora en adelante|desde ahora|a partir de hoy|en adelante|en el futuro
  |de aquí en adelante)
please = (?:(?:por favor|porfa|debes|tienes que|hay que|quiero que)[ ,]+){0,2}
talk = (?:discut|habl|respond|convers|escrib|explic|comunic|contest|charl|debat)\w*
code = (?:el |tu |mi |todo el |los )?(?:código(?: fuente)?|comentarios(?: del código)?)
job = (?:(?:desarrollador|programador|investigador|profesor|maestr[oa]|ingenier[oa]|enfermer[oa]|médic[oa]|abogad[oa]
  |arquitect[oa]|diseñador|estudiante|cociner[oa]|panader[oa]|periodista|autor|escritor|artista|músic[oa]
  |científic[oa]|consultor|carpinter[oa]|electricista|mecánic[oa]|policía|físic[oa]|químic[oa]|biólog[oa]
  |matemátic[oa]|psicólog[oa]|traductor|fotógraf[oa]|vendedor|contable|contador|gerente|administrador|jubilad[oa]
  |farmacéutic[oa]|dentista|veterinari[oa]|matrona|técnic[oa]|jardiner[oa]|peluquer[oa]|pilot[oa]|juez[a]?
  |fisioterapeuta|terapeuta|bibliotecari[oa]|redactor|analista|educador|agricultor|camarer[oa]|director|jef[ea]|data
  |bomber[oa]|doctorand[oa]|autónom[oa]|emprendedor|responsable|conductor|fontaner[oa]|secretari[oa]|librer[oa]
  |notari[oa]|product|freelance|chef|barista)\w*)(?: (?!y |pero |en |desde |para )[\w'-]+){0,4}?
folk = español[a]?|mexican[oa]|argentin[oa]|colombian[oa]|chilen[oa]|peruan[oa]|venezolan[oa]|cuban[oa]|ecuatorian[oa]
  |uruguay[oa]|bolivian[oa]|frances[a]?|francés|alemán|alemana|italian[oa]|portugues[a]?|portugués|inglés|inglesa
  |estadounidense|brasileñ[oa]|chin[oa]|japonés|japonesa|polac[oa]|rus[oa]|ucranian[oa]|marroquí|dominican[oa]
  |guatemaltec[oa]|catalán|catalana|paraguay[oa]|costarricense|hondureñ[oa]|puertorriqueñ[oa]
diet = vegan[oa]|vegetarian[oa]|pescetarian[oa]|flexitarian[oa]|celíac[oa]|sin gluten|halal|kosher
big = (?:adopté|adoptamos|compré|compramos|vendí|vendimos|aprobé|obtuve|conseguí|me gradué|me casé|nos casamos
  |me rompí|me fracturé|me operaron|me mudé|nos mudamos|empecé|gané|fundé|fundamos|abrí|abrimos|corrí|visité|visitamos
  |publiqué|publicamos|firmé|dejé|renuncié|me divorcié|me comprometí|me ascendieron|me despidieron|nació mi
  |terminé (?:la|mi) (?:carrera|tesis|máster)|me jubilé|me torcí|me torcí|tuve un (?:bebé|hijo|accidente)|tuvimos un)
on = el
week = la semana del {}
more = (?:, (?:salvo|excepto|a menos que|aunque|sin|antes) <any>{2,80}?)?
used = (?: (?:como|para|en) <any>{2,30}?)?<end>
weuse = (?:usamos|utilizamos|nuestro (?:proyecto|backend) (?:usa|utiliza)|el proyecto (?:usa|utiliza)
  |nuestra base de datos es|nuestro framework es)[ ]
written = (?:el|nuestro|mi) (?:proyecto|backend|código|servidor) está (?:todo )?escrito en |(?:programamos
  |desarrollamos)(?: todo)? en[ ]
wehost = (?:(?:alojamos|hospedamos|desplegamos)(?: todo| el proyecto)?|(?:el|nuestro) (?:proyecto|sitio
  |servidor) (?:está alojado|corre|está desplegado)|todo (?:está alojado|corre)) en[ ]
licence = (?:(?:el|nuestro) (?:proyecto|código) (?:está |se publica )?bajo (?:la )?licencia |nuestra licencia es (?:l
  a )?)
port = (?:el servidor|la api|la aplicación|nuestro servidor|el backend) (?:corre|escucha|está) en el puerto[ ]
branch = (?:nuestra|la) rama (?:principal|por defecto) (?:es|se llama)[ ]
version = (?:estamos en la versión |la versión actual es (?:la )?)
repository = (?:el|nuestro|mi) (?:repositorio|repo) (?:es|está en)[ ]
# names of languages, relatives, animals, verbs
español castellano > Spanish; inglés > English; alemán > German; francés > French; italiano > Italian; chino mandarí
  n > Chinese
japonés > Japanese; portugués > Portuguese; ruso > Russian; árabe > Arabic; polaco > Polish; holandés neerlandés > Dut
  ch
coreano > Korean; turco > Turkish; catalán > Catalan; gallego > Galician; euskera > Basque; ucraniano > Ukrainian; que
  chua > Quechua
hermana > Sister > Sibling; hermano > Brother > Sibling; madre mamá > Mother > Parent; padre papá > Father > Parent
hija > Daughter > Child; hijo > Son > Child; mujer esposa > Wife > Partner; marido esposo > Husband > Partner
novia > Girlfriend > Partner; novio > Boyfriend > Partner; pareja prometida prometido > Partner > Partner
amigo amiga > Friend > Friend; jefe jefa > Manager > Manager; compañero compañera colega > Colleague > Colleague
perro perra perrito perrita cachorro > Dog > Pet; gato gata gatito gatita > Cat > Pet; hámster > Hamster > Pet
conejo > Rabbit > Pet; loro periquito > Parrot > Pet; caballo > Horse > Pet; tortuga > Tortoise > Pet
viajo > viajar > verb; viajamos > viajar > verb; vuelo > volar > verb; volamos > volar > verb; salgo > salir > verb
empiezo > empezar > verb; empezamos > empezar > verb; visito > visitar > verb; corro > correr > verb; participo > part
  icipar > verb
voy > ir > verb; vamos > ir > verb; comienzo > comenzar > verb; caso > casarse > verb; casamos > casarse > verb; mud
  o > mudarse > verb; mudamos > mudarse > verb
# ends and corrections
@ Home +fix :: (?:me (?:he mudado|mudé)|nos (?:hemos mudado|mudamos)) (?:<past> )?(?:de
  |desde) <Was> (?:<past> )?a <Name>
- (?:me (?:he mudado|mudé)|nos (?:hemos mudado|mudamos)|acabo de mudarme) (?:<past> )?a <Name>
- ya no vivo en <Was>,? (?:sino|ahora vivo|vivo|ahora estoy)(?: ahora)? en <Name>
- no vivo en <Was>,? sino en <Name>
@ Home +fix +end :: (?:ya no vivo|no vivo ya|dejé de vivir) en <Name>
@ Employer +fix :: ya no trabajo (?:en|para|con) <Was>,? (?:sino|ahora trabajo|ahora)(?: ahora)? (?:en|para|con) <Name>
- (?:dejé|he dejado) <Was> (?:por|para (?:irme a|entrar en|unirme a)) <Name>
@ Employer +fix +end :: ya no trabajo (?:en|para|con) <Name>
- (?:renuncié|he renunciado) a (?:mi (?:trabajo|puesto) en )?<Name>
@ Role +fix +end :: ya no (?:soy|trabajo (?:como|de)) (?P<o><job>)<end>
@ Diet +fix +end :: ya no soy (?P<o><diet>)<end>
@ Diet +fix +not :: ya (?P<o>no (?:como|bebo|tomo) <any>{2,40}?)<end>
- (?P<o>(?:dejé|he dejado) de comer <any>{2,40}?)<end>
@ Uses +fix +end :: ya no (?:uso|utilizo) (?P<o><any>{1,40}?)<end>
@ Likes +fix +end :: ya no me gustan? (?P<o><any>{1,40}?)<end>
@ Event +fix +not :: (?P<o>ya no (?:fumo|bebo))<end>
@ Event = {o} {p} +fix :: (?P<o>(?:dejé|he dejado) (?:de (?:fumar|beber)|el tabaco|el alcohol))(?: (?P<p><past>))?
# who one is
@ Name :: (?:me llamo|mi nombre (?:completo )?es) (?:<now>)<name>(?:,? (?:y )?no <Was>)?
- no me llamo <Was>,? (?:sino|me llamo) <Name>
- (?:llámame|llámeme|puedes llamarme|me puedes llamar|me dicen|todos me llaman
  |pueden llamarme) (?:simplemente |mejor |solo )?["«]?<Name><end>
- <yo>soy (?P<o>(?!(?:<folk>|<job>|<diet>)<end>)<Word>(?: <Word>){0,2})(?=,? (?:y (?:tengo|vivo|trabajo|soy)|tengo
  |vivo|trabajo|soy|[0-9]{1,2} años|de (?-i:[A-Z]))|, (?:<job>)|\s*(?:[.!]|\Z))
@ Age :: <yo>tengo <now><age> años(?! (?:de|trabajando|viviendo|en|aquí|con))(?:,? (?:y )?no (?P<was>[0-9]{1,2}))?
- <yo>soy <Word>(?: <Word>){0,2}, (?:de )?<age> años
- <yo>tengo <age>(?= y (?:vivo|estudio|trabajo|soy)\b)
- (?:he cumplido|cumplí|acabo de cumplir) (?:<past> )?<age>(?: años)?
@ Birthday :: (?:mi cumpleaños es|cumplo años|nací)(?: el)? (?P<o>[0-9]{1,2} de (?:<month>)(?: del? [0-9]{4})?
  |[0-9]{1,2}/[0-9]{1,2}(?:/[0-9]{4})?)
@ Hometown :: (?:nací|me crié|crecí)(?: el [0-9]{1,2} de (?:<month>)(?: del? [0-9]{4})?)?(?: y (?:crecí
  |me crié))? en (?P<o>(?:el |la )?<Words>)
- <yo>(?:soy|vengo) (?:originari[oa] )?de (?P<o>(?:el |la |los )?<Words>)<notwas>
- <yo>soy <Word>(?: <Word>)?,? (?:de )?(?:[0-9]{1,2} años,? )?de (?P<o>(?:el |la )?<Words>)
@ Nationality :: <yo>soy <now>(?P<o><folk>)(?= y |<end>)
- (?:mi nacionalidad es|tengo nacionalidad) (?P<o><folk>)
@ Home :: <yo>(?:vivo|vivimos|resido) <now>(?:con <any>{2,30}? )?(?:en
  |cerca de) (?P<o>(?:el |la |los )?<Words>)<notwas>
@ Employer :: <yo>trabajo <now>(?:como <any>{2,40}? |de <any>{2,40}? )?(?:para|en) (?:el |la )?(?P<o>(?!(?:<day>
  |<month>)\b)<Words>)<notwas>(?= como | de |<end>| y )
- mi (?:nueva )?empresa (?:es|se llama) <Name>
- <yo>soy <job> en <Name>
@ Role :: <yo>trabajo <now>(?:(?:en|para) <Words> )?(?:como|de) (?:una? )?(?P<o>(?!forma|manera|lunes|noche|día
  |casa)<any>{2,50}?)(?= (?:en|para|desde|y|con) |<end>)
- <yo>soy <now>(?:una? )?(?P<o><job>)(?= (?:en|para|desde|y|con) | de profesión|<end>)
- <yo>estoy (?P<o>jubilad[oa])<end>
- mi (?:profesión|trabajo|oficio) es (?:ser )?(?!muy|duro|difícil)<thing>
- <yo>soy <Word>(?: <Word>){0,2}, (?:una? )?(?P<o><job>)(?= (?:en|para|desde|y) |<end>)
@ Education :: <yo>estudio <now>(?!para|mucho|con|en )(?P<o><any>{3,60}?)<end>
- (?:estudié|he estudiado) (?P<o>(?!para|mucho)<any>{3,60}?)<end>
@ Partner :: <yo>estoy <now>(?:casad[oa]|prometid[oa]) con <Name>
@ Marital status :: <yo>(?:estoy|soy) <now>(?P<o>casad[oa]|solter[oa]|divorciad[oa]|viud[oa]|prometid[oa])(?= (?:con
  |desde)|<end>)
@ Religion :: <yo>soy <now>(?P<o>católic[oa]|protestante|musulmán|musulmana|judí[oa]|budista|ate[oa]|cristian[oa]
  |evangélic[oa])<end>
@ Email :: mi (?:correo(?: electrónico)?|e-?mail|dirección de correo) es (?P<o><mail>)
@ Phone :: mi (?:número(?: de teléfono)?|teléfono|móvil|celular) es(?: el)? (?P<o>\+?[0-9][0-9 -]{6,18}[0-9])
@ Pronouns :: mis pronombres son <thing>
@ Time zone :: mi zona horaria es <thing>
# others
@ {R} :: <my> <old>(?P<k><kin>)<after>,? (?P<o><Word>)(?= (?:vive|trabaja|es|tiene|está|y yo|se llama)\b|\s*(?:[,.!;]
  |\Z))
- <my> <old>(?P<k><kin>)<after> se llama <Name>
- <yo>(?:tengo|tenemos) una? <old>(?P<k><kin>)<after>(?:,? (?:que se llama|llamad[oa])|,) (?P<o><Word>)<end>
@ {K}'s home :: <my> <old>(?P<k><kin>)<after>(?:,? (?:se llama )?<Word>,?)?(?: y)? vive <now>en <Name>
@ {K}'s role :: <my> <old>(?P<k><kin>)<after>(?:,? <Word>,?)? (?:es|trabaja (?:como|de)) (?P<o><job>)<end>
@ {K}'s age :: <my> <old>(?P<k><kin>)<after>(?:,? <Word>,?)? tiene <age> años
@ Child :: <yo>(?:tengo|tenemos) (?P<o>(?:una?|dos|tres|cuatro|cinco|[1-9]) (?:hij[oa]s?|niñ[oa]s?)(?: y (?:una?|dos
  |tres) hij[oa]s?)?)(?!,? (?-i:[A-Z])| que se)<end>
@ Sibling :: <yo>tengo (?P<o>(?:una?|dos|tres|cuatro|[1-9]) herman[oa]s?(?: (?:mayor|menor|pequeñ[oa])(?:es
  |s)?)?(?: y (?:una?|dos|tres) herman[oa]s?)?)(?!,? (?-i:[A-Z]))<end>
@ Pet = {o} ({k}) :: <my> <old>(?P<k><pet>)(?: se llama|,)? <Name>
- <yo>(?:tengo|tenemos) <now>una? <old>(?P<k><pet>)(?:,? (?:que se llama|llamad[oa])|,)? <Name>
@ Pet :: <yo>(?:tengo|tenemos) <now>(?P<o>(?:una?|dos|tres|cuatro|[1-9]) (?:perr[oa]s?|perrit[oa]s?|gat[oa]s?
  |gatit[oa]s?|hámsters?|conejos?|caballos?|loros?|periquitos?|tortugas?|gallinas?|peces))(?!,? (?-i:[A-Z])
  | que se)<end>
@ Speaks +many :: <yo>hablo (?:(?:también|bien|con fluidez|un poco de|perfectamente) )?(?P<o>(?:<lang>)(?:(?:,| y| e
  |, y) (?:(?:un poco de|también|algo de) )?(?:<lang>)){0,6})(?! con (?!fluidez))
@ Speaks :: mi (?:lengua|idioma) matern[oa] es el (?P<o><lang>)
- mi (?:lengua|idioma) matern[oa] es (?P<o><lang>)
# languages wanted
@ Language = prefers {l} discussion, {c} code :: <yo><please><talk>(?: \w+){0,3} en (?P<l><lang>),?(?: y
  | pero)?,? (?:escribo |escribe |programo )?(?:<code>)?(?: \w+){0,2} ?en (?P<c><lang>)
- (?:conversación|conversaciones|respuestas|explicaciones|charla)(?: \w+)? en (?P<l><lang>),?(?: y
  | pero)?,? <code>(?: \w+)? en (?P<c><lang>)
- (?:escribe |escribo )?<code>(?: \w+){0,2} en (?P<c><lang>),?(?: y| pero)?,? (?:[\w'-]+ ){0,4}en (?P<l><lang>)
@ Language = answers in {l} :: <please>(?:<from>[ ,]+)?<please>(?:responde|respóndeme|contesta|contéstame|responda
  |habla|háblame|escribe|escríbeme|respondan|respondas|contestes|hables|escríbame|contésteme|respóndame)(?: (?:siempre
  |solo|únicamente|por favor|conmigo|mejor)){0,3} en (?P<l><lang>)<end>
- (?:prefiero|quiero)(?: que (?:me )?(?:respondas|hables|contestes)| las respuestas| respuestas| hablar| conversar
  | que hablemos| recibir respuestas)(?: siempre)? en (?P<l><lang>)
- en (?P<l><lang>),? (?:por favor|porfa)<end>
- (?:hablemos|sigamos|continuemos)(?: \w+)? en (?P<l><lang>)<end>
# diet, health
@ Diet :: <yo>soy <now>(?P<o><diet>)(?= y |<end>)
@ Diet +not :: <yo>(?P<o>no (?:como|bebo|tomo) (?!nada|mucho|más|bien|desde|en )<any>{2,40}?)<end>
- <yo>(?P<o>nunca (?:como|bebo|tomo) <any>{2,40}?)<end>
@ Allergy +many :: <yo>soy <now>(?:muy )?(?:alérgic[oa]|intolerante) (?:a la |a los |a las |al |a )<list>
- <yo>tengo (?:una )?(?:fuerte )?(?:alergia|intolerancia) (?:a la |a los |a las |al |a )<list>
@ Condition :: <yo>(?:tengo|sufro de|sufro|padezco) <now>(?P<o>diabetes(?: tipo [12])?|asma|migrañas?|tdah
  |hipertensión|dislexia|epilepsia|celiaquía|esclerosis múltiple|autismo|acúfenos|artritis)<end>
- <yo>soy <now>(?P<o>asmátic[oa]|diabétic[oa]|daltónic[oa]|disléxic[oa]|sord[oa]|cieg[oa]|miope|autista
  |epiléptic[oa])<end>
- <yo>estoy (?P<o>embarazada)<end>
# rules
@ Rule +not :: (?P<o>(?:tutéame|trátame de (?:tú|usted)))<end>
- (?P<o>sin (?!duda|embargo|problema)<any>{3,40}?),? (?:por favor|porfa)<end>
- <please>(?P<o>no (?:me )?(?:escribas|uses|utilices|hagas|pongas|añadas|incluyas|respondas) (?!est|es[eao]|eso
  |lo |la |más)<any>{3,60}?)<end>
- quiero que (?P<o>(?:siempre|nunca|no) <any>{4,80}?)<end>
- (?:hay que|debes|tienes que) (?P<o>\w+r siempre <any>{3,80}?)<end>
- <please>(?P<o>(?:da|pregúnta|avísa|respónde|contésta|explíca|muéstra)(?:me|nos)? siempre <any>{2,90}?)<end>
- (?P<o>(?:cuando|siempre que|cada vez que) (?:yo )?(?:diga|escriba
  |te diga) (?:["«'])?<any>{1,40}?(?:["»'])?, <any>{3,90}?<more>)<end>
- <please>(?:<from>)[ ,]+<please>(?!(?:yo )?(?:vivo|soy|tengo|trabajo|voy|mi |me |uso|viviré|seré|trabajaré)
  |en (?:<lang>))(?P<o><any>{6,110}?<more>)<end>
- <please>(?P<o>(?:nunca|jamás) (?!me |he |había|lo |la |fui|vi |estuve|tuve|había|es |está|funciona|supe|pude|hay
  |comí|soy|tengo|como |bebo|tomo)[\w]+(?:s|as|es|r|ás|an|en|e|a)\b <any>{2,90}?<more>)<end>
- <please>(?P<o>no (?!te preocupes|me |lo |te |se )[\w]+(?:es|as|en|an) (?:nunca|jamás) <any>{2,90}?<more>)<end>
- <please>(?P<o>no (?:(?:me|lo|la|los|las|te|le) )?\w+(?:as|es|an|en) (?=<any>{0,60}\b(?:nunca|ning\w+|jamás
  |sin)\b)<any>{2,90}?<more>)<end>
- <please>(?P<o>siempre (?!me |he |lo |la |es |está|que |había|fui|quise|igual|soy|tengo|vivo|como |uso|hay|pasa|sale
  |da )[\w]+(?:r|a|e|rlo|rme|as|es)\b <any>{2,90}?<more>)<end>
- <please>(?P<o>(?:usa|utiliza|escribe|responde|haz|añade|pregunta|ejecuta|incluye|mantén|pon|revisa|pide|contesta
  |trátame|tutéame)\w* siempre <any>{2,90}?<more>)<end>
- (?:debes|tienes que|hay que|se debe|no debes|no se debe|nunca debes|nunca se debe) (?P<o>(?:siempre
  |nunca)\b <any>{3,90}?<more>)<end>
- (?P<o>(?:no debes|nunca debes|no se debe|nunca se debe|no se puede) (?:nunca |jamás )?\w+r(?:se
  |lo)?\b <any>{3,90}?<more>)<end>
- (?P<o>(?:bajo ninguna circunstancia|en ningún caso|prohibido|evita siempre|queda prohibido) <any>{4,90}?)<end>
# decisions
@ Decision = {o} en vez de {was} +fix +project :: (?:hemos decidido |decidimos |mejor )?(?:<use>) (?:ahora |mejor |ent
  onces )?(?P<o><any>{1,50}?) (?:en vez de|en lugar de|en vez del|en lugar del) (?:la |el )?(?P<was><any>{1,40}?)<end>
- (?:en vez de|en lugar de) (?P<was><any>{1,40}?),? (?:<use>) (?:mejor )?(?P<o><any>{1,50}?)<end>
- (?:<use>) (?P<o><any>{1,50}?),? (?:y )?no (?P<was><any>{1,40}?)<end>
- (?:pasamos|migramos|cambiamos|hemos pasado|hemos migrado
  |hemos cambiado) de (?P<was><any>{1,40}?) a (?P<o><any>{1,40}?)<end>
- ya no usamos (?P<was><any>{1,40}?),? (?:sino|ahora usamos|usamos) (?P<o><any>{1,40}?)<end>
@ Decision +project :: (?:hemos elegido|elegimos|hemos optado por|optamos por|nos hemos decidido por|nos quedamos con
  |vamos con) (?P<o><any>{2,60}?)<end>
@ Decision +not +project :: (?:hemos decidido|decidimos|he decidido|decidí|acordamos
  |hemos acordado) (?:que )?(?P<o><any>{4,90}?)<end>
# plans and dates
@ Deadline = {d}, {o} :: (?:la |mi |nuestra |el )?(?:fecha límite|plazo|deadline
  |entrega) (?:para |de |del )(?:entregar |enviar )?(?:el |la |los |las |mi |nuestro )?(?P<o><any>{2,60}?) (?:es|vence
  |termina|acaba) (?P<d><date>)
- (?:tengo que|tenemos que|debo|debemos|hay que) (?:entregar|enviar|terminar|acabar|presentar
  |acabar) (?:el |la |los |las |mi |nuestro |nuestra )?(?P<o><any>{2,60}?) (?:antes del?|para
  |a más tardar)(?: el)? (?P<d><date>)
- (?:el|la|mi|nuestro|nuestra) (?P<o><any>{2,50}?) (?:tiene que|debe) estar (?:list[oa]|terminad[oa]
  |entregad[oa]) (?:antes del?|para)(?: el)? (?P<d><date>)
@ Deadline = {d} :: (?:la |mi |nuestra )?(?:fecha límite|deadline|entrega) es (?P<d><date>)
@ Appointment = {o} {d} :: <yo>(?:tengo|tenemos) (?:una? )?(?P<o>(?:cita|reunión|entrevista|examen|consulta|operación
  |revisión|turno)(?: (?:con|en|de|del|para) <any>{2,40}?)?) (?P<d><date>)
- (?P<d><date>),? (?:tengo|tenemos) (?:una? )?(?P<o>(?:cita|reunión|entrevista|examen|consulta|operación|revisión
  |turno|fisioterapia|dentista)(?: (?:con|en|de|del|para) <any>{2,40}?)?)<end>
- <yo>(?:tengo|tenemos) (?P<d><date>) (?:una? )?(?P<o>(?:cita|reunión|entrevista|examen|consulta|operación
  |revisión)(?: (?:con|en|de|del|para) <any>{2,40}?)?)<end>
- mi (?P<o>(?:cita|entrevista|examen|operación|boda|revisión)(?: (?:con|en|de|del) <any>{2,40}?)?) es (?P<d><date>)
@ Plan :: (?:voy a|vamos a|pienso|planeo|tengo pensado|tenemos pensado|he planeado|tengo previsto
  |quiero) (?P<o>(?=<any>{0,70}(?:<date>))(?!intentar|ver|mirar|probar|revisar|hacer)[\w]+(?:ar|er|ir|me
  |nos)\b <any>{3,90}?)<end>
@ Plan = {o} {p} :: (?P<p><date>),? (?:voy a|vamos a|pienso|planeo) (?P<o>(?!intentar|ver|mirar|probar|revisar
  |hacer)[\w]+(?:ar|er|ir|me|nos)\b(?: <any>{2,80}?)?)<end>
@ Plan = {v} {o} {p} :: (?P<p><date>),? (?:me|nos) (?P<v>caso|casamos|mudo|mudamos)(?P<o> <any>{2,50}?)?<end>
- (?:me|nos) (?P<v>caso|casamos|mudo|mudamos)(?P<o> a <any>{2,30}?)? (?P<p><date>)<end>
@ Plan = {v} {o} {p} :: (?P<p><date>),? (?P<v><verb>) (?P<o>(?:a|de|en|por|al|con) <any>{2,70}?)<end>
- (?P<v><verb>) (?P<o>(?:a(?! \w+r(?:l[oa]s?|me|se)?\b)|de|en|por|al) <any>{2,50}?) (?P<p><date>)<end>
- (?P<v><verb>) (?P<p><date>) (?P<o>(?:a|de|en|por|al) <any>{2,50}?)<end>
@ Goal :: mi (?:gran )?(?:objetivo|meta|sueño) (?:es|para \w+ es) (?P<o><any>{4,90}?)<end>
# events
@ Event = {o} {p} :: (?P<p><past>),? (?P<o><big>\b(?: <any>{2,70}?)?)<end>
- (?P<o><big>\b(?: <any>{2,70}?)?) (?P<p><past>)<end>
- (?P<p><past>),? (?:he|hemos) (?P<o>(?:adoptado|comprado|vendido|aprobado|empezado|ganado|perdido|publicado|firmado
  |dejado)\b <any>{2,70}?)<end>
- (?:he|hemos) (?P<o>(?:adoptado|comprado|vendido|aprobado|empezado|ganado|perdido|publicado
  |firmado)\b <any>{2,70}?) (?P<p><past>)<end>
# tastes
@ Favourite = {p}: {o} :: mis? (?P<p>[\w'-]{2,30}(?: [\w'-]{2,20})?) (?:favorit[oa]s?|preferid[oa]s?) (?:es
  |son) <thing>
@ Prefers = {o} antes que {p} :: <yo>prefiero <now>(?P<o><any>{2,60}?) (?:antes que|en vez de|en lugar de|a la|al
  |a(?= (?-i:[A-Z]))|que) (?P<p><any>{2,40}?)<end>
@ Prefers :: <yo>prefiero <now>(?!no |que |esperar|si |lo |la de)(?P<o><any>{2,80}?)<end>
@ Dislikes +many :: <yo>(?:odio|detesto|no soporto|no aguanto) (?!que |cuando |ser |tener )<list>
- (?:a mí )?no me gustan? (?:nada |mucho )?(?!que |cómo|tu |tus |esta |este |eso|esto)<list>
@ Dislikes :: (?P<o>(?:el|la|los|las) (?:\w+ ?){1,3}?) no me gustan?<end>
@ Likes +many :: (?:a mí )?(?:me gustan?|me encantan?|me apasionan?)(?: (?:mucho|muchísimo|sobre todo|también
  |bastante))?+ (?!que |cómo|tu |tus |su |esta |este |eso|esto|más|la idea|saber)<list>
- <yo>(?:adoro|amo) (?!que |cuando |tu |a )<list>
- <yo>soy (?:fan|aficionad[oa]|amante|apasionad[oa]) (?:de la |de las |de los |del |de |a la |al |a los )<list>
@ Hobby +many :: (?:mis (?:aficiones|pasatiempos|hobbies) son|mi (?:afición|pasatiempo|hobby) es) <list>
@ Skill :: <yo>toco (?P<o>(?:el |la )?(?:piano|guitarra|violín|violonchelo|chelo|batería|flauta|trompeta|saxofón|bajo
  |órgano|acordeón|arpa|ukelele))<end>
- <yo>juego (?P<o>al ajedrez)<end>
@ Trait :: <yo>soy <now>(?:una? )?(?P<o>noctámbul[oa]|madrugador[a]?|zurd[oa]|introvertid[oa]|extrovertid[oa]
  |perfeccionista|búho nocturno|diestr[oa])<end>
# tools, work
@ Uses +many :: <yo>(?:uso|utilizo|trabajo con|programo (?:con|en)) <now>(?!esto|eso|este|esta
  |tu |un truco)(?P<o>[^;:.!?()…\x00]{2,80}?)(?= (?:como|para|en|con|a diario)\b|\s*(?:[;:.!?()…]|\Z)|,? (?:<but>)\b)
@ Owns :: <yo>(?:poseo|conduzco) (?P<o>una? <any>{2,40}?)<end>
@ Works on :: <yo>(?:estoy trabajando|trabajo) <now>en (?P<o>(?:una?|mi|nuestro|nuestra) (?!bug|error|problema|empresa
  |hospital|oficina|banco|tienda|escuela|colegio|universidad|restaurante|startup|compañía)<any>{4,70}?)<end>
"""
