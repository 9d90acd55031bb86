"""Sentences in five languages that look like facts and state none, several between strokes."""

from __future__ import annotations

NO_FACTS = {
    "german": """
Ich bin müde. / Ich bin gleich wieder da. / Wohnst du in Berlin?
Wenn ich in Berlin wohnen würde, wäre ich glücklich. / Stell dir vor, ich bin Pilot.
Mein Bruder sagt, ich bin Pilot. / Du bist ein Pirat. / Ich bin der König von Preußen, haha.
Bitte übersetze diesen Satz: Ich wohne in Rom. / Ich habe Hunger. / Ich suche ein Hotel in Paris. / Ich bin kein Arzt.
Ich wohne nicht in Berlin. / Ich habe keine Kinder. / Ich habe keinen Hund.
Schreib mir bitte ein Gedicht über den Herbst. / Kannst du mir helfen? / Das mag ich. / Ich liebe es!
Ich mag deine Antwort. / Ich habe eine Frage. / Ich arbeite gerade an einem Fehler. / Ich brauche Hilfe bei Python.
Immer noch der gleiche Fehler. / Sie wohnt in Berlin. / Ich war in Paris. / Ich bin in Paris. / Ich bin fertig, danke.
Ich bin gespannt. / Er heißt Klaus. / Ich habe heute viel gemacht. / Nenn mich nicht Schatz.
Ich bin der neue Kollege. / Ich bin ein großer Fan von dir. / Ich bin schon 30 Minuten hier.
Ich wohne gleich um die Ecke. / Ich arbeite heute von zu Hause. / Ich mag, wie du das erklärst. / Ich liebe dich.
Ich esse gerade Pizza. / Ich komme gleich. / Ich komme aus dem Urlaub zurück. / Ich komme nicht weiter.
Ich habe einen Fehler in der Datei. / Ich bin mir nicht sicher. / Ich bin Kunde bei der Telekom.
Wenn ich groß bin, werde ich Pilot. / „Ich wohne in Paris und bin Pilot“, steht auf dem Plakat.
Mein Chef meint, ich sei zu langsam. / Schreib einen Brief: Ich heiße Hans und wohne in Ulm. / Ich verwende das nicht.
Ich nutze die Gelegenheit. / Danke, das ist nett. / Warum mag ich keinen Käse / Das darf nie passieren.
Das passiert immer wieder. / Ich habe das nie verstanden. / Immer wenn ich starte, stürzt es ab.
Lösche die Datei bitte nicht. / Bitte nicht so lang. / Ich habe einen Bug in meinem Python-Skript gefunden.
Ich verwende diese Funktion, um Daten zu laden. / Ich nutze folgenden Code.
Ich bin auf der Suche nach einem Restaurant. / Ich brauche bis morgen eine Zusammenfassung.
Ich habe gestern mit dem Support telefoniert. / Die Tests laufen nicht durch.
Der Server antwortet nicht auf Port 80. / Mach bitte weiter. / Nimm die zweite Variante.
Ich hätte gern mehr Details. / Fass den Text zusammen. / Ich mag diesen Vorschlag nicht.
Bitte lösche die letzte Zeile. / Wir treffen uns gleich.
""",
    "french": """
N'oublie pas d'appeler Bob / N'oubliez pas de fermer la porte
Je suis fatigué. / Je suis de retour. / Tu habites où ? / Si j'habitais à Rome, je serais heureux.
Imagine que je suis pilote. / Mon frère dit que je suis pilote. / Tu es un pirate. / Je suis le roi de France, mdr.
Traduis cette phrase : j'habite à Rome. / J'ai faim. / Je cherche un hôtel à Paris. / Je ne suis pas médecin.
Je n'habite pas à Berlin. / Je n'ai pas d'enfants. / Écris-moi un poème. / J'aime bien ta réponse.
J'ai une question. / Je travaille sur un bug. / J'ai besoin d'aide. / Elle habite à Lille. / J'étais à Paris.
Je suis à Paris. / Je suis désolé. / J'aimerais vivre au Japon. / Je suis prêt. / J'ai terminé.
J'ai fini le rapport hier. / Je suis en train de lire. / Je suis un grand fan de toi. / Je suis là depuis 30 minutes.
J'habite à côté. / Je travaille à la maison aujourd'hui. / J'aime comment tu expliques. / Je t'aime.
Je mange une pizza. / J'arrive. / Je viens de finir. / Je viens de Paris en train ce matin. / Je n'y arrive pas.
J'ai une erreur dans le fichier. / Je ne suis pas sûr. / Je suis client chez Orange.
Quand je serai grand, je serai pilote. / « J'habite à Paris et je suis pilote », dit l'affiche.
Mon chef dit que je suis lent. / Écris une lettre : je m'appelle Hans et j'habite à Ulm. / Je n'utilise pas ça.
J'ai toujours le même problème. / Ça marche jamais. / Je n'ai jamais compris. / Ne supprime pas ce fichier.
Merci beaucoup. / Je voudrais une réponse courte. / Je suis au bureau. / C'est toujours pareil. / Je préfère attendre.
J'ai trouvé un bug dans mon script Python. / J'utilise cette fonction pour charger les données.
J'utilise le code suivant. / Je suis à la recherche d'un restaurant. / J'ai besoin d'un résumé pour demain.
Hier j'ai appelé le support. / Les tests ne passent pas. / Continue s'il te plaît. / Prends la deuxième option.
J'aime bien cette idée. / Je n'aime pas cette proposition. / Supprime la dernière ligne. / On est lundi.
Ma question est simple. / Mon code est cassé. / Je suis ravi du résultat. / Je suis d'accord. / Je suis pressé.
Je suis dans le train pour Lyon.
""",
    "spanish": """
Estoy cansado. / Ya volví. / ¿Dónde vives? / Si viviera en Roma, sería feliz. / Imagina que soy piloto.
Mi hermano dice que soy piloto. / Eres un pirata. / Soy el rey de España, jajaja. / Traduce esta frase: vivo en Roma.
Tengo hambre. / Busco un hotel en París. / No soy médico. / No vivo en Berlín. / No tengo hijos. / Escríbeme un poema.
Me gusta tu respuesta. / Tengo una pregunta. / Estoy trabajando en un bug. / Necesito ayuda. / Ella vive en Vigo.
Estuve en París. / Estoy en París. / Lo siento. / Me gustaría vivir en Japón. / Estoy listo.
Siempre me pasa lo mismo. / Nunca he estado en Roma. / Soy yo otra vez. / Soy muy fan tuyo. / No estoy casada.
Llevo aquí 30 minutos. / Vivo al lado. / Hoy trabajo desde casa. / Me gusta cómo lo explicas. / Te quiero.
Estoy comiendo pizza. / Ya voy. / Vengo de la oficina. / No me sale. / Tengo un error en el archivo.
No estoy seguro. / Soy cliente de Movistar. / Cuando sea mayor seré piloto.
«Vivo en París y soy piloto», dice el cartel. / Mi jefe dice que soy lento.
Escribe una carta: me llamo Hans y vivo en Ulm. / No uso eso. / Siempre tengo el mismo problema. / Nunca funciona.
Nunca lo he entendido. / No borres este archivo. / Muchas gracias. / Quiero una respuesta corta.
Estoy en la oficina. / Soy nuevo aquí. / Soy consciente del problema. / Tengo 20 años de experiencia. / Soy el mejor.
He encontrado un error en mi script de Python. / Uso esta función para cargar los datos. / Uso el siguiente código.
Estoy buscando un restaurante. / Necesito un resumen para mañana. / Ayer llamé al soporte. / Las pruebas no pasan.
Continúa por favor. / Elige la segunda opción. / Me gusta esta idea. / No me gusta esta propuesta.
Borra la última línea. / Hoy es lunes. / Mi pregunta es sencilla. / Mi código está roto.
Estoy encantado con el resultado. / Estoy de acuerdo.
""",
    "chinese": """
我累了。 / 我回来了。 / 你住在哪里？ / 如果我住在北京就好了。 / 想象一下我是飞行员。 / 我哥哥说我是飞行员。
你是一个海盗。 / 我是秦始皇，哈哈。 / 请翻译这句话：我住在罗马。 / 我饿了。 / 我在找酒店。 / 我不是医生。
我不住在北京。 / 我没有孩子。 / 给我写一首诗。 / 我喜欢你的回答。 / 我有一个问题。 / 我在修一个bug。 / 我需要帮助。
她住在广州。 / 我在巴黎。 / 我去过巴黎。 / 对不起。 / 我想住在日本。 / 不要担心。 / 我是来问问题的。
我用了你的方法。 / 我是你的忠实粉丝 / 我没结婚 / 我在这里等了30分钟 / 我住得很近 / 我今天在家工作 / 我喜欢你这样解释
我爱你 / 我在吃披萨 / 我马上来 / 我做不到 / 我的文件里有个错误 / 我不确定 / 我是客户 / 等我长大了我要当飞行员
“我住在巴黎，我是飞行员”，海报上写着 / 老板说我太慢 / 写一封信：我叫汉斯，住在乌尔姆 / 我不用那个 / 总是出现同样的错误
我从来没懂过 / 不要删除这个文件 / 谢谢 / 我想要一个简短的回答 / 我在公司 / 我是新来的 / 我有20年经验 / 我是最棒的
我用一下这个 / 请帮我写一段代码 / 我要订一张票 / 我在Python脚本里发现了一个bug / 我用这个函数加载数据 / 我用下面的代码
我在找一家餐厅 / 我明天之前需要一个总结 / 我昨天给客服打了电话 / 测试没通过 / 请继续 / 选第二个方案 / 我喜欢这个想法
我不喜欢这个提案 / 删除最后一行 / 今天是星期一 / 我的问题很简单 / 我的代码坏了 / 我对结果很满意 / 我同意 / 我赶时间
""",
    "japanese": """
私たちはKafkaを使っています。
疲れました。 / ただいま戻りました。 / どこに住んでいますか？ / もし東京に住んでいたら楽しいのに。
私がパイロットだと想像してください。 / 兄は私がパイロットだと言っていました。 / あなたは海賊です。
私は王様です（笑） / この文を翻訳してください：私はローマに住んでいます。 / お腹が空きました。
ホテルを探しています。 / 私は医者ではありません。 / 東京には住んでいません。 / 子供はいません。 / 詩を書いてください。
質問があります。 / バグを直しています。 / 助けてください。 / パリにいます。 / パリに行ったことがあります。
すみません。 / 日本に住みたいです。 / 心配しないでください。 / ありがとうございます。 / これが好きです。
要約してください。 / 私はあなたのファンです。 / 結婚していません。 / 30分待っています。 / 近くに住んでいます。
今日は家で働いています。 / あなたの説明が好きです。 / ピザを食べています。 / すぐ行きます。 / 未来から来ました。
できません。 / ファイルにエラーがあります。 / よくわかりません。 / 大人になったらパイロットになりたい。
「パリに住んでいます。パイロットです」とポスターに書いてある。 / 上司に遅いと言われました。
手紙を書いてください：私はハンスで、ウルムに住んでいます。 / それは使っていません。 / いつも同じエラーが出ます。
このファイルを削除しないでください。 / 会社にいます。 / 新人です。 / 20年の経験があります。 / コードを書いてください。
チケットを予約したいです。 / とても助かります。 / 学生の頃、京都に住んでいました。
Pythonスクリプトにバグを見つけました。 / この関数を使っています。 / 次のコードを使っています。
レストランを探しています。 / 明日までに要約が必要です。 / 昨日サポートに電話しました。 / テストが通りません。
続けてください。 / 二番目の案にしてください。 / このアイデアが好きです。 / この提案は好きではありません。
最後の行を削除してください。 / 今日は月曜日です。 / 質問は簡単です。 / コードが壊れています。 / 結果に満足です。
賛成です。 / 急いでいます。 / 北京行きの電車に乗っています。 / 明日は北京に行きません。 / 彼はピザが好きです。
ローマに引っ越すかもしれません。 / 質問が二つあります。
""",
}

