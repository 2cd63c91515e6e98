"""How a clause opens, what stands before it and does not count, and how its words are meant to be spelled."""

from pathlib import Path

import pytest

from models.domain.deontic_openings import judge_kind, list_clauses

TABLE = Path(__file__).parent / "tables" / "deontic_openings.txt"  # every alternative of every kind
KINDS_LIST = """
    polite: could you use tabs; can we use tabs; would you mind using tabs; mind if i ask; do you mind that
    polite: any chance of tabs; may i ask for tabs; can i ask for tabs; could all tabs go; would it be ok
    asks: what do you think; why is it so; how are you; is it late; did you see it; have you been there
    asks: should the tests run; will it rain
    allow: you can use tabs; you may use tabs; you're allowed tabs; you are free to go; feel free to push
    allow: go ahead; you have my word; it's ok to push; it's fine if you push; no need for tabs
    stop: stop pushing; quit it; cease that; enough emojis; refrain from it; avoid tabs; no more tabs
    stop: spare me that; drop the emojis; skip the intro; cut the jokes; lose the emojis; ditch it; lay off
    stop: go easy; hold off; leave out tabs; omit it
    ban: don't push; do not push; never push; not on mondays; let's not push; nobody pushes; no one pushes
    ban: let nobody push; let no test fail
    none: no emojis; nothing fancy; none of it; zero emojis; neither of them; nowhere else
    none-is: no test is red; nothing happened
    only: only tabs
    must: you must push; you should push; you have to push; you need to push; you shall push; you ought to push
    must: you mustn't push; you're to push; you are not to push; you're supposed to push
    role: you're my editor; you are a pirate; here you are the boss
    you: you pushed; you've pushed; you'll push; you'd push
    name: call me ann; i go by ann; i'm called ann; my name is ann; my pronouns matter; address me as ann
    name: refer to me as ann; everyone calls me ann
    likes: i love tea; i like tea; i really enjoy tea; i also appreciate tea
    dislike: i hate tea; i can't stand tea; i dislike tea; i detest tea; i loathe tea; i despise tea
    dislike: i'm not a fan; i'm sick of tea; i'm tired of tea; i'm fed up
    wish-you: i want you to push; i'd like you to push; i prefer that you push
    wish: i want tea; i'd like tea; i prefer tea; i need tea
    unable: i can't eat nuts; we don't eat nuts; i never eat nuts; i no longer eat nuts; we won't eat
    unable: i refuse to eat
    am: i'm ill; i am ill; we're ill; we are ill
    have: i have a cat; we have a cat; i wear glasses; i use tabs; i've got a cat; we live here; i work here
    have: i read a lot
    self: i pushed; i'd push; i'll push
    let: let's push; let us push; let tests run
    we-not: we always push; we deploy daily
    we: we pushed; we've pushed; we'll push
    mine: my cat sleeps; our cat sleeps
    whatever: whatever you do; whoever comes; anything i say; all that i say
    when: when it rains; whenever it rains; if it rains; each time it rains; every time; once it rains
    when: before lunch; after lunch; until monday; unless told; while we talk; wherever we go; in case it rains
    when: should you need more help
    prep: for tests; with tabs; in tests; on mondays; at noon; during lunch; to ann; by noon; of late; from ann
    prep: as ever; about tabs; like ann; under it; over it; without tabs; due to rain
    third: he pushed; she pushed; they pushed; people push; everyone pushes; someone pushed
    it: it works; that works; this works; there it is; these work; those work
    all: all tests; any test; every test; each test
    the: the test; a test; an answer; some tests; his test; her test; their test; your test
    command: use tabs; write tests; answer briefly; keep it short; explain it
    plain: coffee is hot; tea makes me happy; green tea was nice
    fragment: short answers; metric units
"""
MISTYPED = {
    "don't": "dont do'nt",
    "can't": "cant cannot",
    "won't": "wont",
    "didn't": "didnt",
    "doesn't": "doesnt",
    "isn't": "isnt",
    "aren't": "arent",
    "shouldn't": "shouldnt",
    "mustn't": "mustnt",
    "wouldn't": "wouldnt",
    "couldn't": "couldnt",
    "i'm": "im",
    "i've": "ive",
    "you're": "youre",
    "that's": "thats",
    "let's": "lets",
    "what's": "whats",
    "there's": "theres",
    "please": "pls plz plese pleas pleaes kindly",
    "you": "u",
    "your": "ur",
    "are": "r",
    "always": "allways alwyas alwasy alway",
    "never": "nevr nver neve",
    "remember": "remeber rember remmeber",
    "prefer": "prefere perfer",
    "stop": "stopp",
    "avoid": "avoide",
    "every time": "everytime",
    "any more": "anymore",
    "answers": "answeres anwsers",
    "answer": "awnser anwser",
    "should": "shoud shold",
    "want": "wnat",
    "allergic": "alergic allergc",
    "vegetarian": "vegeterian",
    "whenever": "whenver",
    "when": "wehn",
    "thanks": "thx",
    "going to": "gonna",
    "want to": "wanna",
    "have to": "gotta",
    "though": "tho",
    "because": "bc cuz",
}
FILLERS = (
    "and; also; but; so; ok; okay; hey; hi; hello; oh; yes; yeah; yep; well; right; please; just; then; actually; btw; "
    "by the way; anyway; anyhow; again; honestly; seriously; though; cool; great; perfect; nice; one more thing; "
    "one thing; two things; one last thing; small thing; little thing; another thing; new thing; oh and; quick note; "
    "quick thing; reminder; fyi; important; remember; note; in general; generally; instead; otherwise; still; really; "
    "from now on; from here on; from here on out; going forward; moving forward; henceforth; in future; in the future; "
    "next time; by default; as a rule; as a general rule; at all times; for the record; thanks; thanks a lot; "
    "thanks so much; thank you; sorry; haha; fine; if possible; if you can; whenever possible; where possible; "
    "in that case; as i said; like i said; to be clear; from today; from monday on; until i say otherwise; "
    "until i tell you otherwise; unless i say otherwise; whatever you do; until further notice; starting today; "
    "starting now; starting tomorrow; as of now; as of today; basically; obviously; because; since"
)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        (kind.strip(), one)
        for kind, _, clauses in (line.partition(": ") for line in KINDS_LIST.strip().splitlines())
        for one in clauses.split("; ")
    ],
)
def test_a_clause_is_known_by_how_it_opens(kind: str, clause: str) -> None:
    assert judge_kind(clause) == kind


