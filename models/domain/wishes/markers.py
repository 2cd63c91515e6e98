"""Words and marks that tell a standing rule from a request, a report or comfort, in a user's turn.

In chat "must" is mostly a guess and "never" mostly comfort (memory-model.md section 9): what counts is
whether a sentence is meant to last, and whether it speaks of what an assistant does.
"""

import enum
import re
from typing import Final


class Lasting(enum.IntEnum):
    """How much a sentence shows that it is meant to last; each level includes those below."""

    NO = 0
    BAN = 1  # "again", "anymore": enough for a ban
    CASE = 2  # a recurring case: "when I ask", "in every reply"
    WEAK = 3  # "next time", "whenever"
    OPENED = 4  # the sentence opens with a recurring case: "When I ask for code, ..."
    STRONG = 5  # "from now on"


# How answers look: naming one of these turns a request into a style rule.
STYLE: Final = (
    r"(?:emojis?|emoticons?|exclamation (?:marks?|points?)|bullets?|bullet(?:ed)? (?:points?|lists?)|lists"
    r"|tables?"
    r"|markdown|headings?|headers|jargon|slang|acronyms?|abbreviations?|filler(?: words)?|fluff|preambles?"
    r"|intros?"
    r"|pleasantries|small talk|disclaimers?|caveats?|apologies|spoilers?|profanity|swear words|idioms"
    r"|metaphors|puns"
    r"|jokes|humou?r|sarcasm|compliments|flattery|em[- ]dash(?:es)?|semicolons?|oxford commas?|contractions"
    r"|(?:passive|active) voice|(?:first|second|third) person|metric|imperial|celsius|fahrenheit"
    r"|kilomet(?:er|re)s"
    r"|miles|units?|24-hour|12-hour|iso|utc|time ?zones?|currency|euros?|dollars|english|british|american"
    r"|french"
    r"|german|spanish|italian|portuguese|japanese|chinese|korean|dutch|plain (?:text|language)"
    r"|simple(?:r)? (?:words|language|terms)|layman's terms|tone|style|voice|language|answers?|responses?"
    r"|replies"
    r"|explanations?|summaries|summary|paragraphs?|sentences?|one-liners?|examples|sources?|citations?"
    r"|references"
    r"|links|code (?:blocks?|samples?|snippets?|comments)|snippets?|comments|type hints|docstrings"
    r"|unit tests|tabs|spaces"
    r"|camel ?case|snake ?case|pytest|python|typescript|javascript|rust|sql|formatting|format"
    r"|capital letters|caps"
    r"|pronouns|they/them|she/her|he/him|nicknames?|honorifics|titles?|bold|italics|quotes|footnotes"
    r"|follow-up questions|reminders|notifications|my (?:\w+ )?(?:name|email|account|initials|pronouns))"
)
# How an assistant speaks.
MANNER: Final = (
    r"(?:concise|brief|short(?:er)?|succinct|terse|direct|blunt|honest|frank|formal|informal|casual"
    r"|professional"
    r"|polite|friendly|specific|precise|detailed|thorough|verbose|wordy|long|simple|clear|critical"
    r"|objective|neutral"
    r"|technical|literal|sarcastic|serious|enthusiastic|chatty|preachy|patroni[sz]ing|condescending"
    r"|apologetic"
    r"|repetitive|vague|sycophantic|straightforward|realistic|to the point)"
)
# What an assistant hands over.
REPLY: Final = (
    r"(?:answers?|responses?|replies|reply|messages?|explanations?|emails?|summaries|summary|texts?|code"
    r"|comments"
    r"|posts?|drafts?|reports?|suggestions?|recommendations?|questions?|conversations?|sessions?|chats?"
    r"|outputs?)"
)

# What is written the same way everywhere.
DATA: Final = (
    r"(?:amounts?|dates?|prices?|times?|numbers?|measurements?|distances?|temperatures?|names?|files?"
    r"|functions?"
    r"|variables?|commits?)"
)

