"""Turns of phrase that speak for or against a standing rule in a sentence of chat, by name.

A cue is a word class or a turn of phrase, never a sentence. Those that begin with "no:" speak against. What each is
worth is in `model`; how they are put together, in `evidence`.
"""

import re
from typing import Final

from models.domain.wishes.markers import (
    CASE_STANDING,
    COMFORT,
    DATA,
    MANNER,
    OCCASION,
    ONE_OFF,
    REPLY,
    REPORTED,
    STRONG_STANDING,
    STYLE,
    WEAK_STANDING,
)
from models.domain.wishes.openings import THIRD_PEOPLE

_FINITE: Final = (
    r"(?: \w+)?(?: always| never| only| just| also| really| still| usually| often)*"
    r"(?:'s|'re|'ve|'ll|'d| (?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|should|must"
    r"|may|might"
    r"|isn't|aren't|wasn't|doesn't|don't|didn't|can't|won't|\w+s|\w+ed|told|said|made|kept|wrote|went|took"
    r"|goes))\b"
)

_BODY: Final = (
    r"(?:vegan|vegetarian|veggie|pescatarian|flexitarian|kosher|halal|muslim|jewish|hindu|jain|mormon"
    r"|c(?:o?)eliac"
    r"|lactose|gluten|dairy|keto|teetotal(?:er)?|sober|diabetic|pregnant|breastfeeding|nursing|asthmatic"
    r"|epileptic"
    r"|blind|deaf|colou?r-?blind|colou?r blind|dyslexic|hard of hearing|allergic|intolerant|autistic"
    r"|an[ae]+mic|claustrophobic"
    r"|on a(?: \w+){0,2} diet|in recovery|recovering (?:addict|alcoholic)|a wheelchair user"
    r"|in a wheelchair|visually impaired|sensitive to|hypertensive"
    r"|partially sighted|night owl|hypoglyc\w+|immunocompromised|insulin)"
)
_AILMENT: Final = (
    r"(?:allerg(?:y|ies)|asthma|epilepsy|diabetes|c(?:o?)eliac|intolerance|adhd|migraines?|(?:bad|weak"
    r"|dodgy|sore) (?:back|knees?"
    r"|heart|hips?|shoulders?|ankles?|stomach|eyes|eyesight|hearing)|heart condition|high blood pressure"
    r"|reflux|ibs"
    r"|vertigo|tinnitus|arthritis|phobia|dyslexia|seizures|sensitivity|pacemaker|hearing aids?|crohn\w*"
    r"|gout|eczema"
    r"|low vision|poor eyesight|fear of \w+|condition)"
)

_SERVED: Final = (
    r"(?:meetings?|calls?|recipes?|meals?|dinners?|lunch(?:es)?|breakfasts?|menus?|flights?|hotels?|trips?"
    r"|routes?"
    r"|restaurants?|places|options?|invitations?|invites|appointments?|reports?|emails?|mails?|drafts?"
    r"|docs?|documents?"
    r"|files?|slides?|decks?|invoices?|contracts?|posts?|notes?|reminders?|notifications?|bookings?|seats?"
    r"|workouts?"
    r"|exercises?|charts?|pictures?|images?|photos?|colou?rs?|fonts?|code|tests?|commits?|branches|main"
    r"|production|prod|functions?"
    r"|variables?|migrations?|dependencies|packages?|librar(?:y|ies)|names?|address|number|salary|password"
    r"|passwords|details"
    r"|data|info|information|secrets?|tokens|keys|plans?|schedules?|calendar|events?|deadlines?|purchases?"
    r"|orders?"
    r"|payments?|money|budget|prices?|temperatures?|distances?|weights?|dates?|times?|spelling|vocabulary"
    r"|words?"
    r"|grammar|questions?|answers?|sources?|links?|lists?|steps|topics?|politics|religion|news|advice"
    r"|opinions?"
    r"|feedback|criticism|praise|jokes?|humou?r|sarcasm|small talk|fluff|jargon|emojis?|ingredients?|nuts"
    r"|dairy|meat"
    r"|alcohol|sugar|pork|fish|wheat|gluten|books?|movies?|films?|songs?|music|gifts?|tickets?|trains?"
    r"|planes?|airlines?)"
)
_DOING_YOU: Final = (
    r"\byou (?:ever |always |have to |need to |want to |are )?(?:send|give|write|suggest|plan|make"
    r"|draft|pick"
    r"|propose|book|show|mention|recommend|prepare|schedule|find|list|choose|come up with|tell|explain"
    r"|build|run|touch"
    r"|answer|reply|respond|review|talk|speak|refer|quote|cite|use|create|generate|design|compare|describe"
    r"|cook|order"
    r"|buy|look for|search|help|bring up|put|add|save|store|share|summari[sz]e|translate|edit|change"
    r"|delete|commit|push"
    r"|deploy|start|end|open|finish|ask|address|call|hand|present|format|code|do things|read)(?:ing|s)?\b"
)

