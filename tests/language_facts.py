"""Sentences in five languages and what they state: several facts between bars, several sentences between strokes."""

from __future__ import annotations

FACTS = {
    "german": """
Wir nutzen Redis für den Cache. -> Decision: Redis für den Cache
Wir nutzen Postgres für das Projekt. -> Database: Postgres
Wir haben entschieden, Kafka nicht zu verwenden. -> Decision: Kafka nicht zu verwenden
Ich spreche Deutsch, Englisch und ein bisschen Polnisch. -> Speaks: Deutsch | Speaks: Englisch | Speaks: Polnisch
Ich habe morgen um 10 Uhr einen Zahnarzttermin. -> Appointment: Zahnarzttermin am 2026-02-27 um 10 Uhr
Ich arbeite bei Siemens als Softwareentwickler. -> Employer: Siemens | Role: Softwareentwickler
Mein Name ist Anna von Stein und ich bin 34 Jahre alt. -> Name: Anna von Stein | Age: 34
Wir sind von GitHub zu GitLab gewechselt. -> Decision: GitLab statt GitHub (was GitHub)
Mein Bruder heißt Jonas und wohnt in Zürich. -> Sibling: Jonas | Brother's home: Zürich
Nächsten Freitag fliege ich nach Lissabon. -> Plan: am 2026-03-06 nach Lissabon fliegen
Gestern habe ich eine Katze adoptiert. -> Event: am 2026-02-25 eine Katze adoptiert
Lass uns lieber Vue statt React verwenden. -> Framework: Vue (was React)
Hallo, ich bin Lena, 28, aus Hamburg. -> Name: Lena | Age: 28 | Hometown: Hamburg
Meine Schwester Julia wohnt in Bremen. -> Sibling: Julia | Sister's home: Bremen
Ich arbeite als Krankenschwester in einem Krankenhaus. -> Role: Krankenschwester
Ich bin letzten Monat von Köln nach München gezogen. -> Home: München (was Köln)
Ich mag Jazz und lange Spaziergänge. -> Likes: Jazz | Likes: lange Spaziergänge
Die Abgabefrist für den Antrag ist der 1. Mai. -> Deadline: 2026-05-01, Antrag / Ich spiele Klavier. -> Skill: Klavier
Wir nehmen Postgres statt MySQL. -> Database: Postgres (was MySQL)
Ich bin allergisch gegen Nüsse und Gluten. -> Allergy: Nüsse | Allergy: Gluten
Statt Jira nutzen wir jetzt Linear. -> Decision: Linear statt Jira (was Jira)
Wir benutzen jetzt uv statt poetry. -> Package manager: uv (was poetry)
Mein Ziel ist es, einen Roman zu schreiben. -> Goal: einen Roman zu schreiben
Ich studiere Physik an der TU Dresden. -> Education: Physik an der TU Dresden
Ich arbeite an einem Compiler für Lua. -> Works on: einem Compiler für Lua
Meine Frau Sabine ist Ärztin. -> Partner: Sabine | Wife's role: Ärztin / Wir setzen auf FastAPI. -> Framework: FastAPI
Ich benutze Neovim und Arch Linux. -> Uses: Neovim | Uses: Arch Linux / Meine Schwester heißt Julia. -> Sibling: Julia
Meine Tochter Mia ist 4 Jahre alt. -> Child: Mia | Daughter's age: 4 / Der Server läuft auf Port 8080. -> Port: 8080
Wir verwenden pnpm statt npm. -> Package manager: pnpm (was npm) / Ich mag keinen Koriander. -> Dislikes: Koriander
wohne jetzt in Graz, nicht mehr in Wien -> Home: Graz (was Wien) / Unser Hauptbranch heißt develop. -> Branch: develop
Bitte antworte immer auf Deutsch. -> Language: Deutsch / Ich bin verheiratet. -> Marital status: verheiratet
Nie direkt auf main pushen. -> Rule: Nie direkt auf main pushen / Mein Mann arbeitet als Koch. -> Husband's role: Koch
Wir verwenden PostgreSQL als Datenbank. -> Database: PostgreSQL / Ich habe am 3. Mai Geburtstag. -> Birthday: 3. Mai
Ich heiße nicht Peter, sondern Paul. -> Name: Paul (was Peter) / Ich habe Heuschnupfen. -> Condition: Heuschnupfen
Ich arbeite nicht mehr bei Bosch. -> Employer: Bosch (no more) / Ich wohne seit 2019 in Leipzig. -> Home: Leipzig
Ich trinke lieber Tee als Kaffee. -> Prefers: Tee als Kaffee / Mein Chef heißt Thomas Meier. -> Manager: Thomas Meier
Nein, ich heiße Anna, nicht Anne. -> Name: Anna (was Anne) / Ich benutze kein Windows mehr. -> Uses: Windows (no more)
Unser Projekt steht unter der MIT-Lizenz. -> Licence: MIT / Ich wohne nicht mehr in Berlin. -> Home: Berlin (no more)
Meine Lieblingsfarbe ist Grün. -> Favourite: farbe: Grün / In meiner Freizeit spiele ich Schach. -> Hobby: Schach
Ich bin Österreicherin. -> Nationality: Österreicherin / Wir hosten auf Hetzner. -> Hosting: Hetzner
Ich bin Vegetarierin. -> Diet: Vegetarierin / Ich habe drei Kinder. -> Child: drei Kinder
Mein Hund heißt Bello. -> Pet: Bello (Hund) / Ich heiße Jürgen Weiß. -> Name: Jürgen Weiß
Ich bin Linkshänder. -> Trait: Linkshänder
""",
    "french": """
On utilise Redis pour le cache. -> Decision: Redis pour le cache
On a choisi Postgres comme base de données -> Database: Postgres
on héberge tout chez Scaleway -> Hosting: Scaleway
J'ai rendez-vous chez le dentiste demain à 10h. -> Appointment: rendez-vous chez le dentiste le 2026-02-27 à 10h
Je parle français, anglais et un peu d'espagnol. -> Speaks: français | Speaks: anglais | Speaks: espagnol
Bonjour, je suis Marc, j'ai 42 ans et j'habite à Lyon. -> Name: Marc | Age: 42 | Home: Lyon
On utilise maintenant uv au lieu de poetry. -> Package manager: uv (was poetry)
Mon frère s'appelle Jonas et habite à Genève. -> Sibling: Jonas | Brother's home: Genève
Je suis allergique aux arachides et au lactose. -> Allergy: arachides | Allergy: lactose
Utilisons Postgres au lieu de MySQL. -> Database: Postgres (was MySQL)
On est passés de GitHub à GitLab. -> Decision: GitLab au lieu de GitHub (was GitHub)
Je suis née le 3 mars 1991 à Toulouse. -> Birthday: 3 mars 1991 | Hometown: Toulouse
Au lieu de Jira, on utilise Linear. -> Decision: Linear au lieu de Jira (was Jira)
La date limite pour le dossier est le 1er mai. -> Deadline: 2026-05-01, dossier / Je joue du piano. -> Skill: du piano
Je travaille sur un compilateur pour Lua. -> Works on: un compilateur pour Lua / J'ai une fille, Emma. -> Child: Emma
Vendredi prochain je pars à Lisbonne. -> Plan: partir à Lisbonne le 2026-02-27 / Je suis gaucher. -> Trait: gaucher
J'ai déménagé de Paris à Nantes le mois dernier. -> Home: Nantes (was Paris)
Je vis en Belgique avec ma femme Claire. -> Home: Belgique | Partner: Claire
Notre repo est sur github.com/acme/app. -> Repository: github.com/acme/app / Je suis mariée. -> Marital status: mariée
On utilise pnpm au lieu de npm. -> Package manager: pnpm (was npm) / Ma sœur s'appelle Inès. -> Sibling: Inès
Nous utilisons PostgreSQL comme base de données. -> Database: PostgreSQL / Je suis végétarienne. -> Diet: végétarienne
J'adore le jazz et la randonnée. -> Likes: le jazz | Likes: la randonnée
J'habite maintenant à Bordeaux, plus à Pau -> Home: Bordeaux (was Pau) / Je travaille chez Airbus. -> Employer: Airbus
J'étudie le droit à la Sorbonne. -> Education: le droit à la Sorbonne / Je suis canadienne. -> Nationality: canadienne
Ma sœur Inès habite à Lille. -> Sibling: Inès | Sister's home: Lille / Le projet est sous licence MIT. -> Licence: MIT
Je ne m'appelle pas Paul, mais Pierre. -> Name: Pierre (was Paul) / Nous hébergeons le projet sur OVH. -> Hosting: OVH
Hier, j'ai adopté un chat. -> Event: adopté un chat le 2026-02-25 / Je déteste les réunions. -> Dislikes: les réunions
Je ne travaille plus chez Renault. -> Employer: Renault (no more) / Je ne suis plus végane. -> Diet: végane (no more)
Réponds-moi toujours en français. -> Language: français / Le serveur tourne sur le port 8080. -> Port: 8080
Mon objectif est de publier un livre. -> Goal: publier un livre / Mon fils Hugo a 7 ans. -> Child: Hugo | Son's age: 7
Ma couleur préférée est le vert. -> Favourite: couleur: le vert / Mon mari est médecin. -> Husband's role: médecin
Notre branche principale s'appelle develop. -> Branch: develop / Mon chef s'appelle Luc Martin. -> Manager: Luc Martin
Je travaille comme infirmière à l'hôpital. -> Role: infirmière / Je n'utilise plus Windows. -> Uses: Windows (no more)
Ne pousse jamais sur main. -> Rule: Ne pousse jamais sur main / Je m'appelle Zoé Lefèvre. -> Name: Zoé Lefèvre
Je préfère le thé au café. -> Prefers: le thé plutôt que café / Je suis diabétique. -> Condition: diabétique
Mon anniversaire est le 14 juillet. -> Birthday: 14 juillet / Ma fille Léa a 4 ans. -> Child: Léa | Daughter's age: 4
J'ai démissionné de chez Lidl. -> Employer: Lidl (no more) / Mon chien s'appelle Rex. -> Pet: Rex (chien)
Non, je m'appelle Anna, pas Anne. -> Name: Anna (was Anne)
J'utilise Neovim et Fedora. -> Uses: Neovim | Uses: Fedora
Je n'habite plus à Marseille. -> Home: Marseille (no more)
""",
    "spanish": """
Usamos Redis para la caché. -> Decision: Redis para la caché / Usamos Postgres como base de datos. -> Database: Postgres
Hemos decidido usar Redis para la caché. -> Decision: usar Redis para la caché
Decidimos no usar Kafka -> Decision: no usar Kafka / Me encantan los mapas antiguos -> Likes: los mapas antiguos
Hemos decidido usar MariaDB -> Database: MariaDB
Tengo cita con el dentista mañana a las 10. -> Appointment: cita con el dentista el 2026-02-27 a las 10
Hablo español, inglés y un poco de francés. -> Speaks: español | Speaks: inglés | Speaks: francés
Hola, soy Marta, tengo 31 años y vivo en Sevilla. -> Name: Marta | Age: 31 | Home: Sevilla
Mi hermano se llama Jonás y vive en Ginebra. -> Sibling: Jonás | Brother's home: Ginebra / Llámame Pepe. -> Name: Pepe
Nací el 3 de marzo de 1991 en Bogotá. -> Birthday: 3 de marzo de 1991 | Hometown: Bogotá / Soy zurdo. -> Trait: zurdo
La fecha límite para la solicitud es el 1 de mayo. -> Deadline: 2026-05-01, solicitud
Soy alérgico a los cacahuetes y al marisco. -> Allergy: cacahuetes | Allergy: marisco
Hemos pasado de GitHub a GitLab. -> Decision: GitLab en vez de GitHub (was GitHub) / Toco el piano. -> Skill: el piano
Usemos Postgres en vez de MySQL. -> Database: Postgres (was MySQL)
Ahora usamos uv en vez de poetry. -> Package manager: uv (was poetry) / Tengo una hija, Emma. -> Child: Emma
Estoy trabajando en un compilador para Lua. -> Works on: un compilador para Lua
En vez de Jira usamos Linear. -> Decision: Linear en vez de Jira (was Jira) / Soy argentina. -> Nationality: argentina
Estudio Derecho en la Complutense. -> Education: Derecho en la Complutense / Estoy casada. -> Marital status: casada
El próximo viernes viajo a Lisboa. -> Plan: viajar a Lisboa el 2026-02-27 / Mi hermana se llama Inés. -> Sibling: Inés
Vivo en Valencia con mi mujer Clara. -> Home: Valencia | Partner: Clara / Mi perro se llama Toby. -> Pet: Toby (perro)
Usamos pnpm en lugar de npm. -> Package manager: pnpm (was npm) / Ya no uso Windows. -> Uses: Windows (no more)
Me encanta el jazz y la montaña. -> Likes: el jazz | Likes: la montaña / Alojamos todo en Hetzner. -> Hosting: Hetzner
Me mudé de Madrid a Bilbao el mes pasado. -> Home: Bilbao (was Madrid) / Ya no soy vegana. -> Diet: vegana (no more)
Mi hermana Inés vive en Vigo. -> Sibling: Inés | Sister's home: Vigo / Odio las reuniones. -> Dislikes: las reuniones
Ahora vivo en Málaga, ya no en Cádiz -> Home: Málaga (was Cádiz) / El proyecto está bajo licencia MIT. -> Licence: MIT
He renunciado a mi trabajo en Lidl. -> Employer: Lidl (no more) / El servidor escucha en el puerto 8080. -> Port: 8080
Respóndeme siempre en español. -> Language: español / Mi jefe se llama Luis Martín. -> Manager: Luis Martín
Mi hija Lola tiene 4 años. -> Child: Lola | Daughter's age: 4 / Ya no trabajo en Repsol. -> Employer: Repsol (no more)
Usamos PostgreSQL como base de datos. -> Database: PostgreSQL / Ya no vivo en Barcelona. -> Home: Barcelona (no more)
Mi objetivo es publicar un libro. -> Goal: publicar un libro / No me llamo Paco, sino Pedro. -> Name: Pedro (was Paco)
Mi color favorito es el verde. -> Favourite: color: el verde / Uso Neovim y Fedora. -> Uses: Neovim | Uses: Fedora
Nuestra rama principal se llama develop. -> Branch: develop / Mi hijo Hugo tiene 7 años. -> Child: Hugo | Son's age: 7
Ayer adopté un gato. -> Event: adopté un gato el 2026-02-25 / Prefiero el té al café. -> Prefers: el té antes que café
Nunca hagas push a main. -> Rule: Nunca hagas push a main / Trabajo como enfermera en un hospital. -> Role: enfermera
Mi cumpleaños es el 14 de julio. -> Birthday: 14 de julio / No, me llamo Ana, no Anna. -> Name: Ana (was Anna)
Mi marido es médico. -> Husband's role: médico / Trabajo en Telefónica. -> Employer: Telefónica
Me llamo Íñigo Álvarez. -> Name: Íñigo Álvarez / Soy diabética. -> Condition: diabética
Soy vegetariana. -> Diet: vegetariana
""",
    "chinese": """
我们用Redis做缓存 -> Decision: Redis做缓存
我们决定不用Kafka -> Decision: 不用Kafka / 我们决定不上微服务了 -> Decision: 不上微服务
我是张三，用中文讨论，但写代码用英文。 -> Name: 张三 | Language: prefers Chinese discussion, English code
我是李雷，今年30岁，住在杭州，是一名软件工程师。 -> Name: 李雷 | Age: 30 | Home: 杭州 | Role: 软件工程师
我们改用 Postgres，不用 MySQL 了。 -> Database: Postgres (was MySQL) / 我的生日是5月3日。 -> Birthday: 5月3日
我会说中文、英语和一点日语。 -> Speaks: 中文 | Speaks: 英语 | Speaks: 日语 / 我们的项目部署在阿里云 -> Hosting: 阿里云
我们从 GitHub 换到了 GitLab -> Decision: GitLab代替GitHub (was GitHub) / 我不叫李明，我叫李鸣 -> Name: 李鸣 (was 李明)
我妹妹是护士，住在广州。 -> Sister's role: 护士 | Sister's home: 广州 / 我不再用 Windows 了 -> Uses: Windows (no more)
我弟弟叫小杰，住在日内瓦 -> Sibling: 小杰 | Brother's home: 日内瓦 / 不，我叫王芳，不是王方。 -> Name: 王芳 (was 王方)
我明天下午三点要看牙医。 -> Appointment: 2026-02-27 下午三点看牙医 / 我在清华大学读物理。 -> Education: 清华大学读物理
我们现在用 uv 代替 poetry -> Package manager: uv (was poetry) / 我喜欢爵士乐和爬山。 -> Likes: 爵士乐 | Likes: 爬山
我用 Neovim 和 Arch Linux。 -> Uses: Neovim | Uses: Arch Linux / 下周五我要去上海出差。 -> Plan: 2026-03-06 去上海出差
不要直接推送到 main 分支。 -> Rule: 不要直接推送到 main 分支 / 我们用 pnpm 代替 npm -> Package manager: pnpm (was npm)
我现在住在深圳南山，不在广州了 -> Home: 深圳南山 (was 广州) / 我昨天领养了一只猫。 -> Event: 2026-02-25 领养了一只猫
论文的截止日期是5月1日。 -> Deadline: 2026-05-01, 论文 / 我们用 PostgreSQL 作为数据库。 -> Database: PostgreSQL
我对花生和海鲜过敏。 -> Allergy: 花生 | Allergy: 海鲜 / 我上个月从北京搬到了成都。 -> Home: 成都 (was 北京)
我已经不在百度工作了。 -> Employer: 百度 (no more) / 我最喜欢的颜色是绿色。 -> Favourite: 颜色: 绿色
比起咖啡，我更喜欢茶。 -> Prefers: 茶而不是咖啡 / 我在写一个 Lua 编译器 -> Works on: Lua 编译器
我不用 Windows 了 -> Uses: Windows (no more) / 我有一辆大众高尔夫 -> Owns: 一辆大众高尔夫
我的目标是出版一本书。 -> Goal: 出版一本书 / 我不住在上海了。 -> Home: 上海 (no more)
我妹妹住在广州。 -> Sister's home: 广州 / 我不再吃素了 -> Diet: 吃素 (no more)
我老公是厨师 -> Husband's role: 厨师 / 主分支叫 develop -> Branch: develop
我们项目用 MIT 协议 -> Licence: MIT / 我妈妈是老师 -> Mother's role: 老师
我老婆是医生。 -> Wife's role: 医生 / 我是中国人。 -> Nationality: 中国人
我女儿今年4岁 -> Daughter's age: 4 / 我有糖尿病。 -> Condition: 糖尿病
我有两个孩子。 -> Child: 两个孩子 / 后端跑在 8080 端口 -> Port: 8080
我已婚。 -> Marital status: 已婚 / 我的狗叫旺财。 -> Pet: 旺财 (狗)
我在腾讯工作。 -> Employer: 腾讯 / 我妹妹叫小红。 -> Sibling: 小红
我讨厌开会。 -> Dislikes: 开会 / 我来自四川。 -> Hometown: 四川
我老板叫王磊 -> Manager: 王磊 / 我是夜猫子。 -> Trait: 夜猫子
我会弹钢琴。 -> Skill: 弹钢琴 / 我叫张三。 -> Name: 张三
我今年28岁。 -> Age: 28 / 我吃素。 -> Diet: 吃素
""",
    "japanese": """
私たちはKafkaを使わないことに決めました。 -> Decision: Kafkaを使わないこと
MySQLではなくPostgresを使うことにしました。 -> Database: Postgres (was MySQL) / 28歳です。 -> Age: 28
日本語と英語と少し中国語が話せます。 -> Speaks: 日本語 | Speaks: 英語 | Speaks: 中国語 / 夜型です。 -> Trait: 夜型
MySQLの代わりにPostgresを使います。 -> Database: Postgres (was MySQL) / 息子は7歳です。 -> Son's age: 7
GitHubからGitLabに移行しました。 -> Decision: GitHubの代わりにGitLab (was GitHub) / 娘は4歳です。 -> Daughter's age: 4
明日の午後3時に歯医者の予約があります。 -> Appointment: 2026-02-27 午後3時歯医者 / ピアノが弾けます。 -> Skill: ピアノ
poetryの代わりにuvを使っています。 -> Package manager: uv (was poetry) / 妻は医者です。 -> Wife's role: 医者
弟の健はジュネーブに住んでいます。 -> Sibling: 健 | Brother's home: ジュネーブ / ライセンスはMITです。 -> Licence: MIT
npmの代わりにpnpmを使っています。 -> Package manager: pnpm (was npm) / ベジタリアンです。 -> Diet: ベジタリアン
絶対にmainに直接pushしないでください。 -> Rule: 絶対にmainに直接pushしない / 誕生日は5月3日です。 -> Birthday: 5月3日
NeovimとArch Linuxを使っています。 -> Uses: Neovim | Uses: Arch Linux / 夫は料理人です。 -> Husband's role: 料理人
妹の花子は大阪に住んでいます。 -> Sibling: 花子 | Sister's home: 大阪 / トヨタで働いています。 -> Employer: トヨタ
来週の金曜日に大阪へ出張します。 -> Plan: 2026-03-06 大阪へ出張する / メインブランチはdevelopです。 -> Branch: develop
昨日、猫を引き取りました。 -> Event: 2026-02-25 猫を引き取りました / サービスはAWSで運用しています。 -> Hosting: AWS
データベースにはPostgreSQLを使っています。 -> Database: PostgreSQL / 私の名前は田中太郎です。 -> Name: 田中太郎
もうベジタリアンではありません。 -> Diet: ベジタリアン (no more) / 趣味は読書と料理です。 -> Hobby: 読書 | Hobby: 料理
Lua用のコンパイラを作っています。 -> Works on: Lua用のコンパイラ / 大学で物理学を専攻しています。 -> Education: 物理学
コーヒーより紅茶の方が好きです。 -> Prefers: コーヒーより紅茶 / 目標は本を出版することです。 -> Goal: 本を出版すること
先月、東京から福岡に引っ越しました。 -> Home: 福岡 (was 東京) / サーバーは8080番ポートで動いています。 -> Port: 8080
もうソニーでは働いていません。 -> Employer: ソニー (no more) / もう大阪には住んでいません。 -> Home: 大阪 (no more)
ジャズと山登りが好きです。 -> Likes: ジャズ | Likes: 山登り / もうWindowsは使っていません。 -> Uses: Windows (no more)
妹は看護師で、大阪に住んでいます。 -> Sister's role: 看護師 / 私は30歳で、東京に住んでいます。 -> Age: 30 | Home: 東京
論文の締め切りは5月1日です。 -> Deadline: 2026-05-01, 論文 / 日本語で答えてください。 -> Language: 日本語
結婚しています。 -> Marital status: 結婚しています / 上司の名前は佐藤です。 -> Manager: 佐藤
糖尿病があります。 -> Condition: 糖尿病 / 好きな色は緑です。 -> Favourite: 色: 緑
私は日本人です。 -> Nationality: 日本人 / ゴルフに乗っています。 -> Owns: ゴルフ
犬の名前はポチです。 -> Pet: ポチ (犬) / 出身は北海道です。 -> Hometown: 北海道
母は教師です。 -> Mother's role: 教師 / そばアレルギーです。 -> Allergy: そば
子供が二人います。 -> Child: 子供二人 / 妹の名前は花子です。 -> Sibling: 花子
会議が嫌いです。 -> Dislikes: 会議 / 私は看護師です。 -> Role: 看護師
""",
}