# The sentence is meant to last, whatever it asks for.
STRONG_STANDING: Final = re.compile(
    r"\b(?:from now on|from here on|from this point on|from today on|as of (?:now|today)"
    r"|starting (?:today|now|tomorrow|from|this|next|\w+day)|going forward|moving forward|henceforth"
    r"|hereafter"
    r"|until further notice|under (?:no|any) circumstances|by default|as a (?:general )?rule|at all times"
    r"|until i (?:say|tell)|unless i (?:say|tell|specify|explicitly)"
    r"|unless (?:otherwise|i've)|for the rest of (?:this|our) (?:chat|conversation|session))\b"
)
# It recurs; this makes a rule of what assistants do, not of what friends do.
WEAK_STANDING: Final = re.compile(
    r"\b(?:in (?:the )?future|for (?:the )?future|next time|every ?time|each time|whenever|wherever"
    r"|all the time|permanently"
    r"|unless (?:i|asked|told|requested|specified|stated)|without (?:asking|checking|confirming|my|telling"
    r"|permission"
    r"|being asked)|always$|in (?:this|our) (?:project|chat|conversation|session))\b"
)
# A case that comes up again and again.
CASE_STANDING: Final = re.compile(
    r"\b(?:(?:when|if) (?:in doubt|unsure)|if you(?:'re| are) (?:not sure|unsure|uncertain|in doubt)"
    r"|if you (?:don't|do not|can't|cannot) (?!mind|have|want)|if (?:an?|any|something|anything|someone"
    r"|there(?:'s| is| are))"
    r"|(?:if|when) i'm|if i (?!were|was|had|have|get|need|could|would|can|do|don't|am|want|ever|won"
    r"|win)\w+|(?:when|while) \w+ing"
    r"|(?:every|each) (?:single )?(?:day|morning|evening|night|week|month|hour|weekend"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:every|each|all)(?: of)?(?: your| the| my| our| future)* (?:\w+ )?" + REPLY + r"|"
    r"your (?:\w+ )?(?:answers?|responses?|replies|reply|messages|explanations|emails|code|comments)|"
    r"(?:in|for|to|of) (?:your|our|my|all|any|every) (?:future )?" + REPLY + r"|"
    r"(?:when|if|before|after) (?:i|you|we|someone|anyone) (?:\w+ ){0,2}?(?:ask|say|send|write|type|paste"
    r"|mention|request"
    r"|answer|respond|reply|explain|suggest|recommend|refactor|generate|create|code|schedule|book"
    r"|summari[sz]e|quote|cite"
    r"|refer|use|change|delete|edit|commit|push|deploy|run|share|translate|speak)\w*"
    r"|(?:before|after|in|on|with|for|at|to|under) (?:every|each|all)|before (?:sending|deleting|changing"
    r"|editing"
    r"|committing|pushing|deploying|running|making|booking|buying|posting|sharing|ordering|spending"
    r"|replying|answering|suggesting|calling|moving))\b"
)
# "Don't do that again" lasts; "tell me again" does not.
BAN_STANDING: Final = re.compile(r"\b(?:again|any ?more|any longer)\b")