OTHER_WORDS_IN_VAIN = {
    "german": """
Mein Opa war Bäcker / Mein Cousin arbeitet bei BMW / Herr Schmidt wohnt in Ulm / Ich überlege, nach Leipzig zu ziehen
Ich würde gern in Paris wohnen / Früher habe ich bei der Post gearbeitet / Ich bin heute etwas erkältet
Ich bin am Flughafen / Ich sitze gerade im Meeting / Ich spreche kein Französisch / Ich war noch nie in Japan
Schreib eine E-Mail an meinen Vermieter auf Englisch / Schreib eine Vorstellung: Ich heiße Lukas und wohne in Jena
Antworte diesmal bitte ausführlicher / Mach die Funktion asynchron / Stell dir vor, ich bin König
Ich liebe dieses Feature / Ich habe einen Bärenhunger / Weißt du, wie ich heiße? / Ich nehme die zweite Variante
Ich will Redis als Cache nutzen, wie konfiguriere ich das? / Alle sollten Linux benutzen / Jedes Mal kommt ein Fehler
Mein Lehrer bringt uns Python bei / Meine Freundin mag keine Katzen / Ich bin bereit / Ich bin in zehn Minuten fertig
Ich bin neu hier / Ich bin etwas verwirrt / Ich habe die Tests geschrieben / Ich schreibe gerade Tests
Ich habe keine Ahnung / Ich bin echt beeindruckt / Ich möchte wissen, wie das geht / Ich hab Lust auf Pizza
Der Kunde heißt Meier und ist Arzt / Unser Golden Retriever heißt Cola / Am 8. März werde ich operiert
Ich bin Rollstuhlfahrer / Ich lerne gerade Norwegisch / Meine Oma wohnt auf dem Land
Mein Mitbewohner ist gegen Nüsse allergisch / Ich bin nicht sicher / Ich lese gerade die Doku
Heute schlafe ich im Hotel / Ich war schon in Peking / Ich möchte kochen lernen / Ich bin reingelegt worden
Ich hätte da eine Frage / Ich komme nicht auf den Server / Ich gebe mein Bestes / Ich schicke es dir bis Freitag
Ich habe seit gestern Kopfschmerzen / Ich brauche zwei Berichte / Unser Chef liebt Meetings
Ich habe Angst im Dunkeln / Ich habe Docker noch nie benutzt / Ich gehe jetzt essen / Ich starte mal neu
Bitte antworte nicht auf diese Mail / Mach dir keine Sorgen / Das passiert immer wieder
Wenn ich sage, ich bin Arzt, glaubst du mir? / Ich bin immer noch dran / Ich habe immer Probleme mit npm
Ich mag nicht mehr / Ich kann nicht schlafen / Ich hab das Auto meines Vaters / Ich bin gespannt auf deine Antwort
Ich arbeite mich gerade ein / Ich bin vor Ort / Sie heißt Anna und wohnt in Köln / Er ist 40 und Lehrer
Ich habe einen Termin verpasst / Ich hasse es, wenn das passiert / Ich unterrichte Mathe an einem Gymnasium.
Ich werde im Juni 40. / Bin ich Vegetarier, wenn ich Fisch esse? / Wenn ich Arzt wäre, würde ich das wissen.
Angenommen, ich heiße Müller und wohne in Köln. / Mein Kollege wohnt in Berlin. / Sie sagt, sie arbeitet bei Siemens.
Er meinte: „Ich hasse Montage.“ / Mein Arzt sagt, ich soll weniger Salz essen. / Ich bin kein Entwickler.
Ich hätte gern einen Hund. / Ich wäre gern Pilot. / Übersetze das bitte ins Englische.
Antworte diesmal auf Englisch. / Tu so, als wärst du ein Pirat. / Ich bin der Kaiser von China, haha.
Ich suche einen guten Editor. / Ich brauche eine Funktion, die sortiert. / Ich habe ein Problem mit Docker.
Ich liebe es, wenn ein Plan funktioniert. / Soll ich nach Berlin ziehen? / Ich überlege, ob ich mir eine Katze hole.
Ich heiße das nicht gut. / Ich bin im Büro. / Ich bin auf der Suche nach einem Job. / Ich bin dafür.
Die Hauptfigur heißt Anna und wohnt in Paris. / In meinem Roman bin ich ein Spion.
Als Kind wollte ich Astronautin werden. / Man sagt, ich sei ein guter Koch. / Ich habe den Fehler gefunden.
Ich arbeite gerade nicht. / Ich verwende deinen Code, aber er geht nicht. / Ich nehme an, dass das stimmt.
Schreib mir eine E-Mail an meinen Chef.
""",
    "french": """
Mon grand-père était boulanger / Mon cousin travaille chez Renault / Monsieur Petit habite à Tours
J'envisage de déménager à Lille / J'aimerais vivre à Paris / Avant je travaillais à la Poste
Je suis un peu enrhumé aujourd'hui / Je suis à la gare / Je suis en réunion / Je ne parle pas allemand
Je ne suis jamais allé au Japon / Écris un mail à mon propriétaire en anglais
Rédige une présentation : je m'appelle Lucas et j'habite à Nice / Réponds plus en détail cette fois
Rends la fonction asynchrone / Imagine que je suis roi / J'adore cette fonctionnalité / J'ai une faim de loup
Tu sais comment je m'appelle ? / Je prends la deuxième variante / Je veux utiliser Redis comme cache, comment faire ?
Tout le monde devrait utiliser Linux / À chaque fois j'ai une erreur / Mon prof nous apprend Python
Ma copine n'aime pas les chats / Je suis prêt / Je suis nouveau ici / Je suis un peu perdu / J'ai écrit les tests
Je suis impressionné / Je voudrais savoir comment ça marche / J'ai envie de pizza
Le client s'appelle Martin et il est médecin / Il pense que j'habite à Lyon / Elle croit que je suis médecin
Je ne digère pas le lait / J'apprends le norvégien / Ma grand-mère vit à la campagne
Mon coloc est allergique aux noix / Je lis la doc / Ce soir je dors à l'hôtel / Je suis déjà allé à Pékin
Je veux apprendre à cuisiner / Je me suis fait avoir / Je fais de mon mieux / Je te l'envoie avant vendredi
J'ai mal à la tête depuis hier / Il me faut deux rapports / Notre chef adore les réunions / J'ai peur du noir
Je vais manger / Ne réponds pas à ce mail / Ne t'inquiète pas / Ça arrive toujours
Si je te dis que je suis médecin, tu me crois ? / J'ai toujours des problèmes avec npm / Je n'en peux plus
Je suis impatient de lire ta réponse / Elle s'appelle Anna et habite à Caen / Il a 40 ans et il est prof
J'ai raté un rendez-vous / Je déteste quand ça arrive / Je suis sur place / Je suis passé à la boulangerie
On a passé de bonnes vacances / J'aurai 30 ans en juin. / Est-ce que je suis végétarien si je mange du poisson ?
Si j'étais médecin, je saurais. / Supposons que je m'appelle Dupont et que j'habite à Lyon.
Mon collègue habite à Paris. / Elle dit qu'elle travaille chez Airbus. / Il a dit : « Je déteste les lundis. »
Mon médecin dit que je devrais manger moins de sel. / Je ne suis pas développeur. / J'aimerais avoir un chien.
J'aurais voulu être pilote. / Traduis ce texte en anglais s'il te plaît. / Réponds en anglais cette fois-ci.
Fais comme si tu étais un pirate. / Je suis le roi d'Espagne, mdr. / Je cherche un bon éditeur.
J'ai besoin d'une fonction de tri. / J'ai un problème avec Docker. / J'adore quand tout marche.
Est-ce que je devrais déménager à Lyon ? / Je me demande si je dois prendre un chat.
Je suis à la recherche d'un emploi. / Je suis en train de lire la doc. / Le héros s'appelle Jean et habite à Rome.
Dans mon roman je suis un espion. / Petit, je voulais être astronaute. / On dit que je suis un bon cuisinier.
J'ai trouvé l'erreur. / J'utilise ton code mais ça ne marche pas. / Je pense que c'est correct.
Écris un mail à mon chef. / Par exemple : je m'appelle Max et j'ai 20 ans. / Je n'habite pas à Lille.
Tu utilises Postgres ou MySQL ? / Ma voisine est infirmière et déteste les chats. / Je suis pour.
J'allais travailler chez Google, mais non. / Un ami à moi travaille chez Google. / Ma sœur dit que je suis têtu.
Je n'ai plus vingt ans. / Je suis à l'aéroport de Lyon. / Je n'aime pas le nouveau design de la page.
Je suis malade depuis hier. / J'utilise ta solution. / Je vis dans la peur.
""",
    "spanish": """
Mi abuelo era panadero / Mi primo trabaja en Seat / El señor Gómez vive en Teruel / Estoy pensando en mudarme a Gijón
Me gustaría vivir en París / Antes trabajaba en Correos / Hoy estoy un poco resfriado / Estoy en la estación
Estoy en una reunión / No hablo alemán / Nunca he estado en Japón / Escribe un correo a mi casero en inglés
Redacta una presentación: me llamo Lucas y vivo en Ávila / Responde con más detalle esta vez
Haz la función asíncrona / Imagina que soy rey / Me encanta esta función / Tengo un hambre que me muero
¿Sabes cómo me llamo? / Me quedo con la segunda variante / Quiero usar Redis como caché, ¿cómo lo configuro?
Todo el mundo debería usar Linux / Cada vez me sale un error / Mi profe nos enseña Python
A mi novia no le gustan los gatos / Estoy listo / Soy nuevo aquí / Estoy algo perdido / He escrito las pruebas
Estoy impresionado / Quiero saber cómo funciona / Tengo ganas de pizza / El cliente se llama Martín y es médico
Él piensa que vivo en Lugo / Ella cree que soy médico / La leche me sienta mal / Estoy aprendiendo noruego
Mi abuela vive en el campo / Mi compañero de piso es alérgico a las nueces / Estoy leyendo la documentación
Esta noche duermo en un hotel / Ya he estado en Pekín / Quiero aprender a cocinar / Me han engañado
Hago lo que puedo / Te lo mando antes del viernes / Me duele la cabeza desde ayer / Necesito dos informes
A nuestro jefe le encantan las reuniones / Me da miedo la oscuridad / Voy a comer / No respondas a este correo
No te preocupes / Siempre pasa lo mismo / Si te digo que soy médico, ¿me crees? / Siempre tengo problemas con npm
No puedo más / Ella se llama Ana y vive en Lorca / Tiene 40 años y es profesor / Se me pasó una cita
Odio cuando pasa esto / Estoy en el sitio / Pasé por la panadería / Soy de los que llegan tarde / Soy más de perros
Cumplo 30 años en junio. / ¿Soy vegetariano si como pescado? / Si fuera médico, lo sabría.
Supongamos que me llamo Pérez y vivo en Lugo. / Mi compañero vive en Madrid. / Ella dice que trabaja en Airbus.
Él dijo: «Odio los lunes». / Mi médico dice que debería comer menos sal. / Ya estoy de vuelta. / No soy programador.
Me gustaría tener un perro. / Quisiera ser piloto. / Traduce este texto al inglés, por favor.
Responde en inglés esta vez. / Haz como si fueras un pirata. / Soy el rey de España, jaja. / Busco un buen editor.
Necesito una función para ordenar. / Tengo un problema con Docker. / Me encanta cuando todo funciona.
¿Debería mudarme a Lima? / Me pregunto si debo adoptar un gato. / Estoy leyendo la documentación.
El protagonista se llama Juan y vive en Roma. / En mi novela soy un espía. / De pequeño quería ser astronauta.
Dicen que soy buen cocinero. / He encontrado el error. / Uso tu código pero no funciona. / Creo que es correcto.
Escribe un correo a mi jefe. / Por ejemplo: me llamo Max y tengo 20 años. / No vivo en Murcia.
¿Usas Postgres o MySQL? / Mi vecina es enfermera y odia los gatos. / Casi trabajo en Google, pero no.
Un amigo mío trabaja en Google. / Mi hermana dice que soy terco. / Ya no tengo veinte años.
Estoy en el aeropuerto de Lima. / No me gusta el nuevo diseño de la página. / Estoy enfermo desde ayer.
Uso tu solución. / Vivo con miedo. / Vengo de comer.
""",
    "chinese": """
我老板是不是有病 / 我爸想让我当医生 / 我表哥在华为上班，今年30岁 / 小明说他住在广州 / 如果我住在北京，会不会很冷
我在考虑搬去成都 / 我想养一只狗 / 我曾经在百度实习过 / 我要是会弹钢琴就好了 / 朋友问我喜不喜欢喝酒
客户叫王磊，是位律师 / 我今天有点感冒 / 我现在在机场 / 我正在开会 / 我快到家了 / 我是不会放弃的 / 我不会说法语
我没去过日本 / 我从来不抽烟 / 用英文写一封邮件给我的房东 / 帮我写一段自我介绍：我叫李雷，毕业于清华
这次请回答得详细一点 / 把这个函数改成异步的 / 我们来玩个游戏，我是国王，你是骑士 / 我的天，我太喜欢这个功能了
我饿得能吃下一头牛 / 我是你爸爸 / 听说你喜欢我 / 你知道我叫什么吗 / 我猜你住在云端 / “我讨厌星期一”是一首歌
我刚才用的是第二种方法 / 我用不了这个软件 / 我想用 Redis 做缓存，怎么配置 / 我建议大家都用 Linux / 每次运行都会报错
永远相信美好的事情即将发生 / 别担心，我没事 / 我老师教我们用 Python / 我女朋友不喜欢猫 / 本人男，32岁，程序员一枚
我爸妈都在农村 / 我妈今年六十了 / 我们公司用飞书 / 回答尽量简短 / 我做前端的 / 我奶奶住在乡下
我同桌叫李伟 / 我室友对花生过敏 / 我不太确定 / 我在看你发的文档 / 我今天住酒店 / 我去过北京 / 我想学做饭
我喜欢过一个人 / 我是被骗了 / 我有个问题想请教 / 我有一台服务器连不上 / 我叫不出名字 / 我用着挺好的
我觉得我对猫毛过敏，不确定 / 我会努力的 / 我会在周五之前给你 / 我不是不喜欢，只是贵 / 我从昨天开始头疼 / 我要两份报告
我们老板喜欢开会 / 你可以说“我叫小李” / 谁说我住在北京了 / 我有三个文件要处理 / 我怕黑 / 我没用过 Docker
我准备去吃饭 / 我打算重启一下 / 请不要回复这封邮件 / 不要在意这些细节 / 必须说，你很棒 / 每次都这样，烦死了
以后再说吧 / 如果我说我是医生，你信吗 / 我女儿三岁半 / 我喝牛奶会拉肚子 / 我属龙 / 我导师姓刘 / 他是医生，住在天津
张伟今年三十岁，是个厨师 / 我妹夫在银行上班 / 你猜我多大 / 我哪儿也不去 / 我才不喜欢呢 / 我又不是医生 / 我可没说我喜欢
我好喜欢你 / 我讨厌这个bug / 我有空 / 我在家 / 我在等快递 / 我用完了 / 我是真的不懂 / 我住了三天院 / 我叫了救护车
我教你 / 我要求退款 / 我会议开完了 / 我对这个不熟 / 我从网上下载的 / 我朋友圈都在转这个 / 据我所知他住在北京
我假装自己是老师
""",
    "japanese": """
上司の佐藤さんは厳しいです / 父は医者になってほしいと言っています / いとこがGoogleで働いています
東京に住むべきでしょうか / 引っ越すことを考えています / 犬を飼いたい / 以前は銀行で働いていました
ピアノが弾けたらいいのに / 友人に結婚しているか聞かれました / クライアントは弁護士です / 今日は少し風邪気味です
空港にいます / 会議中です / フランス語は話せません / 日本に行ったことがありません / タバコは吸いません
大家さんへのメールを英語で書いてください / 自己紹介文を書いて：私は山田です、京都在住です
今回は詳しく説明してください / この関数を非同期にしてください / あなたは騎士で、私は王様です / この機能が大好きです
お腹が空いて死にそうです / 私の名前を知っていますか / 二番目の方法を使っています / このソフトが使えません
キャッシュにRedisを使いたいのですが、どう設定しますか / みんなLinuxを使うべきです / 毎回エラーが出ます
心配しないでください / 先生がPythonを教えています / 彼氏は猫が好きではありません / 新しいデザインが好きです
私が悪いです / 準備ができました / 電車に乗っています / コードレビューをしています / テストを書いています
妹が欲しいです / あなたが好きです / 次は何をしますか / その案に賛成です / 父は来月60歳になります
祖母は田舎に住んでいます / ルームメイトはピーナッツアレルギーです / よくわかりません / ドキュメントを読んでいます
今日はホテルに泊まっています / 北京に行ったことがあります / 料理を習いたいと思っています / 昔、好きな人がいました
騙されました / 質問があります / サーバーに接続できません / 頑張ります / 金曜日までに送ります / 昨日から頭が痛いです
レポートが二つ必要です / 社長は会議が好きです / 暗いところが怖いです / Dockerを使ったことがありません
これから食事に行きます / 再起動してみます / このメールに返信しないでください / 細かいことは気にしないでください
毎回こうなんです / また今度にしましょう / 私が医者だと言ったら信じますか / 友達が犬を飼っています
兄が大阪に住んでいます / うちの会社は東京にあります / 猫アレルギーの友達が来ます / 隣の人はピアノを弾いています
彼の会社はAWSを使っています / 私の代わりに書いてください / 英語が苦手な人でも大丈夫です / ここに名前を書いてください
通販会社を経営しています / 牛乳を飲むとお腹を壊します / うつ病の治療中です / 長男は中学生です
彼は医者で、天津に住んでいます / 山田さんは30歳で、料理人です / 義理の弟は銀行員です / 私は何歳だと思いますか
どこにも行きません / このバグが嫌いです / 暇です / 家にいます / 荷物を待っています / 使い終わりました
本当にわかりません / 三日間入院していました / 救急車を呼びました / 返金を求めます / 会議が終わりました
ネットからダウンロードしました / 先生のふりをしています / 息子はパイロットになりたがっています
主人公はアミンで、海辺に住んでいます / 犬が怖いです / お金が好きな人 / ここが好きです / 彼女ができました
友人の結婚式に行きました / 駅前に住んでいるらしいです / 日本語でメールを書いてください / この文を英語にしてください
テストは必ず失敗します / いつも同じエラーが出て困っています
""",
}
"""Questions, suppositions, other people, quotations, states that pass, requests for once, parts to play, negations."""
