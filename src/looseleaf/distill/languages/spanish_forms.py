"""The forms in which facts are said in Spanish; `tongues.py` says how they are read."""

from __future__ import annotations

FORMS = r"""
# ends and corrections
@ Home +fix :: (?:me (?:he mudado|mudé)|nos (?:hemos mudado|mudamos)) (?:<past> )?(?:de
  |desde) <Was> (?:<past> )?a <Name>
- (?:me (?:he mudado|mudé)|nos (?:hemos mudado|mudamos)|acabo de mudarme|me acabo de mudar|acabamos de mudarnos
  |me he instalado en|me instalé en) ?(?:<past> )?(?:a |(?<=en ))<Name>
- ya no vivo en <Was>,? (?:sino|ahora vivo|vivo|ahora estoy)(?: ahora)? en <Name>
- no vivo en <Was>,? sino en <Name>
@ Home +fix +end :: (?:ya no vivo|no vivo ya|dejé de vivir) en <Name>
@ Employer +fix :: ya no trabajo (?:en|para|con) <Was>,? (?:sino|ahora trabajo|ahora)(?: ahora)? (?:en|para
  |con) <Name>
- (?:dejé|he dejado) <Was> (?:por|para (?:irme a|entrar en|unirme a)) <Name>
@ Employer +fix +end :: ya no trabajo (?:en|para|con) <Name>
- (?:dejé|he dejado) (?:mi|el) (?:trabajo|puesto|empleo) en <Name>
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
- (?:llámame|llámeme|puedes llamarme|me puedes llamar|me dicen|todos me llaman|pueden llamarme) (?:simplement
  e |mejor |solo )?["«]?<Name><end>
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
@ Home :: <yo>(?:vivo|vivimos|resido) <now>(?:con <any>{2,30}? )?(?:en|cerca de) (?P<o>(?:el |l
  a |los )?<Words>)<notwas>
@ Employer :: <yo>(?:trabajo|curro) <now>(?:como <any>{2,40}? |de <any>{2,40}? )?(?:para|en) (?:e
  l |la )?(?P<o>(?!(?:<day>|<month>)\b)<Words>)<notwas>(?= como | de |<end>| y )
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
@ Marital status :: <yo>(?:estoy|soy) <now>(?P<o>casad[oa]|solter[oa]|divorciad[oa]|viud[oa]
  |prometid[oa])(?= (?:con|desde)|<end>)
@ Religion :: <yo>soy <now>(?P<o>católic[oa]|protestante|musulmán|musulmana|judí[oa]|budista|ate[oa]|cristian[oa]
  |evangélic[oa])<end>
@ Email :: mi (?:correo(?: electrónico)?|e-?mail|dirección de correo) es (?P<o><mail>)
@ Phone :: mi (?:número(?: de teléfono)?|teléfono|móvil|celular) es(?: el)? (?P<o>\+?[0-9][0-9 -]{6,18}[0-9])
@ Pronouns :: mis pronombres son <thing>
@ Time zone :: mi zona horaria es <thing>
# others
@ {R} :: <my> <old>(?P<k><kin>)<after>,? (?P<o><Word>)(?= (?:vive|trabaja|es|tiene|está|y yo|se llama|va|hace
  |estudia|juega|viene|empieza|aprende|cumple)\b|\s*(?:[,.!;]|\Z))
- <my> <old>(?P<k><kin>)<after> se llama <Name>
- <yo>(?:tengo|tenemos) una? <old>(?P<k><kin>)<after>(?:,? (?:que se llama|llamad[oa])|,) (?P<o><Word>)<end>
@ {K}'s home :: <my> <old>(?P<k><family>)<after>(?:,? (?:se llama )?<Word>,?)?(?: y)? vive <now>en <Name>
@ {K}'s role :: <my> <old>(?P<k><family>)<after>(?:,? <Word>,?)? (?:es|trabaja (?:como|de)) (?P<o><job>)(?
  = y |<end>)
@ {K}'s age :: <my> <old>(?P<k><family>)<after>(?:,? <Word>,?)? tiene <age> años
@ Child :: <yo>(?:tengo|tenemos) (?P<o>(?:una?|dos|tres|cuatro|cinco|[1-9]) (?:hij[oa]s?|niñ[oa]s?)(?: y (?:una?
  |dos|tres) hij[oa]s?)?)(?!,? (?-i:[A-Z])| que se)<end>
@ Sibling :: <yo>tengo (?P<o>(?:una?|dos|tres|cuatro|[1-9]) herman[oa]s?(?: (?:mayor|menor|pequeñ[oa])(?:es
  |s)?)?(?: y (?:una?|dos|tres) herman[oa]s?)?)(?!,? (?-i:[A-Z]))<end>
@ Pet = {o} ({k}) :: <my> <old>(?P<k><pet>)(?: se llama|,)? <Name>
- <yo>(?:tengo|tenemos) <now>una? <old>(?P<k><pet>)(?:,? (?:que se llama|llamad[oa])|,)? <Name>
@ Pet :: <yo>(?:tengo|tenemos) <now>(?P<o>(?:una?|dos|tres|cuatro|[1-9]) (?:perr[oa]s?|perrit[oa]s?|gat[oa]s?
  |gatit[oa]s?|hámsters?|conejos?|caballos?|loros?|periquitos?|tortugas?|gallinas?|peces))(?!,? (?-i:[A-Z])
  | que se)<end>
@ Speaks +many :: <yo>hablo (?:(?:también|bien|con fluidez|un poco de|perfectamente) )?(?P<o>(?:<lang>)(?:(?:,| y
  | e|, y) (?:(?:un poco de|también|algo de) )?(?:<lang>)){0,6})(?! con (?!fluidez))
@ Speaks :: mi (?:lengua|idioma) matern[oa] es el (?P<o><lang>)
- mi (?:lengua|idioma) matern[oa] es (?P<o><lang>)
# languages wanted
@ Language = prefers {l} discussion, {c} code :: <yo><please><talk>(?: \w+){0,3} en (?P<l><lang>),?(?: y
  | pero)?,? (?:escribo |escribe |programo )?(?:<code>)?(?: \w+){0,2} ?en (?P<c><lang>)
- (?:conversación|conversaciones|respuestas|explicaciones|charla)(?: \w+)? en (?P<l><lang>),?(?: y
  | pero)?,? <code>(?: \w+)? en (?P<c><lang>)
- (?:escribe |escribo )?<code>(?: \w+){0,2} en (?P<c><lang>),?(?: y| pero)?,? (?:[\w'-]+ ){0,4}en (?P<l><lang>)
@ Language = {L} :: <please>(?:<from>[ ,]+)?<please>(?:responde|respóndeme|contesta|contéstame|responda|habla
  |háblame|escribe|escríbeme|respondan|respondas|contestes|hables|escríbame|contésteme|respóndame)(?: (?:siempre|solo
  |únicamente|por favor|conmigo|mejor)){0,3} en (?P<l><lang>)<end>
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
- <yo>estoy (?P<o>embarazada)(?= de [0-9]|<end>)
# rules
@ Rule +not :: (?P<o>(?:los )?(?:comentarios(?: (?:del|de) código)?|mensajes de commit|commits|nombres de variables
  |docstrings|documentación)(?: siempre| solo)? en (?:<lang>))<end>
- <please>(?P<o>(?:escribe|redacta|pon) (?:siempre )?(?:los |tus )?(?:comentarios(?: (?:del|de) código)?
  |mensajes de commit|commits|docstrings)(?: siempre)? en (?:<lang>))<end>
- (?P<o>(?:cada vez que|siempre que) \w+(?:es|as)\b<any>{0,50}?, (?:no \w+(?:es|as)|[\wáéíóú]+(?:me|nos
  |melo))\b<any>{0,50}?)<end>
- (?P<o>(?:responde|respóndeme|escribe|haz|dame|da|usa|explica|mantén)\w* <any>{4,50}?, siempre)<end>
- (?P<o>(?:tutéame|trátame de (?:tú|usted)))<end>
- (?P<o>sin (?!duda|embargo|problema)<any>{3,40}?),? (?:por favor|porfa)<end>
- <please>(?P<o>no (?:me )?(?:escribas|uses|utilices|hagas|pongas|añadas|incluyas|respondas) (?!est|es[eao]|eso|l
  o |la |más<end>)<any>{3,60}?)<end>
- quiero que (?P<o>(?:siempre|nunca|no) <any>{4,80}?)<end>
- (?:hay que|debes|tienes que) (?P<o>\w+r siempre <any>{3,80}?)<end>
- <please>(?P<o>(?:sé|da|pregúnta|avísa|respónde|contésta|explíca|muéstra)(?:me|nos)? siempre <any>{2,90}?)<end>
- (?P<o>(?:cuando|siempre que|cada vez que) (?:yo )?(?:diga|escriba
  |te diga) (?:["«'])?<any>{1,40}?(?:["»'])?, <any>{3,90}?<more>)<end>
- <please>(?:<from>)[ ,]+<please>(?!(?:yo )?(?:vivo|soy|tengo|trabajo|voy|mi |me |uso|viviré|seré|trabajaré)
  |en (?:<lang>))(?P<o><any>{6,110}?<more>)<end>
- <please>(?P<o>(?:nunca|jamás) (?!me |he |había|lo |la |fui|vi |estuve|tuve|había|es |está|funciona|supe|pude|hay
  |comí|soy|tengo|como |bebo|tomo)[\w]+(?:s|as|es|r|ás|an|en|e|a)\b <any>{2,90}?<more>)<end>
- <please>(?P<o>no (?!te preocupes|me |lo |te |se )[\w]+(?:es|as|en|an) (?:nunca|jamás) <any>{2,90}?<more>)<end>
- <please>(?P<o>no (?:(?:me|lo|la|los|las|te|le) )?\w+(?:as|es|an|en) (?=<any>{0,60}\b(?:nunca|ning\w+|jamás
  |sin)\b)<any>{2,90}?<more>)<end>
- <please>(?P<o>(?<!\by )siempre (?!llega|falla|sale|va |funciona|quiere|tiene|hace|dice|viene|da |me |he |lo |l
  a |es |está|que |había|fui|quise|igual|soy|tengo|vivo|como |uso|hay|pasa|sale|da )[\w]+(?:r|a|e|rlo|rme|as
  |es)\b <any>{2,90}?<more>)<end>
- <please>(?P<o>(?:usa|utiliza|escribe|responde|haz|añade|pregunta|ejecuta|incluye|mantén|pon|revisa|pide|contesta
  |trátame|tutéame)\w* siempre <any>{2,90}?<more>)<end>
- (?:debes|tienes que|hay que|se debe|no debes|no se debe|nunca debes|nunca se debe) (?P<o>(?:siempre
  |nunca)\b <any>{3,90}?<more>)<end>
- (?P<o>(?:no debes|nunca debes|no se debe|nunca se debe|no se puede) (?:nunca |jamás )?\w+r(?:se
  |lo)?\b <any>{3,90}?<more>)<end>
- (?P<o>(?:bajo ninguna circunstancia|en ningún caso|prohibido|evita siempre|queda prohibido) <any>{4,90}?)<end>
# decisions
@ Decision = {o} en vez de {was} +fix +project :: (?:hemos decidido |decidimos |mejor )?(?:<use>) (?:ahora |mejo
  r |entonces )?(?P<o><any>{1,50}?) (?:en vez de|en lugar de|en vez del|en lugar del) (?:l
  a |el )?(?P<was><any>{1,40}?)<end>
- (?:en vez de|en lugar de) (?P<was><any>{1,40}?),? (?:<use>) (?:mejor )?(?P<o><any>{1,50}?)<end>
- (?:<use>) (?P<o><any>{1,50}?),? (?:y )?no (?P<was><any>{1,40}?)<end>
- (?:nos )?(?:pasamos|migramos|cambiamos|hemos pasado|hemos migrado
  |hemos cambiado) de (?P<was><any>{1,40}?) a (?P<o><any>{1,40}?)<end>
- ya no usamos (?P<was><any>{1,40}?),? (?:sino|ahora usamos|usamos) (?P<o><any>{1,40}?)<end>
@ Decision +project :: (?:hemos elegido|elegimos|hemos optado por|optamos por|nos hemos decidido por
  |nos quedamos con|vamos con) (?P<o><any>{2,60}?)<end>
- nos (?:hemos pasado|pasamos|hemos cambiado|cambiamos) a (?P<o>(?-i:[A-Z])<any>{1,40}?)<end>
- (?:pasamos|hemos migrado|migramos) a (?P<o>(?-i:[A-Z])<any>{1,40}?)<end>
@ Decision +not +project :: (?:hemos decidido|decidimos|he decidido|decidí|acordamos
  |hemos acordado) (?:que )?(?P<o><any>{4,90}?)<end>
# plans and dates
@ Deadline = {d}, {o} :: (?:la |mi |nuestra |el )?(?:fecha límite|plazo|deadline|entrega) (?:para |d
  e |del )(?:entregar |enviar )?(?:el |la |los |las |mi |nuestro )?(?P<o><any>{2,60}?) (?:es|vence|termina
  |acaba) (?P<d><date>)
- (?:tengo que|tenemos que|debo|debemos|hay que) (?:entregar|enviar|terminar|acabar|presentar|acabar) (?:el |l
  a |los |las |mi |nuestro |nuestra )?(?P<o><any>{2,60}?) (?:antes del?|para|a más tardar)(?: el)? (?P<d><date>)
- (?:el|la|mi|nuestro|nuestra) (?P<o><any>{2,50}?) (?:tiene que|debe) estar (?:list[oa]|terminad[oa]
  |entregad[oa]) (?:antes del?|para)(?: el)? (?P<d><date>)
@ Deadline = {d} :: (?:la |mi |nuestra )?(?:fecha límite|deadline|entrega) es (?P<d><date>)
@ Appointment = {o} {d} :: <yo>(?:tengo|tenemos) (?:una? )?(?P<o>(?:cita|reunión|entrevista|examen|consulta
  |operación|revisión|turno)(?: (?:con|en|de|del|para) <any>{2,40}?)?) (?P<d><date>)
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
@ Plan = {v} {o} {p} :: (?P<p><date>),? (?P<v><verb>) (?P<o>(?:a(?! \w+r(?:l[oa]s?|me|se)?\b)|de|en|por|al|con
  |(?:el|la|un|una|mi|las|los)(?= \w)) <any>{2,70}?)<end>
- (?P<v><verb>) (?P<o>(?:a(?! \w+r(?:l[oa]s?|me|se)?\b)|de|en|por|al) <any>{2,50}?) (?P<p><date>)<end>
- (?P<v><verb>) (?P<p><date>) (?P<o>(?:a|de|en|por|al) <any>{2,50}?)<end>
@ Goal :: mi (?:gran )?(?:objetivo|meta|sueño) (?:es|para \w+ es) (?P<o><any>{4,90}?)<end>
# events
@ Event = {o} {p} :: (?P<p><past>),? (?P<o><big>\b(?: <any>{2,70}?)?)<end>
- (?P<o><big>\b(?: <any>{2,70}?)?) (?P<p><past>)<end>
- (?P<p><past>),? (?:he|hemos) (?P<o>(?:adoptado|comprado|vendido|aprobado|empezado|ganado|perdido|publicado
  |firmado|dejado)\b <any>{2,70}?)<end>
- (?:he|hemos) (?P<o>(?:adoptado|comprado|vendido|aprobado|empezado|ganado|perdido|publicado
  |firmado)\b <any>{2,70}?) (?P<p><past>)<end>
# tastes
@ Favourite = {p}: {o} :: mis? (?P<p>[\w'-]{2,30}(?: [\w'-]{2,20})?) (?:favorit[oa]s?|preferid[oa]s?) (?:es
  |son) <thing>
@ Prefers = {o} antes que {p} :: <yo>prefiero <now>(?P<o><any>{2,60}?) (?:antes que|en vez de|en lugar de|a la|al
  |a los|a las|a(?= (?-i:[A-Z]))|que) (?P<p><any>{2,40}?)<end>
@ Prefers :: <yo>prefiero <now>(?!no |que |esperar|si |lo |la de)(?P<o><any>{2,80}?)<end>
@ Dislikes +many :: <yo>(?:odio|detesto|no soporto|no aguanto) (?!que |cuando |ser |tener )<list>
- (?:a mí )?no me gustan? (?:nada |mucho )?(?!que |cómo|tu |tus |esta |este |eso|esto)<list>
@ Dislikes :: (?P<o>(?:el|la|los|las) (?:\w+ ?){1,3}?) no me gustan?<end>
@ Likes +many :: (?:a mí )?(?:me gustan?|me encantan?|me apasionan?)(?: (?:mucho|muchísimo|sobre todo|también
  |bastante))?+ (?!que |cómo|tu |tus |su |esta |este |eso|esto|más|la idea|saber)<list>
- <yo>(?:adoro|amo) (?!que |cuando |tu |a )<list>
- <yo>soy (?:fan|aficionad[oa]|amante|apasionad[oa]) (?:de la |de las |de los |del |de |a la |al |a los )<list>
@ Hobby +many :: (?:mis (?:aficiones|pasatiempos|hobbies) son|mi (?:afición|pasatiempo|hobby) es) <list>
- (?:los (?:<day>|sábados|domingos)|los fines de semana|en mi tiempo libre|en mis ratos libres),? (?!trabajo|duermo
  |descanso|tengo|estoy|voy|me |no )(?P<o>(?:hago|juego|practico|pinto|leo|escalo|corro|nado|cocino|toco|bailo|monto
  |salgo a|[a-z]+o(?= (?:el|la|los|las|en|al|a)\b))\b<any>{0,40}?)<end>
@ Skill :: <yo>toco (?P<o>(?:el |la )?(?:piano|guitarra|violín|violonchelo|chelo|batería|flauta|trompeta|saxofón
  |bajo|órgano|acordeón|arpa|ukelele|clarinete|viola|trombón|bandurria))(?= (?:en|desde|y|con)\b|<end>)
- <yo>programo(?: principalmente| sobre todo)? en (?P<o><program>)(?= (?:desde|y)\b|<end>)
- <yo>juego (?P<o>al ajedrez)<end>
@ Trait :: <yo>soy <now>(?:una? )?(?P<o>noctámbul[oa]|madrugador[a]?|zurd[oa]|introvertid[oa]|extrovertid[oa]
  |perfeccionista|búho nocturno|diestr[oa])<end>
# tools, work
@ Uses +many :: <yo>(?:uso|utilizo|trabajo con|programo con) <now>(?!esto|eso|este|esta|t
  u |un truco)(?P<o>[^;:.!?()…\x00]{2,80}?)(?= (?:como|para|en|con|a diario)\b|\s*(?:[;:.!?()…]|\Z)|,? (?:<but>)\b)
@ Uses :: mi (?:móvil|celular|teléfono|portátil|ordenador|editor|navegador) es (?:una? )?(?!lento|viejo|muy
  |[0-9+])<thing>
- para <any>{2,20},? uso (?P<o>(?!est|es[oea]|tu )<any>{2,40}?)<end>
@ Owns :: <yo>(?:poseo|conduzco) (?P<o>una? <any>{2,40}?)<end>
@ Works on :: <yo>(?:estoy trabajando|trabajo) <now>en (?P<o>(?:una?|mi|nuestro|nuestra) (?!bug|error|problema
  |empresa|hospital|oficina|banco|tienda|escuela|colegio|universidad|restaurante|startup|compañía)<any>{4,70}?)<end>
"""