@pytest.mark.parametrize(
    "entry", TABLE.read_text(encoding="utf-8").replace("\n    ", " ").strip().splitlines()
)
def test_every_opening_of_a_kind_is_known(entry: str) -> None:
    kind, _, clauses = entry.partition(": ")
    assert {clause: judge_kind(clause) for clause in clauses.split("; ") if judge_kind(clause) != kind} == {}


@pytest.mark.parametrize(
    ("clause", "kind"),
    [
        *(
            (f"don't {word}", "plain")
            for word in [
                "a",
                "again",
                "mind",
                "been",
                "had",
                "seen",
                "thought",
                "sure",
                "really",
                "yet",
                "much",
            ]
        ),
        *((f"don't {word}", "plain") for word in ("bad", "going", "that", "in my day", "you", "they", "i")),
        *(
            (f"no {word}", "fragment")
            for word in ["problem", "worries", "way", "idea", "thanks", "rush", "doubt", "wonder", "luck"]
        ),
        *(
            (f"no {word}", "fragment")
            for word in [
                "i",
                "it",
                "that",
                "we",
                "he",
                "she",
                "they",
                "you",
                "this",
                "big",
                "time",
                "questions",
            ]
        ),
        *((f"let's {word}", "we") for word in ["go", "see", "talk", "try", "hope", "meet", "get", "it"]),
        ("let's me know", "we"),
        ("i love when you sing", "wish-you"),
        ("i love it if you sing", "wish-you"),
        ("not me", "fragment"),
        *(
            (f"not {word} me", "ban")
            for word in ["on", "in", "before", "after", "with", "during", "for", "at", "to"]
        ),
        *((f"{none} test is red", "none-is") for none in ("no", "none", "zero", "neither", "nowhere")),
        *(
            (f"no test {verb}", "none-is")
            for verb in ["is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would"]
        ),
        *(
            (f"no test {verb}", "none-is")
            for verb in ["should", "may", "might", "happened", "came", "work", "works", "worked"]
        ),
        *((f"no test {verb}", "none-is") for verb in ("did", "does")),
        *((f"no tests {word} are red", "none") for word in ("i", "you", "that", "which", "in", "for")),
        *(
            (f"use {word} good", "plain")
            for word in ["is", "are", "was", "were", "has", "of", "should", "must", "go", "goes"]
        ),
        ("use may be good", "command"),
        ("bold is fine", "plain"),
        ("show tests", "command"),
        ("close tests", "command"),
        ("tests it", "fragment"),
        ("tests it likes", "plain"),
    ],
)
def test_what_follows_may_change_the_kind(clause: str, kind: str) -> None:
    assert judge_kind(clause) == kind


