"""How the clauses of a chat turn open: as a command, a ban, a wish, a state of the speaker, a fragment.

The kind of a clause is read from its first words, once fillers ("ok so, please") are taken off and the usual slips of
the keyboard ("dont", "allways") are put right.
"""

import itertools
import re
from typing import Final, NamedTuple

from models.domain.grammar.lexicon import CONDUCT_VERBS, ROLES, WordRole, split_words

# How the words of rules are mistyped; read as what was meant.
SPELLINGS: Final = {
    "dont": "don't", "do'nt": "don't", "cant": "can't", "wont": "won't", "didnt": "didn't",
    "doesnt": "doesn't", "isnt": "isn't", "arent": "aren't", "shouldnt": "shouldn't", "mustnt": "mustn't",
    "wouldnt": "wouldn't", "couldnt": "couldn't", "im": "i'm", "ive": "i've",
    "youre": "you're", "thats": "that's", "lets": "let's", "whats": "what's", "theres": "there's",
    "pls": "please", "plz": "please", "plese": "please", "pleas": "please", "pleaes": "please", "kindly": "please",
    "u": "you", "ur": "your", "r": "are", "allways": "always", "alwyas": "always", "alwasy": "always",
    "alway": "always", "nevr": "never", "nver": "never", "neve": "never", "remeber": "remember",
    "rember": "remember", "remmeber": "remember", "prefere": "prefer", "perfer": "prefer", "stopp": "stop",
    "avoide": "avoid", "everytime": "every time", "anymore": "any more", "answeres": "answers",
    "anwsers": "answers", "awnser": "answer", "anwser": "answer", "cannot": "can't",
    "shoud": "should", "shold": "should", "wnat": "want", "alergic": "allergic",
    "allergc": "allergic", "vegeterian": "vegetarian", "whenver": "whenever", "wehn": "when", "thx": "thanks",
    "gonna": "going to", "wanna": "want to", "gotta": "have to", "tho": "though", "bc": "because", "cuz": "because",
}  # fmt: skip


_LEADING: Final = re.compile(
    r"(?:(?:and|also|but|so|ok|okay|hey|hi|hello|oh|yes|yeah|yep|well|right|please|just|then|actually|btw"
    r"|by the way"
    r"|anyway|anyhow|again|honestly|seriously|though|cool|great|perfect|nice|one more thing|one thing"
    r"|two things"
    r"|one last thing|small thing|little thing|another thing|new thing|oh and"
    r"|quick (?:note|thing)|reminder|fyi|important|remember|note|in general|generally|instead|otherwise"
    r"|still|really"
    r"|from now on|from here on(?: out)?|going forward|moving forward|henceforth|in (?:the )?future"
    r"|next time"
    r"|by default|as a (?:general )?rule|at all times|for the record|thanks(?: a lot| so much)?|thank you"
    r"|sorry|haha|fine"
    r"|if possible|if you can|whenever possible|where possible|in that case|as i said|like i said"
    r"|to be clear"
    r"|from \w+ on(?:wards)?|from today|from this \w+ on|until i (?:say|tell you) otherwise"
    r"|unless i say otherwise|whatever you do|until further notice|starting (?:today|now|tomorrow)"
    r"|as of (?:now|today)|basically|obviously|because|since) )*"
)

_AUXILIARIES: Final = split_words("""
    is are was were am be been has have had do does did can could will would shall should may might must isn't aren't
    wasn't weren't hasn't haven't hadn't don't doesn't didn't can't couldn't won't wouldn't shouldn't mustn't
    it's that's there's he's she's i'm i've i'd i'll you're you've you'd you'll we're we've we'll we'd they're they've
    they'll they'd what's who's here's let's gets goes go comes come takes take needs need means makes make stays stay
    works wants want says said got went came took made told
""")
_SUBJECTS: Final = split_words("i you he she it we they there who this that")
_BASE_VERBS: Final = frozenset(
    {word for word, role in ROLES.items() if role <= WordRole.NOUNISH} | CONDUCT_VERBS
) | split_words(
    "mind watch steer spare ditch lead flag loop challenge lose cut swear cook eat drink round go bear ban"
    " swap favour favor capitalise capitalize italicise hyphenate anonymise anonymize redact blur mute archive"
    " snooze book cc bcc leave bring wear pay turn sit stand assume bet beware carry nudge picture stay scrap"
)

