"""Replies that need no knowledge, and say so."""

from domain.answer import Statement
from domain.plan import Intent, Language, Route

_REPLIES: dict[Intent, dict[Language, str]] = {
    "greeting": {
        "en": "Hello. Ask me about your organisation's documents, runbooks, tickets, changes, "
        "figures or how its systems relate. (This reply is not from the knowledge base.)",
        "zh": "您好。可以向我询问组织的文档、操作手册、工单、变更、数据，以及各系统之间的关系。（本回复并非来自知识库。）",
    },
    "capability": {
        "en": "I answer questions from the knowledge that was loaded for you: definitions, how-to, "
        "version differences, diagnosis, decisions by your policies, counts from the database and "
        "relations between entities. Each statement carries a checked citation; where the "
        "evidence does not suffice I say so. (This reply is not from the knowledge base.)",
        "zh": "我依据为您载入的知识回答问题：定义、操作方法、版本差异、故障诊断、依规则决策、数据库统计以及实体关系。"
        "每条陈述都附有经过核对的引用；证据不足时会如实说明。（本回复并非来自知识库。）",
    },
    "out_of_scope": {
        "en": "That is outside what I can do: I answer questions about your organisation's "
        "knowledge. (This reply is not from the knowledge base.)",
        "zh": "这超出了我的范围：我只回答与贵组织知识有关的问题。（本回复并非来自知识库。）",
    },
}


def direct_reply(route: Route) -> Statement | None:
    """The reply for a question that needs no retrieval; it cites nothing.

    None where the question asks for knowledge: a caller may force the mode, not the answer.
    """
    replies = _REPLIES.get(route.intent)
    if replies is None:
        return None
    return Statement(id="s1", text=replies[route.language], slot="direct")