@pytest.mark.parametrize(
    ("sentence", "texts"),
    [
        ("use tabs, not here", ["use tabs", "not here"]),
        ("use tabs: here", ["use tabs", "here"]),
        ("use tabs; here", ["use tabs", "here"]),
        ("use tabs — here – now", ["use tabs", "here", "now"]),
        ("use tabs (here)", ["use tabs", "here"]),
        ("it is late so use tabs", ["it is late", "use tabs"]),
        ("it is late so i'm off", ["it is late", "i'm off"]),
        ("it is late so from here it rains", ["it is late", "from here it rains"]),
        ("you are so kind to me", ["you are so kind to me"]),
        ("i am so open to it", ["i am so open to it"]),
        ("use tabs but not here", ["use tabs", "not here"]),
        ("use tabs because it works", ["use tabs", "it works"]),
        ("use tabs unless told", ["use tabs", "unless told"]),
        ("use tabs if told", ["use tabs", "if told"]),
        ("use tabs when told", ["use tabs", "when told"]),
        ("use tabs whenever told", ["use tabs", "whenever told"]),
        ("use tabs until told", ["use tabs", "until told"]),
        ("use tabs before lunch", ["use tabs", "before lunch"]),
        ("use tabs and please wait", ["use tabs", "wait"]),
        ("use tabs and never wait", ["use tabs", "never wait"]),
        ("use tabs and don't wait", ["use tabs", "don't wait"]),
        ("use tabs and dont wait", ["use tabs", "don't wait"]),
        ("use tabs and always wait", ["use tabs", "always wait"]),
        ("use tabs and only tabs", ["use tabs", "only tabs"]),
        ("use tabs and no spaces", ["use tabs", "no spaces"]),
        ("use tabs and wait", ["use tabs and wait"]),
        ("well", [""]),
        ("... !", []),
    ],
)
def test_a_clause_ends_at_a_mark_or_a_conjunction(sentence: str, texts: list[str]) -> None:
    assert [clause.text for clause in list_clauses(sentence, 0, len(sentence))] == texts


@pytest.mark.parametrize(
    ("meant", "typed"), [(meant, typed) for meant, slips in MISTYPED.items() for typed in slips.split()]
)
def test_a_slip_of_the_keyboard_is_read_as_what_was_meant(meant: str, typed: str) -> None:
    said = f"tests {typed} run"
    (clause,) = list_clauses(said, 0, len(said))
    assert clause.text == f"tests {meant} run"


@pytest.mark.parametrize("filler", FILLERS.split("; "))
def test_what_only_leads_in_is_taken_off(filler: str) -> None:
    said = f"{filler} use tabs"
    (clause,) = list_clauses(said, 0, len(said))
    assert (clause.kind, clause.text, clause.lead) == ("command", "use tabs", f"{filler} ")
    assert said[clause.start :] == "use tabs"


def test_a_clause_of_nothing_but_fillers_has_no_kind() -> None:
    (clause,) = list_clauses("well please", 0, 11)
    assert (clause.kind, clause.text, clause.lead) == ("", "", "well please ")
