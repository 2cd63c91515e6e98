"""Finds standing rules and preferences in a user's chat turn (memory-model.md section 9)."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from models.domain.grammar.actions import name_action, name_contrast, to_base_verb
from models.domain.grammar.clauses import fold_text, hide_mentions, hide_quoted_speech, list_openings
from models.domain.grammar.lexicon import NOUN_FOLLOWERS, ROLES, WordRole
from models.domain.grammar.spans import NO_RULE, DeonticReading, Modality, RuleSpan
from models.domain.wishes.evidence import find_cues, find_neighbour_cues
from models.domain.wishes.foreign import find_foreign_rules
from models.domain.wishes.markers import (
    BAN_STANDING,
    CASE_STANDING,
    COMFORT,
    HYPOTHETICAL,
    ONE_OFF,
    REPORTED,
    STRONG_STANDING,
    TASK,
    WEAK_STANDING,
    Lasting,
)
from models.domain.wishes.model import SECONDED, Vector, load_model
from models.domain.wishes.openings import Clause, list_clauses
from models.domain.wishes.pasted import list_others_words
from models.domain.wishes.phrases import PHRASES, Phrase

# What may stand before the clause that rules: greeting, politeness, a marker without its comma.
_LEAD: Final = re.compile(
    r"(?:(?:and|also|but|so|ok|okay|hey|hi|hello|oh|yes|yeah|no,|well|right|please|pls|plz|kindly|just|then"
    r"|actually|btw|by the way|one more thing|one thing|quick note|reminder|fyi|important|remember:|note:"
    r"|rule:|in general|generally|instead"
    r"|from now on|from here on(?: out)?|going forward|moving forward|henceforth|hereafter"
    r"|in (?:the )?future|next time|by default"
    r"|as a (?:general )?rule|at all times|for the record|thanks|thank you)[,:!]* +)*"
)
# A lead that turns to the assistant.
_ADDRESSING: Final = re.compile(r"\b(?:please|so|just|kindly|from|going|in)\b")
# A clause that rules may follow these without a comma: "I'm vegan so never suggest cheese".
_JOINT: Final = re.compile(
    r" (?:so|but|because) (?=(?:please|never|always|don't|do not|stop|only|from now on)\b)"
)
_STANDING: Final = re.compile(
    "|".join(marks.pattern for marks in (STRONG_STANDING, WEAK_STANDING, CASE_STANDING, BAN_STANDING))
)
_CASE_OPENING: Final = re.compile(f"(?:every ?time|each time|whenever|wherever)\\b|{CASE_STANDING.pattern}")
# "Always write tests first, ok?" asks for consent, not for an answer.
_QUESTION_TAG: Final = re.compile(r"\b(?:ok|okay|alright|please|got it|understood|deal)$")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
# "Note 12: …", "Ticket 90: …": an entry in somebody's list, whatever it says.
_ENTRY: Final = re.compile(r"\W*(?!rule\b)[^\W\d_]+ #?\d{1,6}:", re.IGNORECASE)
_MIN_SENTENCE_CHARACTERS: Final = 7  # "be kind"; less holds no rule
_MAX_SENTENCE_CHARACTERS: Final = 600  # what is longer was pasted; nobody speaks a rule like that
_MAX_EMPHASIS_CHARACTERS: Final = 24
_MAX_SENTENCES: Final = 400  # of a turn; what follows was pasted, and time stays bounded
_BY_HEAD: Final[dict[str, tuple[Phrase, ...]]] = {
    head: tuple(phrase for phrase in PHRASES if head in phrase.heads)
    for head in sorted({head for phrase in PHRASES for head in phrase.heads})
}
_ANY_HEAD: Final = tuple(phrase for phrase in PHRASES if not phrase.heads)

# Of the clauses of a rule the first of these kinds that occurs says what is ruled.
_RULING_KINDS: Final = (
    "ban", "stop", "command", "must", "allow", "none", "only", "let", "wish-you", "wish", "polite", "dislike",
    "name", "unable",
)  # fmt: skip
_KIND_MODALITIES: Final = {
    **dict.fromkeys(("ban", "stop", "none", "dislike", "unable"), Modality.PROHIBITION),
    "allow": Modality.PERMISSION,
}
# Opens like a permission ("you can …") and refuses it.
_REFUSAL: Final = re.compile(r"you (?:can't|can’t|cannot|can not|could not|couldn't|may not)(?: ever)? ")
_BAN_WORDS: Final = re.compile(r"(?:don['’]?t|do not|never|let['’]?s not)(?: ever)? ")
_CUE_WORDS: Final = 3
_LIKELY: Final = 0.0  # of the cues' weight: more likely a rule than not


class _Sentence(NamedTuple):
    """One sentence of a turn, `clauses` being where its clauses begin, the first one first."""

    start: int
    end: int
    is_question: bool
    clauses: list[int]


class _Weighed(NamedTuple):
    """A sentence with the rules the grammar found in it, its clauses and its cues (none: it cannot be a rule)."""

    sentence: _Sentence
    frames: list[RuleSpan]
    clauses: list[Clause]
    cues: frozenset[str]


class Candidate(NamedTuple):
    """A sentence that may state a wish: its words, its cues, what these weigh, and the rules it would state."""

    text: str
    cues: frozenset[str]
    weight: float  # of structure alone
    weight_with_words: float
    spans: tuple[RuleSpan, ...]

    @property
    def is_certain(self) -> bool:
        """Whether it is a wish whatever its vector says: by structure, and its words agree."""
        return self.weight >= load_model().strict and self.weight_with_words >= SECONDED


def read_conversation(text: str) -> DeonticReading:
    """Return the standing rules and preferences of a user's turn that its cues alone make certain.

    A span covers the sentence. Code, quotations, quoted lines, questions (unless they ask politely for a
    standing rule), reported speech, hypotheticals and comfort between people are passed over.

    >>> [str(span.modality) for span in read_conversation("From now on, answer in German.").spans]
    ['obligation']
    >>> read_conversation("That must be hard. You should never give up!").is_rule
    False
    """
    return _join(candidate for candidate in list_candidates(text) if candidate.is_certain)


def read_with_vectors(
    candidates: Iterable[Candidate],
    vectors: Mapping[str, Vector],
    turn: Vector,
    *,
    is_between_people: bool = False,
) -> DeonticReading:
    """Return the standing rules among a turn's candidates: the certain ones, and which its vector makes likely.

    `vectors` holds the vector of each uncertain candidate by its words, `turn` is that of the whole turn. People ask more
    of each other in passing, and mean less of it to last: between them the bar is higher.
    """
    model = load_model()
    bar = model.between_people if is_between_people else model.to_assistant
    return _join(
        one for one in candidates if one.is_certain or model.score(one.cues, vectors[one.text], turn) >= bar
    )


def read_without_vectors(text: str) -> DeonticReading:
    """Return the standing rules of a turn by its cues and words, where there is no vector and never will be."""
    alone = load_model().alone
    return _join(one for one in list_candidates(text) if one.is_certain or one.weight_with_words >= alone)


def read_likely(text: str) -> DeonticReading:
    """Return the rules that the cues make likelier than not: enough to refuse a summary, too little for a wish."""
    return _join(candidate for candidate in list_candidates(text) if candidate.weight >= _LIKELY)


def read_wish(text: str) -> DeonticReading:
    """Return what a text asks that is known to be a wish: that of its likely sentences, else of the likeliest.

    >>> read_wish("main is called trunk here").is_rule
    True
    """
    candidates = list_candidates(text, floor=-math.inf)
    bar = min(_LIKELY, max((candidate.weight for candidate in candidates), default=_LIKELY))
    return _join(candidate for candidate in candidates if candidate.weight >= bar)


def list_candidates(text: str, *, floor: float | None = None) -> list[Candidate]:
    """Return the sentences whose cues and words weigh as much as the model's floor: few enough to encode each."""
    model = load_model()
    floor = model.floor if floor is None else floor
    foreign = find_foreign_rules(text)
    others = list_others_words(text) if foreign else []
    found = [
        Candidate(text[span.start : span.end], frozenset(), math.inf, math.inf, (span,))
        for span in foreign
        if not _is_among(others, span.start, span.end)
    ]
    for weighed in _list_own(text):
        weight, with_words = model.weigh_cues(weighed.cues), model.weigh_words(weighed.cues)
        if with_words >= floor:
            spans = tuple(weighed.frames or _make_weighed_span(text, weighed))
            found.append(Candidate(_quote(text, weighed), weighed.cues, weight, with_words, spans))
    return found


