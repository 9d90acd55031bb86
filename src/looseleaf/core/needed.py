"""Which pieces of text the long patterns need (`core/lazy.py`). Written by tests/needed.py; not by hand."""

from __future__ import annotations

ROWS = """\
017fdee275 after |before|if |once |unless|when 
01b93aa92c after|almost|aún|before|can|could|cuando|debe|doit|encore|falls|falta|fast|faut|get|going |half|has to|have t|hay qu|i'll|if|left|let's|make|muss|must|müssen|n't|nearly|need|never|nicht|noch|not|once|pas|please|presqu|quand|remain|sera|será|shall|should|si|sobald|sollte|still|to be|todaví|todo|unless|until|want|we'll|wenn|when|will|wird|would|yet|たら|ていない|ません|まだ|もし|如果|将|未|没|要|还
01bdb9e0a1 3d pri|apartm|bakery|bicycl|bike i|boat i|cabin |camper|car is|compan|cottag|farm i|flat i|garden|greenh|guitar|house |iphone|kindle|laptop|macboo|motorb|motorc|piano |restau|scoote|shop i|tablet|telesc|thinkp|van is
0245c018c2 i got |i grad|i've g
02519e1667 we alw|we mus|we nev|we sho
02b2ebe293 an :|an:|asunto|betref|cc :|cc:|date :|date:|from :|from:|objet |objet:|para :|para:|sent :|sent:|subjec|to :|to:|von :|von:
02cec18eba  prefe
03172bcb1e i actu|i curr|i now |i stil|i work
03ca0a1fc7  freel| retir| self-| unemp
03de9c73b2 anstat|apenas|au lie|aucun|barely|cant|doesnt|dont|en lug|en vez|hardly|instea|isnt|jamais|jamás|kaum|kein|n'|nadie|ne|ni|no|nunca|pas|person|rather|sans|scarce|sin|tampoc|weder|withou|wont||ず、|ずに|ない|なく|なし|ません|不|別|别|勿|无|沒|没|無
0432fdce88 a cont|als nä|ensuit|i am a|i am g|i will|i'll |i'm ab|i'm go|ich we|je vai|let me|next s|next,|next:|nächst|procha|siguie|voy a|we wil|we'll |下一步|我会|我将|接下来|次に|次のステップ|次は
044af66e6b  regar|atenta|best r|best w|best,|bestre|bien à|cheers|cordia|kind r|kindre|many r|manyre|mit fr|regard|saludo|sincer|viele |warm r|warmre|yours|敬具|此致
050f4f0333 always|answer|ask|avoid|be|call m|don't|explai|for al|format|from n|give|going |if|keep|make|never|no|only|please|rememb|reply|respon|show|skip|speak|stop|talk|use|when|write
053c531464  fluen| profi
05ad65847e all |any |both |each |every |the 
06661afb4c analys|analyz|check|classi|comple|compos|contin|conver|correc|draft|edit|explai|extrac|fix|genera|improv|paraph|parse|print|proofr|repeat|rephra|review|rewrit|say|spell|summar|transl|type|write 
06f28f3dae  alway| as a | at al| every| in ge| witho|, alwa|, as a|, at a|, ever|, in g|, with
078e805b98  not a| not f| not i| not k| not m
08060f29e0  to co| to de| to fi| to ha| to pa| to se| to sh| to su| to tu
087202e800 advice|agreem|anweis|bitte|comman|consig|costum|decisi|demand|décisi|entsch|gewohn|habit|idea|instru|note|order|petici|plan|polici|policy|practi|prefer|préfér|regel|regla|reques|requir|rule|règle|sugges|vorlie|wish
0cdfb46653 no 
0e22d37895 accept|became|been|change|emigra|got|hired|joined|landed|moved|promot|reloca|settle|starte|switch|took|turned|went
0eb8aeefb8 nach|seit|vor
0f2d7d75c7 answer|arabic|basque|bengal|canton|catala|chat|chines|commun|conver|czech |danish|discus|dutch |englis|explai|farsi |finnis|french|german|greek |hebrew|hindi |hungar|indone|irish |italia|japane|korean|latin |malay |mandar|norweg|persia|polish|portug|replie|reply|respon|romani|russia|spanis|speak|swahil|swedis|talk|tamil |text|thai |turkis|ukrain|urdu |vietna|welsh |write
0fa557b6e5 i was 
1021a4f22b do not|don't 
10af8cb45b can yo|could |hello|help m|hey|hi|i need|i want|i'd li|kindly|let's|now|ok|please|so|then|will y|would 
122097f323 i am|i have|i'm|i've b|im
1253ae5627 here|in the|in thi
12aa89f184 broken|bug|crash|does n|doesn'|erreur|error|except|fail|fallo|fehler|flaky|geht n|hang|isn't |issue|kaputt|leak|no fun|not wo|panne|slow|wrong|エラー|不工作|動かない|壊れ|失敗|失败|崩溃|报错|错误
12ed1a5dbd can yo|could |will y|would 
1385b5efef is |just t|turned
1393782ca0 use 24|use am|use br|use ca|use ce|use co|use do|use eu|use fa|use im|use is|use me|use ox|use sn|use uk|use us
1438c0b856 has |is 
14661e7806  as a | as my| as ou| as th| that | that'| this |, as a|, as m|, as o|, as t|, that|, this
14b4962d53 we are|we wil|we won
14f091e0bb hace |il y a|vor 
1544f929ec -
154f1f0689 everyo|her|him|it|me|that|the |their|them|these|this|those|us|you
15833c6f02 i acce|i got |i have|i just|i land|i rece|i took|i've a|i've g|i've j|i've l|i've r|i've t
158d6e3ab5 albani|algeri|americ|argent|armeni|austra|austri|basque|belgia|bengal|bosnia|brazil|britis|bulgar|canadi|catala|chilea|chines|colomb|croati|cuban|czech|danish|dutch|egypti|englis|estoni|ethiop|filipi|finnis|french|georgi|german|ghanai|greek|hebrew|hungar|icelan|indian|indone|irania|iraqi|irish|israel|italia|japane|kenyan|kiwi|korean|latvia|lebane|lithua|malay|mexica|morocc|nigeri|norweg|pakist|persia|peruvi|polish|portug|romani|russia|scotti|serbia|singap|slovak|sloven|south-|spanis|swedis|swiss|syrian|taiwan|tamil|thai|tunisi|turkis|ukrain|urdu|vietna|welsh
15be954de8 calcul|compos|create|descri|design|draft|escrib|explai|genera|implem|rephra|rewrit|schrei|solve|summar|traduc|tradui|transl|write|écris|überse|写|書いて|翻訳|翻译
16f85986be addres|call m
17e16ec750 , alwa
18a4649739  me as| me li| to me
18e1b9e56e i also|i play
19d833ee39 after |am |before|bis |by |depuis|desde |el |last |next |on |seit |since |this |till |until 
1b0876ef31 i am|i have|i'm|i've b|im|it's|its|this i
1badc0d306 i am p|i am s|i am t|i'm pr|i'm sa|i'm st|i'm tr
1c594aef32 i do n|i don'
1c7135036c  emplo| worki
1d18356e09  and i
1dc8eae4db i have|i've b|i've e|i've g|i've r|i've s|we hav|we've 
1f709c392b adopte|back f|became|become|bought|broke |came b|climbe|comple|crashe|defend|divorc|emigra|ended |failed|finish|flew t|founde|gave a|gave b|gave m|gave t|got ac|got ci|got di|got en|got fi|got hi|got in|got la|got ma|got my|got pr|got ro|got te|gradua|had |hiked |immigr|inheri|joined|launch|learne|lost m|marrie|moved |my dri|my fir|my mas|my phd|opened|passed|publis|quit m|ran a |ran an|ran my|ran th|releas|retire|return|signed|sold m|sold o|sold t|sprain|starte|surviv|tore|travel|visite|was at|was ba|was bi|was di|was el|was fi|was hi|was ho|was in|was la|was mu|was pr|was ro|went t|won 
2032ae8bf5  are m| has a| is my
203e9035c0 abril|agosto|aout|août|apr|aug|avril|dec|dez|diciem|décemb|enero|feb|fevrie|févrie|jan|juille|juin|jul|jun|jänner|mai|mar|may|märz|nov|oct|okt|sep
22214b0586 baseme|bathro|bed|car|cave|cloud|couch|excel|future|garage|gym|head|heaven|hell|inbox|intern|kitche|librar|mars|matrix|moon|now|pajama|presen|pyjama|shower|slack|sofa|spread|termin|vim
2263c5ea77 my big|my fav|my hob|my mai
22aa3bbb27 teach 
22b394c86d expect
2479015a6c a big |a fan |a huge|a mass|a real|crazy |fond o|into |keen o|obsess|passio
2570d17342 addres|city|compan|label|name|produc|street|subjec|title|town
26e1accca7 agreed|consen|decide|decisi|it's d|it's o|it's s|outcom|plan o|resolu|resolv|settle|team v|the te|verdic
27d52ae674 i am l|i am t|i'm le|i'm tr
284c3bc27a amount|balanc|code|cost|fee|id|index|line|no|nr|num|offset|page|port|price|quanti|score|sum|total|versio|year
293bf1df4f ://|@|www.
2967c5eac7 died|gave b|got en|got ma|gradua|had a |had su|had tw|moved |passed|retire|was bo
29caefaed7 deadli|final |hard d|my dea|my fin|my har|my sub|our de|our fi|our ha|our su|submis|the de|the fi|the ha|the su
2b11cc43ab  chang| migra| moved| switc| went 
2cf4d7274e anteay|après-|aujour|avant-|ayer|day af|day be|demain|gester|heute|hier|hoy|last n|mañana|morgen|pasado|the da|this a|this e|this m|today|tomorr|tonigh|vorges|yester|übermo
2e56cf59ed abgesc|added|behobe|booked|cancel|closed|comple|corrig|done|droppe|erledi|fertig|fini|fixed|gelöst|hecha|hecho|implem|lista|listo|merged|paid|passes|releas|remove|resolv|resuel|résolu|sent|shippe|solved|termin|umgese|update|works |writte|修好|做好|完了|完成|搞定|済み|終わり|解决了|解決し
2fa3380da5 i got |i have|i've 
2fc12d81e5 a part|ab jet|all|always|any|as a r|by def|cada|chaque|désorm|each|ever|from n|immer|jed|must|only|siempr|stets|toda|todo|toujou|tous|tout|whenev|いつも|これから|ずっと|一律|一直|今后|今後|以后|常に|必ず|总是|毎|每|永远|總是|都
2ff21df48e fav |fave |favori|favour|favs 
30a7002a03 it tur|turns 
312c9dba6b angeno|e.g.|for ex|hypoth|imagin|in a d|in a f|in a g|in a m|in a n|in a s|in my |in the|in thi|let's |par ex|por ej|preten|role-p|rolepl|stell |supong|suppos|what i|zum be|もしも|仮に|例えば|假如|假设|想象|比如
313298cdb9 前|后|後
317553d0f0 dans |dentro|en |in 
32ae4114fc commen|docs i|docstr|docume|identi|messag|names 
34d5c8a1e5 arabic|basque|bengal|canton|catala|chines|code|coding|commen|commit|czech |danish|docs|docume|dutch |englis|farsi |finnis|french|german|greek |hebrew|hindi |hungar|identi|indone|irish |italia|japane|korean|latin |malay |mandar|norweg|persia|polish|portug|romani|russia|spanis|swahil|swedis|tamil |thai |turkis|ukrain|urdu |variab|vietna|welsh 
363f5412bb appele|call|llamar|name|nenn
3663afb526 compan|employ
36f35d56f7 my cur|my mai|my pet|my pro|my sid
375671ab54 i got |i have|i've 
37e2e02542 aborre|allerg|annoy|averse|awful|bother|despis|detest|dislik|drive |drives|détest|fed up|gross|hasse|hasst|hate|hating|horreu|irrita|least|loath|nerv|odia|odio|sick o|stand|terrib|tired |verabs|worst|受不了|嫌|怕|恨|苦手|討厭|讨厌
38486e071b stop s|stop u|stop w
38ca90e66d for al|for an|for ea|for ev
3a33361138 i am o|i are |i'm of|i're o|we am |we are|we'm o|we're 
3c4e57fcb1 anaemi|anemic|asthma|autist|bipola|blind|celiac|coelia|color |color-|colorb|colour|deaf|diabet|dyslex|epilep|gluten|hard o|lactos|near-s|nearsi|pregna|short-|shorts|type 1|type 2|visual
3d22e3e90f died|had to|passed|was pu
3d663c236d and|are|becaus|but|can|did|do|dónde|est-ce|haben|had|has|hat|have|how|is|où|que|qui|quoi|qué|war|was|were|when|where|which|while|who|why|will|would|wurde
3dbf9a31ec my e-m|my ema|my new|my pri|my wor|you ca
3e34ec1b76 bake |brew |build |croche|dance |draw |knit |paint |restor|sew |sing i|volunt
3e3782a566 play a|play b|play c|play d|play e|play f|play g|play h|play k|play o|play p|play s|play t|play u|play v
3e9437e5c5 s as |s get |s go |s have|s in |s must|s need|s shou|s with
3ee000c23e about |consid|dream |dreami|espero|going |hope a|hope o|hope t|hoping|j'aime|je veu|je vou|me gus|möchte|plan a|plan o|plan t|planni|quiero|thinki|trying|träume|wanna |want a|want o|want t|wants |wish a|wish o|wish t|たいです|たいと|たいな|希望|想要
3f46130b4f always|belong|have t|may ne|must |need a|need t|never |should
3f8fd38eee major |majore|majori|studie|study |studyi
3fa27abd0c i have|i hold
3fa837ca6b added|becaus|booked|can't|cancel|cannot|cause|change|comple|could |couldn|create|delete|deshal|done|due to|encont|erfolg|erreur|error|failed|fails|fehler|fixed|found|gefund|hecho|howeve|instea|means|nicht |not al|not av|not el|not en|not fo|not po|only|parce |passed|passes|porque|proces|reason|refund|remove|requir|resolv|result|since|succes|termin|theref|total|trouvé|turns |unable|update|weil|works|ため|できません|发现|因为|失敗|失败|完了|完成|成功|所以|无法
3fce07ade9  bette| more 
3fd30a6a7f cuando|falls|if|imagin|lorsqu|once|preten|quand|si|suppos|unless|wenn|when|たら|もし|假如|如果|要是
40952491bd back i|in |my fir|my ver|of 
40f3387ccc :)|:-)|:d|;)|;-)|<3|^^|all of|always|and al|and i |and i'|and it|and ne|and pr|and th|anyway|as alw|as i m|as i s|as usu|as you|at las|at the|been a|believ|boring|born a|both o|btw|but th|by the|can't |cheers|deal|don't |end of|finger|for re|for su|for th|for wh|full s|fwiw|fyi|genera|go fig|go me|got it|guilty|hah|hands |has be|have b|heh|honest|hooray|i know|i swea|i thin|if it |if tha|if you|in cas|in gen|just f|just s|long l|long s|luckil|mostly|never |no exc|not ki|nowada|obviou|of cou|ok|period|phew|please|proud |sadly|seriou|sigh|so exc|so kee|so ple|sorry|sue me|surpri|tbh|thank |thankf|thanks|that's|these |to be |true s|trust |ugh|unders|unfort|usuall|weird |weird,|weirdl|what c|which |wish m|woo|xd|yay|you kn|
412c6c7c24 a|best|better|betwee|big|but|by|first|from|full|good|if|inclus|is|its|little|my|new|next|nice|of|or|our|own|per|positi|simple|some|strong|such|the|to|very|were|when|where|which|whole|whose|with
4180cbf14c  dairy| flexi| fruit| glute| halal| keto| koshe| lacto| low-c| paleo| pesca| plant| vegan| veget
41a0088f97 , 
41abd0f53b and |but |or 
41d5cc958c abril|agosto|août|april|august|avril|bre|dec|dez|dic|diz|déc|déz|enero|feb|fev|févr|januar|janvie|juille|juin|juli|julo|juni|juno|jänner|mai|mars|marzo|mayo|märz|nov|oct|okt|septem|setiem|月
41eb84ec11 licenc|licens|publis|releas
42a9ea22a8 alrigh|also |also, |always|as a g|as a r|cheers|from h|from n|going |got it|if pos|if tha|if you|kindly|ok|please|thank |thanks|that g|that i|that's|this i|thx|to |to, |unders|would 
43261588c4 ceci|cela|esto|folgen|follow|lo sig|that|these|thing|this|those|以下|这些|這些
433b1396d9 abbrev|all ca|all-ca|apolog|bullet|buzzwo|cliche|cliché|commen|dashes|deploy|discla|em das|emoji|emotic|exclam|filler|flatte|footno|force |force-|global|hashta|headin|hedgin|intro|jargon|jokes|magic |markdo|meetin|mocks|passiv|preamb|puns|semico|small |smiley|spoile|sugarc|sweari|tables|tabs
43a84fe801 a|from |living|origin|studyi|workin
43fce61eab name i
4433d847b4 my 
44730bd1dd can't |cannot|despis|detest|dislik|hate |loathe
44755c4524 as |for 
4526fb6c04  it is| it's | that | that'| this 
4576898707 aim to|intend|plan o|plan t|planni|schedu|set on|set to
45b8d7643d works 
461d5eddd7 approv|ask|attend|bestät|check|confir|consen|consul|demand|espera|frag|inform|leave|okay|permis|pregun|pregún|tell|wait|warn|wart|問|征求|待|确认|確認|等|聞|許可|问
465649024c  for a
465da48b17 i gave|i give|i quit|i stop|i've g|i've q|i've s
468fd736a8 i|je|ma|mes|mon|my|our|we|yo|我|私
47dfda4590 curren|is cur|is maj|is now|is sti|is stu|majori|now ma|now st|still |studie|studyi
48a4617ac4 -
48d359abca my acc|my adv|my ass|my cle|my coa|my den|my doc|my god|my gp|my hai|my lan|my law|my men|my nan|my nei|my nex|my phy|my psy|my tea|my the|my tra|my tut
48d5f18256  unles| until
49a9cec12d betwee|de |du |entre |from |vom |von |zwisch
4a721a63ed i do n|i don'|i neve
4b163e7485 i know
4b929b2ca7 also|am|can't |collec|come|discus|don't |drive|enjoy|grew u|has|hate|have|know|like|live|love|moved|own|plan t|play|prefer|run|speak|study|teach|use|work|write 
4c0eef72d1 in my 
4c1b35a402 estoy|i|j'|je|me|nosotr|soy|tengo|trabaj|us|we|yo|俺|僕|我|私
4c43b271d9 as|friday|here|monday|noon|now|ok|saturd|so|sunday|that|thursd|today|tomorr|tuesda|wednes|well|what|yes
4c8379ff12 treat 
4cd2fbc742 it's |that's|this i
4d299220fc  based| livin| stayi|home i|i actu|i curr|i have|i just|i live|i now |i resi|i stil|i've b|i've l|my hom|we liv|we're 
4d35afbc99 ab |after |around|before|bis |by |depuis|desde |early |en |for |from |im |in |late |mid |seit |since |till |until 
4ead8127ea 19|20|nd|rd|st|th|un an|あさって|おととい|今|先|前|去|后|周|天|年|後|日|明|星|昨|曜|月|来|礼|週
4f5209d7e7 19|20|ages|ago|all|app|april|backen|code|compan|data|days|db|decemb|defaul|deploy|end|every |everyt|exampl|februa|fronte|future|genera|good|here|hostin|it|januar|july|june|last |licenc|licens|long r|long t|main|march|may|me|months|new|next |novemb|now|octobe|packag|persis|port|primar|proces|produc|progra|projec|repo|septem|short|softwa|stack|storag|sure|system|team|test|that|the fu|these|thing|this|those|us|versio|web fr|weeks|work|year
4ff2bfdfe9 we do |we don
4ffd07de62 add|build|change|check|compar|compos|conver|create|descri|design|draft|draw|explai|find|fix|genera|give|help|i need|i want|i'd li|implem|list|make|plan|recomm|refact|review|rewrit|shorte|show|sort|sugges|summar|tell|transl|update|write
52db88b525  inste| now i| now, |, inst
543c591434 i have|i was |i'm di|i'm ju|i'm re|i've b
5447f6e2f9 automn|autumn|fall|frühja|frühli|herbst|hiver|invier|last f|otoño|past f|primav|printe|sommer|spring|summer|the au|the fa|the fr|the he|the hi|the in|the ot|the pr|the so|the sp|the su|the ve|the wi|the ét|this f|verano|winter|été
5499532300 i got |i have|i've 
54e521f208 'd |'ll |'m |'re |'s |'ve |am |are |be |can |could |did |do |does |had |has |have |is |may |might |must |seem t|seems |shall |should|was |were |will |would 
54e9975ab9  are d| are n| are s| aren'| broke| divor| got d| gotte| separ| split
553d191b28 keep 
557497288d change|deadli|extend|moved |pushed|shifte
565858e4f3  alway| every| in | only 
565ee4dc16 betwee|from 
56e6750561 i got |i have|i'm ha|i've |we got|we hav|we'm h|we've 
577804dfe7 always|at|awful|bad|becomi|challe|chaoti|compli|crazy|demand|diffic|dream|dull|easy|exhaus|flexib|fun|good|hard|hell|horrib|how|import|in|just|mess|never|nightm|no|ok|on|over|perman|pretty|quite|really|remote|repeti|reward|safe|secure|so|still|stress|tempor|terrib|this|to|unclea|very|weird|where|why|yours
57eb7351b5  doing
5a2fae9e3d dienst|dimanc|doming|donner|freita|fri|jeudi|jueves|lundi|lunes|mardi|martes|mercre|mierco|mittwo|miérco|mon|sabado|samedi|samsta|sat|sonnab|sonnta|sun|sábado|thu|tue|vendre|vierne|wed
5a567b6e6a  again| is al| is fi| is no| is ok| is pe| once |, agai|, once|it is |it's a|it's f|it's o|you ma
5afaf649b5  it| so| that| them| these| this| those
5b40cf8d2c we are|we're 
5bfd4e3a98 my fir|my mot|my nat
5c2705db4a at the|curren|for no|for th|right |tempor|these |this s|this t
5cabbe4a38 after |before|follow|prior |since |till |until 
5e634a33ad  |addres|always|answer|don't|drop|forget|i|keep|my|never|new|ok|only|our|rememb|reply|respon|rule:|rules:|scrap|speak|stop|talk|the|use|whenev|zero
6178bd7e8a i was 
61db747ee3 curren|latest|our cu|our la|our ve|the ap|the cu|the la|the li|the pr|the ve|versio|we are|we're
62480253aa  emigr| moved| reloc
639330bebb you do
63ddb3915d a dit|a écri|accord|afirma|asked |behaup|claime|claims|dice|dijo|disait|escrib|insist|laut|meinte|préten|read|recomm|sagt|said|says|schrie|según|selon|stated|states|tells|thinks|told|wants |writes|wrote|と言った|と言って|によると|表示|说
6445c78cac works 
645f27f326  doesn| is go| is li| is no| is of| no lo| rule|about |my rul|our ru|that r|the ru
64604ba45a if in |when i
6482a3b527 a coup|a few |as of |back i|by |during|earlie|early |four |in |just |last |late |next |on |over |recent|since |some |the |this |three |today|tomorr|two |yester
64c8b90202 as a g|as a r|by def|in fut|in the
651914a7f7  enjoy| like | love | want 
653eb526af ab |after |around|before|bis |by |depuis|desde |en |from |im jah|in |seit |since |till |until 
662fac48b2  next | on | this | tomor
664bd8e4dc age|alt|ans|años|bin|edad|i am|i'm|im|jahre|old|turn|year|âge|岁|才|歳|齢|龄
673289a123 analys|analyz|aquí e|aquí t|aquí v|below|check|ci-des|classi|comple|copied|correc|corrig|dice|dit|escrib|extrac|fasse|fix|folgen|follow|found|got|grade|here|hier d|hier f|hier i|hier k|hier s|improv|in|korrig|paraph|parse|paste|polish|proofr|reads|receiv|repeat|rephra|resume|review|rewrit|résume|sagt|said|say|schrie|see|shorte|siguie|spell|states|summar|this i|traduc|tradui|traduz|transl|voici|voilà|what d|write|wrote|écrit|überse|これは|下面是|以下の|以下は|以下是|修改|总结|改写|校对|校正|次の|润色|添削|翻訳|翻译|要約|这是|这里是
674da8a349 actual|correc|h|i mean|it's a|je vou|make i|make t|my bad|my mis|nein|no|oops|pardon|perdón|quise |sorry|wait|well|いいえ|いや|すみません|是|間違えました
6787823b0c  calle| named
681585f96c ash |black |bloody|casual|cyber |easter|fat |freaky|good |palm |ruby |super |taco 
6896d0cf2b i fina|i just|i rece|i sold|i've f|i've j|i've r|i've s
68a86148a8 i was 
68cc8a6d5d i also|i alwa|i curr|i main|i most|i now |i only|i prim|i stil|i use |i usua
697dd0be8e after|and|around|at|betwee|by|early|for|from|in|mid|of|on|till|to|until
69d76315da error|except|failed|failur|fatal|panic
6a6428d36f  work|'ve be
6ade5ae962 is a d|is a f|is a g|is a h|is a k|is a l|is a p|is a v|is an |is dai|is fle|is fru|is glu|is hal|is ket|is kos|is lac|is low|is pal|is pes|is pla|is veg
6c15839e34  at al| at an| ever| under|, at a|, unde
6d3a21de20  books| cuisi| films| food| games| movie| novel| shows| stori
6d6436cc70 be blu|be bri|be con|be cri|be dir|be for|be hon|be inf|be pol|be pre|be spe|be str|be ter
6d759306da after |again |before|first |for no|for on|for th|forget|here|in thi|just o|now|right |that f|that l|that o|that t|the ab|the at|the be|the fi|the fo|the he|the la|the ne|the ot|the se|then|these|this a|this b|this c|this d|this e|this f|this l|this m|this o|this p|this q|this r|this s|this t|this w|today|tomorr|tonigh|when y|while |yet
6dab254afd all |après |avant |during|nach |throug|vor 
6db8276ad6 after |as a t|at |despit|due to|during|eventu|follow|for |given |in |last |ultima|with |yester
6e35dc52e3 as a |as an |speaki
6e4273ffdd 周|星期|礼拜|週
6e8556c174  aller
6f8edf058b for th|this w|today|until 
6fcaf969f3 analys|analyz|aquí e|aquí t|articl|artike|below|brief|carta|chat|check|classi|code|commen|comple|contin|conver|correc|correo|corrig|courri|docume|draft|edit|error|essay|excerp|fasse|file|fix|folgen|follow|here|hier i|hier k|improv|korrig|letter|lettre|log|mail|mensaj|messag|nachri|output|page|paragr|paraph|paste|phrase|poem|polish|post|prompt|proofr|página|read|receiv|repeat|rephra|report|respon|resume|review|rewrit|résume|seite|senten|shorte|siguie|site|song|story|summar|text|this i|traduc|tradui|traduz|transc|transl|voici|voilà|write|überse|下面是|以下の|以下は|以下是|总结|改写|校对|校正|润色|添削|翻訳|翻译|要約|这里是
70fa3ff3f9 always|do not|don't |never |not ev|only e|under 
710ecaff45 color|colour|design|idea|layout|look|photo|pic|style|theme|touch|vibe
719aa96add after |antes |apart |aside |avant |before|bevor |other |until |up unt
71fbf83a5c i live
724c93771e after |before|follow|prior |since |till |until 
729f398107 we are|we wil|we'll |we're 
72ae0879ac a bit |about |and|anothe|as alr|as i m|as i s|as men|as you|backgr|bad ne|be awa|before|big ne|btw|by the|contex|did yo|first |firstl|for co|for re|for th|for wh|for yo|frankl|fun |fwiw|fyi|good a|good d|good e|good m|good n|heads |heads-|headsu|hello|hey|hi|honest|i forg|i just|i must|i shou|i'd ju|i'm no|if it |if tha|import|in cas|it cou|it may|it mig|it's w|just a|just f|just h|just s|just t|like i|little|luckil|may wa|might |mornin|news|not su|oh|ok|one |ought |p.s.|please|plus|ps|quick |sadly|second|should|side |since |small |so|tbh|to be |unfort|well|you ma|you mi|you ou|you sh
7404447243 </loos|</memo|</reca|<loose|<memor|<recal
74c5bb1804 i gone|i have|i just|i rece|i went|i've g|i've j|i've r|i've w
7590659045 i eat|i foll|i keep|i only
76d11719de  as a | at al| by de| every| for f| from | going| hence| in fu| in th| movin| start| until| witho|, as a|, at a|, by d|, ever|, for |, from|, goin|, henc|, in f|, in t|, movi|, star|, unti|, with
77a3bc065f  on a | on an| on my
77d30940b2 19|20|abhäng|ahora|alles|base d|ce pro|cet pr|daten|depend|diese |diesem|diesen|dieses|dépend|equipo|este p|framew|gest|hauptd|jetzt|moment|paket|paquet|projek|projet|proyec|prueba|repo|team|test|todo|tout|équipe|包管理|数据库|框架|测试
780831c571 i do |i prac
7880dab3fc as a g|as a r|at all|by def|every |for fu|from h|from n|from t|going |hencef|in fut|in the|moving|starti|until |withou
78cf79bb0d aunt|axolot|baby|beagle|bf|boss|boyfri|bro|buddy|budgie|bulldo|canary|cat|child|chinch|co-wor|cockat|collea|collie|corgi|cousin|cowork|dachsh|dad|daught|dog|eldest|father|ferret|fiance|fiancé|flatma|friend|gecko|gf|girlfr|goldfi|gran|greyho|guinea|hamste|hedgeh|horse|hubby|husban|husky|kid|kitten|labrad|lizard|manage|mom|mother|mum|nephew|niece|oldest|parrot|partne|pony|poodle|pug|puppy|rabbit|retrie|roomma|siblin|sis|snake|son|spanie|spouse|stepbr|stepda|stepfa|stepmo|stepsi|stepso|superv|teamma|terrie|tortoi|turtle|twin|uncle|wife|younge
78dcebc28d  are | is 
78e90d53ad i atte|i go t|i went
7959567546 :|agent|ai|assist|bot|chatgp|claude|custom|human|interv|suppor|system|user
79b908f3f2 i am t|i'm tr
79bb6a06b9 a bit |about |actual|ah|all|althou|and|anyway|as|at the|backgr|becaus|beside|big ne|btw|but|by the|carefu|contex|curren|dear |even t|everyo|first|friend|fyi|genera|good|great|heads |hello|hey|hi|hmm|honest|i mean|i shou|i want|if it |in gen|just|keep i|let me|like i|news|nice t|no|oh|ok|one mo|one th|or|p.s.|plus|ps|quick |rememb|remind|right |sad ne|second|since|so|sure|tbh|thank |thanks|the th|then|there|these |though|to be |today|uh|um|update|wait|warnin|well|yep|yes|yet|you sh
79fefc7a8a ich|mein |meine |unser |unsere|wir
7a00652445  here
7a35d7ce82  a dad| a fat| a mom| a mot| a mum| a par| a pro| a sin| a sta| an da| an fa| an mo| an mu| an pa| an pr| an si| an st
7b5bc75967 i do 
7ba99088c6 everyo|folks|he|how|it|people|that|those|what|which|who|you
7be667bb9c branch|bug|class|compon|config|docker|email|error|essay|file|fix|form|functi|health|image|issue|letter|list|loop|method|migrat|page|post|pr|query|readme|regex|reply|report|script|slide|someth|table|task|test|thing|this|ticket|today|tonigh|tweet
7c06cbd73c if i |if you|once i|once y|when i|when y
7c2c1b349a  build| compo| creat| desig| devel| editi| maint| recor| renov| resto| trans| worki| writi
7c754a1090 19|20|月
7c775a0f0c i am n|i'm no
7c80294c00 i got |i just|i rece
7d588e374f i deve|i main|i run 
7e5158df7a  agree| chois| chose| conve| decid| décid| in pl| inste| opted| opté| picke| rathe| settl|acorda|agreed|beschl|decide|decidi|decisi|décisi|entsch|gardon|go wit|haben |he aco|he dec|he ele|he opt|hemos |i am g|i am s|i'm go|i'm st|ich ha|it has|it is |it was|it's a|it's d|lass u|lassen|lasst |let's |made u|nos qu|nous a|on par|on va |optamo|prenon|resolu|stay w|stick |the pl|usemos|utilic|utilis|vamos |we are|we sha|we wil|we'll |we're |wir be|wir bl|wir ha|wir ne|wir nu|wir se|wir st|wir ve|ことにした|ことにしまし|ことにします|ことにしよう|ことになりま|ことに決め|でいきましょ|にしましょう|に決めた|に決めました|に決めます|に決定|を採用|决定|定下来|就用|我们选择|我们采用|改用|敲定
7eb3f9053c i adop|i got |i have|i just|i rece|i've |we got|we hav|we've 
7ecb461ba1 i like|i love|i want
7f826b592b in 
8235b27c7a i also|i can |i only|i spea
82c1a6efae only a|only b|only c|only e|only g|only m|only r|only s|only t|only u|only w
82d11beaeb adore |enjoy |like |love 
845b4b032f  on | runni| using
848864dfa3  consi| every| throu
851afca1a5 abril|agosto|aout|août|apr|aug|avril|dec|dez|diciem|décemb|enero|feb|fevrie|févrie|jan|juille|juin|jul|jun|jänner|mai|mar|may|märz|nov|oct|okt|sep
8521548903 addres|again|all|always|answer|any ti|anytim|at mos|avoid|be|by def|chat|commun|consis|conven|conver|don't|drop|each|ever|explai|expres|fine|forget|format|from h|from n|future|give|going |hencef|if|in dou|keep|make s|max|moving|must|name|need|no|ok|once i|only|permit|policy|prefer|prices|print|put|quote|reply|respon|round|rule|scrap|should|show|skip|sort|spare|speak|state|stop|talk|throug|treat|unless|until|use|want|when i|when y|whenev|word|write
85be8f7fd4 : i|: my|: we
85cbd7505b my com|my emp|my new
867ac2f183 each |every 
874d302ce1  an fr| année| ano f| anos | ans f| año f| años | day f| days | dia f| dias | día f| días | jahr | jahre| jour | jours| mes f| meses| mois | monat| month| semai| seman| tag f| tage | tagen| week | weeks| woche| year | years
8787fe5983 i can 
87ce2f23a7 aren|bc|can|coz|doesn|don|gonna|hasn|haven|i|let|pls|plz|that|they|u|wanna|wasn|weren|what|won
884254cb28 call m|my |reach |you ca
88c799db55 answer|check|correc|edit|feedba|fix|grade|improv|look a|polish|proofr|read|rephra|review|rewrit|shorte|summar|transl|what d
890655729f ella|elle|ellos|er|he|il|you ar|you're|él|さんが|さんは|他|她|彼が|彼は|彼女
89f59c50ea an ago|année |années|ano ag|anos a|ans ag|año ag|años a|day ag|days a|dia ag|dias a|día ag|días a|hace a|hace u|il y a|jahr a|jahre |jahren|jour a|jours |mes ag|meses |mois a|monat |monate|month |months|semain|semana|tag ag|tage a|tagen |vor ei|week a|weeks |woche |wochen|year a|years |几个月前|几周前|几天前|几年前|几日前|几星期前|数个月前|数周前|数天前|数年前|数日前|数星期前
8a2ea90940 a lot|actual|after|alread|althou|and i|and my|and th|and we|any mo|anymor|anyway|as lon|as wel|at the|becaus|before|btw|but|by the|curren|due to|during|even|for a |for ag|for ev|for my|for no|for ye|hah|hands |hence|if|in cas|in par|just|lately|like c|more t|mostly|not|now|of cou|please|recent|right |since|so|tbh|thank |thanks|that|the mo|then|these |though|thus|to be |too|unless|until|very m|when|where|which|while|who|with a|with m
8aaac60e3c curren|is bas|live i|lives |living|now is|now li|now re|reside|still 
8b17dc78af après |avant |depuis|during|early |en mar|en may|in mar|in may|late m|mid ma|since |till m|until 
8c030e3896 19|20
8c2cfa63df do not|don't 
8cffc1ff02 , almo|, did |, didn|, does|, fina|, luck|, neve|, nobo|, stil|, than|, won'|are|can|could|didn't|doesn'|don't|feels|found|gets|had|has|have|is|keeps|looks|makes|needs|read|seems|takes|took|was|were|will|won't|works|would
8d56de9645 am i|any|are|can|could|did|do|got an|have y|help|how|is|may i|ok|right|shall|should|what|when|where|which|who|why|will|won't|would
8e860ae08f  in | on 
8ee207e64d if you|when y
8f04760048 i go b|i go c|i go d|i go f|i go h|i go k|i go r|i go s|i ofte|i regu
900dc140e6  as | at | by | in | like | to | using| with 
90b87418e9 be car|be gra|be hap|be hum|be kin|be on |be pat|be pro|be rea|be sad|be str|be tha|be the|be tru|chase|cheris|dream|drink|each o|eat|enjoy|for gr|give u|keep b|keep c|keep f|keep g|keep l|keep m|keep o|keep p|keep s|keep t|keep u|keep w|look a|look b|look f|my fri|one an|relax|rest|say ne|say no|say ye|sleep|smile|stay c|stay f|stay h|stay i|stay p|stay s|stay t|sunscr|think |too ha|too la|too mu|wear|work h|your |yourse
921afaf2db call m|calls |i am c|i chan|i go b|i usua|i'm ca|i'm kn|i've c|it is |it's s|my fir|my ful|my nam|my rea|the na
92468106d0 please
925da854fa i live|i stru|i suff
93015d1f82 start 
935bd89fe0 ask be|ask fi|ask me|ask us|check |consul|notify|ping b|ping f|ping m|ping u|tell b|tell f|tell m|tell u|warn b|warn f|warn m|warn u
937bb76d0c  claim| read| recom| said| say| state
93f1ccc5c7  than 
95d13f09fd elijo|escojo|i want|i will|i woul|i'd li|i'd ra|i'll c|i'll g|i'll p|i'll s|i'll t|i'll u|ich bl|ich ne|ich wä|je cho|je pre|je vai|me que|にします|我要用|我选
96374aae11 as |for |in |inside|on 
965206efe8 city|coast|countr|east|farm|hamlet|island|mounta|north|south|suburb|town|valley|villag|west
96658ca4bc could |he'd|hopefu|hätte|i'd|if onl|it'd|maybe|might|ojalá|perhap|peut-ê|quisie|quizá|should|si j'é|they'd|vielle|we'd|wish|would|wäre|würde|だったらいい|要是能
96ab415f04  from | off | over 
96fe573251 add|analys|analyz|bitte |book|build|calcul|can yo|cancel|change|check|clean|compar|config|conver|could |create|debug|delete|deploy|docume|draft|explai|figure|find|fix|genera|help m|i need|i want|i woul|i'd li|implem|instal|invest|kannst|könnte|let's|look|make|mend|merge|migrat|move|optimi|order|peux-t|plan|podría|por fa|port|pouvez|prepar|puedes|refact|releas|rename|repair|replac|review|rewrit|run|s'il t|schedu|send|set up|show|sort|speed |summar|test|transl|update|upgrad|will y|would |write|お願いします|してください|して下さい|作って|帮我|把|書いて|直して|请|麻烦
97e2a225ab  a boy| a cis| a gir| a guy| a man| a tra| a wom| an bo| an ci| an gi| an gu| an ma| an tr| an wo
9834ae97a4  derni| pasad| passé| proch| próxi| que v| qui v
989e4feace antes |après |avant |depuis|desde |despue|despué|tras 
98e3f5b049 adopte|adopti|agreed|built |chose|decide|deploy|go wit|going |host|implem|manage|migrat|moved |moving|on|opted |opting|picked|ported|portin|run al|run ou|run te|run th|run wi|runnin|runs o|runs w|settle|settli|standa|stay o|stay w|stayin|stick |sticki|switch|test u|test w|tested|tests |use|using|went f|went w|write |writte
98f8ffbce8 a bit |afraid|always|ambide|ambive|awful |bad |cat pe|claust|coffee|disorg|dog pe|early |evenin|extrov|fast r|forget|heavy |homebo|hopele|impati|introv|left-h|leftha|light |minima|mornin|neat f|night |optimi|people|perfec|pessim|pretty|procra|quite |really|right-|righth|scared|shy|slow r|so awf|so bad|so hop|so ter|supers|terrib|terrif|usuall|very a|very b|very c|very d|very f|very h|very i|very s|very t|visual|workah
9a515fd91e antes |après |avant |despué|during|her |his |im som|im win|in ear|in lat|in mid|my |nach |our |the |their |throug|vor 
9a68aa4b35 do not|don't |stop 
9b154d6c44 i am p|i are |i'm pl|i're p|we am |we are|we'm p|we're 
9b648febf6 let's |we are|we wil|we'll |we're 
9d331a7a3f hah|lmao|lol
9da74d9eeb i got |i have|i've 
9ea50f3d65 collec
9f18520b42  crash| fail|beginn|break |deadli|end|fact|first|last|moment|next|now|other|questi|rest|same|second|start|then|third |time|way
9f692c64d4 estoy|i|j'|je|ma|me|mon|my|nos|notre|nuestr|our|soy|tengo|trabaj|unser|us|we|yo|ぼく|わたし|俺|僕|咱|我|私
a0422d5dcf album |articl|bag go|bag ha|bag wa|barn b|baseme|bicycl|bike g|bike h|bike w|book c|book g|book w|car br|car bu|car go|car ha|car wa|film c|film g|film w|flat b|flat g|flat h|flat w|game c|game g|game w|garage|house |laptop|novel |paper |phone |single|van go|van ha|van wa|wallet
a05bae9d15 i am n|i'm no
a08cc63169 i got |i grad|i've g
a0910f38bc abril|agosto|aout|août|april|august|avril|decemb|dezemb|diciem|décemb|enero|febrer|februa|fevrie|févrie|januar|janvie|juille|juin|juli|july|june|juni|jänner|mai|march|mars|marzo|may|märz|novemb|noviem|octobe|octobr|octubr|oktobe|sept
a0c0b0cab3  again
a19a6ac198 a 404|a bug|a cras|a emai|a erro|a exce|a go|a issu|a lot|a mail|a mess|a noti|a prob|a ques|a repl|a segf|a time|a ton|a warn|an 404|an bug|an cra|an ema|an err|an exc|an go|an iss|an loo|an mai|an mes|an not|an pro|an que|an rep|an seg|an tes|an tim|an war|ask|assume|be afk|be bac|be bus|be hon|be in|be lat|be out|be rig|be the|check|coffee|dinner|do tha|do thi|explai|fix|get ba|get so|give y|go ahe|go hom|go now|go to |going |grocer|have t|her|him|it|look|lots|lunch|milk|need|paste|see|send y|show|sleep|so muc|start |tell|test|that|the ap|the be|the bu|the ca|the co|the jo|the me|the pr|the qu|the sa|the sc|the se|the te|them|think|this|try|use|you
a32f3420e9 after |before|since 
a3a8972829 i repo
a45333ed1a answer|explai|reply |respon|write 
a49a733ee7 i am|i have|i just|i rece|i turn|i'm|i've b|i've j|i've r|i've t|im|my age
a4db194b2b adopte|allerg|based |born i|born o|bought|broke |can't |cannot|defend|don't |failed|finish|got |gradua|grew u|had my|hate|just m|just t|living|lost m|love|marrie|moved |not a |origin|passed|prefer|quit m|ran my|sold m|sprain|turned|vegan|vegeta|workin
a52fa407f5 comple|delive|file |finish|hand i|send i|ship |submit|turn i
a624296aa7 |一个|一些|什么|但是|可以|因为|如果|很多|怎么|所以
a652effd4b abgesc|added|ajouté|arregl|behobe|booked|c'est |cancel|cleane|closed|comple|corrig|create|deploy|done|erledi|escrit|fait|fertig|fini|fixed|fusion|gelöst|gemerg|geschr|hecha|hecho|hinzug|implem|instal|is wor|landed|lista|listo|merged|migrat|pass|pushed|refact|releas|remove|rename|replac|resolv|resuel|revert|rewrit|rewrot|résolu|sent|shippe|solved|sorted|taken |termin|umgese|update|works |writte|écrit|できました|マージしまし|修好了|修正しました|写好了|合并了|完了|完成了|已修复|已写好|已合并|已完成|已经修复|已经写好|已经合并|已经完成|已经解决|已解决|弄好了|搞定了|改好了|書きました|済み|直しました|終わった|終わりった|終わりまし|解决了
a7cf152c94 i do n|i don'
a86bf564e5  
ab3ce2c418 ce que|ceci|cela|das hi|das is|das wa|du|ella e|elle e|er ist|es|for la|for ne|for no|he|him|how|ihn|it|lo que|me|sie is|so|that|this|those|tu|tú|was ic|what|why|you ar|you ha|you mu|you ne|you pr|you sa|you sh|you to|you wi|you're|your|ça|あなた|あれ|これ|それ|今の話|他|你|刚才|她|它|彼|我刚|我说|这|那
ab6b06520b anfang|beginn|day in|day of|days i|days o|début|early|end of|ende|fin|first |late|mi|princi|second|start |week i|week o|weeken|weeks 
ab900178fd experi|good a|good i|good w|great |profic|skille
ab92e1e3d8  |だめじゃあり|だめじゃない|だめじゃなく|だめではあり|だめではない|だめではなく|やめずに|やめない|やめません|ダメじゃあり|ダメじゃない|ダメじゃなく|ダメではあり|ダメではない|ダメではなく|不|別停止|別取消|別拒絕|別拒绝|別放弃|別避免|别停止|别取消|别拒絕|别拒绝|别放弃|别避免|反対じゃあり|反対じゃない|反対じゃなく|反対ではあり|反対ではない|反対ではなく|取り消さずに|取り消さない|取り消さませ|控えずに|控えない|控えません|断らずに|断らない|断らません|止めずに|止めない|止めません|禁止じゃあり|禁止じゃない|禁止じゃなく|禁止ではあり|禁止ではない|禁止ではなく|避けずに|避けない|避けません|間違いじゃあ|間違いじゃな|間違いではあ|間違いではな
abc8fdbdee so avo|so do |so don|so kee|so no|so ple|so ski|so use|so, av|so, do|so, ke|so, no|so, pl|so, sk|so, us
abe579fedf 之前|之后|之後|以前|以后|以後|以来|前に|後に
ac6110aaca when i|whenev
ad39599376 a no-g|absolu|auf ke|banned|by no |certai|de nin|don't|dont|en auc|en nin|forbid|in no |interd|jamais|jamás|keines|never|nie|no way|not|nunca|off li|on no |out of|prohib|surtou|under |verbot|だめ|ダメ|不允许|不可以|不行|禁止|絕不|绝不
ad479da703 are|can|does|fail|is|keep|will
ad4b7ff12f i chan|i just|i rece|i swit|i've c|i've j|i've r|i've s
ae195c5d06 call |holida|leave |sabbat|tour |vacati
aee6c39afe  below| bitte| jamai| pas| pleas| plus| short| under| withi|, plea|a part|ab jet|ab sof|always|are fo|are no|are of|are pr|are st|at all|at no |auf ke|avoid|bajo n|be sur|bitte |cannot|constr|darf |darfst|de aho|do not|don't |doréna|désorm|dürfen|en ade|en auc|en nin|ensure|from h|from n|going |i don'|il fau|il ne |immer|in fut|in the|in zuk|is for|is not|is off|is pro|is str|jamais|jamás |künfti|make s|may al|may ne|may no|may on|must |mustn'|ne dev|ne doi|never |nie|no deb|no se |not al|not ev|nunca |on no |only a|only c|only r|only t|only u|only w|por fa|prohib|regel|regla|requir|rule|règle|see to|shall |should|siempr|stop |toujou|under |unter |von nu|à part|これからは|しないこと|ちゃいけ|ちゃだめ|ちゃなら|ちゃダメ|てはいけ|てはだめ|てはなら|てはダメ|ではいけ|ではだめ|ではなら|ではダメ|ないでくださ|ないで下さい|不得|不要|今後は|从今以后|从现在开始|从现在起|以后请|以后都|切勿|制約|务必|千万不|千万别|必ず|必须|永远不|禁止|絶対に|约束|绝不|绝对不|规则
b11a9e2fa8 i get |i need|i ofte|i regu|i some|i use |i wear
b190efe06e ce |cet |cette |coming|diese |diesem|diesen|dieser|dieses|esta |este |kommen|last |letzte|next |nächst|pasada|pasado|past |previo|proxim|próxim|this |upcomi|vergan
b198aad051  bulle| chara| lines| parag| sente| words
b1b6053ea7 i am c|i am s|i curr|i stil|i stud|i'm cu|i'm st
b1f8207acb  and d| and f| and i| and l| and n| and s| and t| and w| but d| but f| but i| but l| but n| but s| but t| but w| when | where|, 
b24e706de8 all an|all co|all me|all re|each a|each c|each f|each p|each r|every |on any|throug|withou
b34850e62c all|as|first|good|great|just|no|rememb|second|since|so|there|today
b359746755 is |on 
b3abc4982b ai|avons|dit|elle|est|il|j|nous|où|qu|tu|vous
b3cfdcc9d6 i have|i've b
b40af02b9e aim to|aiming|also a|also h|also l|also w|eventu|hope t|hoping|love t|really|still |want t
b4c02ac42b adopt|build |choose|deploy|do it |do thi|go for|go wit|keep|migrat|move|pick|rewrit|stay w|stick |switch|take|use|write 
b5124ae0b8  any t| anyti| befor| each | every| when | whene
b5b169d18b a lot |after |all of|all th|and al|and it|and ne|and pr|and so|and th|at hom|at nig|at sch|at the|at wee|at wor|before|every |for |like c|like m|more t|most o|on sat|on sun|on the|on wee|once a|since |to be |twice |when i|whenev
b6fff0735e i iden
b75754b4c1  unles
b7ef1892b5  a | an | as an| as ba| as ch| as he| as ju| as le| as ou| as se| as th| back | chief| head | junio| lead | our | senio| the 
b8e1461955 adulti|bad co|bullsh|drama|effort|exerci|fun|her|him|it|meetin|monday|mornin|nappin|nonsen|overth|people|procra|sarcas|stupid|them|vegeta|work|you
b9a84265bd [ ] |aren't|do not|don't |falta |faltan|fehlen|fehlt |fixme|follow|hasn't|have y|haven'|i will|i'll |il fau|isn't |left t|muss |must n|müssen|n'oubl|need t|needs |next i|next w|next y|next, |no olv|noch n|noch o|noch z|not |outsta|pas en|pendie|pendin|queda |quedan|remain|rememb|reste |stehen|steht |still |to-do|todaví|todo|unfini|unreso|vergis|we wil|we'll |yet to|à fair|あとで|まだ|别忘|剩下的|尚未做|尚未完成|尚未实现|尚未有做|尚未有完成|尚未有实现|尚未有测试|尚未有解决|尚未测试|尚未解决|待办|後で|忘れずに|接下来得|接下来要|接下来需要|未完了|未対応|未解決|残って|残りの作業|残りは|还得|还未做|还未完成|还未实现|还未有做|还未有完成|还未有实现|还未有测试|还未有解决|还未测试|还未解决|还没做|还没完成|还没实现|还没有做|还没有完成|还没有实现|还没有测试|还没有解决|还没测试|还没解决|还要做|还需要
b9b71a7edf  deadl
bc1440c31c  and 
bea12d349f i don'|i neve
beeccdc38d  engag| happi| just | marri| recen
bf6e61f47a broke |divorc|dumped|left m
bfe8debf06 he/|they/
c0a859f4db anythi|can yo|could |feel f|glad t|happy |here a|here i|i apol|i can |i will|i'll c|i'll l|i'll n|i'll p|i'll r|i'll s|if you|let me|one mo|please|sorry |thank |to pro|would 
c1bcbda91a  here| speak
c283098612  jokin| kiddi| messi|c'étai|disreg|era br|es bro|estoy |forget|hah|hehe|ignore|je pla|je rig|jk|joking|just a|kiddin|kleine|lmao|lol|messin|not re|nur ei|nur sc|nur sp|olvida|oublie|scratc|strike|that w|vergis|war nu|うそです|冗談|嘘です|开玩笑|当我没说|逗你|骗你的
c399d629bd after |before|follow|preced|prior 
c403c73e07  from | origi
c499ccd0bf 'll no|are no|aren't|don't|not|shall |should|we 'll|we are|we do |we don|we sha|we sho|we wil|we won|we wou|will n|won't|would 
c49a359eb4  are a| are d| is al| is du
c49bc3fa66  derni|den le|den ve|der le|der ve|die le|die ve|during|en las|en los|in den|in the|las úl|last |los úl|over t|past |within|过去|近
c4a941e7a7 周|土曜日|日曜日|星期|月曜日|木曜日|水曜日|火曜日|礼拜|週|金曜日
c55bdb1949 allerg
c5b711105d a bach|a degr|a doct|a mast|a mba|a phd|an bac|an deg|an doc|an mas|an mba|an phd
c62b9dce9e  an ag| année| ano a| anos | ans a| año a| años | day a| days | dia a| dias | día a| días | jahr | jahre| jour | jours| mes a| meses| mois | monat| month| semai| seman| tag a| tage | tagen| week | weeks| woche| year | years
c6790b9a9f add |be at |be in |be on |check |come a|come i|come o|debug |deploy|first |fix |go at |go in |go on |implem|it|leave |push |refact|rename|return|start |test |that|them|these|this|those|try |you
c6b853581f any ti|anytim|each t|every |whenev
c6ebda6477 my |our 
c78dc9d24f always|any ti|anytim|at all|by def|each|ever|from n|future|genera|going |no mat|policy|rule|throug|under |when i|whenev|withou
c8000ec8a4 actual|correc|doch|en fai|en rea|i mean|ich me|instea|je vou|make i|make t|mejor|nein|no|oops|plutôt|quise |rather|sonder|sorry|stattd|vielme|wait|いや|じゃなく|ではなく|不对|不是|应该是|改成|说错|間違
c883707c88  as a | as an|, as a
c899143faf i|my |we
c92c603ed4  has t| have | must | need | needs| requi| shoul
c9751638d3  and h| half |, and |, half
c997ad327d time
c9d7a4cc8e make s
ca38098de6  mehr|antes|any mo|anymor|arrêté|aufgeh|broke |cancel|dejado|dejé|died|divorc|done w|drop|ende|ex|finish|forget|former|früher|gave u|gekünd|given |gone|left|lost|moved|n't|never|nicht |no lon|not|over|plus|quit|resign|retire|scrap|sold|stoppe|used t|ya no|ない|ません|もう|やめ|不|了|取消|没|辞
ca8c461d0e  has t| must | needs
ca961c1f6f can't|didn't|don't|haven'|never|not|wasn't|won't
cb49e799b6 can we|can yo|could |kannst|könnte|peux-t|podría|pourra|puedes|rememb|will w|will y|would |ください|くれ|もらえ|可以|能不能
cbcedde27b i woul|i'd li|i'd lo|i'd re
cbf3f6f63b culpri|lesson|next t|note t|root c|the ca|the ro|turned|turns 
cc271cf655  agree| been | choos| chose| decid| reall| settl| yet a| yet c| yet d| yet s|a lo m|angeno|as if|assumi|could |falls |had |hätten|if |imagin|in cas|maybe|might|no hem|noch n|ob |pas en|perhap|peut-ê|quizá|shall |should|si |supong|suppos|tal ve|unless|vielle|wenn |what i|when |whethe|would |もし|也许|假如|可能|如果|或许|未决定|決まっていな|決めていな|没决定|没有决定|要是
cca7f61f79  is 
cd36a18c3a  agree| chose| commi| concl| decid| opted| resol| settl| voted
cd6413b503 , |; 
cd8dbf815d ab|after|antes |après|avant|before|bis|by|depuis|desde|despué|hasta|jusqu'|nach|prior |seit|since|till|until|up to|vor
cdbc971562 apart |aside |can't |don't |dont f|dont m|dont w|dont y|failed|forgot|n'oubl|nah|nein|never |nicht |nie fo|nie mi|nie wo|nie yo|no|other |pas se|vergis|不仅|不但|不好意思|不对|不要忘记|不过|不過|不错|別忘|别忘|忘れないで
cfc2eb84ff a|better|both|correc|could|do|good|he|how|i|just|let|more|my|never|no|ok|so|sure|too|true|very|we|why|wrong|yes|you
d087b0d638  emigr| moved| reloc
d1900c9144 actual|correc|i mean|no|small |sorry|update|wait
d1e878a5d6 could |hätte |i'd |it'd |we'd |would |würde 
d25654c810  asked| dicho| dije| dit| gesag| menti| sagte| said| say| tell| think| told| wrote
d34acb1aa0 i |we 
d38116c1ad came|come|get|glaub|got|hear|idea|knew|know|komm|read|sag|said|say|sure|tell|think|told|true|weist|weiß|wrong
d480449be8  is 
d549423f4a i also|i do n|i don'|i real
d5b6864244 als|prefer|prefie|que|than
d6f73269dd can't |cannot|do not|don't |gave u|given |never |no lon|quit d|quit e|stoppe
d73bf6814a am |are |aren't|can |could |did |do |does |don't |has |have |how|is |isn't |may |shall |should|was |were |what|when a|when d|when i|when w|where|which|who|why|will |would 
d81b9b849b i do n|i don'
db2c64ceea a lot|all|both|each o|every|fact|for|he|how|i|look|lots|many|monday|my new|my old|one|so far|some|stuff|that|those|three|to|two|way|we|what|you
db2cc6e566 begins|called|error|goes|is|like t|log|prints|reads|said|says|shows|starts|states|test|titled|was|wrote
db7a7c2813  branc|branch|our de|our ma|our pr|our re|the de|the ma|the pr|the re
dc1077230d on the
dc28d73485 done|left|nada p|nichts|no lon|open|plus r|remain|残っていませ|没有剩下|没有待办
dc465bafc3 i woul|i'd ap|i'd li|i'd pr|i'd ra
dcaa000590 actual|and|btw|but|by the|for th|fyi|genera|hey|hi|import|in gen|just|keep i|new|note|oh|ok|one mo|one th|please|rememb|remind|so|thanks|well|yeah|yes
dce97ce19c as if|ask if|check |even i|if it |if nec|if nee|if not|if pos|if tha|if you|know i|s'il t|s'il v|see if|si pos|si qui|si te |si tu |si vou|sure i|wenn d|wenn m|wenn n|wonder
deec91f0ef an : |an: |asunto|betref|cc : |cc: |date :|date: |de : |de: |from :|from: |objet |objet:|para :|para: |reply-|sent :|sent: |subjec|to : |to: |von : |von: |à : |à: 
df83f352aa  again|ablehn|abstai|absten|abstie|abstén|advice|agains|agreem|anweis|are ca|are de|are go|are hi|are li|are no|are ob|are ou|are ov|are wi|arrête|arrêto|arrêté|aufhör|aufzuh|awful |bad ha|bad id|bad pr|ban|beware|bezwei|bitte|block|cease|ceasin|cesse|cesson|comman|consig|contra|costum|crazy|dagege|danger|decisi|declin|deja d|dejad |dejar |deje d|dejemo|dejen |dejé d|demand|denied|denies|deny|desist|disall|discou|dismis|disreg|dissua|done w|doubt|doute|dudo|dumb h|dumb i|dumb p|dumm|décisi|défend|défens|ein fe|en con|entsch|erreur|errone|error|es fal|estoy |evita|evite|evito|fail t|failed|failin|fails |falsch|false|far fr|faux d|faux q|foolis|forbad|forbid|forget|forgo|gave u|gefähr|get ri|gettin|gewohn|gib |give u|given |giving|got ri|grave |habit|hands |harmfu|held o|hold o|horrib|hör au|hör bi|hört a|hört b|idea|ignore|ignori|illega|imposs|inappr|insane|instru|interd|is can|is dea|is gon|is his|is lif|is no |is obs|is out|is ove|is wit|keep |keeps |leave |lehne |lehnen|lehnt |make m|makes |mala i|mauvai|mistak|negars|niego|no-go|note|null a|object|off li|off-li|olvida|oppose|opposi|order|oublie|out of|outlaw|over m|over o|peligr|petici|plan|polici|policy|poor h|poor i|poor p|practi|prefer|preven|prohib|prohíb|préfér|put of|quit|rechaz|reckle|refrai|refusa|refuse|refusi|refuso|refusé|regel|regla|regret|reject|rejet|renonc|renoun|renunc|reques|requir|riskan|risky|risqué|rule|ruling|règle|schlec|sería |shun|silly|skip|stay a|steer |stop|stupid|sugges|suis c|taboo|tabu|terrib|the la|too da|too ea|too la|too ri|un err|unacce|unsafe|unterl|unters|unthin|untrue|unwise|unzulä|verbie|verbot|vermei|verwei|verzic|veto|void|vorlie|weiger|wish|wrong|à pein|évit|いけ|うな|くな|ぐな|すな|だめ|つな|ぬな|ぶな|むな|やめ|より|るな|を除|ダメ|中止|之外|以外|作废|作廢|停止|危险|危険|危險|反对|反対|反對|取り消|取消|忘れ|忘掉|忘記|忘记|怀疑|懷疑|戒掉|拒否|拒絕|拒绝|控え|撤銷|撤销|放弃|放棄|断った|断って|断り|断る|是一个錯的|是一个錯誤|是一个错的|是一个错误|是个錯的|是个錯誤|是个错的|是个错误|是個錯的|是個錯誤|是個错的|是個错误|是錯的|是錯誤|是错的|是错误|杜绝|止め|禁|避け|避免|間違い|間違って
e02c9b4f86 avoid 
e1eda31808 ask me|email |give m|ping m|remind|send m|show m|tell m|text m
e20c327c74 becaus|it was|la cau|la pro|la pró|lag da|lesson|next t|note t|nächst|parce |porque|result|root c|stellt|the ca|the cu|the pr|the re|the ro|the tr|turned|turns |ursach|was ca|weil|ためでした|ためです|下次|原因は|原因是|原来|因为|次回は
e24111c307 allerg
e467c9b53a  by | for | in fa| with 
e4f8dd043c bonjou|buenos|cher|chère|dear|estima|good d|good m|guten |hallo|hello|hey|hi|hola|madame|monsie|sehr g
e54b200ba2 adores|arbeit|eats|enjoys|hates|lebt|likes|lives|loves|owns|plays|speaks|studie|trabaj|vive|wohnt|works
e6f2c1fa4b call m|reach |text m|you ca
e78400e432 he|i|not ye|so|that|those|we|yet|you
e82e4ab9d2 that 
e863c56b4b i driv
e92dc5ee37 a few |advice|angeno|exampl|fictio|for yo|gedank|hypoth|imagin|jeu de|juego |let's |my adv|preten|role-p|rolepl|rollen|sample|scenar|some t|stell |supong|suppos|test d|test i|test m|test p|test t|test u|though|tips f|we ima|we pla|we pre|we rol|we say|we sup|もしも|ロールプレイ|仮に|假如|假设|思想实验|想像して|想象一下|角色扮演|设想
e9a26eb53d i run 
ea8ea50d26 apolog|boiler|caveat|chit-c|chitch|closin|compli|discla|filler|flatte|fluff|greeti|intro|pleasa|preamb|recap|small |summar
ebb80ade5c be sur|make s|please
ed3b5fbfaa  are c| are n| is ca| is na
eda3afb562 a|both|her|his|in|it|less|me|more|my|one|option|our|the|those|thursd|to|up|us|wednes
edf391f0ac agnost|anglic|atheis|baptis|buddhi|cathol|christ|hindu|jewish|luther|mormon|muslim|orthod|protes|quaker|sikh
edf744a6c5 's |are|close|cost|end|es|has|hat|have|heißt|is|liegt|live|need|open|run|s'appe|se lla|sind|son|start|tiene|was|were|will|だ|です|ます|叫|在|是|有
edfa6732ee als|comme|como|dans|en el|en la|en nue|für|im|in dem|in der|in uns|para|pour|作为|做|当
ee392df94c  a div| a eng| a mar| a sep| a sin| a wid| divor| engag| happi| marri| newly| recen| separ| singl| widow
eef3eea520 bonjou|cher|chère|dear|estima|hello|hi|liebe|querid|sehr g|尊敬的|拝啓
f12dbfd7bc asunto|betref|de :|de:|from :|from:|objet |objet:|subjec|von :|von:
f2c52eb66a it are|it is|it was|it wou|it's|someth|that a|that i|that w|that's|this a|this i|this w|this's|which |which'
f2df667381  a nat
f2f0a44a70 died|had to|passed
f3736270ac  it is
f4431c5e57 als ic|als wi|antes |as soo|autref|back w|cuando|former|früher|i live|i was |i were|i work|ich wo|lorsqu|once|previo|quand|sobald|used t|we liv|we was|we wer|we wor|when|以前は|以前住|以前在|昔は|曾经
f454d27a9a a meno|falls|if|in cas|provid|s'il|si|unless|wenn|à moin|もし|如果|要是|除非
f4b20afe63 joined|starte
f51d2fe905 my day|my job|my occ|my pro|my rol
f641dc7b13 :|essay|letter|mail|page|paragr|poem|senten|story|text|these|this|transl
f6dfca8de9 i do n|i don'|i neve
f711d8e0a3  alway| never| only 
f796d7cfcc biting|drinki|gambli|smokin|vaping
f7edde9e6e i don'|i no l
f887a553e0 accord|asked|asks|claim|goes|mentio|quote|reads|replie|said|sang|say|shoute|sing|tells|texted|thinks|though|told|writes|wrote
f91c2b9ff1 i fina|i just|i left|i quit|i rece|i've f|i've j|i've l|i've q|i've r
f920d97d1c appoin|call w|dinner|i am a|i am c|i am d|i am l|i am m|i am s|i'm ap|i'm ca|i'm di|i'm lu|i'm me|i'm se|lunch |meetin|seeing|we are|we're 
fa6a149161  died| gave | got e| got m| had| passe|adopte|bag go|bag ha|bag wa|baseme|bicycl|bike g|bike h|bike w|broke|car go|car ha|car wa|defend|flat g|flat h|flat w|gave b|gave m|got di|got en|got fi|got la|got my|got pr|got ro|gradua|had a |had my|had su|had tw|house |laptop|passed|phone |ran my|van go|van ha|van wa|wallet|was fi|was ho|was la|won
fb9332d1de across|again|as a|as our|as the|becaus|everyw|for |from h|from n|here|in 19|in 20|in all|in eve|in our|in the|in thi|last|on our|on the|on thi|please|since|this|to bui|to hos|to man|to run|to sto|to tes|today|until|with t|yester
fb9d681e75 my b-d|my bda|my bir|my dat
fca9168968 is it |is the|is thi
fcb475ebd9 i beli|i bet|i gues|i hear|i hope|i know|i see|i supp|i thin|we bel|we bet|we gue|we hea|we hop|we kno|we see|we sup|we thi
fd278ba683 ,|.|:
fd6b827b19 i am |i are |i will|i'll |i'm |i're |we am |we are|we wil|we'll |we'm |we're 
fdce97412f conven|policy|rule
fe560ffedf  is | will |: 
fe8d7c3878 we dro|we got|we no |we sto|we've 
febb658041 イタリア語|オランダ語|スペイン語|ドイツ語|フランス語|ポルトガル語|ロシア語|丈夫|上司|中国語|中文|伴侣|俄语|儿子|兄|友人|友達|同事|同僚|哥哥|国语|女儿|奶奶|妈妈|妹|妻|姉|姐姐|娘|孩子|広東語|弟|德文|德語|德语|息子|意大利语|日文|日本語|日語|日语|普通话|朋友|母|汉语|法文|法語|法语|漢語|父|爷爷|爸爸|狗|猫|粤语|老公|老婆|老板|英文|英語|英语|荷兰语|葡萄牙语|西班牙文|西班牙语|韓国語|韓語|韩文|韩语
fee837b2b5 my cod|my rep|my sou|our co|our re|our so|the co|the re|the so|this c|this r|this s
ff833fb377 i do n|i don'"""