THIRD_PEOPLE: Final = (
    r"(?:he|she|they|people|everyone|everybody|someone|somebody|kids|men|women|politicians|cats|dogs"
    r"|nobody|no one"
    r"|(?:my|our|his|her|their|the|your|some|most|these|those)(?: \w+)? (?:mom|mum|dad|mother|father|boss"
    r"|wife|husband|partner"
    r"|sister|brother|son|daughter|kids?|children|friends?|neighbou?rs?|teacher|doctor|dentist|coach"
    r"|trainer|landlord"
    r"|roommate|flatmate|manager|colleagues?|coworkers?|grand\w+|aunt|uncle|cousin|cat|dog|editor|team"
    r"|parents"
    r"|girlfriend|boyfriend|ex|therapist|guide|company|school|gym|airline|hotel|website|app|shop|store"
    r"|sign|label"
    r"|manual|book|recipe|contract|policy|law|guy|lady|woman|man|people|students?|client|customers?)"
    r"|(?:mom|mum|dad|grandma|grandpa|granny|nana))"
)

_WISH_VERBS: Final = (
    r"(?:want|like|love|need|prefer|expect|appreciate|rather|ask|thank|beg|count on|rely on|trust|insist"
    r"|be (?:grateful|happy|happier|glad|thankful)|much rather|sooner|request|require)"
)
_I_DO: Final = (
    r"i(?:'d| would|'m| am| do|'ll)?(?: really| just| also| still| always| much| only| ever| generally"
    r"| usually| honestly| personally| strongly| actually| don't| do not| never| rather)*"
)

_LIVED_VERBS: Final = (
    r"(?:eat|drink|fly|have|do|use|take|drive|smoke|wear|lift|tolerate|handle|touch|stay|buy|travel|digest"
    r"|consume"
    r"|cook with|swim|climb|run|work|read|watch|speak|answer|accept|celebrate|shop|stand|deal with|go|see"
    r"|hear|own)"
)


_WORD: Final = re.compile(r"[^\W_]+(?:['/-][^\W_]+)*")
_FINITE_FOLLOWERS: Final = split_words(
    "is are was were has of should must go goes"
)  # the word before was a noun
# Besides punctuation, a clause begins at a conjunction; at "so" only when no adjective follows ("so kind").
_AFTER_SO: Final = "|".join(
    sorted(
        split_words(
            "i i'm i'd we you they he she it it's the my our that's there's please no nothing never don't dont"
        )
        | split_words("do always only any all anything everything just if when from")
        | (_BASE_VERBS - split_words("open good well kind"))
    )
)
_CLAUSE_EDGE: Final = re.compile(
    rf"[,:;—–()]|\s+(?=so (?:{_AFTER_SO})\b|but |because |unless |if |when(?:ever)? |until |before "
    r"|and (?:please|never|don't|dont|always|only|no) )"
)


class Clause(NamedTuple):
    """A stretch of a sentence between commas, colons and conjunctions, its words as they were meant."""

    start: int  # where its text begins, fillers taken off
    text: str
    lead: str  # the fillers taken off, with a blank behind each
    kind: str  # how it opens; "" when nothing but fillers is in it


_NEGATIVE_STATE: Final = (
    r"(?:can't|cannot|don't|do not|won't|never|no longer|can not|couldn't|mustn't|am not allowed to"
    r"|shouldn't)"
)
_NOT_ADVERB: Final = r"(?: ever| usually| really| even| normally| actually| just)*"

