"""The words by which a statement is seen to stand alone, to point elsewhere, or to belong to the talk it was said in."""

import re
from typing import Final

BEGIN: Final = r"(?<![\w'’])"
END: Final = r"(?!\w)"


def any_of(*phrases: str) -> re.Pattern[str]:
    """One expression for several, each whole words, in large letters or small.

    >>> bool(any_of("by the way", "well").search("Well, no")), bool(any_of("we").search("well"))
    (True, False)
    """
    return re.compile(rf"{BEGIN}(?:{'|'.join(phrases)}){END}", re.IGNORECASE)


WEEKDAYS: Final = "mon|tues|wednes|thurs|fri|satur|sun"
MONTH_NAMES: Final = "January|February|March|April|May|June|July|August|September|October|November|December"

OWN: Final = any_of("i", "i['’]?(?:m|ve|d|ll)", "my", "mine", "me", "we", "we['’]?(?:re|ve|d|ll)", "our")
# What is said before the statement itself.
LEAD_IN: Final = re.compile(
    r"(?:(?:oh|and|so|also|anyway|well|hey|yeah|thanks|wow|actually)[,!:]? )*(?:by the way|btw"
    r"|on another note|speaking of which)?[,:]? ?",
    re.IGNORECASE,
)
ASIDE: Final = re.compile(
    r"(?:(?:oh|ah|and|so|also|anyway|well|hey|yeah|yes|yup|thanks|wow|woah|actually|haha|one more thing)[,!] )*"
    r"(?:(?:oh|and|also|anyway|but),? )?(?:(?:by the way|btw|on another note|speaking of which)[,:]? )?"
    r"(?:speaking of [^\W\d_]+(?: [^\W\d_]+)?, )?",
    re.IGNORECASE,
)
# Words that point at something said elsewhere, unless the sentence has named it before them.
POINTING: Final = any_of(
    *("its?", "them", "there", "these", "those", "that(?=['’]s)", "ones?", "here", "such", "then"),
    rf"this(?! (?:week|weekend|month|year|spring|summer|fall|autumn|winter|morning|afternoon|evening|coming"
    rf"|{WEEKDAYS}))",
    "the (?:previous|first|second|last|other|same|specific)",
    *("he", "she", "him", "her", "his", "they", "their", "both", "each other", "either", "others"),
    *("another (?:one|question)", "all of that"),
)
# What a pronoun may stand for.
THING: Final = re.compile(
    rf"{BEGIN}(?:(?i:my|our|an?|the|some|two|three|four|five|\d[\d,.]*)|\w+['’]s) \w+|(?<=[\w,;:] )[A-Z](?!['’]"
    rf"|\b)[\w’'.-]+"
)
# "She" is somebody who was spoken of: a name may be a market's.
PERSON: Final = any_of("he", "she", "him", "her", "his", "hers")
PEOPLE: Final = any_of(
    r"(?:grand)?(?:mother|father|mom|mum|dad|ma|pa)",
    "wife",
    "husband",
    "partner",
    "fianc[ée]+",
    "girlfriend",
    "boyfriend",
    *(
        "sisters?",
        "brothers?",
        "sons?",
        "daughters?",
        "kids?",
        "child(?:ren)?",
        "aunt",
        "uncle",
        "cousin",
        "niece",
        "nephew",
    ),
    *(
        "baby",
        "girl",
        "boy",
        "man",
        "woman",
        "boss",
        "manager",
        "colleague",
        "coworker",
        "friend",
        "neighbou?r",
        "roommate",
    ),
    *(
        "landlord",
        "therapist",
        "doctor",
        "dr",
        "surgeon",
        "dentist",
        "teacher",
        "instructor",
        "coach",
        "mentor",
        "curator",
    ),
    *("dog", "cat", "puppy", "kitten", "pet", "horse", "expert", "founder", "ceo", "mechanic", "client"),
)
# Nothing before these words can name what they stand for.
UNNAMED: Final = any_of(
    *("ones", r"these (?!days)\w+", r"those \w+"),
    "(?:this|that|these|those) (?:one|pic|photo|picture|time|day|project|place|game|boardgame|event|part|kind|book)",
    "(?:this|that|these|those) (?:show|trip|recipe|topic|issue|problem|dataset|area|style)",
    "(?:painted|took|made|did|bought|got|saw|like|love|loved|wrote) that",
    "about (?:it|that|this)(?=[.!]?$)",
    "similar(?! (?:to|interests|tastes))",
    "(?:from|with|of|at|in|on|for|about) that",
    "(?:on|of|for|about|with|in|to|during|from) the (?:purchase|process|topic|program|item|product|event|trip|project"
    "|problem|issue|recipe|workshop|description|paperwork|offer|deal|order|app|study|dataset|assignment|city|meeting|interview)"
    "(?! (?:of|in|at|from|for|that|which|where|called|named))",
    "(?:i|we)['’]ve even",
    *("everything", "playing for", "my favorite (?:was|part|is when)"),
    "(?:i|we)(?:['’]ve| have) had [^.]{0,60}(?:before|in the past)",
)
# "The program costs $5,000": which one? What is the only one of its kind, or is said more exactly, points nowhere.
DEFINITE: Final = re.compile(
    rf"{BEGIN}[Tt]he (?=(?P<what>[a-z][\w'’-]*(?: [a-z][\w'’-]*){{0,2}})"
    r"(?P<after> (?!I(?:['’]\w+)? )[A-Z\"“]|['’]s)?(?P<rest>.{0,20}))"
)
KNOWN: Final = frozenset(
    """
    country countryside world gym park beach mountains ocean sea lake river woods forest outdoors library church
    school university college lab clinic airport station pool office hospital doctor dentist bank store supermarket
    market airport internet web news weather day morning afternoon evening night week weekend weekends month year
    years past future present time moment spring summer fall autumn winter holidays way piano guitar violin drums
    ukulele cello flute saxophone kitchen garden backyard living bedroom bathroom garage house home family kids
    children dog cat us usa uk eu government police army military industry field team company public big long best
    most whole least only late early mid new environment community arts theater theatre movies stage gold same-sex end
    beginning start other-day age east west north south keto
    """.split()  # noqa: SIM905
)
# What colleagues call by its name: there is one of it.
WORKING: Final = frozenset(
    """
    database server cluster repo repository branch build deploy deployment pipeline api service endpoint staging production
    token key certificate config configuration release standup demo sprint launch invoice schema migration backend frontend
    deadline budget contract
    """.split()  # noqa: SIM905
)
EXACT: Final = frozenset(
    """
    of in at near from that which who where called named between around with under behind
    """.split()  # noqa: SIM905
)
STOPS: Final = frozenset(
    """
    and or but so on to for by as is are was were has have had will would can could i we my our it they you before after
    during about until while because if when since over than through into out up off this last next every
    """.split()  # noqa: SIM905
)
# About this very talk, or what is decided in it and over with it.
OF_THE_TALK: Final = any_of(
    "haven['’]?t (?:talked|spoken|chatted)",
    r"(?:since )?(?:we|our) last (?:talk|chat|spoke|chatted)\w*",
    *("since we last", "better idea of what", "(?:as|that|which) we (?:discussed|talked)", "let me"),
    "(?:as )?i (?:said|mentioned) (?:earlier|before)",
    "(?:want|like|need) to (?:ask|clarify|discuss|know|mention|make sure)",
    "i (?:just |also )?(?:tried|used(?! to)|went with|checked)",
    *("question about", "(?:i|we)['’]ll(?! (?:be|always|never))", "i will (?!be)", "i might"),
    r"(?:i['’]?m|i am|we['’]re)(?: \w+)? looking (?:for|to|at|into)",
    r"i(?:['’]?d| would) (?:like|love|prefer)(?! \w+ing)",
    "(?:was|been) (?:just )?thinking",
    r"(?:am|['’]m)(?: \w+)? (?:considering|leaning towards?) (?:the|an?)",
    r"i['’]?m(?: \w+)? interested in (?:the|some|trying|learning more|checking|getting|finding|exploring|hearing)",
    "i['’]ve (?:already |also |actually )*(?:checked out|looked (?:at|into))",
    *("how (?:do|can|would|should|to) (?:i|we)", "(?:don['’]?t|do not) know (?:how|what|why|if|where|which)"),
    "(?:does )?any(?:one|body) (?:here|know|have|had|using|else)",
    *("just checked", "here (?:is|are)", "like i said", "(?:it|that) would be", "we could"),
    "excited to (?:try|see)",
    "(?:today|tonight|now|next|first|then),? (?:i|we)(?:['’]d like| want| would like|['’]ll| will|['’]m going) ",
    "(?:i|we) want to (?:add|fix|refactor|clean|rename|rewrite|debug|test|implement|finish)",
    *("narrowed it", "got me (?:thinking|curious|wondering) about this", "i think (?:i got|it)"),
    *(
        "you",
        "your",
        "yours",
        "yourself",
        "maybe",
        "it seems",
        "seems like",
        "to choose from",
        "never (?:tried|done)",
    ),
    *("heard (?:of|good|great|about|that|it)", "the idea of", "figure (?:this|that|it) out"),
)
OPENING: Final = re.compile(
    r"(?:don['’]?t|remember|gotta|keep|never give|let['’]?s|here['’]?s|now that|just do"
    r"|because|if|assuming|though|although|apart from|as for|based on|write|please|using the)(?!\w)"
    r"|[\w|`^-]{2,16}[;:] ",  # "nick: …"
    re.IGNORECASE,
)
FRAGMENT: Final = re.compile(r"(?!(?:i|i['’]?(?:m|ve|d|ll)|my|we|we['’]?(?:re|ve|d|ll)|our)(?!\w))[a-zß-ÿ]")
BROKEN_OFF: Final = re.compile(
    r"(?<!\w)(?:and|but|or|so|because|the|an?|to|of|with)[.…]{0,3}$|[:-]$|by the way[.,]?$"
    r"|(?<!\w)(?-i:(?!U\.[SK]\.)(?:[A-Z]\.)+)$",  # "a book by R.F."
    re.IGNORECASE,
)
# Things without a name: "a project", "some event".
NAMELESS: Final = any_of(
    *("something", "somebody", "someone", "somewhere", "things?", "stuff"),
    r"(?:an?|some|another|new|cool|small|big|good|local|community|few|certain) (?:\w+ )?"
    "(?:projects?|events?|causes?|situations?|instruments?|scripts?|get-together|games?|people|musicians|restaurants?"
    "|sponsors|teammates|books? that|paintings?|opportunit(?:y|ies)|ideas?|offers?|dishes|flavors|options?|series"
    "|course|city|more)",
)
# How it was, not what was: by itself nothing to remember.
MOOD: Final = any_of(
    r"(?:had|having) (?:such )?(?:a|an|lots of|a lot of) (?:\w+ )?(?:blast|fun|time|feeling)",
    *(
        "awesome",
        "stunning",
        "satisfying",
        "rewarding",
        "fulfilling",
        "inspiring",
        "powerful",
        "amazing",
        "freedom",
    ),
    *(
        "gratitude",
        "major blow",
        "tough times?",
        "moved by",
        "impressed",
        "reflect",
        "joy",
        "pushes? me",
        "motivates? me",
        "work(?:ed)? (?:so )?hard",
        "hard work",
        "game-changer",
    ),
    *(
        "chill(?:ed|ing)",
        "yummy",
        "tasty",
        "excited",
        "comfortable",
        "confident",
        "makes me",
        "made me",
        "feel(?:s|ing)?",
    ),
    *(
        "felt",
        "success",
        "succeed",
        "come alive",
        "dive deeper",
        "challenge myself",
        "help(?:ed|ing)? (?:others|people|those)",
    ),
)
# Where a sentence goes on to something else.
GOES_ON: Final = re.compile(
    r"(?:,? (?:and|but|so|because|as|though|since)|,| [-–—]) (?=(?:(?:also|now|then|maybe) )?(?:i|we|it|it['’]s|s?he"
    r"|s?he['’]s|they|i['’]\w{1,2}|we['’]\w{1,2}|maybe|that)(?!\w))|, (?=(?:which|so|but|and|ask|please) )",
    re.IGNORECASE,
)
SUBORDINATE: Final = re.compile(
    r"^(?:(?:and|but|so|also) )?(?:since|because|as|though|although|given that|i['’]m glad) (?=i|my|we|our)",
    re.IGNORECASE,
)
# "I've noticed that after two weeks of posting": what it opens is said behind it.
HANGING: Final = re.compile(
    r"(?<!\w)(?:that|but|and|so|because),? (?:after|before|when|whenever|while|if|once|since)(?!\w)[^,]*$",
    re.IGNORECASE,
)
# "For my car": a beginning in which nothing is said yet.
AT_FIRST: Final = re.compile(
    r"(?:for|in|at|on|with|during|after|by|from|like|to|of|regarding|speaking)(?!\w)(?!.*(?<!\w)(?:i|we)(?!\w))",
    re.IGNORECASE,
)
CONDITION: Final = re.compile(
    r"(?:if|when|while|once|considering|before|after|whenever|until)(?!\w)", re.IGNORECASE
)
NAME: Final = re.compile(
    rf"(?<=[\w,;:'’\"“(-] )[\"“(]?(?!(?:I(?:['’]\w+)?|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|{MONTH_NAMES})\b)"
    r"[A-Z][\w&'’.-]+|[\"“][A-Z][^\"”]{2,60}[\"”]"
)
FIGURE: Final = re.compile(
    rf"(?<!\w)\d|{BEGIN}(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twice|half){END}",
    re.IGNORECASE,
)
# What somebody is, has, prefers, does again and again, or still has to do.
SELF: Final = any_of(
    r"(?:i['’]?m|i am|as) (?:an?|from|allergic|vegan|vegetarian|married|single|divorced|pregnant|engaged|\d)",
    r"(?:i|we) (?:\w+ly )?(?:live|own|work|drive|study|speak|use|play|teach|run|rent|lead|prefer|loved?|hate|like|enjoy"
    r"|usually|always|never|attend|collect|volunteer|(?:have|got) (?:an?|two|three|four|\d))",
    r"(?:i|we)(?:['’]ve| have)(?: \w+)? (?:been \w+ing|always|never|got (?:an?|two|three|\d))",
    *(
        "used to",
        "favou?rite",
        "big fan",
        "huge fan",
        "passionate",
        "every",
        "weekly",
        "daily",
        "monthly",
        "mornings",
    ),
    *("evenings", f"(?:{WEEKDAYS})days", "go-to", "hobby", "dream (?:is|job)"),
    *("still (?:need|have) to", "(?:i|we) (?:need|have|must) to", "deadline", "due", "waiting (?:for|on)"),
    r"my (?:\w+ )?(?:job|degree|mother|father|mom|mum|dad|wife|husband|partner|fianc[ée]+|girlfriend|boyfriend|sister"
    "|brother|son|daughter|kids?|children|grandma|grandpa|grandmother|grandfather|aunt|uncle|cousin|niece|nephew|boss|manager"
    "|colleague|coworker|roommate|landlord|therapist|dog|cat|puppy|pets?|car|bike|house|home|apartment|company|team|family"
    "|wedding|school|university|gym|store|shop|studio|income|rent|budget)",
)
# How things are set up: what runs where, which version, who owns it. Of colleagues and machines, without "my".
SETUP: Final = re.compile(
    r"(?<!\w)(?:(?:belongs? to|owns|looks after|(?:is|are) (?:owned|maintained|managed) by|takes over|took over) "
    r"(?:me(?!\w)|us(?!\w)|the \w|[A-Z]\w)"
    r"|(?:(?:is|are|runs?|sits?|listens?|hosted|deployed|stored|kept) (?:still )?(?:on|in|at|behind|through)|is called"
    r"|are called|[Ii]t['’]s) "
    rf"(?:port \d|(?!(?:{MONTH_NAMES}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?!\w))[A-Z]\w"
    r"|[\w-]{1,40}[.@/][\w./-]{2,60}))"
    r"|(?<![\w'’])(?:[Ww]e|I) (?:deploy|release|ship|run|host|use|support|have no|don['’]t have) (?:\w+ ){0,2}[A-Z]\w"
)
# "It's Wednesdays at 10:00 now", "It runs on 8080": of what was named just before.
IT_IS: Final = re.compile(
    r"(?:It['’]s|It is|It runs|It lives|They['’]re|They are) (?:\w+ ){0,3}(?:\d|[A-Z][\w-])"
)
# What is true of somebody for years, and must be known: short as it may be.
ESSENTIAL: Final = any_of(
    r"i(?:['’]m| am)(?: \w+ly)? (?:allergic|vegan|vegetarian|diabetic|pescatarian|lactose|gluten|celiac|coeliac"
    r"|left-handed|colou?r-?blind|deaf|blind|married|divorced|pregnant"
    r"|\d{1,2} years old|a [a-z-]+ (?:at|by|for|with|in|from)|from [A-Z])",
    r"(?:i|we) (?:live|work) (?:in|at|for|as|from|near|with)",
    *(
        "i (?:don['’]?t|do not|can['’]?t|cannot|never) (?:eat|drink|drive|smoke)",
        "i(?:['’]m| am) called",
        "i prefer",
    ),
    "i (?:look after|maintain|am responsible for)",
    "my (?:name|birthday|pronouns|job|husband|wife|partner|manager|boss|mother tongue|native language|time ?zone)"
    " (?:is|are)",
)
CHANGE: Final = re.compile(
    r"(?<!\w)(?:join|start|mov(?:ed|ing)|adopt|graduat|retir|marri|engaged|divorc|diagnos|hired|launch|opened"
    r"|crash|stole|failed|switch|becom"
    r"|becam|sign(?:ed)? up|quit|lost my|bought|sold|born|died|broke|pregnan|promot|won|resign|left my"
    r"|appl(?:y|ied) (?:for|to)|accepted)\w*",
    re.IGNORECASE,
)
