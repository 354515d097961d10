"""Finds the chain of relations that a question spells out."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from domain.evidence import Evidence
from runtime.text.analyzer import content_terms

_EDGE = re.compile(
    r"^(?P<start>.+?) \((?P<start_type>[^()]*)\) —(?P<type>[^→]+)→ (?P<end>.+) \((?P<end_type>[^()]*)\)$"
)
_SAME = (
    ("depend", "依赖"),
    ("own", "负责", "拥有", "归属", "owner", "maintain", "维护", "respons"),
    ("team", "团队", "小组", "组", "who", "谁"),
    ("servic", "服务"),
    ("rule", "规则"),
    ("gatewai", "网关"),
    ("channel", "渠道", "通道"),
    ("merchant", "商户", "客户"),
    ("limit", "限制", "限额", "受限"),
    ("call", "调用"),
    ("chang", "变更", "改变", "修改"),
    ("releas", "发布", "版本"),
    ("enforc", "执行"),
    ("back", "备用", "备份"),
    ("us", "使用"),
    ("region", "区域", "地区"),
)
_CANONICAL = {word: group[0] for group in _SAME for word in group}
_ASKED = re.compile(
    r"\b(?:which|what)\s+(?P<en>[a-z]+)|\b(?P<who>who)\b|哪(?:个|支|家|条|些)?(?P<zh>团队|小组|服务|规则|渠道|商户|版本|发布|区域)|(?P<zhwho>谁)",
    re.IGNORECASE,
)


class Edge(NamedTuple):
    """A relation as its evidence renders it."""

    start: str
    start_type: str
    type: str
    end: str
    end_type: str
    evidence: Evidence

    @property
    def words(self) -> frozenset[str]:
        return canonical(f"{self.start_type} {self.type} {self.end_type}")


def canonical(text: str) -> frozenset[str]:
    """The words of a text with those of both languages that mean the same made equal."""
    words = {_CANONICAL.get(term, term) for term in content_terms(text.replace("_", " "))}
    words |= {group[0] for group in _SAME for word in group if not word.isascii() and word in text}
    if re.search(r"\bwho\b", text, re.IGNORECASE):
        words.add("team")
    return frozenset(words)


def edges(evidence: Iterable[Evidence]) -> list[Edge]:
    """The relations among a run's evidence."""
    found = []
    for item in evidence:
        match = _EDGE.match(item.text.split("\n", 1)[0]) if item.kind == "relations" else None
        if match:
            found.append(Edge(**match.groupdict(), evidence=item))
    return found


def best_walk(question: str, entities: Sequence[str], known: Sequence[Edge]) -> list[Edge]:
    """The chain from a named entity that uses most of the question's words with fewest edges.

    Edges may be walked in both directions. A chain must end on the kind of thing that is asked
    for, where the question names one, and otherwise join the things named, where it names two;
    no such chain gives the empty list.
    """
    asked, wanted = _asked_type(question), canonical(question)
    starts = {name.casefold() for name in entities}
    around: dict[str, list[Edge]] = defaultdict(list)
    for edge in known:
        around[edge.start].append(edge)
        around[edge.end].append(edge)
    best: tuple[float, list[Edge]] = (0.0, [])
    frontier: list[tuple[str, list[Edge]]] = [(n, []) for n in around if n.casefold() in starts]
    while frontier:
        node, walk = frontier.pop()
        if walk and _ends_well(node, walk, asked, starts):
            used = frozenset().union(*(edge.words for edge in walk)) & wanted
            score = len(used) - 0.4 * len(walk)
            if score > best[0]:
                best = (score, walk)
        if len(walk) < 4:
            seen = {node} | {n for e in walk for n in (e.start, e.end)}
            for edge in around[node]:
                if not _named(edge, wanted):
                    continue
                other = edge.end if edge.start == node else edge.start
                if other not in seen:
                    frontier.append((other, [*walk, edge]))
    return best[1]


def _ends_well(node: str, walk: Sequence[Edge], asked: str, starts: set[str]) -> bool:
    if asked:
        return asked in canonical(_type_at(node, walk[-1]))
    met = {name.casefold() for edge in walk for name in (edge.start, edge.end)} & starts
    return len(met) >= min(2, len(starts))


def _named(edge: Edge, wanted: frozenset[str]) -> bool:
    """Whether the question speaks of the relation, or of both kinds of things that it joins."""
    if canonical(edge.type) & wanted:
        return True
    ends = (canonical(edge.start_type), canonical(edge.end_type))
    return all(words & wanted for words in ends)


def _asked_type(question: str) -> str:
    match = _ASKED.search(question)
    if match is None:
        return ""
    if match["who"] or match["zhwho"]:
        return "team"
    words = canonical(match["en"] or match["zh"] or "")
    return next(iter(words), "")


def _type_at(node: str, edge: Edge) -> str:
    return edge.end_type if edge.end == node else edge.start_type
