"""`longtail bench quality`: one run, one machine, one encoder; ours, the baselines and the peers side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from rich.progress import Progress

from bench.quality.baselines import BASELINES, index_history, rank_with_baselines
from bench.quality.budget import TARGET, measure_budget
from bench.quality.datasets import Role, load_locomo, load_longmemeval
from bench.quality.memories import measure_memories
from bench.quality.metrics import (
    mean_by_category,
    pack_plain,
    render_ranking,
    score_ranking,
    score_sessions,
    share_in_text,
)
from bench.quality.peers import PEERS, PeerNotRun, rank_with_peer
from bench.quality.profiles import load_users, measure_profiles
from bench.quality.records import History, Question, SaidTurn, Scores
from bench.quality.rules import CASES_FILES, FILLERS, load_cases, make_histories, measure_rules
from bench.quality.service import Service, running_service
from bench.quality.updates import measure_updates
from bench.quality.wishes import make_finder, measure_wishes
from models.domain.recall.scoring import RECALL_FLOOR
from models.encoders.registry import load_encoder

Part = Literal["locomo", "longmemeval", "rules", "wishes", "memories", "budget", "updates", "profile"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
DatasetName = Literal["locomo", "longmemeval"]
BUDGETS_TOKENS: Final = (1000, 2000, 4000)
OURS: Final = "longtail"
COMPACTED: Final = "longtail, compacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to measure; a subset is for iterating, not for reporting."""

    data: Path
    parts: Sequence[Part] = PARTS
    conversations: int | None = None  # of LoCoMo
    questions: int | None = None  # of each data set
    share: tuple[int, int] = (1, 1)  # (i, n): every n-th question of LongMemEval, from the i-th on
    seed: int = 7
    second_role: Role = "user"
    compacts: bool = False
    cache: Path | None = None
    clients: int = 2
    budgets_tokens: Sequence[int] = BUDGETS_TOKENS
    keeps_questions: bool = False  # every question's values in the result, not only the means
    fillers: int = FILLERS  # turns between a standing rule and its question
    cases: int | None = None  # standing rules
    split: str | None = None  # of them
    peers: Sequence[str] = ()
    peers_folder: Path = Path("peers")  # where their environments are kept
    peer_seconds: float = 600.0  # a peer that takes longer is not run


def score_order(
    history: History, question: Question, ranked: Sequence[SaidTurn], budgets_tokens: Sequence[int]
) -> Scores:
    """What an order of turns is worth, packed as our prompt is and as bare lines."""
    texts = {turn.id: turn.text for turn in history.turns}
    gold = [texts[key] for key in question.gold]
    scores = Scores(question=question.id, category=question.category)
    for budget_tokens in budgets_tokens if gold else ():
        prompt = render_ranking(ranked, budget_tokens=budget_tokens)
        packed = {turn.id for turn in pack_plain(ranked, budget_tokens=budget_tokens)}
        scores.values[f"evidence@{budget_tokens}"] = share_in_text(prompt, gold)
        scores.values[f"evidence_plain@{budget_tokens}"] = len(packed & question.gold) / len(gold)
    by_users = {turn.id for turn in history.turns if turn.role == "user"}
    order = [turn.id for turn in ranked]
    scores.values |= score_ranking(order, question.gold)
    scores.values |= score_ranking(
        [key for key in order if key in by_users], question.gold & by_users, prefix="user_"
    )
    scores.values |= score_sessions((turn.session for turn in ranked), question.gold_sessions)
    by_user = (turn.session for turn in ranked if turn.role == "user")
    scores.values |= score_sessions(by_user, question.gold_sessions, name="session_user")
    return scores


