"""What kind of question it is, from its words."""

import re
from dataclasses import dataclass

from domain.plan import Intent

_FLAGS = re.IGNORECASE


@dataclass(frozen=True)
class _Cue:
    intent: Intent
    pattern: re.Pattern[str]


def _cue(intent: Intent, pattern: str) -> _Cue:
    return _Cue(intent, re.compile(pattern, _FLAGS))


_HELLO = (
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?|thank you|bye|"
    r"你好|您好|嗨|早上好|下午好|晚上好|谢谢|多谢|再见)(?:\s+(?:there|all|everyone|team))?"
)
_LEAD = rf"\s*(?:{_HELLO}[\s,，!！.。]+)?(?:(?:so|ok|okay|please|请问?)[\s,，]*)?"
_TAIL = r"(?:[\s,]+(?:for (?:me|us)|please|then|exactly|here|today))?(?:呢|呀|啊|吗|吧)?[\s!！?？。.,，~～]*"
_DAY = r"(?:today|tomorrow|tonight|now|this week(?:end)?)"
_DAY_ZH = r"(?:今天|明天|后天|今晚|现在|本周|周末)"


def _whole(intent: Intent, *wordings: str) -> _Cue:
    return _cue(intent, rf"{_LEAD}(?:{'|'.join(wordings)}){_TAIL}")


_CHATTER = (
    _cue("greeting", rf"\s*{_HELLO}[\s!！。.,，~～]*"),
    _whole(
        "capability",
        r"what (?:can|could|do) you (?:do|know|answer)(?: about)?(?: to help(?: me| us)?)?",
        r"what (?:can|could) you help (?:me |us )?with",
        r"what (?:(?:kinds?|sorts?) of )?(?:questions|topics|things) (?:can|do) you (?:answer|know|cover)",
        r"(?:who|what)(?: exactly)? are you",
        r"how (?:do|can|should) (?:i|we) use you",
        r"how can you help(?: me| us)?",
        r"[你您]们?(?:都|还)?(?:能|会|可以)(?:够|帮我们?|为我们?|帮忙)?(?:做|干|回答|解答|帮)(?:到|些|点)?(?:什么|哪些|啥)(?:事情?|问题|忙)?",
        r"[你您]们?(?:都|还)?(?:能|会|可以)(?:够)?帮(?:助)?(?:我们?)?(?:些|点)?(?:什么|哪些|啥)(?:忙)?",
        r"[你您]们?(?:是谁|是什么|是干什么的|叫什么(?:名字)?|有(?:什么|哪些)功能)",
        r"(?:我们?)?(?:该|应该|要)?(?:怎么|怎样|如何)(?:使)?用[你您]",
    ),
    _whole(
        "out_of_scope",
        r"(?:(?:can|could|would) you )?(?:write|compose|tell|sing)(?: me| us)? (?:an?|another|some) (?:[\w-]+ ){0,2}"
        r"(?:poem|joke|story|song|essay|haiku)s?"
        r"(?: (?:about|on|for)(?: (?!why|how|what|who|when|where|which)[\w'-]+){1,6})?",
        rf"(?:(?:what|how)(?:'s| is| will)? )?(?:the )?weather(?: be)?(?: like)?(?: forecast)?"
        rf"(?: (?:in|for) (?!{_DAY})\w+)?(?: (?:for )?{_DAY})?",
        rf"(?:(?:what(?:'s| is| are| will be)?|tell me|give me) )?(?:the |my |{_DAY}'s |winning |next )*"
        rf"(?:horoscope|lottery numbers?)(?: (?:for )?{_DAY})?",
        r"(?:能不能|可以|能)?(?:帮我?|给我|替我|为我)?(?:再)?(?:写|作|讲|说|唱|来)(?:一)?[首个篇段](?:[^，。？?！!]{1,12}的)?"
        r"(?:诗歌?|笑话|故事|歌|作文)",
        rf"(?:{_DAY_ZH}的?)?(?:(?!什么|为|如何|怎|哪)[一-鿿]{{2,4}}?的?)?(?:{_DAY_ZH}的?)?天气(?:怎么样|怎样|如何|好吗|预报)?",
        rf"(?:告诉我|给我|帮我)?(?:选|猜|预测)?(?:一下|一组|几个)?(?:{_DAY_ZH}|下期|本期)?的?彩票号码(?:是(?:多少|什么))?",
    ),
)
"""Questions that need no retrieval; each pattern describes the whole question."""

