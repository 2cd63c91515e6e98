"""What a statement tells of who somebody is and how things are set up, and what is only of the moment.

"I'm Mara, I look after Kestrel", "the database listens on 6432 behind pgBouncer", "Priya owns the migrations", "we release
on Wednesdays" hold for months; "found it", "still the same error", "today I want to add a test" are over with the talk.
English, with the commonest German. Every expression starts at a fixed word and repeats within bounds.
"""

import re
from typing import Final

_CAPITAL: Final = r"[^\W\d_a-zß-ÿ][\w'’-]{1,30}"

INTRODUCTION: Final = re.compile(
    rf"(?<![\w'’])(?:(?i:i['’]?m|i am|my name is|my name['’]s|ich bin|ich hei(?:ß"
    rf"|ss)e)) (?:called )?{_CAPITAL}(?=[,.;!]|$| and\b| from\b)"
    r"|(?<![\w'’])(?i:i['’]?m|i am|i['’]ve been|i have been|ich bin|as) (?i:an?|the|one of the|your|ein"
    r"|eine) (?:[\w-]{1,20} ){0,3}"
    r"(?i:[a-z]{0,14}(?:eer|pher|oper|ger|igner|cher|iter|tect|cian|yst|ntist|rist|ctor|sultant|urse|tudent|dmin"
    r"|retary|ant)"
    r"|lead|cto|ceo|lawyer|freelancer|founder|owner|doctor|dba|sre|head)(?!\w)"
    r"|(?<![\w'’])(?i:i['’]?m|i am|we['’]re|we are) (?:the )?(?:responsible|in charge|on call|on-call|allergic"
    r"|vegan|vegetarian|diabetic"
    r"|left-handed|deaf|blind|married|divorced|pregnant|engaged|retired|pescatarian|celiac)(?!\w)"
    r"|(?<![\w'’])(?i:i (?:don['’]?t|do not|can['’]?t|cannot|never) (?:eat|drink|drive|smoke))(?!\w)"
)
OWNERSHIP: Final = re.compile(
    r"(?<![\w'’])(?:i|we) (?:look after|maintain|lead|own|manage|administer|take care of|am responsible"
    r"|betreue)(?!\w)"
    r"|(?<!\w)(?:owns|(?:look|take)s after|belongs? to|(?:owned|maintained|managed|run|written|led) by"
    r"|takes? over|took over"
    r"|covers? (?:for|the)|stands? in for|(?:is|are) responsible for|in charge of|runs the|leads the|handles"
    r"|maintains"
    r"|(?:is|are) (?:our|my) (?:\w{2,20} ){0,2}(?:lead|owner|manager|contact|dpo|dba|admin|accountant|customer"
    r"|client|team|boss)"
    r"|['’]s (?:job|responsibility|baby)|gehört|kümmert sich|verantwortlich|zuständig)(?!\w)",
    re.IGNORECASE,
)
SETUP: Final = re.compile(
    r"(?<!\w)(?:runs?|running|lives?|live[ds]|hosted|hosts|deploy(?:ed|s)?|built|written|stored|kept|listens?"
    r"|sits?|served"
    r"|published|managed|talks?|connects?|points?|logs?|moved|migrated|stuck|pinned|läuft|laufen|liegt) "
    r"(?:\w{2,12} )?(?:on|in|at|with|by|through|from|behind|under|over|via|to|auf|bei|in)(?!\w)"
    r"|(?<![\w'’])(?:we|i|it|they) (?:still |only |all |mostly )?(?:use|uses|run|runs|host|ship|release|deploy"
    r"|support|supports|have no|don['’]t have"
    r"|log|bill|hosten|nutzen)(?!\w)"
    r"|(?<!\w)(?:is|are|it['’]s|we['’]re) (?:called|named|rate limited|limited to|capped at|set to|frozen"
    r"|protected|pinned to"
    r"|stuck on|still on|on version|behind|written in)(?!\w)"
    r"|(?<!\w)(?:retention|default|minimum|maximum|limit|port|host|prefix|key|quota|timeout)s? (?:is|are|of|to"
    r"|version)(?!\w)",
    re.IGNORECASE,
)
# "is at db.example.net", "are in Vault", "it's Python 3": where or what something is, by its name.
PLACED: Final = re.compile(
    rf"(?<!\w)(?:is|are|it['’]s|It['’]s|its|goes to|go to|comes? from) (?:(?:on|in|at|under|behind|through|from"
    rf"|a|an|still|now) ){{0,2}}"
    rf"(?:{_CAPITAL}|[\w-]{{1,40}}[./@][\w./-]{{2,60}}|[a-z]{{1,20}}-\w{{0,20}}\d)"
)
VERSION: Final = re.compile(
    r"(?<![\w.])(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Step|Line|Day"
    r"|Part|Page|Chapter"
    r"|Room|Season|Episode|On|In|At|By|Until|From|About|The|All|Only|Week|Year|Level)\w*\b)"
    r"(?:[A-Z][\w+#]{1,20}|k3s|iOS|macOS|pnpm|npm) v?\d{1,4}(?:\.\d{1,4}){0,3}(?![\w:%.])"
    r"|(?<!\w)version v?\d"
)
RECURRING: Final = re.compile(
    r"(?<!\w)(?:every|each)(?: (?:other|second|third|two|three|\d{1,3}))? (?:days?|nights?|mornings?|evenings?"
    r"|weeks?|weekends?|months?"
    r"|quarters?|years?|hours?|minutes?|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?(?!\w)"
    r"|(?<!\w)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days|nightly|weekly|monthly|daily|quarterly|yearly"
    r"|fortnightly|rotates?|on call)(?!\w)"
    r"|(?<!\w)(?:first|second|third|last) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:working "
    r"|business )?day) of (?:the|each|every)(?!\w)"
    r"|(?<!\w)(?:of each|of every|of the) (?:month|quarter|week|year)(?!\w)"
    r"|(?<!\w)(?:fiscal year|window|maintenance|freeze|support hours|opening hours|office hours)(?!\w)",
    re.IGNORECASE,
)
# "Passed my driving test", "bought a house": told without saying who.
EVENT: Final = re.compile(
    r"(?i:(?:just|finally|also|btw|hey|so),? )?(?i:got|bought|sold|passed|broke|finished|started|quit|lost|won|joined|moved"
    r"|signed|sprained|booked|adopted|renewed|cancel+ed|switched|hired|met|accepted|promoted|defended|submitted|found)"
    r" (?:to |at |for |with |from |into )?"
    r"(?:my|our|an?|the|accepted|engaged|married|hired|promoted|[^\W\d_a-zß-ÿ]\w{1,20})(?!\w)"
)
# What happens while one works: results, steps, findings, asides. Over with the talk.
MOMENT: Final = re.compile(
    r"(?:(?:ok|okay|hm{1,4}|nice|so|wait|uff|ah|oh|and|but|yes|no|great|good|right|sorry)[,.:]? )*"
    r"(?:found (?:it|the|that|a)|fixed|pushed|merged|done|deployed|committed|restarted|still (?:the same"
    r"|failing|broken|nothing|not|get|red|slow)"
    r"|now (?:i|it|the|let|we) |looks? like|seems?|it(?:['’]s)? (?:was|the|just|only|again|printed|hangs?"
    r"|works?|fails?|failed|returned|says|said"
    r"|gives?|gave|exits?|crashed|still|printed|took|stops|hung)"
    r"|that(?:['’]s)? (?:gave|fixed|worked|did|was|helped|much)"
    r"|i (?:just |have just |only )?(?:restarted|reran|tried|opened|forgot|pushed|see|get|got|ran|checked"
    r"|deleted|killed|expected|have the)"
    r"|(?:right now|today|tonight|first|next|this morning|this afternoon|then)[,]? (?:i|we|let)"
    r"|i(?:['’]m going to| want to| would like to|['’]d like to|['’]ll) (?:\w{2,10}ly )?(?:add|fix|finish|clean"
    r"|refactor|get|write|try|send|kill|check|look|test"
    r"|start|run|make|rename|move|update|remove|delete)"
    r"|the (?:\w{2,16} ){0,2}(?:tests?|build|job|deploy|page|query|request|run|container|script|command|disk"
    r"|worker|migration|conflict|bug|error) "
    r"(?:is|are|was|were|has|went|still|passed|failed|fails?|returns|returned|exits|took|hangs|crashed|works)"
    r"|not (?:our|my|your|a|the) (?:bug|fault|problem)|wait|brb|gotta|gotta run|coffee|lol|back in"
    r"|be right back|one (?:sec|moment|minute)|jetzt|das hat|es geht|hat geklappt|geht wieder)(?!\w)"
    r"|(?:[\w'’-]{1,20} ){0,6}(?:went through|(?:is|are) (?:green|red|draining|done|full|stuck"
    r"|(?:back to )?normal|slower|faster)|just died|(?:all|checks|tests|suite) passed|looks? (?:odd|weird|fine"
    r"|good|wrong|strange))(?!\w)",
    re.IGNORECASE,
)