_GENERIC: Final = (
    r"\b(?:any|anything|anyone|anybody|anywhere|every|everything|everyone|everybody|everywhere|all|each"
    r"|whatever|whichever"
    r"|whoever|nothing|nobody|none|whenever|wherever|always|never|ever|either|all of)\b"
)


# Searched in the whole sentence.
_ANYWHERE: Final[dict[str, str]] = {
    "lasts:strong": STRONG_STANDING.pattern
    + r"|\bfrom (?:now|here|today|this day|this moment|this point|\w+day) (?:on|onwards?|forwards?)\b"
    r"|\bfor good\b"
    r"|\bonce and for all\b|\bno matter (?:what|how|who|when)\b|\b(?:no|without) exceptions?\b"
    r"|\beach and every\b"
    r"|\bevery single\b|\buntil i(?:'ve| have)? \w+\b|\bunless i\b|\bas long as i\b|\bif (?:you|i) ever\b"
    r"|\bnever ever\b",
    "lasts:weak": WEAK_STANDING.pattern
    + r"|\bany ?more\b|\bany longer\b|\bno longer\b|\bin general\b|\bgenerally\b|\bpermanent(?:ly)?\b"
    r"|\b(?:every|each) time\b"
    r"|\bdefault\b|\bunless (?:it|they|there|you|absolutely|necessary)\b|\ball the time\b|\bat (?:all"
    r"|any) times?\b",
    "lasts:case": CASE_STANDING.pattern,
    "lasts:rule": r"\b(?:rules?|policy|convention|standing|non-negotiable|a must|hard limit|golden|guideline"
    r"|principle)\b",
    "lasts:insist": r"\b(?:i insist|i mean it|no exceptions|stick to (?:it|that)|get it right|full stop|end of story"
    r"|period$"
    r"|no ifs|please and thank you|i'm serious|that's final|is sacred|are sacred|deal ?breakers?"
    r"|non-starter)\b",
    "lasts:ours": r"\b(?:in|on|for|at) (?:this|our) (?:house|household|family|home|kitchen|world)\b|\b(?:in|on|for"
    r"|at) (?:this|our|my) (?:company|team|codebase|code base|code|project|repo"
    r"|repository|chat|office|channel|thread|conversation|shop|lab|practice|firm|department|calendar"
    r"|inbox|account|name|behalf|documents|files|texts|emails|messages|books|line of work)\b|\b(?:over"
    r"|around) here\b"
    r"|\bthat's (?:how (?:i|we)|the (?:convention|deal|rule|way))\b|\bhow (?:i|we) (?:like|do|work|want)\b",
    "lasts:hours": r"\b(?:before|after|past|until|between|on|by) (?:noon|midnight|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days"
    r"|weekends|weekdays|(?:the )?mornings|(?:the )?evenings|\w+ (?:mornings|afternoons|evenings|nights))\b"
    r"|\b(?:every|each) (?:\w+ )?(?:day|morning|evening|night|week|month|hours?|year|weekend|\w+day)\b"
    r"|\b(?:the )?(?:first|last|\d+\w*) of (?:each|every|the) month\b|\bdaily\b|\bweekly\b|\bmonthly\b",
    "bound:most": r"\b(?:max|maximum|at most|at least|no more than|not more than|or less|or fewer|tops|under|within"
    r"|up to"
    r"|minimum|one at a time|at a time|per \w+|no longer than|never more than|the fewer|the less"
    r"|nothing (?:above|over|under|below|"
    r"before|after|that|with|longer|more|but))\b",
    "bound:only": r"\bonly\b|\bexclusively\b|\bsolely\b|\bnothing but\b|\bnothing else\b|\bnowhere else\b|\bstrictly\b"
    r"|\bjust the\b",
    "bound:contrast": r"\b(?:not|never|instead of|rather than|over|as opposed to|except|unless|without) \w+",
    "bound:noto": r"\b(?:off[- ]limits|out of bounds|off the (?:table|menu|record)|not (?:allowed|to be|for|okay|ok"
    r"|acceptable|an option"
    r"|up for|negotiable)|no[- ]go|no-nos?|a no for|is out|are out|forbidden|banned|taboo|confidential"
    r"|private|secret"
    r"|between us|stays? with|in confidence|mine to|not yours|none of (?:their|your|anyone)|no use to me"
    r"|out of the question"
    r"|not welcome|isn't welcome|aren't welcome|hands off|on my behalf)\b",
    "to:me": r"\b(?:for|with|to|at|from|on|by|past) (?:me|us|you)\b",
    "to:mine": r"\bmy \w+",
    "to:your": r"\byour (?:\w+ )?(?:answers?|responses?|replies|reply|messages?|explanations?|emails?|code|comments?"
    r"|suggestions?"
    r"|writing|tone|language|style|texts?|summaries|summary|drafts?|output|posts?)\b",
    "to:doing": _DOING_YOU,
    "about:style": rf"\b(?:{STYLE})\b",
    "about:reply": rf"\b(?:{REPLY})\b",
    "about:manner": rf"\b(?:{MANNER})\b",
    "about:data": rf"\b(?:{DATA})\b",
    "about:served": rf"\b{_SERVED}\b",
    "about:generic": _GENERIC,
    "about:body": rf"\b(?:i'm|i am|we're|we are|being|as)(?: \w+){{0,2}} {_BODY}\b",
    "about:ailment": rf"\b(?:i|we|i've|my \w+)(?: \w+)? (?:have|has|got|suffer|wear|use)(?: \w+){{0,3}}? (?:{_AILMENT}"
    rf"|{_BODY})\b",
    "about:home": r"\bwe(?:'re| are)(?: an?)? (?:\w+ )?(?:\w+-free|vegan|vegetarian|kosher|halal)\b",
    "about:member": rf"\bmy stomach can't\b|\bmy (?:\w+ )?(?:boys|girls|twins|sons|daughters|son|daughter|kids?|child"
    rf"|children|wife|husband|partner|baby|toddler|mum|mom|dad|mother"
    rf"|father|girlfriend|boyfriend|family|dog|cat)(?:'s| is| are| has| have| can't| cannot| won't| doesn't"
    rf"| don't)\b(?=.*\b(?:{_BODY}|{_AILMENT}|eat|have|touch)\b)",
    "no:comfort": COMFORT.pattern
    + r"|\b(?:sweat it|feel (?:bad|guilty)|lose heart|blame yourself|too kind|work too hard|be sorry"
    r"|make me (?:laugh|blush|cry)"
    r"|talk you into|thank me|take it easy|good luck|you(?:'ll| will) (?:get there|be fine|do great)"
    r"|you got this|proud|don't mention it"
    r"|be yourself|count (?:on )?me|(?:talk|speak|write) to you|see you|talk soon|speak soon"
    r"|keep me (?:posted|updated)|you deserve|keep (?:on )?(?!using|ending|asking|sending|suggesting"
    r"|adding|calling|telling|saying|repeating|coming)\w+ing|keep (?:it )?up|stay (?:passionate|motivated"
    r"|focused|curious|humble|healthy|calm)|be brave|pain no gain|your best|you two|you are loved"
    r"|never change|don't cry|far you've come|be(?:ing)? curious|think like that|your chin|ruin your"
    r"|better soon|get better|ease up|calm down|deep breath|relax|no rush|no hurry|your time"
    r"|otherwise you're|hear that|the best|silly|haha|lol|congrats|congratulations|amazing|wow)\b",
    "no:reported": REPORTED.pattern
    + r"|\b(?:says?|said|told|tells|asked|asks|insists?|insisted|wants|wanted|made|makes|keeps saying"
    r"|would (?:always )?say|used to say"
    r"|read|reads|warned|taught|calls for|banned|heard|apparently|supposedly|supposed to"
    r"|according to) (?:that|me|us|him|her|them|it|you|i"
    r"|we|not|never|to|everybody|everyone|on|no|always|do|for|coffee)\b|\b(?:apparently|supposedly"
    r"|i (?:read|heard))\b",
    "no:hypothetical": r"\b(?:what if|imagine|suppose|hypothetically|if i (?:were|was|had|won|could)|if you (?:were|had"
    r"|could)|i wish"
    r"|would have|would've|had i|in a perfect world|i'd never|i would never|could've|they'd|he'd|she'd"
    r"|if (?:he|she|they|dogs|people))\b",
    "no:now": ONE_OFF.pattern,
    "no:occasion": OCCASION.pattern,
    "no:past": r"\b(?:was|were|had|did|went|told|said|used to|wasn't|weren't|didn't|hadn't|years? ago|last (?:year"
    r"|week|month|night|summer)|back then"
    r"|as (?:a )?(?:kids?|child)|when i was|stopped|wanted|made|got|took|came|found|played|agreed|promised"
    r"|decided|thought)\b",
    "no:plan": r"\bi(?:'ll| will|'m going to| am going to|'m gonna|'m planning| plan to| hope to|'m trying| am trying"
    r"|'ve been| have been"
    r"|'ve decided|'m thinking|'m considering| might| think i| guess i)\b",
    "no:modal-self": r"\b(?:i|we) (?:really |probably |just |also |still )?(?:should|must|have to|need to|ought to|had to"
    r"|shouldn't|could|can)\b",
    "no:third": rf"\b{THIRD_PEOPLE}{_FINITE}",
    "no:guess": r"\b(?:must|should|has to|have to|can't|cannot|might|may|would have to|'d have to) (?:have|be"
    r"|never have|always have|been|get|never get|really)\b"
    r"(?! (?:formal|able|sent|in|under|short|done|written|used|checked|given|approved|kept|reviewed|at|on"
    r"|to))",
    "no:artefact": r"\b(?:i (?:want|need|would like|'d like) you to|can you|could you|please"
    r"|would you) (?:please )?(?:write|generate|create|make|draft|give|list|find|review|suggest|recommend"
    r"|tell|explain|help|look|check|summari[sz]e|translate)(?: me| up| for me)? (?:an?|\d+|some|the|this"
    r"|my|two|three|five|ten|more|about|how|what|why|if|whether)\b",
    "norm:none": r"\bthe (?:fewer|less|shorter|simpler|more|sooner)\b.*\bthe (?:better|happier)\b|\bthere(?:'s| is"
    r"| are)? (?:to be|should be|must be|will be|can be) no\b|\b(?:is|are|it's) (?:a must|sacred"
    r"|non-negotiable|mandatory|essential|required|compulsory|welcome|not welcome|fine (?:with|by) me"
    r"|protected|banned|out)\b",
    "name:be": r"\b(?:to|rather) be (?:called|addressed|known|referred)\b|\bcall(?:s|ed)? me\b|\bgo by\b|\bspelled\b"
    r"|\bspelt\b|\bsurname\b|\bfirst name\b|\bnickname\b",
    "polite:be": r"\b(?:can|could|would|will) you(?: please)?(?: try to)? (?:be|keep|stick|stop|not|avoid|leave out"
    r"|drop|skip|always|only|remember|use|start|speak|talk|write to me|answer|limit|refrain)\b"
    r"|\bwould you mind (?:not )?\w+ing\b",
    "likes": r"\bi (?:really |also |just |always )?(?:love|like|enjoy|appreciate|loved|liked"
    r"|enjoyed) (?!it when you\b|when you\b|my \w+s?\b|answers|if)",
    "no:definite": r"\b(?:the|that|a|an|my) (?:\w+ )?(?:report|title|chart|essay|table|restaurant|timer|car|file|draft"
    r"|photo|invitation|folder|page|slide|paragraph|appendix|intro|logo|receipt|door|oven|lights?|lamp"
    r"|column|ending|story|poem|letter|cover letter|song|music|list|part|section|sentence|version|template"
    r"|garage|bank|plumber|dentist|pizza|burger|birthday|party|wedding|weekend|exam|bridge|book|film|movie"
    r"|recipe|button|window|spreadsheet|summary|image|picture|poster|speech|article|blog|job interview"
    r"|resume|cv|hotel|table for \w+|meeting|deadline|form|bin|bins|footnotes|results?|line"
    r"|numbers)\b(?! (?:you|i|we|on top|first)\b)",
    "no:fact": r"\b(?:i'm|i am|we're|it's|that's|he's|she's) (?:so|just|only|still|really|kind of|a bit|having"
    r"|feeling|glad|happy|excited|sure|sorry|proud|tired)\b",
    "norm:be-to": r"\byou(?:'re| are) (?:not |never )?(?:to|supposed to|allowed to|expected to|meant to) \w+",
    "no:habit": r"\b(?:we|i) (?:never|always) \w+$|\brule of thumb\b|\bin my family\b|\bthese days\b",
    "no:it": r"\byou don't have to \w+ (?:that|it|this)$|\baccept my\b|\bat checkout\b|\b(?:like|love|want|hate"
    r"|need) (?:it|that|this|them)$",
    "no:explain": r"^(?:please )?(?:explain|describe|summari[sz]e|translate|gather|compare|analy[sz]e)"
    r" (?!everything|things|all\b|every|any|me\b|to me|it\b)\w+",
    "no:praise": r"\b(?:thanks for|thank you for|love (?:how|that) you|i love how|appreciate how|glad|exactly what"
    r"|sounds (?:good|great|like)|that's (?:great|helpful|really|a great|awesome|so))\b",
    "no:going": r"\b(?:gonna|going to)\b",
    "no:opinion": r"\b(?:i think|i guess|i suppose|i believe|i feel like|in my opinion|it seems|seems like|maybe|perhaps"
    r"|probably|surely)\b",
    "no:advice": r"\b(?:you(?:'ll| will) be fine|it saved|my advice|i learned|it's dangerous|less crowded|you can use"
    r"|if you go|when you visit|you have to see|you should (?:get|try|see|watch|visit|check out|look|take"
    r"|rest|go))\b",
    "no:generic-you": r"\b(?:in (?:japan|germany|france|italy|america|england|the (?:army|states|us|uk)|\w+land) you"
    r"|when you (?:live|get|have|are|grow)|you(?:'d| would) have to|you don't see|you never know|at (?:my"
    r"|our) (?:old|last))\b",
    "no:looking": r"\b(?:i'm|i am|we're) (?:looking|planning|interested|wondering|curious|thinking|hoping|excited"
    r"|considering|working|going|not sure|trying|also|still|currently|really)\b",
    "norm:has-to": r"(?:(?<!\bi)(?<!\bwe)(?<!\bhe)(?<!\bshe)(?<!\bthey)(?<!\byou)(?<!\bit)(?<!\bthat)) (?:has|have|need"
    r"|needs|ought|is|are) to (?!say\b|admit\b)\w+",
    "norm:should": r"(?:(?<!\bi)(?<!\bwe)(?<!\bhe)(?<!\bshe)(?<!\bthey)(?<!\byou)(?<!\bit)(?<!\bthat)) (?:should|must"
    r"|shall|may not|mustn't|shouldn't|can't|cannot) (?:always |never |only |not )?(?:be (?=in\b|at\b|on\b"
    r"|under|within|below|about|between|no\b|less|short|brief|formal|written|kept|done|made|sent|given|run"
    r"|able|\w+ed\b|numbered|available|free|metric|vegan|vegetarian|sugar|longer|more|used)|appear|show up"
    r"|use|include|end|start|begin|go|follow|contain|exceed|stay|come|fit|have|take|reach|work|leave|sound"
    r"|look like|always be|get|read|look|run|wait|cost|need)\b",
    "norm:goes": r"(?<!\bi)(?<!\bwe)(?<!\bhe)(?<!\bshe)(?<!\bthey)(?<!\byou)(?<!\bit)(?<!\bto)(?<!\bthat) (?:goes|go"
    r"|stays?|belongs?|starts?|ends?) (?:in|into|to|out|through|first|last|on|between|straight|via|under"
    r"|here|at|as|before|with)\b|\b(?:comes?|counts?) (?:first|last|before|after|through|as)\b"
    r"|\bgets? (?:rejected|approved|reviewed|a copy|a second|through|priority)\b|\bwins?$",
    "norm:needs": r"\b(?:needs?|requires?) (?:an? (?:\w+ )?(?:break|version|test|tests|reason)|their own|at least|to be)"
    r"|\b(?:needs?|requires?|wants?|without) (?:my|a|an|our) (?:explicit |prior |written )?(?:say-so"
    r"|approval|ok|okay|sign-off|signoff|permission|second|go-ahead|consent|blessing|signature|yes|review"
    r"|nod|confirmation)\b",
    "ask:ensure": r"^(?:please )?(?:make sure|be sure|ensure|see (?:to it )?that|double-check|always check)\b",
    "ask:remember": r"\b(?:remember(?: that| to|,)?|keep (?:in mind|that in mind)|bear in mind|note that|take into account"
    r"|don't forget|plan (?:around|accordingly|for) (?:that|it)?|take note|for reference|be aware"
    r"|you should know|just so you know)\b",
    "ask:know": r"\bremember(?: that|,)? (?:i|my|we|our|i'm|the|it's)\b|\b(?:keep|bear) (?:that )?in mind\b",
    "cond:you-do": r"\b(?:when|whenever|if|before|after|each time|every time|while|once|unless|any time|anytime"
    r"|as soon as) (?:you|we)(?:'re|'ve| are)? (?:ever )?(?:have to |need to |want to )?(?:send|giv|writ"
    r"|suggest|plan|mak|draft|pick|propos|book|show|mention|recommend|prepar|schedul|find|list|choos"
    r"|com[ei]|tell|explain|build|run|touch|answer|repl|respond|review|talk|speak|refer|quot|cit|us[ei]"
    r"|creat|generat|design|compar|describ|cook|order|buy|look|search|bring|put|add|sav|stor|shar|summari"
    r"|translat|edit|chang|delet|commit|push|deploy|start|end|open|ask|address|call|present|format|cod"
    r"|refactor|pay|cancel|move|reschedul|forward|post|greet|sign|name|number|includ|don't know"
    r"|aren't sure|not sure|unsure|see|notice)\w*",
    "cond:i-say": r"\b(?:when|whenever|if|before|after|each time|every time|while|unless|should|until|any time"
    r"|once) (?:i|we|someone|anyone|somebody|anybody|a \w+|something)(?:'m|'ve| am)? (?:ever |also "
    r"|explicitly |specifically |start |say i |seem |sound |look )?(?:to )?(?:ask|say|mention|tell|writ"
    r"|send|past|slip|mak|vent|forg|seem|feel|get|want|need|request|call|email|talk|speak|switch|shar"
    r"|upload|type|stressed|angry|tired|wrong|rude|run|miss|post|give|approv|sign|bring|complain|swear)\w*",
    "cond:whatever": r"\b(?:whatever|whichever|whoever|anything|everything|nothing|all) (?:i|you|that)\b",
    "cond:once": r"\bif (?:you (?:have (?:time|any|a|some)|need (?:anything|help|me|a)|want(?: to (?:join|come|know"
    r"|see))?$|like$|can$|could$|don't mind|get (?:a|the) chance|would$)|that works|that's|possible"
    r"|it works|so\b|not\b|it helps|anything)\b|\bwhen(?:ever)? you (?:(?:get|have) (?:a|the|some|time)"
    r"|can$|want$|find|leave|feel|are (?:done|ready|free|back|in))\b",
    "cond:it": r"\bif (?:it|he|she|they|the|this|that|my|there|two|a|an)\b",
    "wish:see": r"\bi(?:'d| would)? (?:want|like|need|expect|prefer) to (?:see|approve|know|hear|read|review|check"
    r"|sign off|be|get|have|receive|keep)\b|\blet me (?:approve|see|check|review|read|decide|confirm"
    r"|look)\b",
    "wish:measure": r"\b(?:fewer|less|more|shorter|longer|smaller|simpler|bigger|cheaper|quieter|plainer|slower) \w+",
    "wish:to-do": r"\bi(?:'d| would|'ll)?(?: really| also| just)? (?:want|like|love|need|prefer|rather|hope"
    r"|have)(?: to)? (?:not )?to (?!see|be\b|have|get|hear|receive|keep|approve|review|read|know (?:when"
    r"|before|if|about every))\w+|\bi'd rather (?!you|not have|have (?:one|my)|get|see|ask|pay)\w+"
    r"|\bto know (?:more|if|how)\b",
    "wish:one": r"\bi(?:'d| would)?(?: really| also| just)? (?:want|like|love|need|prefer)(?: to (?:see|have|get"
    r"|know))? (?:an?|some|the|this|that|something|help|one|it)\b",
    "self:hates": r"\bi (?:really |just )?(?:hate|dislike|can't stand|don't like|don't love) (?:it )?when (?:the|it|he"
    r"|she|they|people|my|a)\b",
    "body:cannot": r"\b(?:i|we) (?:also )?(?:can't|don't|won't|never|no longer|mustn't|shouldn't|am not allowed to"
    r")(?: ever| really)? (?:eat|drink|fly|smoke|lift|tolerate|digest|consume|swim|climb"
    r"|drive|touch|have (?:any )?(?:dairy|gluten|nuts|sugar|alcohol|caffeine|meat|pork|eggs|milk|fish|soy"
    r"|grapefruit|shellfish|salt)|do (?:dairy|gluten|stairs|mornings|meat|heights|screens|spicy|alcohol"
    r"|phone|video|weekends))\b",
    "allow:free": r"\bwithout (?:asking|checking|my|confirm\w+|permission|telling|waiting)\b|\bi (?:don't|won't) mind\b"
    r"|\bstanding\b|\bany time you\b|\byou don't (?:have|need) to (?:ask|check|explain|confirm|wait|tell"
    r"|spell|repeat)\b",
    "order:first": r"\b(?:first|last|second|before|after|then|top|bottom|end|beginning|start)\b",
    "tail:please": r"\b(?:please|thanks)$",
    "opens:topic": r"^(?:for|with|in|on|at|regarding|about|when it comes to|as for) (?:any\w*|all|every\w*|my|your|our"
    r"|\w+s|medical|legal|\w+ing)\b",
    "so": r"\bso\b(?! (?:much|many|far|good|kind|long|happy|proud|cool|nice|great|hard|sorry|glad|excited|quick"
    r"|that|well|i|we|he|she|they|it|my|the|our)\b)",
    "please": r"\bplease\b",
    "count": r"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twenty|forty|fifty|hundred) ",
    "complaint": r"\b(?:bugs?|annoys?|bothers?|irritates?|drives?|drive) me\b|\bi find (?:it|that|them)\b|\byou (?:keep"
    r"|always|constantly|tend to) (?!know|make|have|been|find)\w+"
    r"|\b(?:way )?too (?:long|many|much|short|formal|chatty|wordy|verbose)\b|\bdo(?:n't"
    r"|esn't) work for me\b|\bmake my eyes\b|\bwastes? my\b|\bno use to me\b|\bloses? me\b",
    "self:suffers": r"\b(?:gives?|sends?|makes?|leaves?|sets?|stress(?:es)?|annoys?|irritates?|insults?|confuses?|loses?"
    r"|triggers?|upsets?|bothers?|interacts? with what) (?:me|us|i|my (?:skin|eyes|head|stomach|throat|ears))\b"
    r"(?! (?:happy|smile|laugh|think|know|wonder|want|feel (?:better|good)|proud|the|two|three|five|ten|an?)\b)",
    "norm:for-me": r"\b(?:is|are|isn't|aren't|does|doesn't|do|don't|means?)(?: \w+){0,4} (?:for|on|with|to|by) (?:me|us)\b",
    "norm:is": r"\b(?:is|are|stays?|remains?) (?:always |never |strictly )?(?:frozen|holy|untouchable|off|forbidden|blocked"
    r"|final|closed|private|impossible|pointless|useless|a (?:no|bug|crime|rarity|last resort|definite no|priority)"
    r"|not (?:optional|negotiable|acceptable|up for|done|for|going|to be|an? option)|non-\w+"
    r"|the (?:default|exception|enemy|truth|limit)|fine|okay|enough)\b",
    "norm:gets": r"(?:^|, )(?!(?:i|he|she|we|they|you|it|that|this)\b)(?:[\w'/-]+ ){1,5}(?:gets?|needs?|takes?|carr(?:y|ies)"
    r"|counts?|starts?|ends?|waits?|cap) (?:an?|the|no|two|three|one|their|its|at|with|as|for|to|on)\b",
    "matters": r"\b(?:matters? to me|important to me|what i (?:need|want|like|expect|value)|how i like|my preference"
    r"|my default|works? best for me|helps? me|suits? me|easier for me|i(?:'m| am) not a fan"
    r"|not keen on)\b",
}


CUES: Final = {name: re.compile(pattern) for name, pattern in _ANYWHERE.items()}
