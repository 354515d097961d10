"""What a declaration may say, and what a document may only narrow."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ConfigurationError, IngestError
from domain.identity import EVERYONE
from domain.knowledge import Metadata
from ingest.declaration import SourceDeclaration, read_declaration
from ingest.metadata import declared, matches, narrowed
from ingest.structured import read_entities, read_templates

META = Metadata(tenant="demo", access=("finance", "ops"), authority=70)


def yaml_file(folder: Path, text: str, name: str = "sources.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_declaration_is_read_with_its_defaults(tmp_path: Path) -> None:
    path = yaml_file(
        tmp_path,
        """
tenant: demo
sources:
  - name: docs
    path: docs
    authority: 70
    folders: [{match: "zh/**", set: {language: zh}}]
  - {name: db, path: database.sql, kind: relational, templates: templates.yaml}
""",
    )
    docs, db = read_declaration(path).sources
    assert (docs.kind, docs.doc_type, docs.access) == ("documents", "document", (EVERYONE,))
    assert (db.kind, db.templates) == ("relational", "templates.yaml")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tenant: demo\nsources: [{name: a, path: b, acces: [x]}]", "`sources\\[0\\].acces`"),
        (
            "tenant: demo\nsources: [{name: a, path: b, folders: [{match: x, set: {zone: 1}}]}]",
            "`sources\\[0\\].folders\\[0\\].set.zone`",
        ),
        ("tenant: demo\nsources: []", "`sources`"),
        ("sources: [{name: a, path: b}]", "`tenant`"),
        ("tenant: demo\nsources: [{name: a, path: b, kind: wiki}]", "`sources\\[0\\].kind`"),
        ("tenant: demo\nsources: [{name: a, path: b, access: []}]", "`sources\\[0\\].access`"),
        ("tenant: demo\nsources: [{name: a, path: b, authority: 101}]", "authority"),
        ("tenant: demo\nsources: [{name: a, path: b}, {name: a, path: c}]", "'a' stands for two"),
        ("tenant: [demo", "not valid YAML in line"),
        ("- just\n- a list", "the file"),
        ("", "the file"),
    ],
)
def test_a_faulty_declaration_names_the_file_and_the_key(
    tmp_path: Path, text: str, fault: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"sources\.yaml.*{fault}"):
        read_declaration(yaml_file(tmp_path, text))


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("zh/**", "zh/a/b.md", True),
        ("zh/**", "zh/a.md", True),
        ("zh/**", "en/zh/a.md", False),
        ("*/faq.md", "en/faq.md", True),
        ("*/faq.md", "en/guide/faq.md", False),
        ("**/faq.md", "faq.md", True),
        ("**/faq.md", "en/guide/faq.md", True),
        ("*.md", "a.md", True),
        ("*.md", "a+b.mdx", False),
        ("v?/a.md", "v2/a.md", True),
    ],
)
def test_folder_globs(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected


def test_later_folder_rules_win_and_fill_the_rest() -> None:
    source = SourceDeclaration.model_validate(
        {
            "name": "docs",
            "path": "docs",
            "authority": 70,
            "product": "gateway",
            "folders": [
                {"match": "zh/**", "set": {"language": "zh-CN", "env": "production"}},
                {"match": "**/faq.md", "set": {"doc_type": "faq", "authority": 60, "env": "test"}},
            ],
        }
    )
    meta = declared(source, "demo", "zh/faq.md")
    assert meta == Metadata(
        tenant="demo",
        product="gateway",
        doc_type="faq",
        env="test",
        authority=60,
        language="zh",
    )


def test_a_folder_rule_cannot_raise_authority() -> None:
    source = SourceDeclaration.model_validate(
        {"name": "a", "path": "a", "folders": [{"match": "**", "set": {"authority": 90}}]}
    )
    with pytest.raises(IngestError, match=r"folder rule.*authority 90.*declared with 50"):
        declared(source, "demo", "x.md")


def test_front_matter_fills_and_narrows() -> None:
    claims = {
        "title": "ignored",
        "tags": ["x"],
        "tenant": "demo",
        "Version": 2.1,
        "effective-from": date(2026, 10, 1),
        "effective_to": "2027-01-01",
        "access": "ops",
        "authority": 40,
        "approval": "Draft",
        "language": "zh_CN",
        "region": None,
    }
    assert narrowed(META, claims, "a.md") == Metadata(
        tenant="demo",
        version="2.1",
        effective_from=date(2026, 10, 1),
        effective_to=date(2027, 1, 1),
        access=("ops",),
        authority=40,
        approval="draft",
        language="zh",
    )


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"tenant": "other"}, "claims the tenant 'other'"),
        ({"access": ["ops", "hr"]}, "widen access to hr"),
        ({"access": [EVERYONE]}, "widen access to everyone"),
        ({"access": []}, "names no access tag"),
        ({"access": {"ops": True}}, "list of tags"),
        ({"authority": 71}, "claims authority 71"),
        ({"authority": "high"}, "number from 0 to 100"),
        ({"approval": "final"}, "approved, draft, retired"),
        ({"doc_type": "novel"}, "known are document"),
        ({"effective_from": "soon"}, "2026-12-31"),
        ({"effective_from": "2026-10-02", "effective_to": "2026-10-01"}, "before it takes effect"),
        ({"version": ["1", "2"]}, "version as list"),
        ({"product": "x" * 300}, "300 characters"),
    ],
)
def test_what_a_document_may_not_claim(claims: dict[str, object], reason: str) -> None:
    with pytest.raises(IngestError, match=f"^a.md.*{reason}"):
        narrowed(META, claims, "a.md")


def test_any_tags_narrow_what_everyone_may_read() -> None:
    assert narrowed(Metadata(tenant="demo"), {"access": ["hr"]}, "a.md").access == ("hr",)


def test_a_document_of_a_draft_source_cannot_approve_itself() -> None:
    draft = Metadata(tenant="demo", approval="draft")
    with pytest.raises(IngestError, match="declared draft"):
        narrowed(draft, {"approval": "approved"}, "a.md")


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=10),
    st.dates(),
    st.lists(st.sampled_from(["ops", "finance", "hr", EVERYONE]), max_size=3),
)


@given(st.dictionaries(st.sampled_from(sorted(Metadata.model_fields)), VALUES))
def test_no_claim_ever_widens(claims: dict[str, object]) -> None:
    try:
        meta = narrowed(META, claims, "a.md")
    except IngestError:
        return
    assert meta.tenant == META.tenant
    assert meta.access
    assert set(meta.access) <= set(META.access)
    assert meta.authority <= META.authority
    assert Metadata.model_validate(meta.model_dump()) == meta


ENTITIES = """
entities:
  - {id: M1, type: merchant, name: Northwind, aliases: [北风]}
  - {id: G1, type: gateway_rule, name: GW-1}
