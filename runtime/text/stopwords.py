"""Words that carry no topic, in both languages.

`FUNCTION_WORDS` never enter the index. `QUESTION_WORDS` and the rest of `LIGHT_WORDS` do (a
heading "How to ..." is worth finding by) but prove nothing about coverage.
"""

ENGLISH_FUNCTION_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)

CHINESE_FUNCTION_WORDS = frozenset(
    "的 了 和 是 在 也 就 都 而 及 与 着 或 之 于 其 并 且 被 把 将 以 但 所 吗 呢 吧 啊 呀 嘛 么 "
    "这 那 此 该 个 一个 以及 并且 而且 或者 因为 所以 但是 如果 由于 对于 关于".split()
)

ENGLISH_QUESTION_WORDS = frozenset(
    "what which who whom whose when where why how do does did can could should would may might "
    "shall must is are was were has have had am been being".split()
)

CHINESE_QUESTION_WORDS = frozenset(
    "什么 怎么 怎样 怎么样 如何 为什么 为何 哪 哪个 哪些 哪里 哪儿 谁 几 多少 多久 何时 何 是否 "
    "能否 可否 是不是 有没有 请问 请 吗 呢".split()
)

ENGLISH_LIGHT_WORDS = (
    ENGLISH_FUNCTION_WORDS
    | ENGLISH_QUESTION_WORDS
    | frozenset(
        "i me my we us our you your he him his she her its them from about than so too very just "
        "also any all each some other more most please tell show give explain describe list find "
        "happen happened there's s t".split()
    )
)

CHINESE_LIGHT_WORDS = (
    CHINESE_FUNCTION_WORDS
    | CHINESE_QUESTION_WORDS
    | frozenset(
        "我 我们 你 你们 他 她 它 他们 它们 有 没有 没 不 会 能 可以 可 要 需要 应该 应 得 到 从 "
        "对 为 给 让 向 由 用 上 下 中 里 后 前 时 时候 还 又 再 很 更 最 告诉 说 说明 "
        "解释 介绍 一下 列出 哪种 这个 那个 这些 那些 有些 一些 其中 进行 情况 做".split()
    )
)