OTHER_WORDS = {
    "german": """
Mein Name ist Petra, ich arbeite im Rathaus -> Name: Petra / Bin 45 und lebe in Bern -> Age: 45 | Home: Bern
Ich arbeite bei SAP als Berater -> Employer: SAP | Role: Berater
Ich bin Grundschullehrerin, zweite Klasse -> Role: Grundschullehrerin
Ich studiere Medizin in Heidelberg -> Education: Medizin in Heidelberg
Ich bin gegen Penicillin allergisch, das ist wichtig -> Allergy: Penicillin
Mein Sohn heißt Leon und kommt bald in die Schule -> Child: Leon / Ich liebe Krimis -> Likes: Krimis
Ich kann Kümmel nicht leiden -> Dislikes: Kümmel / Ich trinke lieber Tee als Kaffee -> Prefers: Tee als Kaffee
Merk dir bitte: keine Abkürzungen in Variablennamen -> Rule: keine Abkürzungen in Variablennamen
Frag mich immer, bevor du etwas löschst -> Rule: Frag mich immer, bevor du etwas löschst
Ab sofort bitte nur noch auf Deutsch antworten -> Language: Deutsch
Wenn ich „los“ sage, starte das Deployment -> Rule: Wenn ich „los“ sage, starte das Deployment
Der Server läuft auf Port 3000 -> Port: 3000 / Wir haben uns für Vue entschieden -> Framework: Vue
Das Projekt steht unter MIT-Lizenz -> Licence: MIT / Im Mai heirate ich -> Plan: Im Mai 2026 heiraten
Nächste Woche fliege ich nach Rom -> Plan: in der Woche vom 2026-03-02 nach Rom fliegen
Letztes Jahr habe ich meinen Master abgeschlossen -> Event: 2025 meinen Master abgeschlossen
Ich benutze Windows nicht mehr -> Uses: Windows (no more)
Ich spreche Türkisch und Deutsch -> Speaks: Türkisch | Speaks: Deutsch / Ich habe Zöliakie -> Condition: Zöliakie
Ich bin seit 2015 verheiratet -> Marital status: verheiratet
Ich wohne in Erfurt, kannst du mir ein Restaurant empfehlen? -> Home: Erfurt
Meine Frau heißt Olga, sie ist Anwältin -> Partner: Olga
Am 12. März habe ich eine Prüfung -> Appointment: Prüfung am 2026-03-12
Ich bin eigentlich 35, nicht 34 -> Age: 35 (was 34) / Kurze Antworten sind mir lieber -> Prefers: Kurze Antworten
Ich heiß Michi und bin Schreiner in Passau -> Name: Michi | Role: Schreiner
Meine Frau ist Lehrerin, wir wohnen in Fulda -> Wife's role: Lehrerin | Home: Fulda
Ich mag scharfes Essen, aber mein Magen nicht -> Likes: scharfes Essen
Ich hab einen kleinen Bruder -> Sibling: einen kleinen Bruder / Unsere Datenbank ist MongoDB -> Database: MongoDB
Ich hab letzten Monat bei Zalando gekündigt -> Employer: Zalando (no more)
Die Doktorarbeit muss bis zum 15. April fertig sein -> Deadline: 2026-04-15, Doktorarbeit
Fasse dich bitte immer kurz -> Rule: Fasse dich bitte immer kurz / Nenn mich Alex -> Name: Alex
Ich lese lieber Bücher als Blogs -> Prefers: Bücher als Blogs
Mein Lieblingsfilm ist Metropolis -> Favourite: film: Metropolis
Ich bin freie Illustratorin -> Role: freie Illustratorin
Ich habe in Göttingen Biologie studiert -> Education: in Göttingen Biologie
Nächstes Jahr reise ich nach Neuseeland -> Plan: 2027 nach Neuseeland reisen
Mein Handy ist ein Pixel 8 -> Uses: Pixel 8
""",
    "french": """
Salut, moi c'est Karim, 31 ans, développeur à Nantes -> Name: Karim | Age: 31
Je m'appelle Sylvie et je travaille à la mairie -> Name: Sylvie
J'ai 45 ans et je vis à Lausanne -> Age: 45 | Home: Lausanne
Je bosse chez Dassault comme ingénieur -> Employer: Dassault | Role: ingénieur
Je suis institutrice en CE1 -> Role: institutrice
J'étudie la médecine à Montpellier -> Education: la médecine à Montpellier
Je suis allergique à la pénicilline, c'est important -> Allergy: pénicilline
Mon fils s'appelle Noé et il entre à l'école -> Child: Noé / J'ai deux chats -> Pet: deux chats
J'adore les polars -> Likes: les polars / Je déteste la coriandre -> Dislikes: la coriandre
Je préfère le thé plutôt que le café -> Prefers: le thé plutôt que le café
À partir de maintenant, réponds en français -> Language: français
Quand je dis « go », lance le script -> Rule: Quand je dis « go », lance le script
Le serveur tourne sur le port 3000 -> Port: 3000 / On a choisi Vue -> Framework: Vue
Le projet est sous licence MIT -> Licence: MIT / Je me marie en mai -> Plan: se marier en mai 2026
La semaine prochaine je pars à Rome -> Plan: partir à Rome la semaine du 2026-03-02
Je n'utilise plus Windows -> Uses: Windows (no more) / Je parle arabe et français -> Speaks: arabe | Speaks: français
Je suis diabétique -> Condition: diabétique / Je suis marié depuis 2015 -> Marital status: marié
J'habite à Metz, tu connais un bon resto ? -> Home: Metz / Ma femme s'appelle Olga, elle est avocate -> Partner: Olga
Le 12 mars j'ai un examen -> Appointment: examen le 2026-03-12 / En fait j'ai 35 ans, pas 34 -> Age: 35 (was 34)
Je me suis installée à Brest -> Home: Brest / Je suis retraité de la Poste -> Role: retraité de la Poste
Moi c'est Jojo, je suis menuisier à Vannes -> Name: Jojo | Role: menuisier
Ma femme est prof et on habite à Albi -> Wife's role: prof | Home: Albi
J'aime bien manger épicé, mais mon estomac moins -> Likes: manger épicé
Je ne bois jamais de café -> Diet: jamais de café / J'ai un petit frère -> Sibling: un petit frère
Notre base de données est MongoDB -> Database: MongoDB
J'ai démissionné de Zalando le mois dernier -> Employer: Zalando (no more)
Ma thèse doit être rendue avant le 15 avril -> Deadline: 2026-04-15, thèse
N'écris plus de commentaires en français dans le code -> Rule: N'écris plus de commentaires en français dans le code
Sois toujours bref -> Rule: Sois toujours bref
Je préfère les livres aux vidéos -> Prefers: les livres plutôt que vidéos
Mon film préféré, c'est Amélie -> Favourite: film: Amélie
Je suis illustratrice freelance -> Role: illustratrice freelance
J'ai étudié la biologie à Lille -> Education: la biologie à Lille
L'année prochaine je pars en Nouvelle-Zélande -> Plan: partir en Nouvelle-Zélande en 2027
""",
    "spanish": """
Hola, soy Diego, 31 años, desarrollador en Bilbao -> Name: Diego | Age: 31
Me llamo Carmen y trabajo en el ayuntamiento -> Name: Carmen
Tengo 45 años y vivo en Montevideo -> Age: 45 | Home: Montevideo
Trabajo en Inditex como ingeniera -> Employer: Inditex | Role: ingeniera
Soy maestra de primaria -> Role: maestra de primaria
Estudio Medicina en Salamanca -> Education: Medicina en Salamanca
Soy alérgico a la penicilina, es importante -> Allergy: penicilina
Mi hijo se llama Leo y empieza el cole -> Child: Leo / Tengo dos gatos -> Pet: dos gatos
Me encantan las novelas policíacas -> Likes: las novelas policíacas / Odio el comino -> Dislikes: el comino
Prefiero el té al café -> Prefers: el té antes que café
Recuerda: pregunta siempre antes de borrar algo -> Rule: pregunta siempre antes de borrar algo
A partir de ahora, responde en español -> Language: español
Cuando diga «dale», lanza el script -> Rule: Cuando diga «dale», lanza el script
El servidor corre en el puerto 3000 -> Port: 3000 / Elegimos Vue -> Framework: Vue
El proyecto está bajo licencia MIT -> Licence: MIT / Me caso en mayo -> Plan: casarse en mayo de 2026
La semana que viene viajo a Roma -> Plan: viajar a Roma la semana del 2026-03-02
Ya no uso Windows -> Uses: Windows (no more) / Hablo catalán y español -> Speaks: catalán | Speaks: español
Soy diabético -> Condition: diabético / Estoy casado desde 2015 -> Marital status: casado
Vivo en León, ¿conoces un buen restaurante? -> Home: León / Mi mujer se llama Olga, es abogada -> Partner: Olga
El 12 de marzo tengo un examen -> Appointment: examen el 2026-03-12
En realidad tengo 35 años, no 34 -> Age: 35 (was 34) / Me acabo de mudar a Elche -> Home: Elche
Soy jubilado de correos -> Role: jubilado de correos / Soy Paco, carpintero en Soria -> Name: Paco | Role: carpintero
Mi mujer es profesora y vivimos en Alcoy -> Wife's role: profesora | Home: Alcoy
Me gusta la comida picante, pero a mi estómago no -> Likes: la comida picante
Nunca tomo café -> Diet: Nunca tomo café / Tengo un hermano pequeño -> Sibling: un hermano pequeño
Nuestra base de datos es MongoDB -> Database: MongoDB
Renuncié a Zalando el mes pasado -> Employer: Zalando (no more)
La tesis tiene que estar lista antes del 15 de abril -> Deadline: 2026-04-15, tesis
No escribas más comentarios en español en el código -> Rule: No escribas más comentarios en español en el código
Sé siempre breve -> Rule: Sé siempre breve / Prefiero los libros a los vídeos -> Prefers: los libros antes que vídeos
Mi película favorita es Volver -> Favourite: película: Volver
Soy ilustradora freelance -> Role: ilustradora freelance
Estudié Biología en Granada -> Education: Biología en Granada
""",
    "chinese": """
大家好，我叫周倩，是一名产品经理 -> Name: 周倩 | Role: 产品经理 / 我今年27，刚毕业两年 -> Age: 27
我是重庆人，现在在深圳上班 -> Hometown: 重庆 / 我在美团做数据分析师 -> Employer: 美团 | Role: 数据分析师
我家住在武汉，靠近东湖 -> Home: 武汉 / 我对青霉素过敏，开药的时候注意 -> Allergy: 青霉素
我儿子叫乐乐，今年上小学 -> Child: 乐乐 / 我养了两只猫 -> Pet: 两只猫 / 我最爱吃火锅 -> Likes: 吃火锅
我受不了香菜的味道 -> Dislikes: 香菜的味道 / 请记住：提交信息必须用英文写 -> Rule: 提交信息必须用英文写
以后别给我长篇大论 -> Rule: 别给我长篇大论 / 删除文件之前一定要先问我 -> Rule: 删除文件之前一定要先问我
我说“发布”的时候，就运行 release.sh -> Rule: 我说“发布”的时候，就运行 release.sh
我们的服务跑在 8080 端口 -> Port: 8080 / 我们团队决定用 Rust 重写 -> Decision: 用 Rust 重写
项目用 MIT 协议 -> Licence: MIT / 我五月要结婚了 -> Plan: 2026年5月结婚
我下周五要去上海出差 -> Plan: 2026-03-06 去上海出差 / 我去年考上了研究生 -> Event: 2025年考上了研究生
我不是28岁，我29了 -> Age: 29 (was 28) / 我现在不用 Windows 了 -> Uses: Windows (no more)
我会说粤语和英语 -> Speaks: 粤语 | Speaks: 英语 / 我是左撇子 -> Trait: 左撇子
我有糖尿病，不能吃太甜 -> Condition: 糖尿病 / 我的英文名是 Kevin -> Name: Kevin
我住在南京，有什么好吃的推荐吗？ -> Home: 南京 / 我叫陈默，沉默的默 -> Name: 陈默
我在杭州一家互联网公司当测试工程师 -> Role: 测试工程师
我老婆是小学老师，我们住在苏州 -> Wife's role: 小学老师 | Home: 苏州 / 我喜欢吃辣，但是最近胃不好 -> Likes: 吃辣
我平常不喝咖啡 -> Diet: 不喝咖啡 / 我是北方人，爱吃面 -> Likes: 吃面 / 我有一个弟弟，在读高中 -> Sibling: 一个弟弟
我跟女朋友一起养了只金毛，叫可乐 -> Pet: 可乐 (金毛) / 我们项目的数据库是 MongoDB -> Database: MongoDB
我已经从字节跳动离职了 -> Employer: 字节跳动 (no more) / 我上个月搬到了厦门 -> Home: 厦门
我3月8号要做手术 -> Appointment: 2026-03-08 做手术 / 论文初稿要在4月15日之前交 -> Deadline: 2026-04-15, 论文初稿
以后代码里不要写中文注释 -> Rule: 代码里不要写中文注释 / 请叫我阿杰 -> Name: 阿杰
我更喜欢看书而不是看视频 -> Prefers: 看书而不是看视频 / 我最喜欢的电影是《千与千寻》 -> Favourite: 电影: 《千与千寻》
""",
    "japanese": """
はじめまして、小林と申します -> Name: 小林 / 今年28歳になりました -> Age: 28 / 京都の出身です -> Hometown: 京都
大阪で一人暮らしをしています -> Home: 大阪 / 普段はWebデザイナーとして働いています -> Role: Webデザイナー
楽天でエンジニアをしています -> Employer: 楽天 | Role: エンジニア
夫と息子と三人で名古屋に住んでいます -> Home: 名古屋 / そばアレルギーなので気をつけてください -> Allergy: そば
娘の名前はさくらです -> Child: さくら / うちには猫が三匹います -> Pet: 猫三匹 / カレーが大好物です -> Likes: カレー
パクチーが苦手なんです -> Dislikes: パクチー / エディタはVS Codeを使っています -> Uses: VS Code
今後は敬語を使わないでください -> Rule: 敬語を使わない
ファイルを削除する前に必ず確認してください -> Rule: ファイルを削除する前に必ず確認してください
「デプロイ」と言ったら、リリーススクリプトを実行して -> Rule: 「デプロイ」と言ったら、リリーススクリプトを実行して
サーバーは3000番ポートで動いています -> Port: 3000 / うちのチームはVueを採用しました -> Framework: Vue
ライセンスはMITです -> Licence: MIT / 5月に結婚します -> Plan: 2026年5月結婚する
来週の金曜日、東京に出張します -> Plan: 2026-03-06 東京に出張する
目標はTOEIC900点を取ることです -> Goal: TOEIC900点を取ること
先週、足を骨折しました -> Event: 2026-02-16の週 足を骨折しました
去年大学院に合格しました -> Event: 2025年大学院に合格しました / もうWindowsは使っていません -> Uses: Windows (no more)
韓国語が少し話せます -> Speaks: 韓国語 / 左利きです -> Trait: 左利き / 花粉症です -> Condition: 花粉症
タバコはやめました -> Event: タバコはやめました
神戸に住んでいるのですが、おすすめのカフェはありますか？ -> Home: 神戸 / 短い回答のほうがいいです -> Prefers: 短い回答
紅茶よりコーヒー派です -> Prefers: 紅茶よりコーヒー / 大学では経済学を専攻しています -> Education: 経済学
姉は東京で看護師をしています -> Sister's role: 看護師 / 高橋健太です、よろしくお願いします -> Name: 高橋健太
埼玉県に住んでいる会社員です -> Home: 埼玉県 | Role: 会社員
辛い食べ物が好きですが、最近は控えています -> Likes: 辛い食べ物 / コーヒーは飲みません -> Diet: コーヒーは飲みません
弟が一人います -> Sibling: 弟一人 / 柴犬のハチを飼っています -> Pet: ハチ (柴犬)
会社ではSlackを使っています -> Uses: Slack / データベースはMongoDBです -> Database: MongoDB
先月メルカリを退職しました -> Employer: メルカリ (no more) / 3月8日に手術があります -> Appointment: 2026-03-08 手術
""",
}
"""What is said in passing, in the words of every day."""