_CUES = (
    _cue(
        "version_difference",
        r"\b(?:what|which|anything)\b.{0,40}\bchang(?:ed|es)\b.{0,60}\b(?:between|from|since|in)\b|"
        r"\bdiffer(?:ence|ences|ent|s)?\b|\bcompar(?:e|ed|ison)\b|\bversus\b|\bvs\.?\b|"
        r"区别|差别|有何不同|(?:之间|版|v\d\S{0,12})的?(?:差异|变化)|有什么不同|不同之处|对比|相比|比较.{0,20}(?:版|v\d)|(?:改|变)(?:了|动|更)(?:什么|哪些)|有(?:什么|哪些|何)(?:变化|改动|变更)",
    ),
    _cue(
        "diagnosis",
        r"\bwhy\b.{0,120}\b(?:fail\w*|error\w*|rise|rising|rose|drop\w*|slow\w*|spike\w*|increas\w*|decreas\w*|"
        r"time\s?outs?|timed out|down|reject\w*|late|delay\w*|break\w*|broken?|stuck|unavailable|declin\w*)\b|"
        r"\broot cause\b|\bcause of\b|\bwhat (?:is |was )?caus(?:ed|es|ing)\b|\bdiagnos\w+|\btroubleshoot\b|"
        r"为(?:什么|何|啥).{0,60}(?:失败|报错|错误|异常|升高|上升|下降|变慢|超时|拒绝|延迟|中断|卡|飙升|突增)|"
        r"根因|根本原因|(?:失败|异常|超时|报错|上升|升高|下降|飙升|故障)[^？?]{0,20}(?:的)?原因|什么原因|怎么回事|排查|诊断",
    ),
    _cue(
        "decision",
        r"(?<!what )(?<!how )(?<!when )(?<!where )\bshould (?:we|i|our|the)\b|\bwhich (?:option|one|approach|plan|channel) (?:should|is (?:better|best))|"
        r"\bdo you recommend\b|\bis it (?:better|advisable|worth)\b|\bshall (?:we|i)\b|\bmay we (?:approve|grant)\b|"
        r"是否应(?:该|当)?|应不应该|该不该|要不要|应该(?:选|用|采用|批准)|应该?[^？?]{0,30}还是|建议(?:选|用|采用)哪|哪(?:个|种)(?:方案|更好|更合适)|能否(?:批准|同意)|可不可以(?:批准|同意)",
    ),
    _cue(
        "statistics",
        r"\bhow many\b|\bhow much in total\b|\bcount of\b|\bnumber of\b|\btotal (?:number|amount|of)\b|\baverage\b|"
        r"\btop \d+\b|\bper (?:hour|day|region)\b|\bfailure rate (?:by|per)\b|"
        r"多少(?:个|笔|家|条|次|人|位|单)|几(?:个|笔|家|条|次)|总(?:数|共|计|量)|一共|合计|统计|平均|排名前|前\d+|数量是",
    ),
    _cue(
        "relation",
        r"\bwh(?:o|ich team|at team) (?:owns?|maintains?|runs?|operates?|is responsible)\b|\bdepends? on\b|\bdependen(?:cy|cies|t)\b|"
        r"\b(?:is|are|how).{0,40}\b(?:related|connected|linked)\b|\brelationships?\b|\bupstream\b|\bdownstream\b|\bowned by\b|"
        r"\bwhich (?:service|team|rule|channel|release|merchant)s?\b.{0,60}\b(?:own|use|affect|depend|belong|route|serve|limit|govern)\w*|"
        r"依赖|关系|关联|上游|下游|归(?:哪|谁)|(?:哪个|哪支|什么)(?:团队|小组|部门|服务|规则)|谁(?:负责|维护|拥有)|由谁|隶属",
    ),
    _cue(
        "how_to",
        r"\bhow (?:do|can|should|would|to|does one)\b|\bsteps? (?:to|for)\b|\bprocedure\b|\bwalk me through\b|\bguide (?:to|for)\b|"
        r"\bwhat should (?:i|we) do\b|如何|怎么(?!回事|样了)|怎样|步骤|流程|操作方法|怎麼",
    ),
    _cue(
        "definition",
        r"^\s*(?:what(?:'s| is| are)|define|explain|describe)\s+(?:an?\s+|the\s+)?[\w\s./-]{1,60}\??\s*$|"
        r"\bmeaning of\b|\bwhat does .{1,60} mean\b|\bdefinition of\b|什么是|是什么(?:意思)?[？?。]?\s*$|的(?:定义|含义)|何谓|指什么",
    ),
)
"""In order of how much a wrong guess would cost: the first that matches decides."""

_RISK = re.compile(
    r"\b(?:refund|payout|legal|compliance|regulat\w+|sanction\w*|privacy|gdpr|pci|penalt\w+|delete|drop|shut ?down|"
    r"roll ?back|production|approve|waive|credential\w*|secret\w*|security)\b|"
    r"退款|赔付|合规|法律|监管|处罚|隐私|删除|下线|回滚|生产环境|审批|批准|豁免|凭证|密钥|安全",
    _FLAGS,
)

_CLAUSE = re.compile(
    r"[?？;；]\s*|,?\s+and\s+(?=(?:which|what|who|when|where|why|how|is|are|does|do|can|should)\b)|"
    r"[，,]\s*(?=(?:and\s+)?(?:which|what|who|when|where|why|how)\b)|"
    r"[，,。]?(?:并且|而且|以及|同时|，)(?=[^，。？]{0,12}(?:哪|什么|谁|何|怎|如何|多少|是否))|"
    r"[，,。](?=(?:现在|目前|当前)?(?:哪|什么|谁|何时|怎么|如何|为什么|多少|是否))",
    _FLAGS,
)


def chatter(question: str) -> Intent | None:
    """Greeting, capability or out of scope; None where knowledge has to be asked."""
    return next((cue.intent for cue in _CHATTER if cue.pattern.fullmatch(question)), None)


def intent_of(question: str) -> Intent:
    """The intent of a question that needs knowledge; `fact` where no rule speaks."""
    return next((cue.intent for cue in _CUES if cue.pattern.search(question)), "fact")


def risky(question: str) -> bool:
    """Whether a wrong answer could cost money, rights or a production system."""
    return bool(_RISK.search(question))


def clauses(question: str) -> list[str]:
    """The separate questions in one: "What changed, and which one is in force?" gives two."""
    parts = [part.strip(" ,，。.?？;；") for part in _CLAUSE.split(question)]
    return [part for part in parts if len(part) > 3] or [question.strip()]
