"""Web search through a SearxNG server: off unless configured and allowed by the policy."""

import warnings
from dataclasses import dataclass

from langchain_core.tools import BaseTool
from pydantic import Field

from domain.errors import BackendError
from domain.evidence import Evidence, Locator, Scores, ToolResult
from domain.identity import Scope
from domain.knowledge import Metadata
from runtime.ids import stable_id
from tools.base import ToolArgs, make_tool
from tools.reader import OutsideCache

with warnings.catch_warnings():
    warnings.filterwarnings(
        "ignore", message=".*langchain-community.*", category=DeprecationWarning
    )
    from langchain_community.utilities import SearxSearchWrapper


class WebArgs(ToolArgs):
    """A question for the public web; it must hold nothing confidential."""

    query: str = Field(min_length=1, max_length=400)
    limit: int = Field(default=5, ge=1, le=10)


@dataclass(frozen=True)
class WebSearch:
    """Snippets of public pages, as evidence of the lowest authority."""

    url: str
    cache: OutsideCache

    async def __call__(self, args: WebArgs, scope: Scope) -> ToolResult:
        try:
            wrapper = SearxSearchWrapper(searx_host=self.url)
            results = await wrapper.aresults(args.query, num_results=args.limit)
        except Exception as error:
            raise BackendError(
                f"the web search at SEARXNG_URL failed: {type(error).__name__}"
            ) from error
        found = [self._evidence(item, scope) for item in results if item.get("snippet")]
        for evidence in found:
            self.cache.put(scope.tenant, evidence)
        return ToolResult(tool="web_search", evidence=tuple(found))

    def _evidence(self, item: dict[str, str], scope: Scope) -> Evidence:
        text = item["snippet"]
        return Evidence(
            id=stable_id("e", "web", item.get("link", ""), text),
            kind="web",
            ref=f"web:{item.get('link', '')}",
            tool="web_search",
            source=item.get("link", ""),
            title=item.get("title", ""),
            text=text,
            found_end=len(text),
            locator=Locator(end=len(text)),
            scores=Scores(fused=0.1, final=0.1),
            meta=Metadata(tenant=scope.tenant, authority=10),
        )


def web_tool(url: str, cache: OutsideCache) -> BaseTool:
    """Web search as a LangChain tool."""
    return make_tool(
        "web_search", "Public web pages, of low authority", WebArgs, WebSearch(url, cache)
    )
