"""Does a question find the page that answers it among the first five?

Usage: load the DolphinScheduler documentation (folders `en` and `zh`) into a DATA_DIR, then
`DATA_DIR=... python benchmarks/page_search.py [--json]`. The questions were written from the
pages before anything was retrieved: `plain` ones in the product's own terms, `oblique` ones as
users describe a problem without knowing its name.
"""

import argparse
import asyncio
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from domain.identity import Principal
from graph.build import build_graph
from graph.services import make_services
from runtime.settings import load_settings

QUESTIONS = Path(__file__).parent / "questions" / "dolphinscheduler.jsonl"
FIRST = 5


async def measure(tenant: str) -> dict[str, Any]:
    """Rank of the right page among a run's evidence, for every question; 0 is not found."""
    services = make_services(load_settings(), name="benchmark")
    graph = build_graph(services)
    ranks = {}
    found: dict[str, list[bool]] = defaultdict(list)
    try:
        with services.identity.acting_as(Principal(tenant=tenant, user="benchmark")):
            for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
                case = json.loads(line)
                state: dict[str, Any] = {}
                async for update in graph.astream(
                    {"question": case["question"]}, stream_mode="values"
                ):
                    state = update
                pages = list(dict.fromkeys(item.source for item in state.get("evidence", ())))
                ranks[case["id"]] = _rank(pages, [case["page"], *case["also"]])
                group = f"{case['wording']} {case['language']}"
                found[group].append(0 < ranks[case["id"]] <= FIRST)
    finally:
        await services.close()
    return {
        "in_first_five": {group: sum(hits) for group, hits in found.items()},
        "questions": {group: len(hits) for group, hits in found.items()},
        "ranks": ranks,
    }


def _rank(pages: list[str], right: list[str]) -> int:
    return next(
        (
            place
            for place, page in enumerate(pages, 1)
            if any(page == r or page.endswith(f"/{r}") for r in right)
        ),
        0,
    )


def main() -> None:
    """Print the counts, or everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenant", default="demo")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = asyncio.run(measure(options.tenant))
    if options.json:
        print(json.dumps(result))
        return
    for group, hits in result["in_first_five"].items():
        print(f"{group}: {hits} of {result['questions'][group]} in the first {FIRST}")


if __name__ == "__main__":
    main()
