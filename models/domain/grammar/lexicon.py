"""Word classes of the deontic detector: which words can command, open a clause or only describe.

The classes are linguistic (verbs without a noun reading, verbs that are nouns as often, words that
front a clause), never sentences: memory-model.md section 6 wants a detector that holds on files
nobody has read yet.
"""

import enum
from collections.abc import Iterable
from typing import Final


def split_words(block: str) -> frozenset[str]:
    """Return the words of a block of text; word classes are written as prose and wrap as prose.

    >>> sorted(split_words("use  keep"))
    ['keep', 'use']
    """
    return frozenset(block.split())


def join_by_letter(branches: Iterable[str]) -> str:
    """Return one expression for all branches, told apart by their first letter: few are tried at each place.

    Branches of one letter keep their order. Each must start with a plain letter or mark.

    >>> join_by_letter(["is", "be", "in"])
    'i(?:s|n)|b(?:e)'
    """
    endings: dict[str, list[str]] = {}
    for branch in branches:
        endings.setdefault(branch[0], []).append(branch[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in endings.items())


class WordRole(enum.IntEnum):
    """What a word at the head of a clause lets the clause be."""

    COMMAND = 1  # a base verb that is hardly ever a noun there: "ensure", "use"
    NOUNISH = 2  # a base verb that is a noun as often: "test", "format"
    PRELUDE = 3  # an adverb or conjunction in front of the verb: "please", "then", "only"
    FRONTING = 4  # opens a fronted phrase, the command follows a comma: "if", "for", "before"
    BAN = 5  # forbids what follows: "never", "don't"
    INERT = 6  # closed class: the clause has a subject or is no command: "the", "it", "see"


# "see", "refer", "visit" and "note" are inert: a bare cross-reference instructs nobody.
_COMMAND_VERBS: Final = split_words("""
    accept achieve acknowledge act activate adapt add adhere adjust adopt advise agree align allow analyse
    analyze announce annotate anticipate apologise apologize append apply arrange articulate ask assert
    assess assign assume attach avoid await be become begin bind bring bump cache calculate call capture
    categorize check choose cite clarify classify cleanse clone collaborate collapse collect combine
    communicate compare compile complete compose compute concatenate conduct configure confirm conform
    connect consider consolidate constrain construct consult consume continue convert convey coordinate correct
    correlate create customize deactivate decide declare decline decompose decouple deduplicate defer define
    delegate delete deliver demonstrate deny deploy deprecate derive describe destroy detect determine
    develop diagnose differentiate disable discard disclose discuss dismiss display disregard distinguish
    disagree distribute divide do download drop earn edit elaborate eliminate embed embrace emit emphasize employ empower
    enable encapsulate enclose encode encourage encrypt enforce engage enhance enrich ensure enter
    enumerate escalate establish evaluate examine exclude execute exercise expand expect explain explore
    expose express extend extract fabricate facilitate familiarize favor favour fetch fill finalize find
    finish fix focus follow forget foster fulfill gather generate get give go grant grep group guarantee guess
    handle have help hesitate hide highlight hold identify ignore illustrate implement import improve include
    incorporate increase indicate infer inform inherit initialize inject insert inspect install instruct
    instrument integrate interact interpret introduce invent investigate invoke involve isolate iterate join
    justify keep kill know launch learn leave let leverage listen locate look lower maintain make manage mark
    maximize memoize mention merge migrate mimic minimize mirror mitigate modify monitor move navigate
    nest normalize notify obey observe obtain offer omit open optimize orchestrate organize overwrite parse
    participate paste pause perform persist pick place point populate postpone prefer prefix prepare
    preserve prevent prioritize proceed produce promote propagate propose protect prove provide publish
    pull pursue push put quantify quote raise re-read re-run re-use reach read rebase rebuild recheck
    recommend reconcile record recover recreate redact redirect reduce refactor refine refrain refresh
    refuse regenerate register reinforce reject relax rely remain remember remind remove rename render
    reset reorder reorganize replace reply reproduce rerun reread resolve respect respond restart restore
    restrict resume retain rethink retrieve retry reuse reveal revert revise rewrite run sanitize save say
    scaffold seek select send separate serialize serve set share ship show simplify skip solve
    sort specify speak split spawn stay steer stick stop store streamline strengthen strip strive study
    submit substitute suggest summarise summarize supply suppress surface swap sync synchronize tackle tailor
    take talk teach tell terminate think throw tidy touch track translate treat trim troubleshoot trust try
    tune turn understand undo unify uninstall unwrap update upgrade upload use utilize validate verify wait
    walk watch weigh wire work wrap write yield cross-check double-check type-check
""")

_NOUNISH_VERBS: Final = split_words("""
    abort access account address aim alert answer approach archive attempt audit balance batch
    benchmark block boot bootstrap borrow break budget build cancel care cast catch challenge change chain
    charge clean clear click close cluster code comment commit compact contact contrast control copy count
    cover craft credit cut damage date deal debug default delay demand design detail document double draft
    draw end escape estimate exit export fail fan feature feed file filter flag fold force fork format
    frame fuse gate grade ground guard guide hand hash head hook host hint index issue judge
    label land layer lead limit line link lint list load lock log loop map match measure mix mock model
    name need note-take number object order outline output pack package page pair pass patch pin pipe
    plan play plug post power practice practise preface present press preview print probe process profile
    program progress prompt pool prune query queue question quit rank rate react reason reference
    release report request rescue rest return review reward roll rotate round route sample scale scan
    schedule scope score script search secure seed sense shape shift shuffle shut sign signal sketch slice
    sound source space stack stage stamp standardize start state step stream stress structure style subclass
    support survey switch tag target task template test text thread throttle time title trace train
    transfer transform transition trigger type value vary version view voice vote warm warn weight whitelist
    word zip
""")

_PRELUDES: Final = split_words("""
    please pls plz kindly just simply always only also then so but and or either instead otherwise first
    firstly second secondly third next last lastly finally afterwards therefore thus hence now still again
    even ever typically once-more too likewise additionally furthermore moreover
    remember ideally optionally yes ok okay well hey hi
""")

_FRONTINGS: Final = split_words("""
    if when whenever before after unless until while once since because as for to in on at with without by
    from during under within where wherever upon given though although except besides regardless like via
    throughout across between despite depending per against using rather
""")

# Pronouns, determiners, auxiliaries, question words, cross-reference verbs, pasts and participles.
_INERT: Final = split_words("""
    i you he she it we they there here this that these those the a an my your his her its our their one some
    any each every all both neither no none nothing another other such several many most few more less much
    who what which whose whom why how is are was were am been being has had having does did can could
    may might will would shall should must ought not nor than see refer visit note notes e.g i.e etc vs about
    above below into onto over out off up down of own same different new old good bad great common unlike
    two three four five six seven eight nine ten yet perhaps maybe thanks thank welcome hello example examples
    let's it's that's there's what's here's i'm i've i'll i'd you're you've you'll you'd we're we've we'll
    he's she's they're they've isn't aren't wasn't weren't doesn't didn't can't cannot couldn't won't
    wouldn't shouldn't mustn't haven't hasn't hadn't built made given seen done gone known written taken
    chosen shown kept held left meant said told found sent went came got saw knew thought felt took became
    began wrote spoke heard ran gave brought bought caught taught lost won paid spent
""")

ROLES: Final[dict[str, WordRole]] = {
    **dict.fromkeys(_NOUNISH_VERBS, WordRole.NOUNISH),
    **dict.fromkeys(_COMMAND_VERBS, WordRole.COMMAND),
    **dict.fromkeys(_INERT, WordRole.INERT),
    **dict.fromkeys(_FRONTINGS, WordRole.FRONTING),
    **dict.fromkeys(_PRELUDES, WordRole.PRELUDE),
    **dict.fromkeys(("never", "don't", "dont"), WordRole.BAN),
}

# What may follow an unlisted word for it to be a command: nouns are hardly ever followed by these.
OBJECT_OPENERS: Final = split_words(
    "the your every each all any this these those its it them both their our my everything nothing"
)
# After a noun-like verb these keep the verb reading, but only if no finite verb comes later.
PARTICLES: Final = split_words("""
    with to for from in on up out through via by as against before after when if only into onto over under at
    back away down between without a an and or never always not using directly
""")
# A base verb followed by one of these was a noun or a participle: "use of", "run is", "run by".
NOUN_FOLLOWERS: Final = split_words(
    "of is are was were has had can will may might must should does been case cases by"
)
# "Do you ...", "have they ...": an inverted subject makes a question.
INVERTED_SUBJECTS: Final = split_words("i you we they he she it")
INVERTING_VERBS: Final = frozenset(["do", "have", "need"])

# Base forms that are participles too: "run by a maintainer" tells who, it does not command.
PARTICIPLES_TOO: Final = split_words("run set read put split cut")

# Command verbs that also name things: "set operations are slow", "call sites pass the context".
NAMING_TOO: Final = split_words(
    "call set run read write import update record display work download upload use type start"
)

# What an assistant does for a user: a bare "don't" in chat is a rule for these, comfort for others.
CONDUCT_VERBS: Final = split_words("""
    use add include write send ask suggest recommend mention assume change touch delete remove commit push
    deploy run reply respond answer share tell explain apologise apologize summarise summarize repeat put say
    give show schedule book order buy log store save edit modify rename create generate format translate
    quote cite link refer address talk speak discuss bring offer provide propose guess invent fabricate
    lecture interrupt correct rewrite overwrite merge open post publish email text message notify remind
    track record list output print return comment reveal disclose expose leak skip omit ignore check
    confirm verify test convert round sign greet thank praise flatter compliment moralise moralize preach
    patronise patronize nag ping contact reference install upgrade update refactor hardcode sugarcoat
    double-check call start begin end treat truncate abbreviate shorten paraphrase capitalise capitalize bold
    prefix append attach forward cc invite cancel reschedule charge pay spend import export remember
    avoid limit stick keep default consult act proofread spell round number label tag state disclose
    hide delegate escalate stop quit refrain switch pretend roleplay joke swear curse argue lie judge yell assist
""")

PRONOUN_OBJECTS: Final = split_words("it them this that these those one ones so")