relations:
  - {from: M1, type: limited_by, to: G1, source: docs/a.md, quote: "M1 is limited by GW-1"}
  - {from: G1, type: limits, to: M1, source: docs/b.md, quote: "x", access: [ops]}
"""


def test_an_entity_file(tmp_path: Path) -> None:
    entities, relations = read_entities(yaml_file(tmp_path, ENTITIES), META)
    assert [e.id for e in entities] == ["M1", "G1"]
    assert entities[0].aliases == ("北风",)
    assert (relations[0].start_name, relations[0].end_name) == ("Northwind", "GW-1")
    assert (relations[0].start_type, relations[0].end_type) == ("merchant", "gateway_rule")
    assert relations[0].access == ("finance", "ops")
    assert relations[1].access == ("ops",)
    assert len({r.id for r in relations}) == 2


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("to: G1", "to: G9", "unknown entity 'G9'"),
        ("id: G1", "id: M1", "'M1' is used twice"),
        ("access: [ops]", "access: [hr]", "widen access to hr"),
        ("quote:", "qoute:", "qoute"),
    ],
)
def test_a_faulty_entity_file(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(IngestError, match=reason):
        read_entities(yaml_file(tmp_path, ENTITIES.replace(old, new, 1)), META)


def test_templates_have_the_access_of_their_source(tmp_path: Path) -> None:
    text = """
templates:
  - {name: a, description: {en: A}, questions: [how many], sql: SELECT 1}
  - {name: b, description: {en: B}, questions: [how many], sql: SELECT 1, access: [ops]}
"""
    path = yaml_file(tmp_path, text)
    assert [t.access for t in read_templates(path, META)] == [("finance", "ops"), ("ops",)]
    with pytest.raises(IngestError, match="template 'b' would widen access to ops"):
        read_templates(path, Metadata(tenant="demo", access=("hr",)))
