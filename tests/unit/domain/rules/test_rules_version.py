"""Cached partitions are found again by RULES_VERSION: it must change when what is found in a document does."""

import hashlib

from models.documents.markdown import parse_markdown
from models.domain.rules.detector import read_authored
from models.domain.rules.tiers import RULES_VERSION, partition_blocks

SENTENCES = """\
Use tabs, not spaces.
Never commit secrets to the repository.
Don’t edit generated files by hand.
If the tests fail, fix them before you push.
You must not deploy on Fridays.
The client retries three times.
Secrets should never be logged.
Run the linter; then run the tests.
Only merge when the build is green.
Always prefer small functions, and avoid global state.
You are a careful reviewer.
Your job is to find mistakes.
No force pushes.
No changes are needed here.
It is forbidden to log tokens.
Config belongs in the settings folder.
You may skip the changelog.
Feel free to ask.
Should we use tabs?
Test coverage is measured nightly.
Format the code with the formatter.
Return values: a list of names.
See the README for details.
First, open the file. Then, if it is empty, delete it.
For other providers use the fallback.
Please also never reply in capital letters.
Ask before you delete anything (do not guess).
Write "never mind" in the log.
Call `drop_all` never.
Frobnicate the index.
Contributors may not merge their own work.
All changes require a second approval.
We recommend short names.
When in doubt, ask.
Der Test läuft immer.
"""

DOCUMENT = """\
---
title: Rules
---

# Work

You are the maintainer.

> Keep the log short.

You must not:

- push to main
- Never:
  - rebase shared branches
- secrets
  1. Use the vault.

**Do**

* [ ] Write tests first.

| use | tabs |
|---|---|
| a | b |

Use spaces. See [the guide](guide.md).
"""

# By version, so that a change of what is found can only be pinned together with a new one. To pin: raise
# RULES_VERSION, run this test, and put the new digest under the new version.
PINNED = {"2": "d9831ffdffea16f90cce46d847c93d5f2041315cfd2c46a82fe75ae381847f02"}


def digest_rules() -> str:
    spans = [read_authored(sentence).spans for sentence in SENTENCES.splitlines()]
    partition = partition_blocks(parse_markdown(DOCUMENT), count_tokens=len, tokenizer_id="letters")
    nodes = [
        (node.kind, int(node.tier), node.start, node.end, node.heading_path, node.reading.spans, node.links)
        for node in partition.nodes
    ]
    found = repr((spans, nodes, [conflict.action for conflict in partition.conflicts]))
    return hashlib.sha256(found.encode()).hexdigest()


def test_what_is_found_changes_only_with_the_rules_version() -> None:
    assert RULES_VERSION in PINNED, f"pin {digest_rules()!r} for the rules version {RULES_VERSION!r}"
    assert digest_rules() == PINNED[RULES_VERSION], (
        f"the detector or the partition finds something else than under rules version {RULES_VERSION!r}: "
        f"raise RULES_VERSION and pin {digest_rules()!r} for it"
    )
