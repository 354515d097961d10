"""The wiring, on one screen: the only place where nodes meet services."""

from dataclasses import dataclass
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, RetryPolicy

from domain.run import Context
from domain.state import InputState, OutputState, State
from graph.edges import after_evaluate, after_guard, after_reflect, after_route, dispatch
from graph.limits import FENCE_S, RECURSION_LIMIT
from graph.services import Services
from graph.stage import Bounded, Node, Recorded
from graph.tracing import STAGE, Untraced
from nodes.answer import AnswerNode
from nodes.clarify import ClarifyNode
from nodes.compose.composer import RuleComposer
from nodes.done import DoneNode
from nodes.evaluate import EvaluateNode
from nodes.init import InitNode
from nodes.plan import PlanNode
from nodes.reflect import ReflectNode
from nodes.rerank import RerankNode
from nodes.retrieve import RetrieveNode, SearchTask
from nodes.route import RouteNode
from nodes.rules.evaluator import EvidenceDesk, RuleEvaluator
from nodes.rules.nearness import SentenceVectors
from nodes.rules.planner import RulePlanner
from nodes.rules.reflector import RuleReflector
from nodes.rules.router import RuleRouter
from nodes.rules.verifier import RuleVerifier
from nodes.safe_guard import SafeGuardNode
from nodes.search import SearchNode

Graph = CompiledStateGraph[State, Context, InputState, OutputState]

ONCE = RetryPolicy(max_attempts=1)
"""No stage is repeated blindly: what can pass is retried where it happens, what cannot degrades."""


def build_graph(services: Services, *, checkpointer: Checkpointer = None) -> Graph:
    """INIT -> ROUTE -> PLAN -> RETRIEVE -> tools -> RERANK -> EVALUATE -> ... -> DONE."""
    s = services
    settings, identity, library, clock = s.settings, s.identity, s.library, s.clock
    desk = EvidenceDesk(library, SentenceVectors(library))
    init = InitNode(
        library, identity, s.policies, settings.limits, clock, s.new_id, settings.question_max_chars
    )
    builder = StateGraph(State, Context, input_schema=InputState, output_schema=OutputState)
    graph = _Stages(builder, s)
    graph.open("init", init)
    graph.open("clarify", ClarifyNode(clock, settings.question_max_chars))
    graph.open("done", DoneNode())
    graph.bounded("route", RouteNode(RuleRouter(library, clock), identity))
    graph.bounded("plan", PlanNode(RulePlanner(library), s.guard, identity))
    graph.bounded("retrieve", RetrieveNode())
    for tool in s.guard.tools.values():
        graph.tool(tool)
    rerank = RerankNode(library, identity, settings.evidence_limit)
    graph.bounded("rerank", rerank, defer=True)
    graph.bounded("evaluate", EvaluateNode(RuleEvaluator(desk, clock), identity))
    graph.bounded("reflect", ReflectNode(RuleReflector(library), s.guard, identity))
    graph.bounded("answer", AnswerNode(RuleComposer(desk), identity))
    graph.bounded("safe_guard", SafeGuardNode(s.reader, RuleVerifier(), identity, clock))

    tools = list(s.guard.tools)
    builder.add_edge(START, "init")
    builder.add_edge("init", "route")
    builder.add_conditional_edges("route", Untraced(after_route), ["plan", "answer", "clarify"])
    builder.add_edge("clarify", "route")
    builder.add_edge("plan", "retrieve")
    builder.add_conditional_edges("retrieve", Untraced(dispatch), [*tools, "rerank"])
    for name in tools:
        builder.add_edge(name, "rerank")
    builder.add_edge("rerank", "evaluate")
    builder.add_conditional_edges(
        "evaluate", Untraced(after_evaluate), ["retrieve", "reflect", "answer"]
    )
    builder.add_conditional_edges(
        "reflect", Untraced(after_reflect), ["retrieve", "answer", "clarify"]
    )
    builder.add_edge("answer", "safe_guard")
    builder.add_conditional_edges("safe_guard", Untraced(after_guard), ["reflect", "done"])
    builder.add_edge("done", END)
    compiled = builder.compile(checkpointer=checkpointer, name="agentic_rag")
    compiled.config = {**(compiled.config or {}), "recursion_limit": RECURSION_LIMIT}
    return compiled


@dataclass(frozen=True)
class _Stages:
    """Adds nodes with their bounds."""

    builder: StateGraph[State, Context, InputState, OutputState]
    services: Services

    def open(self, name: str, node: Any) -> None:
        stage = Recorded(node, self.services.clock)
        self.builder.add_node(name, stage, retry_policy=ONCE, trace_policy=STAGE)

    def bounded(self, name: str, node: Node, *, defer: bool = False) -> None:
        stage = Bounded(node, self.services.clock, name)
        self.builder.add_node(
            name, stage, defer=defer, retry_policy=ONCE, timeout=FENCE_S, trace_policy=STAGE
        )

    def tool(self, tool: BaseTool) -> None:
        node = SearchNode(
            tool.name, self.services.guard, self.services.identity, self.services.clock
        )
        stage = Bounded(node, self.services.clock, "retrieve")
        self.builder.add_node(
            tool.name,
            stage,
            input_schema=SearchTask,
            retry_policy=ONCE,
            timeout=FENCE_S,
            trace_policy=STAGE,
        )
