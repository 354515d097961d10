"""The slots of structured answers and the words that tell which sentence fills which."""

import re
from typing import Literal

from domain.plan import Language

DiagnosisSlot = Literal["symptom", "change", "cause", "excluded", "action"]
DIAGNOSIS: tuple[DiagnosisSlot, ...] = ("symptom", "change", "cause", "excluded", "action")

LABELS: dict[str, dict[Language, str]] = {
    "symptom": {"en": "What happened", "zh": "现象"},
    "change": {"en": "What changed", "zh": "变更"},
    "cause": {"en": "Conclusion: the cause", "zh": "结论：根因"},
    "excluded": {"en": "Rival causes excluded", "zh": "已排除的其他原因"},
    "action": {"en": "Suggested actions", "zh": "建议措施"},
    "rule": {"en": "The rule that applies", "zh": "适用的规则"},
    "options": {"en": "Options", "zh": "可选方案"},
    "conditions": {"en": "Conditions", "zh": "条件"},
    "recommendation": {"en": "Recommendation", "zh": "建议"},
    "in_force": {"en": "In force", "zh": "当前有效"},
    "difference": {"en": "Differences", "zh": "差异"},
    "figures": {"en": "Figures", "zh": "数据"},
    "relations": {"en": "Relations", "zh": "关系"},
    "outdated": {"en": "No longer in force", "zh": "已失效"},
    "upcoming": {"en": "Not in force yet", "zh": "尚未生效"},
}

_F = re.IGNORECASE
CUES: dict[str, re.Pattern[str]] = {
    "symptom": re.compile(
        r"\b(?:rose|rise[sn]?|rising|increased|spiked?|jumped|climbed|dropped|fell|failing|failed|failure rate|"
        r"error rate|complain\w*|reported|observed|alert\w*|timed? ?outs?|declined)\b|"
        r"上升|升高|增加|飙升|突增|下降|失败率|错误率|报警|告警|反馈|报告|出现|超时|被拒",
        _F,
    ),
    "change": re.compile(
        r"\b(?:releas\w+|deploy\w*|roll(?:ed)? out|rolled? back|raised|lowered|changed|updated|upgraded|enabled|"
        r"disabled|switched|migrated|configured|introduced|from \S+ to \S+)\b|"
        r"发布|上线|部署|变更|调整|提高|降低|修改|更新|升级|启用|关闭|切换|由\S+改为|从\S+(?:提高|调整|改|增加)?(?:到|至|为)",
        _F,
    ),
    "cause": re.compile(
        r"\b(?:because|caus(?:ed?|es|ing)|root cause|due to|as a result|results? in|resulted|led to|leads to|therefore|"
        r"exceed(?:s|ed|ing)?|exhaust\w*|rejects?|rejected|throttl\w+|so that|once .{3,60} (?:reach|exceed)\w*)\b|"
        r"因为|由于|导致|根因|原因是|引起|造成|因此|所以|超过|超出|触发|耗尽|被拒绝|限流",
        _F,
    ),
    "excluded": re.compile(
        r"\b(?:ruled out|rule out|not the cause|unrelated|unchanged|unaffected|no (?:change|sign|evidence|correlation|campaign|"
        r"anomal\w+|errors?|marketing)|healthy|within (?:normal|limits)|normal|not (?:involved|affected|related|due))\b|"
        r"排除|无关|未变化|没有变化|未变更|未受影响|不受影响|正常|健康|并非.{0,12}原因|不是.{0,12}原因|没有.{0,10}(?:异常|活动|变更)",
        _F,
    ),
    "action": re.compile(
        r"^(?:raise|lower|roll|restart|switch|open|check|confirm|verify|set|run|notify|page|reduce|increase|disable|enable|"
        r"scale|contact|escalate|revert|apply|ask|compare|wait|record|announce|monitor|watch|drain|file|keep|post|tell|if)\b|"
        r"\b(?:mitigat\w+|should|must|recommended?|workaround|roll back|next step)\b|"
        r"^(?:提高|降低|回滚|重启|切换|打开|检查|确认|核实|设置|运行|通知|减少|增加|关闭|启用|扩容|联系|升级|恢复|申请|对比|等待|记录|观察|若|如果|将|在|把)|"
        r"建议|应当|应该|必须|临时措施|缓解|处理步骤",
        _F,
    ),
    "rule": re.compile(
        r"\b(?:must|may|shall|should|only if|only when|not allowed|requires?|approv\w+|threshold|limit|at least|at most|up to|within)\b|"
        r"必须|可以|应当|应该|不得|仅当|仅限|需要|要求|须|审批|批准|阈值|上限|至少|最多|不超过|不低于|以内",
        _F,
    ),
    "options": re.compile(
        r"\b(?:option|alternativ\w+|either|instead|or\b|choose|can be|available)|选项|方案|或者|也可|可选|选择|替代",
        _F,
    ),
    "conditions": re.compile(
        r"\b(?:if|unless|provided|when|only|within|before|after|until|at least|at most|exceed\w*)\b|"
        r"如果|若|除非|前提|条件|要求|仅|以内|之前|之后|至少|最多|超过|低于",
        _F,
    ),
}


def fills(slot: str, text: str) -> bool:
    """Whether the words of a sentence mark it as filling a slot; slots without cues accept all."""
    cue = CUES.get(slot)
    return True if cue is None else bool(cue.search(text))


def label(slot: str, language: Language) -> str:
    """The heading of a slot in the language of the answer; the slot itself where it has none."""
    return LABELS.get(slot, {}).get(language, slot)