def measure_dataset(
    service: Service, histories: Sequence[History], plan: Plan, *, title: str, encoder_name: str = "minilm"
) -> dict[str, Any]:
    """One data set: ours through the service, then the baselines on the same turns and questions."""
    seconds = service.remember(histories, title=title)
    methods: dict[str, list[Scores]] = {OURS: service.score_all(histories, plan.budgets_tokens, title=title)}
    encoder = load_encoder(encoder_name, threads=2, cache=plan.cache)
    methods |= {name: [] for name in BASELINES}
    bar = service.progress.add_task(f"{title}: baselines", total=len(histories))
    gate_scores = service.gate_scores()
    for history in histories:
        indexed = index_history(history, encoder, gate_scores.get(history.user, {}))
        for question in history.questions:
            for name, ranked in rank_with_baselines(indexed, question, encoder).items():
                methods[name].append(score_order(history, question, ranked, plan.budgets_tokens))
        service.progress.advance(bar)
    service.progress.remove_task(bar)
    not_run: dict[str, str] = {}
    for key in plan.peers:
        try:
            methods[PEERS[key].name] = _measure_peer(service, key, histories, plan, title=title)
        except PeerNotRun as error:
            not_run[PEERS[key].name] = str(error)
    compaction: dict[str, Any] | None = None
    if plan.compacts:
        compaction = service.compact(histories, title=title)
        if compaction["available"]:
            methods[COMPACTED] = service.score_all(
                histories, plan.budgets_tokens, title=f"{title}, compacted"
            )
    return {
        "histories": len(histories),
        "turns": sum(len(history.turns) for history in histories),
        "questions": sum(len(history.questions) for history in histories),
        "pipeline_seconds": round(seconds, 1),
        "compaction": compaction,
        "peers_not_run": not_run,
        "degraded": dict(service.degraded),
        "methods": {name: mean_by_category(scores) for name, scores in methods.items()},
        **(
            {"per_question": {name: [one.as_dict() for one in scores] for name, scores in methods.items()}}
            if plan.keeps_questions
            else {}
        ),
    }


def _measure_peer(
    service: Service, key: str, histories: Sequence[History], plan: Plan, *, title: str
) -> list[Scores]:
    bar = service.progress.add_task(f"{title}: {PEERS[key].name}", total=None)
    try:
        ranked = rank_with_peer(
            key,
            histories,
            folder=plan.peers_folder,
            owner_url=service.owner_url,
            cache=plan.cache,
            seconds=plan.peer_seconds,
        )
    finally:
        service.progress.remove_task(bar)
    return [
        score_order(history, question, ranked[question.id], plan.budgets_tokens)
        for history in histories
        for question in history.questions
    ]


def _measure_rules(service: Service, plan: Plan) -> dict[str, Any]:
    cases = [case for case in load_cases() if plan.split in (None, case.split)][: plan.cases]
    talk = [turn for history in load_locomo(plan.data) for turn in history.turns]
    return measure_rules(
        service, cases, make_histories(cases, talk, fillers=plan.fillers), fillers=plan.fillers
    )


def _measure_budget(service: Service, data: Mapping[str, Sequence[History]]) -> dict[str, Any]:
    """Both data sets on one stack: each history is a user of its own."""
    measured = {}
    for name, histories in data.items():
        service.remember(histories, title=name)
        measured[name] = measure_budget(service, histories, title=name)
    return {"floor": RECALL_FLOOR, "target": TARGET, "data": measured}


def run(plan: Plan, progress: Progress) -> dict[str, Any]:
    """The whole benchmark; every part that needs the service on a stack of its own."""
    loaders: dict[DatasetName, Callable[[], list[History]]] = {
        "locomo": lambda: load_locomo(
            plan.data,
            conversations=plan.conversations,
            questions=plan.questions,
            second_role=plan.second_role,
            seed=plan.seed,
        ),
        "longmemeval": lambda: load_longmemeval(plan.data, questions=plan.questions, seed=plan.seed)[
            plan.share[0] - 1 :: plan.share[1]
        ],
    }
    result: dict[str, Any] = {"plan": {"seed": plan.seed, "second_role": plan.second_role}}
    for part in plan.parts:
        if part == "wishes":
            encoder = load_encoder("minilm", threads=2, cache=plan.cache)
            result[part] = measure_wishes(plan.data, make_finder(encoder), sets=CASES_FILES)
            continue
        if part == "memories":
            result[part] = measure_memories(plan.data, load_encoder("minilm", threads=2, cache=plan.cache))
            continue
        with running_service(progress, cache=plan.cache, clients=plan.clients) as service:
            if part == "rules":
                result[part] = _measure_rules(service, plan)
            elif part == "budget":
                result[part] = _measure_budget(service, {name: load() for name, load in loaders.items()})
            elif part == "profile":
                users = load_users(plan.data, conversations=plan.conversations, users=plan.questions)
                result[part] = measure_profiles(service, users)
            elif part == "updates":
                result[part] = measure_updates(service, plan.data)
            else:
                result[part] = measure_dataset(service, loaders[part](), plan, title=part)
    return result
