"""`longtail bench NAME`: measurements that anybody can repeat."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench.encoder_commands import encoders

bench = typer.Typer(help="Measure; every number stands beside its floor.", no_args_is_help=True)

bench.command()(encoders)

Data = Annotated[Path | None, typer.Option(help="Folder with locomo_dev.json; without it, made sentences.")]
Output = Annotated[Path | None, typer.Option(help="Where to write the JSON result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="File that keeps vectors from run to run.", envvar="LONGTAIL_ENCODER_CACHE"),
]


@bench.callback()
def _bench() -> None:
    """Measure; every number stands beside its floor."""
    import signal
    import sys

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a stopped benchmark stops its stack too


@bench.command()
def spine(
    data: Data = None,
    memories: Annotated[int, typer.Option(help="Memories in the tenant when assemble is measured.")] = 10_000,
    turns: Annotated[int, typer.Option(help="Turns through the pipeline.")] = 2000,
    calls: Annotated[int, typer.Option(help="Accept calls; half as many assemble calls.")] = 400,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """accept, pipeline and assemble on a stack of its own (a few minutes)."""
    from rich.console import Console
    from rich.table import Table

    from bench.speed.spine import Sizes, run

    sizes = Sizes(accept_calls=calls, pipeline_turns=turns, memories=memories, assemble_calls=calls // 2)
    result = run(sizes=sizes, data=data, output=output, console=Console(stderr=True))
    if as_json:
        print(json.dumps(result))
        return
    table = Table("what", "measured", "floor", "ratio", "target")
    accept, pipeline, assemble = result["accept"], result["pipeline"], result["assemble"]
    table.add_row(
        "accept p99",
        f"{accept['accept_ms']['p99']} ms",
        f"{accept['floor_insert_ms']['p99']} ms",
        str(accept["p99_ratio"]),
        "≤ 3",
    )
    table.add_row(
        "pipeline",
        f"{pipeline['pipeline_turns_per_second']} turns/s",
        f"{pipeline['encoder_alone_texts_per_second']} texts/s",
        str(pipeline["ratio"]),
        "≥ 0.5",
    )
    table.add_row(
        f"assemble p95, {assemble['memories']} memories",
        f"{assemble['assemble_ms']['p95']} ms",
        f"{assemble['floor_ms']['p95']} ms",
        str(assemble["p95_ratio"]),
        "≤ 2",
    )
    Console().print(table)


@bench.command()
def scale(
    data: Data = None,
    size: Annotated[
        list[int] | None, typer.Option(min=1000, help="Memories of one user; again for more sizes.")
    ] = None,
    calls: Annotated[int, typer.Option(min=10, help="Assemble calls at each size.")] = 200,
    output: Output = None,
    plans: Annotated[Path | None, typer.Option(help="Where to write the query plans, as Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """assemble as memory grows: 10,000 and 100,000 memories by default (a million takes most of an hour)."""
    from rich.console import Console
    from rich.table import Table

    from bench.speed.scale import run

    result = run(
        sizes=size or [10_000, 100_000],
        calls=calls,
        data=data,
        output=output,
        plans=plans,
        console=Console(stderr=True),
    )
    if as_json:
        print(json.dumps(result))
        return
    table = Table("memories", "assemble p50 / p95", "floor p50 / p95", "ratio at p95")
    for memories, found in result["sizes"].items():
        mine, floor = found["assemble_ms"], found["floor_ms"]
        table.add_row(
            f"{int(memories):,}",
            f"{mine['p50']} / {mine['p95']} ms",
            f"{floor['p50']} / {floor['p95']} ms",
            str(found["p95_ratio"]),
        )
    Console().print(table)


@bench.command()
def compaction(
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with locomo_dev.json and longmemeval_dev.json; without it, made sentences."
        ),
    ] = None,
    turns: Annotated[int, typer.Option(min=100, help="Turns of the one long session.")] = 10_000,
    encoder: Annotated[str, typer.Option(help="'toy': everything but the model, in a minute.")] = "minilm",
    backlog: Annotated[
        int, typer.Option(min=0, help="Feed while fewer turns than this wait to be remembered.")
    ] = 300,
    cache: Cache = None,
    output: Annotated[
        Path | None, typer.Option(help="Where to write the JSON result; a Markdown file goes beside it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """One long session, compacted while it grows, on a stack of its own (some minutes)."""
    from rich.console import Console
    from rich.markdown import Markdown

    from bench.compaction import run
    from bench.compaction_report import describe

    result = run(
        turns=turns,
        data=data,
        output=output,
        console=Console(stderr=True),
        encoder=encoder,
        cache=cache,
        backlog=backlog,
    )
    if as_json:
        print(json.dumps(result))
        return
    Console().print(Markdown(describe(result)))


@bench.command()
def stability(
    data: Data = None,
    turns: Annotated[int, typer.Option(help="Turns of the session that is replayed.")] = 500,
    encoder: Annotated[str, typer.Option(help="The stable part does not depend on it.")] = "toy",
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """How much of the stable part a prompt cache finds again from turn to turn (a few minutes)."""
    from rich.console import Console
    from rich.table import Table

    from bench.stability import run

    result = run(turns=turns, data=data, output=output, console=Console(stderr=True), encoder=encoder)
    if as_json:
        print(json.dumps(result))
        return
    table = Table(
        "budget", "prompts", "kept", "cached", "cuts", "other breaks", "mean bytes", "tail use", "least"
    )
    for spacing in ("every_turn", "user_turns"):
        for budget, found in result[spacing].items():
            shown = (
                *("prompts", "kept", "cached", "cuts", "other_breaks", "mean_bytes"),
                *("tail_use", "least_tail_use"),
            )
            values = (found[key] for key in shown)
            table.add_row(str(budget), *map(str, values))
        table.add_section()
    console = Console()
    console.print(table)
    console.print(f"target: {result['target']}: {'reached' if result['is_reached'] else 'missed'}")


@bench.command()
def receipts(
    data: Data = None,
    memories: Annotated[int, typer.Option(help="Turns remembered before assemble is measured.")] = 2000,
    calls: Annotated[int, typer.Option(help="Assemble calls, with and without a receipt each.")] = 200,
    encoder: Annotated[str, typer.Option(help="'toy' fills the memory in seconds.")] = "toy",
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """What a receipt costs: bytes, processor time, and the time of the assembly it explains (about a minute)."""
    from rich.console import Console

    from bench.speed.receipts import run

    result = run(
        memories=memories,
        calls=calls,
        data=data,
        output=output,
        console=Console(stderr=True),
        encoder=encoder,
    )
    if as_json:
        print(json.dumps(result))
        return
    Console().print_json(data=result)


@bench.command()
def quality(
    data: Annotated[Path, typer.Option(help="Folder with locomo_dev.json and longmemeval_dev.json.")],
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="locomo, longmemeval, rules, wishes, memories, budget, updates or profile; one or several. Default: all."
        ),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            help="So many questions of each data set, drawn by the seed; of profiles, so many users of each kind."
        ),
    ] = None,
    conversations: Annotated[
        int | None, typer.Option(help="The first so many conversations of LoCoMo.")
    ] = None,
    share: Annotated[
        str,
        typer.Option(help="I/N: the I-th of N shares of LongMemEval's questions; `bench join` adds them up."),
    ] = "1/1",
    seed: Annotated[int, typer.Option(help="Draws the subset.")] = 7,
    second_speaker: Annotated[
        Literal["user", "assistant"], typer.Option(help="Role of LoCoMo's second speaker.")
    ] = "user",
    fillers: Annotated[int, typer.Option(help="Turns between a standing rule and its question.")] = 300,
    cases: Annotated[int | None, typer.Option(help="The first so many standing rules.")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Standing rules of one split: tuned, held back, fresh, unseen or unseen2."),
    ] = None,
    compact: Annotated[bool, typer.Option(help="Measure again after compacting every session.")] = False,
    peers: Annotated[str, typer.Option(help="Other memories to measure: mem0,mempalace,hindsight.")] = "",
    peers_folder: Annotated[
        Path | None,
        typer.Option(help="Where the peers' environments are kept. Default: in the output folder."),
    ] = None,
    peer_seconds: Annotated[
        float, typer.Option(help="A peer that takes longer is reported as not run.")
    ] = 600.0,
    cache: Cache = None,
    output: Annotated[
        Path, typer.Option(help="Folder for quality.json, quality.md and the pictures.")
    ] = Path("quality"),
    per_question: Annotated[bool, typer.Option(help="Keep every question's values in the JSON.")] = False,
    as_json: AsJson = False,
) -> None:
    """Recall through the real pipeline and assemble, beside baselines and peers (many minutes without a cache)."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import Progress

    from bench.quality.peers import PEERS
    from bench.quality.report import describe, write_report
    from models.errors import ServiceError

    try:
        from bench.quality.run import PARTS, Plan, run
    except ModuleNotFoundError as error:
        raise ServiceError(
            f"{error.name} is not installed", remedy="pip install 'longtail[bench,report]'"
        ) from error

    if strangers := sorted(set(part or ()) - set(PARTS)):
        raise typer.BadParameter(
            f"{', '.join(strangers)}: choose from {', '.join(PARTS)}", param_hint="--part"
        )
    named = [name.strip() for name in peers.split(",") if name.strip()]
    if unknown := sorted(set(named) - PEERS.keys()):
        raise typer.BadParameter(
            f"{', '.join(unknown)}: choose from {', '.join(PEERS)}", param_hint="--peers"
        )
    place, _, of = share.partition("/")
    if not (place.isdigit() and of.isdigit() and 1 <= int(place) <= int(of)):
        raise typer.BadParameter(f"{share}: name a share as 2/4", param_hint="--share")
    plan = Plan(
        data=data,
        share=(int(place), int(of)),
        parts=[known for known in PARTS if not part or known in part],
        conversations=conversations,
        questions=questions,
        seed=seed,
        second_role=second_speaker,
        compacts=compact,
        cache=cache,
        keeps_questions=per_question,
        fillers=fillers,
        cases=cases,
        split=split,
        peers=named,
        peers_folder=peers_folder or output / "peers",
        peer_seconds=peer_seconds,
    )
    with Progress(console=Console(stderr=True)) as progress:
        result = run(plan, progress)
    written = write_report(result, output)
    if as_json:
        print(json.dumps(result))
        return
    Console().print(Markdown(describe(result)))
    Console(stderr=True).print("written:", ", ".join(str(path) for path in written))


