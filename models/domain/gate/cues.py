"""What the gate looks for in a text: named patterns with the weights of memory-model.md, section 5.

Wide enough to know a preference, a relation or a decision when it is said plainly; narrow where a
wider net would catch brands, requests or small talk. Every pattern starts at a fixed word and repeats
within bounds, so each runs in linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Cue:
    """A named pattern and what its presence weighs."""

    name: str
    weight: float
    pattern: re.Pattern[str]


_B: Final = r"(?<![0-9a-z_'’\u00df-\u1fff])"
_E: Final = r"(?![0-9a-z_\u00df-\u1fff])"
_APOS: Final = r"['’]"

# --- technical density T and structure Dtech: matched against the text as written ---------------

FUNCTION_DEFINITION: Final = re.compile(
    r"\bdef \w{1,80} ?\(|\bfunction\*? \w{0,80} ?\(|\bfunc (?:\([^()\n]{0,80}\) ?)?\w{1,80}\("
    r"|\bfn \w{1,80} ?[(<]|\b(?:const|let|var) \w{1,80} ?= ?(?:async ?)?(?:\([^()\n]{0,200}\)|\w{1,80}) ?=>"
    r"|\b(?:public|private|protected|static|inline|virtual|override) [\w<>\[\], ]{1,80}\("
    r"|\b(?:int|void|double|float|char|bool) \w{1,80}\([^()\n]{0,200}\) ?\{|\blambda [\w, ]{0,80}:"
)

DENSITY_CUES: Final[tuple[Cue, ...]] = (
    Cue("code_fence", 0.5, re.compile(r"```|(?m:^ {0,3}~~~)")),
    Cue(
        "stack_trace",
        0.5,
        re.compile(
            r"Traceback \(most recent call last\)|(?m:^[ \t]{0,8}at [\w.$<>/]{1,200} ?\()"
            r"|\bFile \"[^\"\n]{1,300}\", line \d|\bgoroutine \d{1,9} \[|\bpanicked at\b|(?m:^Caused by: )"
            r"|\bException in thread\b|[Ss]egmentation fault|(?m:^#\d{1,3} {1,3}0x[0-9a-f]{4,16} in )"
        ),
    ),
    Cue("function_definition", 0.4, FUNCTION_DEFINITION),
    Cue(
        "shell_command",
        0.4,
        re.compile(
            r"(?m:^[ \t]{0,4}\$ [a-z./])|\b(?:sudo [a-z]|git (?:clone|commit|push|pull|checkout|rebase|merge|log|diff"
            r"|status|stash|fetch|reset|cherry-pick|bisect|switch)\b|(?:npm|pnpm|yarn) (?:install|i|run|ci|add|test"
            r"|publish|start)\b|npx [a-z@]|pip3? install\b|python3? (?:-[mc]\b|[\w./]{1,80}\.py\b)"
            r"|cargo (?:build|run|test|add|check)\b|docker(?:-compose)? (?:run|build|compose|exec|ps|pull|push|logs|up"
            r"|down)\b|kubectl [a-z]|helm (?:install|upgrade)\b|go (?:build|test|run|mod|get|vet|fmt|generate)\b"
            r"|make (?:-j|install|clean|check)\b|(?:apt|apt-get|brew|dnf|yum) (?:install|update|upgrade)\b"
            r"|(?:curl|wget) (?:-|http)|ssh [\w.-]{1,80}@|chmod [0-7+ugoa]|systemctl [a-z]|psql -|rm -[rf]|ls -[al]"
            r"|grep -[a-zA-Z]|terraform (?:apply|plan|init)\b|cd [~./])"
        ),
    ),
)

STRUCTURE_CUES: Final[tuple[Cue, ...]] = (
    Cue("function_definition", 0.4, FUNCTION_DEFINITION),
    Cue(
        "data_structure",
        0.3,
        re.compile(
            r"\bclass \w{1,80} ?[(:{<]|\b(?:struct|interface|enum|trait|union|record) \w{1,80} ?[{<(:]"
            r"|\btype \w{1,80} (?:=|struct|interface)|\b(?:CREATE TABLE|[Cc]reate table) |@dataclass\b|\btypedef \w"
            r"|\b(?:FOREIGN KEY|PRIMARY KEY|[Ff]oreign key|[Pp]rimary key)\b"
        ),
    ),
    Cue(
        "dependency",
        0.3,
        re.compile(
            r"(?m:^[ \t]{0,8}import [\w{*\"'(])|(?m:^[ \t]{0,8}from [\w.]{1,120} import )|\brequire\(['\"]"
            r"|#include [<\"]|(?m:^[ \t]{0,4}use \w{1,80}::)|(?m:^[ \t]{0,4}using [A-Z][\w.]{0,80};)"
            r"|\b(?:pip3? install|npm (?:install|i)|cargo add|go get|yarn add)\b"
            r"|\b(?:package\.json|requirements\.txt|pyproject\.toml|go\.mod|Cargo\.toml|pom\.xml)\b"
            r"|\b[Dd]ependenc(?:y|ies)\b"
        ),
    ),
    Cue(
        "test",
        0.2,
        re.compile(
            r"\bdef test_|\bassert[ (]|\bassert(?:Equal|True|That)\b|\bassert_eq!|\b(?:it|describe|test)\(['\"]"
            r"|\bexpect\(|@Test\b|#\[test\]|\b(?:pytest|jest|vitest|JUnit)\b"
            r"|\b(?:[Uu]nit|[Ii]ntegration|[Rr]egression) tests?\b"
        ),
    ),
    Cue(
        "doc_comment",
        0.2,
        re.compile(r"/\*\*|(?m:^[ \t]{0,8}/// )|\"\"\"|@param\b|@returns?\b|:param \w|:returns?:"),
    ),
)

# --- actionability A: matched against small letters ----------------------------------------------

ACTION_CUES: Final[tuple[Cue, ...]] = (
    Cue(
        "decision",
        0.5,
        re.compile(
            rf"{_B}(?:(?:we|i|team)(?:{_APOS}ve| have|{_APOS}re| are|{_APOS}ll| will)? (?:just |finally )?"
            r"(?:decided|agreed|chose|chosen|settled|opted|go(?:ing)? with|went with|use|standardi[sz]ed?|adopt(?:ed)?)"
            rf"|let{_APOS}s (?:use|go with|stick (?:with|to)|switch|keep|adopt)|decision(?: is)?:|decision was"
            rf"|the plan is to){_E}"
        ),
    ),
    Cue(
        "fix",
        0.4,
        re.compile(
            rf"{_B}(?:fix(?:ed|es)|the fix|bug ?fix|resolv(?:ed|es)|solved|root cause|turn(?:ed|s) out|work ?around"
            rf"|patched|that worked|works now|(?:was|is) caused by|the culprit|the (?:problem|issue) was){_E}"
        ),
    ),
    Cue(
        "configuration",
        0.4,
        re.compile(
            rf"{_B}(?:(?:set|changed?|updated?|enabled?|disabled?|bump(?:ed)?|increased?|decreased?|raised?|lowered?"
            r"|switched|upgraded?|downgraded?|pinned)(?: \S{1,60}){1,5}? (?:to|from|in|on)"
            rf"|configur(?:ed|ation|e)|config|env vars?|environment variables?|feature flag){_E}"
            rf"|{_B}export [a-z_]{{2,60}}="
        ),
    ),
    Cue(
        "milestone",
        0.3,
        re.compile(
            rf"{_B}(?:merged|deployed|deployment|released?|shipped|rolled (?:out|back)|published|went live"
            rf"|go(?:ing)? live|(?:in|to) production|tagged v\d|cut a release|hotfix){_E}"
        ),
    ),
)

# --- conversational load Dnl: matched against prose in small letters -----------------------------

_ADVERB: Final = (
    r"(?:(?:really|just|also|recently|finally|actually|currently|usually|always|never|already|still|absolutely"
    r"|only|even|personally|generally|typically|normally|often|sometimes|once|first|mostly|now|do|did|definitely"
    r"|especially) ){0,2}"
)
_RELATION: Final = (
    r"(?:wife|husband|spouse|fianc[ée]e?|partner|boyfriend|girlfriend|mom|mum|mother|dad|father|parents?|brothers?"
    r"|sisters?|siblings?|sons?|daughters?|kids?|child|children|baby|twins|grand(?:ma|pa|mother|father|parents|son"
    r"|daughter)|aunt|uncle|cousins?|nephews?|nieces?|in-laws?|(?:mother|father|sister|brother)-in-law|family"
    r"|friends?|roommates?|neighbou?rs?|boss|manager|supervisor|co-?workers?|colleagues?|teammates?|mentor|advisor"
    r"|professor|teacher|coach|therapist|doctor|dentist|landlord|ex)"
)
_PAST: Final = (
    r"(?:went|bought|got|made|met|saw|took|gave|found|lost|sold|built|ran|rode|drove|flew|ate|drank|wrote|read|won"
    r"|broke|fell|grew|taught|spent|paid|sent|quit|came|left|kept|brought|caught|chose|began|spoke|sang|swam|slept"
    r"|wore|held|cut|put|hit|beat|led|taken|seen|given|gotten|driven|flown|eaten|written|ridden|broken|grown|done"
    r"|been to|had)"
)
# "I like these ideas", "I love that!" answer somebody; they are no taste of one's own.
_NOT_REPLY: Final = (
    r"(?! (?:it|that|this|these|those|them)(?: too| already| so much)?(?:[.!?,]|\Z)"
    r"| (?:the|these|those|this|that|your|all|both|some)(?: \w{1,20})? "
    rf"(?:ideas?|suggestions?|options?|tips?|lists?|plans?|approach|recommendations?|concepts?|sound|look|advice){_E}"
    rf"| (?:that|this|your|how){_E}| to (?:know|see|hear|try){_E})"
)
# Verbs of the request itself: "I wanted to ask", "I noticed you said".
_NOT_LIVED: Final = (
    r"(?!(?:want|need|wonder|ask|mention|notic|reali[sz]|hop|guess|assum|suppos|look|tri|agre|appreciat|consider"
    rf"|plann|figur|decid|hear)\w{{0,8}}{_E})"
)
_TASTE: Final = r"(?:like|love|prefer|enjoy|adore|favou?r|hate|dislike|loved|liked|enjoyed|hated|preferred)"
_I_AM: Final = rf"(?:i{_APOS}m|i am|i was|we{_APOS}re|we are)"
_I_HAVE: Final = rf"(?:i{_APOS}ve|i have|we{_APOS}ve|we have)"

LOAD_CUES: Final[tuple[Cue, ...]] = (
    Cue(
        "preference",
        0.4,
        re.compile(
            rf"{_B}(?:i|we) {_ADVERB}(?:{_TASTE}{_E}{_NOT_REPLY}|can{_APOS}t stand{_E}"
            rf"|don{_APOS}t (?:really )?(?:like|enjoy|eat|drink|want you){_E})"
            rf"|{_B}{_I_AM} {_ADVERB}(?:an? (?:\w{{1,20}} )?fan of|into|fond of|obsessed with|drawn to"
            rf"|allergic to|vegan|vegetarian|gluten|lactose|picky|partial to){_E}"
            rf"|{_B}{_I_HAVE} {_ADVERB}(?:loved|enjoyed|preferred|liked|been (?:\w{{1,20}} )?(?:enjoying|loving|into)){_E}"
            rf"|{_B}my (?:\w{{1,20}} )?(?:favou?rites?|go-to|preference|preferred){_E}|{_B}one of my fav"
            rf"|{_B}(?:i(?:{_APOS}d| would) (?:rather|prefer)|from now on|please (?:always|never|don{_APOS}t)){_E}"
            rf"|{_B}(?:ich (?:mag|bevorzuge|liebe|hasse)|je préfère|j{_APOS}(?:aime|adore)|je déteste|prefiero"
            r"|me gustan?|me encantan?|prefiro|eu gosto|preferisco|mi piace|я (?:люблю|предпочитаю)"
            rf"|мне нравится){_E}|我(?:更)?喜欢|我讨厌|我偏好|が好き|が嫌い"
        ),
    ),
    Cue(
        "self_fact",
        0.3,
        re.compile(
            # What happened: "I just bought", "we've visited" and, at the start of a sentence, "Just got".
            rf"{_B}(?:i|we) {_ADVERB}{_NOT_LIVED}(?:\w{{2,20}}(?<=ed)|{_PAST}){_E}"
            r"(?! (?:no idea|to know|to ask|(?:it|this|that)[.!,?]))"
            rf"|{_B}{_I_HAVE} {_ADVERB}(?:been (?!thinking{_E}|wondering{_E}|looking{_E}|meaning{_E}|considering{_E}"
            rf"|trying{_E})\w|{_NOT_LIVED}\w{{2,20}}(?<=ed){_E}|{_PAST}{_E}(?! (?:it|this|that)[.!,?]))"
            rf"|(?:\A|[.!?] )(?:just|been|finally|recently) (?![^.!?]{{0,80}}\?){_NOT_LIVED}"
            rf"(?:\w{{2,20}}(?:(?<=ed)|(?<=ing))|{_PAST}){_E}"
            # What is so: work, home, habits, belongings.
            rf"|{_B}(?:i|we) {_ADVERB}(?:(?:work|live|study|own|use|play|drive|teach|speak|manage|collect|practi[cs]e"
            rf"|wear|volunteer|commute|go to){_E}|have (?!to{_E}|an? (?:quick )?question|no idea|been{_E}|any{_E})\w"
            rf"|don{_APOS}t (?:have|work|own|use|drive){_E})"
            rf"|{_B}{_I_AM} {_ADVERB}(?:an? (?!bit{_E}|little{_E}|fan{_E}|big fan{_E})\w|(?:from|in my|in the|married"
            r"|single|divorced|engaged|pregnant|retired|based in|originally|born|raised|working|living|studying"
            rf"|learning|training|taking|using|reading|turning|\d{{1,3}}(?!%)|diagnosed|promoted|moving){_E})"
            rf"|{_B}(?:my name(?: is|{_APOS}s)|call me|my (?:birthday|job|address|phone|email|age|hometown|degree"
            rf"|major|thesis|dog|cat|car|house|apartment) (?:is|was|will|has|had)){_E}"
            rf"|{_B}my (?:new|old|current|own|(?:19|20)\d\d) \w\w"
            rf"|{_B}(?:ich (?:bin|wohne|arbeite|heiße)|je (?:suis|travaille|vis)|j{_APOS}habite|je m{_APOS}appelle"
            r"|soy (?:de|una?)|vivo en|trabajo|me llamo|eu sou|moro em|io sono|lavoro|mi chiamo|меня зовут"
            rf"|я (?:живу|работаю|учусь)){_E}|我(?:是|住在|在\w{{1,10}}工作|叫)|私は|僕は"
        ),
    ),
)
LOAD_DATE_WEIGHT: Final = 0.3
LOAD_PERSON_WEIGHT: Final = 0.3
LOAD_QUANTITY_WEIGHT: Final = 0.2

# A relation needs its possessive: "my sister", "our little cousin"; bare "friends" are nobody.
RELATION: Final = re.compile(
    rf"{_B}(?:my|our) (?:(?!{_RELATION}{_E})[\w'’-]{{1,20}} ){{0,2}}{_RELATION}{_E}"
    rf"|{_B}(?:meine?[mnr]? (?:frau|mann|mutter|vater|bruder|schwester|freund(?:in)?|kinder)"
    r"|m(?:a|on|es) (?:femme|mari|mère|père|frère|sœur|soeur|amie?|enfants)"
    r"|mis? (?:esposa|esposo|marido|madre|padre|hermano|hermana|amigo|amiga|hijos?|hijas?)"
    rf"|мо[йяюи] (?:жена|муж|мама|папа|брат|сестра|друг|подруга|дети)){_E}"
    r"|我(?:的)?(?:妻子|老婆|丈夫|老公|妈妈|爸爸|朋友|同事)"
)
_CAPITALS: Final = "".join(chr(code) for code in range(0x41, 0x530) if chr(code).isupper())
# Matched against prose as written. Names are read in context only (titles, and verbs that take a
# person), because any capital would catch brands and products.
NAMED_PERSON: Final = re.compile(
    r"(?<!\w)(?:(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Señora?|Mme|Aunt|Uncle|Grandma|Grandpa|Father|Sister|Coach)\.? "
    rf"|(?:[Nn]amed|[Nn]ame is|[Nn]ame{_APOS}s|[Mm]arried|[Dd]ating|[Mm]et(?: with| up with)?|[Tt]alked (?:to|with)"
    r"|[Ss]poke (?:to|with)|[Hh](?:ung|anging) out with|[Ff]riend|[Cc]ousin|[Ss]ister|[Bb]rother|[Cc]olleague) )"
    rf"[{_CAPITALS}][\w’'-]"
)
# A count of things. Requests for "10 ideas" or "3 tips" say nothing about the user.
COUNTED: Final = re.compile(
    rf"{_B}(?:\d{{1,6}}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    r"|dozen) (?!(?:tips?|ideas?|ways?|examples?|options?|questions?|words?|sentences?|paragraphs?|reasons?|things?"
    r"|more|or|to|and|of|suggestions?|steps?|names?|points?|bullets?|items?|different|other|main|most|best"
    rf"|are|were|was|have|had|has|for|from|with|who|that|but|the|our|your){_E})[a-z\u00df-\u04ff]{{3}}"
)