def list_sentences(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the sentences of a turn that can be a rule, with their cues: what the model is fitted on."""
    return [(_quote(text, weighed), weighed.cues) for weighed in _list_own(text)]


def list_cues(text: str) -> list[frozenset[str]]:
    """Return the cues of every sentence of a turn; none of one that cannot be a rule."""
    return [weighed.cues for weighed in _weigh_sentences(text)]


def _list_own(text: str) -> list[_Weighed]:
    """Return the sentences that can be a rule and are the speaker's own."""
    others = list_others_words(text)
    return [
        weighed
        for weighed in _weigh_sentences(text)
        if weighed.cues
        and _ENTRY.match(text, weighed.sentence.start) is None
        and not _is_among(others, *weighed.sentence[:2])
    ]


def _is_among(spans: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    return any(start < last and end > first for first, last in spans)


def _quote(text: str, weighed: _Weighed) -> str:
    return text[weighed.sentence.start : weighed.sentence.end]


def _join(candidates: Iterable[Candidate]) -> DeonticReading:
    spans = tuple(span for candidate in candidates for span in candidate.spans)
    return DeonticReading(spans=spans) if spans else NO_RULE


def _weigh_sentences(text: str) -> list["_Weighed"]:
    """Return every sentence of a turn with what the grammar and the cues say about it."""
    folded = hide_mentions(hide_quoted_speech(fold_text(text, unwrap=False)))
    sentences = _split_sentences(folded)
    has_task = any(TASK.match(folded, sentence.start, sentence.end) for sentence in sentences)
    is_marked = (
        "always" in folded or _STANDING.search(folded) is not None
    )  # "always" marks at a sentence's end
    weighed: list[_Weighed] = []
    for index, sentence in enumerate(sentences[:_MAX_SENTENCES]):
        if not _MIN_SENTENCE_CHARACTERS <= sentence.end - sentence.start <= _MAX_SENTENCE_CHARACTERS:
            weighed.append(_Weighed(sentence, [], [], frozenset()))
            continue
        lasting = _measure_lasting(folded, sentence) if is_marked else Lasting.NO
        frames = _read_sentence(text, folded, sentence, lasting, has_task=has_task)
        clauses = list_clauses(folded, sentence.start, sentence.end)
        cues: frozenset[str] = frozenset()  # of a sentence without a word: ":::::::"
        if clauses:
            cues = find_cues(
                clauses, is_question=sentence.is_question, is_frame=bool(frames), is_task=has_task
            )
        if cues and len(sentences) > 1:
            before = weighed[-1].cues if weighed else frozenset()
            around = (*sentences[max(index - 1, 0) : index], *sentences[index + 1 : index + 2])
            short = [
                folded[one.start : one.end]
                for one in around
                if one.end - one.start <= _MAX_EMPHASIS_CHARACTERS
            ]
            cues |= find_neighbour_cues(before, short)
        weighed.append(_Weighed(sentence, frames, clauses, cues))
    return weighed


def _split_sentences(folded: str) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    clauses: list[int] = []
    for opening in list_openings(folded):
        edge = opening[1]
        if edge and edge[0] in ".!?\n":
            if clauses and clauses[0] < opening.start():
                end = opening.start()
                is_question = (
                    edge[0] == "?" and _QUESTION_TAG.search(folded, max(clauses[0], end - 12), end) is None
                )
                sentences.append(_Sentence(clauses[0], end, is_question, clauses))
            clauses = []
        clauses.append(opening.start(2))
    if clauses[0] < len(folded):
        sentences.append(_Sentence(clauses[0], len(folded), False, clauses))
    return sentences


def _measure_lasting(folded: str, sentence: _Sentence) -> Lasting:
    """Return how much a sentence shows that it is meant to last."""
    start, end = sentence.start, sentence.end
    if STRONG_STANDING.search(folded, start, end) is not None:
        return Lasting.STRONG
    if _CASE_OPENING.match(folded, start, end) is not None:
        return Lasting.OPENED
    if WEAK_STANDING.search(folded, start, end) is not None:
        return Lasting.WEAK
    # "Give me ten ideas for your emails" names a case, but asks for one thing.
    if CASE_STANDING.search(folded, start, end) is not None and TASK.match(folded, start, end) is None:
        return Lasting.CASE
    return Lasting.BAN if BAN_STANDING.search(folded, start, end) is not None else Lasting.NO


def _read_sentence(
    text: str, folded: str, sentence: _Sentence, lasting: Lasting, *, has_task: bool
) -> list[RuleSpan]:
    """Return the rules of one sentence, at most one of a force."""
    start, end, is_question, clauses = sentence
    found: dict[Modality, RuleSpan] = {}
    is_fronted = lasting >= Lasting.CASE and _is_fronted(folded, sentence)
    for position in _list_clause_starts(folded, sentence, lasting):
        lead = _LEAD.match(folded, position, end)
        head = position if lead is None else lead.end()
        word = _WORD.match(folded, head, end)
        if word is None:
            continue
        candidates = _BY_HEAD.get(word[0], ())
        if lasting >= Lasting.CASE and (
            position == start or is_fronted or _ADDRESSING.search(folded, position, head) is not None
        ):
            candidates += _ANY_HEAD
        if position in clauses[1:] and ROLES.get(word[0]) is WordRole.INERT:
            is_fronted = False  # the main clause has its subject, no command is due
        for phrase in candidates:
            match = _match_phrase(phrase, folded, head, end, lasting)
            if match is None or (is_question and not phrase.allows_question):
                continue
            if phrase.yields_to_task and (has_task or ONE_OFF.search(folded, start, end) is not None):
                continue
            if _is_spoken_in_earnest(folded, start, head, end):
                for span in _make_spans(text, folded, sentence, head, match, phrase.modality):
                    found.setdefault(span.modality, span)
            break
    return list(found.values())


def _list_clause_starts(folded: str, sentence: _Sentence, lasting: Lasting) -> list[int]:
    """Return where a rule may begin: at every clause, after "so never", after a marker without its comma."""
    starts = {
        *sentence.clauses,
        *(joint.end() for joint in _JOINT.finditer(folded, sentence.start, sentence.end)),
    }
    if lasting > Lasting.BAN:
        marker = _STANDING.match(folded, sentence.start, sentence.end)
        if marker is not None and folded.startswith(" ", marker.end()):
            starts.add(marker.end() + 1)  # "every morning remind me"
    return sorted(starts)


def _is_fronted(folded: str, sentence: _Sentence) -> bool:
    """Say whether the sentence opens with a condition or a marker, so that a command may follow a comma."""
    lead = _LEAD.match(folded, sentence.start, sentence.end)
    head = sentence.start if lead is None else lead.end()
    word = _WORD.match(folded, head, sentence.end)
    if word is None or head > sentence.start:
        return True
    return ROLES.get(word[0]) is WordRole.FRONTING or _STANDING.match(folded, head) is not None


def _match_phrase(phrase: Phrase, folded: str, head: int, end: int, lasting: Lasting) -> re.Match[str] | None:
    if lasting < phrase.needs:
        return None
    match = phrase.pattern.match(folded, head, end)
    if match is None or phrase.verbs is None:
        return match
    verb = match[match.lastgroup or 0]
    after = _WORD.match(folded, match.end(match.lastgroup or 0) + 1, end)
    if after is not None and after[0] in NOUN_FOLLOWERS:
        return None  # "work is ...": the word was a noun
    return match if (to_base_verb(verb) if match.lastgroup == "gerund" else verb) in phrase.verbs else None


def _make_spans(
    text: str, folded: str, sentence: _Sentence, head: int, match: re.Match[str], modality: Modality
) -> list[RuleSpan]:
    """Return the rule of a matched phrase, and the ban when it draws a contrast ("tabs, not spaces")."""
    start, end = sentence.start, sentence.end
    action_start = head if match.lastgroup is None else match.start(match.lastgroup)
    if match.groupdict().get("ban") is not None:
        modality = Modality.PROHIBITION
    cue = " ".join(match[0].split())
    action = name_action(text, action_start, end)
    spans = [RuleSpan(modality=modality, start=start, end=end, action=action, cue=cue)]
    if modality is Modality.OBLIGATION:
        contrast = name_contrast(text, folded, action_start, end)
        if contrast is not None:
            ban = RuleSpan(modality=Modality.PROHIBITION, start=start, end=end, action=contrast, cue="not")
            spans.append(ban)
    return spans


def _make_weighed_span(text: str, weighed: _Weighed) -> list[RuleSpan]:
    """Return the rule of a sentence in which no frame was found; the clause that rules names the action."""
    start, end = weighed.sentence.start, weighed.sentence.end
    ruling = next(
        (clause for kind in _RULING_KINDS for clause in weighed.clauses if clause.kind == kind),
        weighed.clauses[0],
    )
    modality = _KIND_MODALITIES.get(ruling.kind, Modality.OBLIGATION)
    if "bound:noto" in weighed.cues:
        modality = Modality.PROHIBITION
    action_start = ruling.start
    if ruling.kind == "ban" and (negation := _BAN_WORDS.match(text.lower(), action_start, end)) is not None:
        action_start = negation.end()
    if ruling.kind == "allow" and (refusal := _REFUSAL.match(text.lower(), action_start, end)) is not None:
        modality, action_start = Modality.PROHIBITION, refusal.end()
    cue = " ".join(ruling.text.split()[:_CUE_WORDS])
    return [RuleSpan(modality, start, end, name_action(text, action_start, end), cue)]


def _is_spoken_in_earnest(folded: str, start: int, head: int, end: int) -> bool:
    """Say whether nothing turns the words into a report, a supposition or comfort."""
    return (
        HYPOTHETICAL.match(folded, start, end) is None
        and COMFORT.search(folded, start, end) is None
        and REPORTED.search(folded, start, head) is None
    )
