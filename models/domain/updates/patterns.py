"""The patterns and word lists by which a claim is read; a pattern is a word or phrase as people write it."""

import re
from typing import Final

from models.domain.text.terms import STOP_WORDS

NUMBER_WORDS: Final = {
    word: str(number)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty",
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth",
    )
    for number, word in enumerate(words.split())
} | {"once": "1", "twice": "2", "thrice": "3", "half": "0.5", "dozen": "12"}
WORD: Final = re.compile(r"[^\W\d_][\w'+#.-]*[\w+#]|[^\W\d_]|\d[\d.,:/]*\d|\d")
OPENER: Final = re.compile(
    r"^(?:(?:just|oh|ah|well|so|and|but|also|btw|by the way|actually|anyway|ok|okay|yes|yeah|no|hey|hi|fyi|"
    r"update|note|correction|"
    r"big news|good news|news|turns out|it turns out|in fact|to be honest|honestly|sorry|please|"
    r"from now on|starting (?:today|now|tomorrow)|since [a-z ]{3,30}?|these days|now|currently|lately)"
    r"[,:!.-]*\s+(?:that )?)+",
    re.IGNORECASE,
)
VERB_LIST: Final = """
    is are was were am has have had 's 're 'm 've be been being isn't aren't wasn't hasn't haven't don't
    doesn't didn't won't can't live lives lived work works worked use uses used prefer prefers like likes
    love loves hate hates enjoy enjoys drive drives drove moved move moves switched switch switches changed
    change changes started start starts stopped stop stops quit quits left runs run ran goes go went got get
    gets bought sold keep keeps kept take takes took drink drinks eat eats wear wears smoke smokes weigh
    weighs report reports study studies learn learns teach teaches bank banks commute commutes cycle cycles
    plan plans want wants need needs decided gave give gives put puts closed migrated upgraded rewrote
    adopted finished passed raised slipped rebooked leaves leave arrives begins ends costs pays pay earn
    earns own owns speak speaks play plays stay stays belongs means meets meet makes make made will would
    should can could may might must deploy deploys freelance relocated came settled became become becomes
    dropped replaced set sets reached hit counts listens contains holds
"""
VERBS: Final = frozenset(VERB_LIST.split())
CONTRACTION: Final = re.compile(r"'(?:s|re|m|ve|ll|d)\b")
CLAUSE: Final = re.compile(r"[,;:–—]\s+|\s-\s+|\b(?:and|but|so|because|while|which|who)\b\s+", re.IGNORECASE)
EVENT: Final = re.compile(
    r"\b(?:last (?:night|week|month|year|weekend|time|\w+day)|ago|yesterday|tonight|today|"
    r"this (?:week|month|year|morning|evening|"
    r"afternoon|weekend)|the other day|spent|bought|paid|slept|walked|ran|attended|caught|saw|met|"
    r"cost|(?:took|had) (?:an? |our )?(?:\w+ )?(?:\d+|\w+)-(?:day|week|hour)|on \d+/\d+|"
    r"last (?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:january|february|march|april|june|july|august|september|october|november|december) \d+|"
    r"(?:i|we) (?:can )?see|waiting|pending|queued|failing)\b"
)
# It says outright that something is not as it was; and words that only hint at it.
CHANGE: Final = re.compile(
    r"\b(?:from now on|no longer|any ?more|these days|instead|switched|switch to|switching to|"
    r"moved (?:to|into|in with)|"
    r"(?:have|has|'ve|'s) moved|relocated|we changed|changed (?:to|my|our|the (?!game|way|subject|"
    r"world))|migrated|replaced|upgraded to|rewrote|gave up|i quit|"
    r"stopped (?:using|smoking|drinking|eating|going)|sold|closed (?:my|our|the)|is off|(?:is|"
    r"are) gone|slipped to|postponed|rebooked|"
    r"rescheduled|no more|turns out|correction|come around|decided on|since the \w+|"
    r"since (?:my|our|her|his|their) (?:\w+ ){0,2}\w+(?=[,.;!]|$)|settled into|"
    r"new (?:address|job|place|phone|car|manager|email|number|cto|ceo|boss|editor)|put me on|"
    r"gave (?:the|my|our) [\w ]{2,20} to|raised (?:the|my|our)|"
    r"started (?:at|school|as)|got engaged|got married|divorced|broke up|is dead|"
    r"took a [\w-]+ position|it's only|adopted|"
    r"after all|(?:cut|reduced|increased|raised|lowered|extended|shortened|delayed|brought forward|"
    r"pushed back) to|that makes|renamed|rewritten|promoted|took over|takes over|cancell?ed|(?:was |"
    r"been )?pushed to|moved (?:everything|all|the|our|my)|turned \d+|"
    r"learned to|learnt to|decided (?:against|to)|found a (?:new )?job|got an extension|back to|skip|"
    r"since (?:january|february|march|april|may|june|"
    r"july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday)|over to|"
    r"took (?:the|my|our) [\w ]{2,20} home|start(?:ing)? (?:today|tomorrow|monday)|as of|drop|again|"
    r"(?:i|we|he|she|they|who|has|have|had|'ve) left)\b"
)
HINT: Final = re.compile(
    r"(?<=\w )(?<!right )(?<!let me )\bnow\b|\b(?:currently|my new|our new|became|become|better)\b"
)
MOOD: Final = re.compile(
    r"\b(?:happy|happier|excited|exciting|inspir\w+|awesome|amazing|joy\w*|passion\w*|fun|thrill\w*|"
    r"pumped|proud|grateful|thankful|dreams?|"
    r"wow|glad|feels?|feeling|felt|reward\w*|fulfil\w*|hard work|great|wonderful|lovely|beautiful|"
    r"cool|thanks?|sorry|congrat\w*)\b"
)
DENIAL: Final = re.compile(
    r"\b(?:not|never|no|none|nothing|without|cannot|stop|stopped|quit|gave up|drop|off|skip|against|"
    r"hates?|dislikes?|[a-z]{2,8}n't)\b"
)
IDIOM: Final = re.compile(
    r"\b(?:(?:even though|although) [^,.;]*|no matter \w+|can't wait|no problem|not only|why not|no worries|"
    r"not sure|(?:never|not|"
    r"don't|won't) give up|"
    r"no idea|not (?:just|alone|only|merely|ideal|perfect|great|easy|cheap|necessarily)|"
    r"don't worry|not to mention|no doubt|won't quit|don't quit|not bad|no one|can't believe|never quit)\b"
)
REVOKED: Final = re.compile(
    r"(?<!n't )(?<!not )(?<!never )(?<!to )(?<!cannot )\b(?:no longer|no more|instead of|rather than|"
    r"changed my mind about|"
    r"prefer \w+ over|gave up|given up|(?<!-)stopped|(?<!-)stop|quit|dropped|"
    r"sold(?: the| my| our)|closed(?: my| our| the)?|drop|"
    r"(?:switched|migrated|changed) from|[,;] not(?! (?:just|only|merely|even|simply)\b))\s+(?P<after>[^,.;:!?]{2,40})"
    r"|\b(?:no|not|isn't|aren't|don't \w+|doesn't \w+)\s+(?P<ended>[^,.;:!?]{2,40}?)\s+any ?more\b"
    r"|(?P<before>[^,.;:!?]{2,40}?)\s+(?:is|are)\s+(?:now\s+)?(?:fine(?! [a-z]{3,}s\b)|ok|okay|off|gone|dead|over|"
    r"history|cancelled|not (?:my|our))\b"
)
WISH: Final = re.compile(
    r"^(?:please\s+|from now on,?\s+|always\s+|never\s+|don't\s+|do not\s+|stop\s+|no more\s+|"
    r"you (?:can|should|must|may|don't|do not)\b|"
    r"it's (?:fine|ok|okay|all right) (?:to|if)\b|feel free to\b|[\w ]{2,20} (?:should|must) be\b)",
    re.IGNORECASE,
)
_IMPERATIVES_LIST: Final = """
    use answer write keep give call address format show explain ask deploy commit run switch prefer avoid
    reply respond speak end start put add include remember make take send translate summarise summarize
    always never stop don't no push pull merge create check refer tell provide suggest offer treat assume
    set return print say greet skip read mention cite quote leave save store delete remove rename review
    sign round convert sort limit draw highlight choose pick begin finish wrap indent capitalise capitalize
    expect consider
"""
IMPERATIVES: Final = frozenset(_IMPERATIVES_LIST.split())
LATER_WISH: Final = re.compile(
    r"(?:[,;:–—-] |\b(?:so|and|but) )(?:please )?(?:(?:"
    + "|".join(sorted(IMPERATIVES))
    + r") (?:the|an?|my|our|your|all|only|me|it|them|no|every|everything|anything|straight|with|in|to|as)\b"
    r"|(?:[a-z]+ ){1,3}(?:should|must) (?:not )?be\b)"
)
# What somebody does or wants done next: it is over with the moment and says nothing of how things are.
STEP: Final = re.compile(
    r"^(?:(?:ok|okay|good|great|done|right|also|so|and|yes)[,.!]? )*"
    r"(?:(?:now|next|then|first|finally)[,:]? (?:let me|let's|i'll|i will|i need to|i have to|i can|"
    + "|".join(
        sorted(IMPERATIVES | {"update", "fix", "rewrite", "write", "do", "look", "try", "stage", "test"})
    )
    + r")\b|(?:let me|let's)\b)"
)
OWN: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours|i'm|i've|i'd|i'll|we're|we've)\b")
YOURS: Final = re.compile(r"\byou(?:rs?|'re|'ve|'ll)?\b")
ANSWER: Final = re.compile(r"^(?:it|that|this|they|those|these)(?:'s|'re| is| are| was| were)?\b")
NAME: Final = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\"“])\b[A-ZÄÖÜÉÈÁÓÚÍÑÇ][\w'&.-]*\w")
COUNTED: Final = re.compile(
    r"(?:(?<=for the last )|(?<=for the past )|(?<!last )(?<!past ))(?<!next )(?<!every )"
    r"(?:(?P<front>port|room|gate|platform|page|episode|level|chapter|version|grade|floor|semester|season|"
    r"part|volume|python|stage|at|half past)\s+)?"
    r"(?P<money>[$€£])?\b(?P<value>\d[\d.,:]*\d|\d|" + "|".join(NUMBER_WORDS) + r")(?:st|nd|rd|th)?\b"
    r"(?P<money_after>\s?(?:euros?|dollars?|eur|usd|€))?(?P<half>\s?(?:am|pm|o'clock)\b)?"
    r"(?P<units>(?:[- ](?!and |or |but )[^\W\d_][\w'-]*){0,3})"
)
_MONTHS: Final = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
MONTH: Final = re.compile(rf" (?:of )?{_MONTHS}\b")
MONTH_BEFORE: Final = re.compile(rf"\b{_MONTHS} (?:the )?$")
ONE_OF: Final = re.compile(r" (?:of|in|on|at|with|from|by|for|that|which|is|was)\b")
# Two units of one measure: "26 minutes and 30 seconds".
COMPOSITE: Final = re.compile(
    r"\b(\d+) (years?|hours?|minutes?|feet|foot|pounds?|metres?)(?:,| and)? (\d{1,2}) "
    r"(?:months?|minutes?|seconds?|inch(?:es)?|ounces?|centimetres?)\b"
)
CLOCK: Final = re.compile(r"\d{1,2}:\d\d")
_NOT_UNITS_LIST: Final = """
    of more less other different new to in on for so now already at and or is are one it the my a
    good great last next per from since with as way over about around
"""
NOT_UNITS: Final = STOP_WORDS | frozenset(_NOT_UNITS_LIST.split())
HEDGE: Final = re.compile(
    r"\b(?:if|maybe|perhaps|might|thinking (?:of|about)|considering|wondering|not opposed|"
    r"would (?:love|like)|could|wish|hope|"
    r"hoping|probably|should i|do you|can you|looking (?:for|into|to)|want to|trying to|tempted|guess|"
    r"imagine|may (?:have|be)|(?<!don't )need to)\b"
)
TOTAL: Final = re.compile(
    r"\b(?:so far|in total|total|by now|now|already|that makes|brings|makes|up to|down to|passed|"
    r"reached|hit|personal best|"
    r"new (?:record|best)|(?:i|we)(?:'ve| have) \w+|just (?:finished|completed|realized|added)|"
    r"currently|finished my|since starting|these days)\b"
)
LIFTED: Final = re.compile(
    r"\b(?:it's (?:fine|ok|okay|only)|(?:is|are) (?:fine|ok|okay|allowed)|you can|you may|"
    r"you don't (?:have|need) to|no need to|"
    r"again|don't have to|not necessary|feel free)\b"
)
STANDING: Final = re.compile(
    r"\b(?:i|we|they) (?!was|were|had|did|went|got|saw|met|took|made|said|thought|felt|just|\w+ed\b)[a-z]+\b|"
    r"\b(?:i|we|he|she|they|[a-z]+s?) (?:am|is|are|live|lives|work|works|use|uses|prefer|prefers|like|"
    r"likes|love|loves|hate|hates|drive|"
    r"drives|have|has|keep|keeps|take|takes|drink|drinks|eat|eats|wear|wears|smoke|smokes|weigh|bank|"
    r"study|teach|commute|run|runs|go|"
    r"goes|play|plays|own|speak|deploy|deploys|want|plan|enjoy|freelance|report|reports|get up|"
    r"will be|usually|always|leave|leaves|"
    r"wake|walk|cycle|do|does|cook|read|watch|stay)\b|\b(?:i|we|he|she|they|it|who|that|there)'(?:m|re|s|ve)\b"
)
SLOT: Final = re.compile(
    r"\b(?P<slot>(?:my|our|the) (?:new |current |favou?rite |old |"
    r"own )*(?:[a-z'-]+ ){0,3}?[a-z'-]+?)(?: these days| now)? (?:is|are) "
    r"(?:now |currently |still |actually |called |named |at |in |on |with |a |an |the |my |"
    r"under )*(?P<value>[^,.;!?]{1,60}?)"
    r"(?=[,.;!?]|$| now| these days)|\b(?P<naming>call me) (?P<name>[^,.;!?]{1,30}?)(?=[,.;!?]|$|"
    r" from| now| instead| like| as| please| not| rather)"
)
_SLOT_IDLE_LIST: Final = """
    my our the new current old own
"""
SLOT_IDLE: Final = frozenset(_SLOT_IDLE_LIST.split())
QUESTION: Final = re.compile(
    r"^(?P<before>.*?)(?:,| -| –|;)\s*(?:and |so |but )?(?:speaking of which,? )?"
    r"(?:do|does|did|can|could|would|should|have you|is|are|what|how|which|where|when|any)\b[^.]*\?",
    re.IGNORECASE,
)
# What a question states by the way: "…, which I usually do at six?", "since I work nights, …?".
STATED: Final = re.compile(
    r"(?:(?P<thing>\b(?:my|our|the|a|an) (?:[\w'-]+ ){0,3}?[\w'-]+),? (?:which|where|that)"
    r"|\b(?:since|because|now that|given that)) "
    r"(?P<said>(?:i|we)(?:'ve|'m|'re)? [^?]{8,})(?=\?)",
    re.IGNORECASE,
)
POINTING: Final = re.compile(
    r"^(?:it|they|she|he)(?:'s|'re|'ve|’s|’re|’ve| is| are| has| have)\b", re.IGNORECASE
)
POINTED: Final = re.compile(
    r"^the ones? (?:where|that|which)\b"
    r"|^(?!.*\b(?:my|our)\b).*\b(?:them|him)\b(?=.*\bfor (?:the (?:past|last) )?[\w-]+ (?:days|weeks|months|years))",
    re.IGNORECASE,
)
# What somebody is by trade: "I'm a paralegal at a small firm", "I work as a welder".
ROLE: Final = re.compile(
    r"\b(?:i'm|i am) an? (?:[\w-]+ ){1,4}?(?:at|for|by trade|by profession)\b|\bwork(?:s|ed|ing)? as\b"
)
PLACED: Final = re.compile(r"\b(?:in|on|under|at|behind|inside|next to|with) (?:the|my|our|a|an|his|her)\b")
_PEOPLE_LIST: Final = """
    sister brother mother father mom dad son daughter wife husband partner girlfriend boyfriend friend
    friends cousin aunt uncle neighbour neighbor colleague coworker grandmother grandfather grandma grandpa
    parents roommate flatmate client team
"""
PEOPLE: Final = frozenset(_PEOPLE_LIST.split())
LOG: Final = re.compile(
    r"^\s*(?:\d{4}-\d\d-\d\d|\[|\{|<|[|#>$]|GET |POST |PUT |commit |deploy #|Traceback|exit code|"
    r"[\w./-]+\(\)|at [\w.]+\()"
    r"|=\S|::|\\|[{}<>|]|->|\b0x|https?://"
)
LIST: Final = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)]|\[[ x]\])\s")
LABELLED: Final = re.compile(r"^(?P<label>[\w/-]+(?: #?[\w/-]+){0,4}):\s")  # "Note 12: …", "kafka lag: …"
NEWS: Final = re.compile(
    r"^(?:update|correction|(?:big |good )?news|fyi|btw|new [\w ]{2,40}|change of plan)s?$"
)
ENDINGS: Final = ("ing", "ied", "ed", "es", "s", "ly", "e")
_IDLE_LIST: Final = """
    not never no longer stopped quit gave cannot can't don't doesn't didn't won't isn't aren't anymore way
    really actually been recently lately currently now still it's that's it'll definitely absolutely totally
    certainly sure yeah thanks i'm i've i'd i'll we're we've please always just new already so far days
    please use using used one ones also only again thing things lot day get got getting make made going go
    went think thought know like would could should will can may might much many more
"""
IDLE: Final = STOP_WORDS | frozenset(_IDLE_LIST.split())