@bench.command()
def join(
    folders: Annotated[list[Path], typer.Argument(help="Outputs of `bench quality --per-question`.")],
    output: Annotated[Path, typer.Option(help="Folder for the joined result.")] = Path("quality"),
) -> None:
    """One result from several runs over different questions."""
    from rich.console import Console
    from rich.markdown import Markdown

    from bench.quality.joining import join_results
    from bench.quality.report import describe, write_report

    results = [json.loads((folder / "quality.json").read_text(encoding="utf-8")) for folder in folders]
    joined = join_results(results)
    write_report(joined, output)
    Console().print(Markdown(describe(joined)))


@bench.command()
def load(
    clients: Annotated[int, typer.Option(min=1, max=256, help="Clients at once.")] = 8,
    seconds: Annotated[float, typer.Option(min=1, help="How long.")] = 120.0,
    memories: Annotated[int, typer.Option(min=8, help="Turns remembered before the clock starts.")] = 2000,
    data: Data = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Clients that accept, assemble and search at once, on a stack of its own; exit code 1 on any error."""
    from rich.console import Console

    from bench.speed.load import as_markdown, run

    result = run(
        clients=clients,
        seconds=seconds,
        memories=memories,
        data=data,
        output=output,
        console=Console(stderr=True),
    )
    print(json.dumps(result) if as_json else as_markdown(result))
    if result["errors"]:
        raise typer.Exit(1)


@bench.command()
def hook(
    rounds: Annotated[int, typer.Option(min=5, help="How often each process is started.")] = 60,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """A hook from start to exit beside a bare Python, API up and away; exit code 1 above the target."""
    from rich.console import Console

    from bench.speed.hook import TARGET, as_markdown, run

    result = run(rounds=rounds, console=Console(stderr=True))
    if output:
        output.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result) if as_json else as_markdown(result))
    if result["worst_p95_ratio"] > TARGET:
        raise typer.Exit(1)


@bench.command()
def proxy(
    rounds: Annotated[int, typer.Option(min=5, help="How often each call is made.")] = 100,
    as_json: AsJson = False,
) -> None:
    """What the proxy adds to a model call: straight, passed through bare, and with memory."""
    from bench.speed.proxy import as_markdown, run

    result = run(rounds=rounds)
    print(json.dumps(result) if as_json else as_markdown(result))