# It is about this one piece of work.
ONE_OFF: Final = re.compile(
    r"\b(?:this (?!(?:chat|house|household|company|team|code|codebase|project|repo|family|home"
    r"|conversation|session|office|channel"
    r"|thread|kitchen|shop|way|is|was|account|stuff|calendar|inbox|firm|point|day|moment|to|from|client"
    r"|week on|month on"
    r"|whole|kind|sort|and|or|in|with|for|at|on|as|when|again|any)\b)\w+"
    r"|(?:just|only) (?:this )?once|for once|once more|for now|right now|tonight|tomorrow|yesterday"
    r"|(?<!from )today(?! on)"
    r"|yet|at the moment|for (?:a|one) (?:second|minute|moment|while)|in a (?:hurry|minute|second)"
    r"|(?:text|question|list|link|one|example|paragraph|see|message) (?:above|below)|the (?:above|attached"
    r"|following)"
    r"|the (?:second|third|last|next) (?:one|option|paragraph|page|part|result|results|two|three|slide"
    r"|chapter|sentence"
    r"|link|column|message|file|draft)|the other (?:one|\w+sheet|file|version)"
    r"|(?:chapter|page|slide|paragraph) (?:\d+|one|two|three|four|five|six|ten))\b"
)
# It sounds like one occasion.
OCCASION: Final = re.compile(
    r"\b(?:on (?:mon|tues|wednes|thurs|fri|satur|sun)day(?! (?:morning|afternoon|evening|night)s)|later"
    r"|already|right away"
    r"|the (?:second|third|last|next|other|rest)|the first (?:one|three|two|page)|immediately"
    r"|at (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'clock)?$"
    r"|i(?:'ll| will) \w+ (?:it|the rest|you)|still (?:looking|typing|working|reading)|when you (?:find"
    r"|leave)"
    r"|when you(?:'re| are) (?:done|ready|back|finished)|next (?:week|month|year|\w+day)|last (?:night"
    r"|week|month|year))\b"
)
# Comfort and proverbs between people.
COMFORT: Final = re.compile(
    r"\b(?:giv(?:e|ing) up|stop (?:dreaming|believing|learning|smiling|trying)|your (?:dreams?|heart"
    r"|passions?|gut"
    r"|instincts?|worth|potential|goals?|soul|life|values|friends?|loved ones)|(?:believe|trust|love|blame"
    r"|beat|compare|doubt"
    r"|push|hard on|true to|care of|kind to|faith in|proud of) (?:in )?yourself|be (?:afraid|scared|sad"
    r"|proud|strong"
    r"|shy|discouraged|too hard|ashamed)|worry|bright side|smil\w+|say never|(?:get|bring|let) you down"
    r"|keep going"
    r"|hang in there|stay (?:positive|strong|true|safe)|lose hope|lose sight|take (?:care|breaks?)"
    r"|have fun|let go"
    r"|look back|miss you|forget (?:how|you|your|about me)|(?:here|there) for you|love you|your back"
    r"|let me know"
    r"|keep (?:me posted|in touch)|reach out|tell me (?:more|about|what|how|all|everything))\b"
)
# Nobody is asked to do it.
HYPOTHETICAL: Final = re.compile(
    r"(?:what if|imagine|suppose|let's say|say you|hypothetically|if i (?:were|was|had)|if you (?:were|had)"
    r"|would you rather"
    r"|i wish|in a world|pretend)\b"
)
# Someone else's rule, told.
REPORTED: Final = re.compile(
    r"\b(?:he|she|they|mom|dad|mother|father|boss|teacher|coach|doctor|friend|grandm\w+|grandp\w+|sign|book"
    r"|quote|saying"
    r"|proverb|motto|lyrics?|song|article|poster|people|everyone|someone|manager|therapist|who|that|always"
    r"|once|often|just"
    r"|has|had|me|us|and|would|kept|\w+ma|\w+pa)(?: \w+)? (?:said|says|say|told|tells|taught|advised"
    r"|advises|reads?"
    r"|goes|warned|reminds?|reminded|suggested|wrote|writes|recommended|preached|insisted|insists|asked"
    r"|asks|repeated|believes?)\b"
    r"|\b(?:according to|as the (?:saying|song) goes|motto|mantra|proverb|advice|reminds? (?:me|us|you)"
    r"|taught (?:me|us)"
    r"|told (?:me|us|him|her|them)|learned|learnt)\b"
)
# The turn asks for one piece of work: wishes about its form end with it.
TASK: Final = re.compile(
    r"(?:(?:please|hi|hey|ok|so|now|and|also)[,!]? )*(?:(?:write|create|generate|draft|compose|make|give"
    r"|list|suggest"
    r"|recommend|plan|design|build|find|translate|summari[sz]e|explain|tell|show|help|describe|analy[sz]e"
    r"|convert|compare"
    r"|provide|rewrite|fix|imagine|come up|produce|prepare|outline|edit|proofread) (?:me |us |up |with "
    r"|out )*"
    r"(?:an?|some|the|this|that|these|those|my|our|\d+|two|three|four|five|six|ten|several|about|how|what"
    r"|why|in \d+)\b"
    r"|(?:can|could|would|will) you (?!always|never|stop|not\b|only|avoid|please (?:always|never|stop|not\b"
    r"|only|avoid))"
    r"|i (?:need|want|would like) (?:an?|some|help|to)\b|i'd like (?:an?|some|help|to)\b|help me)"
)