# Tried in order at the head of a clause; the first that matches names its kind.
_KINDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (
            "polite",
            r"(?:can|could|would|will|might) (?:you|we)\b|would you mind\b|mind if\b|do you mind\b|(?:any"
            r"|is there any) chance\b|may i ask\b|can i ask\b|(?:could|can|would) (?:all|every|my|your|the"
            r"|i (?:have|get|ask)|it be)\b|how about (?:you|we|no)\b|shall we\b|is it possible\b|would it be\b",
        ),
        ("when", r"should (?:i|you|we) (?:\w+ ){0,8}\w+$"),
        (
            "asks",
            r"(?:what|why|how|who|whom|whose|which|where|do|does|did|is|are|am|was|were|have|has|had|can|could"
            r"|should|shall|must|may|will|would|am)"
            r"(?: not)? (?:i|you|we|he|she|they|it|there|one|the|this|that|these|those|my|your|a|an|do|does|did|is"
            r"|are|was|should|can|could|would|must|people|happens|emails|vegetarians|\w+s)\b"
            r"|(?:what|why|how|who|whose|which|what's|how's|who's|where)\b(?! i\b)",
        ),
        (
            "allow",
            r"(?:you (?:can|may|could)|you(?:'re| are) (?:allowed|free|welcome|fine)|feel free|go ahead"
            r"|you have (?:my|a|full|permission)|it's (?:ok|okay|fine|alright) (?:to|if you|for you)|no need)\b",
        ),
        (
            "stop",
            r"(?:stop|quit|cease|enough|refrain|avoid|no more|spare me|drop|skip|cut|lose|ditch|lay off|go easy"
            r"|hold off|leave out|omit)\b",
        ),
        (
            "ban",
            r"(?:don't|do not|never|not (?=on|in|before|after|with|during|for|at|to)|let's not|let us not|nobody"
            r"|no one|let nobody|let no)\b(?! (?:a|again|mind|been|had|seen|thought|sure|really|yet|much|bad|gonna"
            r"|going|that|in my|you|they|i)\b)",
        ),
        (
            "none",
            r"(?:no|nothing|none|zero|neither|nowhere)\b(?! (?:problem|worries|way|idea|thanks|thank|one|rush"
            r"|doubt|wonder|luck|i|it|that|we|he|she|they|you|this|big|matter|time|more questions|questions"
            r"|need)\b)",
        ),
        ("only", r"only \w+"),
        (
            "must",
            r"you (?:must|should|have to|need to|shall|will|ought to|mustn't|shouldn't|must not"
            r"|don't (?:have|need) to|needn't)\b|you(?:'re| are) (?:to|not to|never to|not allowed"
            r"|supposed|expected)\b",
        ),
        ("role", r"(?:in this chat |here )?you(?:'re| are)(?: now| not)? (?:my|an?|the|here|[a-z]+$)\b"),
        ("you", r"you\b"),
        (
            "name",
            r"(?:call me|i go by|i(?:'m| am) called|my name(?:'s| is)|my pronouns"
            r"|it's \w+(?: with|$)|address me|refer to me|i'd like to be (?:called|addressed|known)|they/them"
            r"|she/her|he/him|everyone calls me|just \w+ is fine)\b",
        ),
        (
            "likes",
            r"i (?:really |also |just |always |do )*(?:love|like|enjoy|appreciate|loved"
            r"|liked)\b(?! (?:it )?(?:when|if) you\b)",
        ),
        (
            "wish-you",
            rf"{_I_DO} (?:{_WISH_VERBS})\b.{{0,40}}?\b(?:you|your)\b|it(?:'d| would) (?:be|help"
            rf"|make)\b.{{0,40}}?\byou\b",
        ),
        (
            "dislike",
            r"i(?:'m| am| do| really| just| absolutely| personally| honestly|'ve)* (?:can't (?:stand|bear|take"
            r"|abide|tolerate|handle|do with)|hate|dislike|detest|loathe|despise|not (?:a fan|keen|into|fond|big)"
            r"|sick of|tired of|fed up|had enough"
            r"|(?:don't|do not|never|no longer) (?:like|love|want|need|enjoy|care for|appreciate)"
            r"|could do without)\b",
        ),
        ("wish", rf"{_I_DO} (?:{_WISH_VERBS})\b|it(?:'d| would) be\b"),
        (
            "unable",
            rf"(?:i|we){_NOT_ADVERB} {_NEGATIVE_STATE}{_NOT_ADVERB} {_LIVED_VERBS}\b|(?:i|we) (?:refuse|decline"
            rf"|(?:only|strictly) {_LIVED_VERBS}|keep (?:kosher|halal|shabbat|sabbath|the)|avoid|abstain|gave up"
            rf"|have given up|react badly|have quit)\b",
        ),
        ("unable", r"(?:i|we) (?:won't|refuse to|no longer|don't ever) \w+"),
        ("am", r"(?:i|we)(?:'m| am|'re| are)\b"),
        (
            "have",
            r"(?:i|we)(?:'ve)?(?: also| already| now)? (?:have|got|wear|use|think in|take|live|work|travel|keep"
            r"|read|write|pay)\b",
        ),
        ("self", r"i\b"),
        ("let", r"(?:let's|let us|let) (?!go\b|see\b|talk\b|try\b|hope\b|it\b|me know\b|meet\b|get\b)"),
        (
            "we-not",
            r"we (?:don't|do not|never|always|only|no longer|won't|can't|run|deploy|say|spell|call"
            r"|stick|go by|follow)\b",
        ),
        ("we", r"(?:we|let's|let us)\b"),
        ("mine", r"(?:my|our)\b"),
        (
            "whatever",
            r"(?:whatever|whichever|whoever|anything|everything|all|nothing) (?:i|you|we|that|to do"
            r"|comes|from|about|it|is|has)\b",
        ),
        (
            "when",
            r"(?:when|whenever|if|each time|every time|any time|anytime|once|before|after|as long as|until|unless"
            r"|while|wherever|as soon as|in case|no matter|the moment)\b",
        ),
        (
            "prep",
            r"(?:for|with|in|on|at|during|to|by|of|from|as|about|like|under|over|without|than|because|due)\b",
        ),
        ("third", rf"(?:{THIRD_PEOPLE})\b"),
        ("it", r"(?:it|that|this|there|these|those)\b"),
        ("all", r"(?:all|any|anything|every|everything|each|whatever|the (?:less|fewer|more))\b"),
        ("the", r"(?:the|a|an|some|his|her|their|your)\b"),
    )
)

_FINITE_NONE: Final = re.compile(
    r"(?:no|nothing|none|zero|neither|nowhere)(?: (?!i\b|you\b|that\b|which\b|in\b|for\b)\w+){0,3} "
    r"(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|happened|came|works?|worked"
    r"|came|did|does)\b"
)


def list_clauses(folded: str, start: int, end: int) -> list[Clause]:
    """Return the clauses of the sentence between two offsets, each with its kind.

    >>> [(clause.kind, clause.text) for clause in list_clauses("pls dont push, i'm ill", 0, 22)]
    [('ban', "don't push"), ('am', "i'm ill")]
    """
    edges = [start, *(edge.start() for edge in _CLAUSE_EDGE.finditer(folded, start, end)), end]
    clauses = []
    for opens, closes in itertools.pairwise(edges):
        words = list(_WORD.finditer(folded, opens, closes))
        if not words:
            continue
        text = " ".join(SPELLINGS.get(word[0], word[0]) for word in words)
        leading = _LEADING.match(text + " ")
        lead = "" if leading is None else leading[0]
        rest = text[len(lead) :]
        first = min(lead.count(" "), len(words) - 1)
        clauses.append(Clause(words[first].start(), rest, lead, judge_kind(rest) if rest else ""))
    return clauses


def judge_kind(text: str) -> str:
    """Return how a clause opens: as a command, a ban, a wish, a state of the speaker, a fragment, ..."""
    first = text.partition(" ")[0]
    for kind, pattern in _KINDS:
        if pattern.match(text) is not None:
            if kind == "none" and _FINITE_NONE.match(text) is not None:
                return "none-is"
            return kind
    if first in _BASE_VERBS:
        following = text.split(" ", 2)[1:2]
        return "command" if _FINITE_FOLLOWERS.isdisjoint(following) else "plain"
    return "plain" if _has_subject(text) else "fragment"


def _has_subject(text: str) -> bool:
    words = text.split()
    return any(word in _AUXILIARIES for word in words) or any(word in _SUBJECTS for word in words[:-1])
