"""Prints bodies and the issues that pydantic finds in them, one JSON object per line: python pydantic-cases.py > pydantic-cases.jsonl

Made with pydantic 2.13. The models follow packages/contract. Every body is a valid one with one or two changes; it is
kept if it has an issue that no earlier one has. With --all every body is kept, valid ones too. Cases that Presage decides
otherwise are left out: fields of several types, numbers as date-times, other spellings of UUIDs, and rules that JSON Schema cannot express.
"""

import copy
import json
import random
import sys
from datetime import datetime
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

Id = Annotated[UUID, Strict(False)]
Instant = Annotated[datetime, Strict(False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Label = Annotated[str, Field(min_length=1, max_length=120)]
NewLabels = Annotated[list[Label], Field(max_length=100)]
Score = Annotated[float, Field(ge=0, le=1)]
Strategy = Literal["never", "on-fail", "on-success", "always"]
Object = dict[str, Any]
Tags = dict[str, str]


class Lenient(BaseModel):
    model_config = ConfigDict(strict=True, from_attributes=True)


class Forbidding(Lenient):
    model_config = ConfigDict(extra="forbid")


class Context(Forbidding):
    environment_state: Optional[str] = None
    task_context: Optional[str] = None
    tool_schemas: Optional[str] = None
    domain_knowledge: Optional[str] = None
    steering_directives: Optional[str] = None


class Interaction(Forbidding):
    state: Annotated[str, Field(min_length=1)]
    action: Annotated[str, Field(min_length=1)]


class Sampling(Lenient):
    max_tokens: Annotated[int, Field(gt=0)] = 512
    temperature: Annotated[float, Field(ge=0)] = 0.2
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    top_k: Annotated[int, Field(ge=0)] = 0


class Params(Sampling):
    enable_thinking: Optional[bool] = None
    reasoning_budget: Optional[Literal["low", "medium", "high"]] = None


class WorldModelRequest(Forbidding):
    context: Optional[Context] = None
    interaction: Interaction
    params: Params = Params()


class ChatMessage(Lenient):
    role: Literal["system", "user", "assistant"]
    content: str


class ChatCompletionRequest(Sampling):
    model: Optional[str] = None
    messages: list[ChatMessage] = []
    context: Optional[Context] = None
    interaction: Optional[Interaction] = None
    params: Optional[Params] = None
    stream: bool = False


class ApiKeyCreateRequest(Lenient):
    name: Label
    expires_at: Optional[Instant] = None


class ErrorTaxonomyRemoveLabelsRequest(Lenient):
    account_id: Optional[Id] = None
    labels: list[str]


class ErrorTaxonomySetLabelsRequest(Lenient):
    account_id: Optional[Id] = None
    labels: NewLabels


class ErrorTaxonomyRevisionCreateRequest(Lenient):
    error_taxonomy_id: Optional[Id] = None
    error_taxonomy_name: Optional[Label] = None
    error_taxonomy_description: Optional[str] = None
    create_only_if_not_exists: Optional[bool] = None
    body: Any
    metadata: Optional[Object] = None
    labels: Optional[NewLabels] = None


class EvaluatorReference(Forbidding):
    evaluator: Optional[Name] = None
    profile_name: Optional[Name] = None
    criteria: Optional[Name] = None
    explain_strategy: Optional[Strategy] = None
    evaluator_id: Optional[Name] = None
    criterion_id: Optional[Name] = None


class Sample(Lenient):
    evaluated_model_output: Optional[str] = None
    label: Optional[str] = None
    evaluated_model_id: Optional[Name] = None
    evaluated_model_params: Optional[Object] = None
    tags: Optional[Tags] = None


class EvaluateRequest(Sample):
    evaluators: Annotated[Optional[list[EvaluatorReference]], Field(min_length=1, max_length=20)] = None
    capture: Optional[Literal["all", "fails-only", "none"]] = None
    confidence_interval_strategy: Optional[Literal["none", "full-history"]] = None


class ImportedEvaluationResult(Sample):
    evaluator_id: Name
    profile_name: Optional[Name] = None
    passes: Annotated[Optional[bool], Field(alias="pass")] = None
    score_raw: Optional[Score] = None
    explanation: Optional[str] = None


class EvaluationResultBatchRequest(Lenient):
    evaluation_results: Annotated[list[ImportedEvaluationResult], Field(min_length=1, max_length=1000)]


class CorrectionRequest(Forbidding):
    passes: Annotated[bool, Field(alias="pass")]
    score_raw: Optional[Score] = None
    comment: Optional[str] = None


class EvaluationResultFilter(Lenient):
    app: Optional[str] = None
    evaluator_family: Optional[str] = None
    profile_name: Optional[str] = None
    explain_strategy: Optional[Strategy] = None
    status: Optional[Literal["success", "validation_error", "failed", "contradictory", "not_applicable"]] = None
    after_datetime: Optional[Instant] = None
    before_datetime: Optional[Instant] = None
    tags: Optional[Tags] = None
    passes: Annotated[Optional[bool], Field(alias="pass")] = None
    score_raw_min: Optional[float] = None


class EvaluationResultSearchRequest(EvaluationResultFilter):
    order: Optional[
        Literal["-created_at", "created_at", "dataset_sample_id", "-dataset_sample_id", "score_raw", "-score_raw"]
    ] = None
    limit: Optional[Annotated[int, Field(ge=1, le=1000)]] = None
    offset: Optional[Literal[0]] = None
    text_limit: Optional[Annotated[int, Field(ge=1, le=1_000_000)]] = None


Dimension = Literal["evaluator", "profile", "app", "tag", "day", "run"]


class EvaluationSummaryRequest(EvaluationResultFilter):
    group_by: Optional[Annotated[list[Dimension], Field(max_length=6)]] = None
    tag: Optional[str] = None


class EvaluatorProfileCreateRequest(Lenient):
    evaluator_family: Optional[Name] = None
    name: Name
    config: Object
    description: Optional[str] = None


class EvaluatorProfileRevisionRequest(Lenient):
    evaluator_family: Optional[Name] = None
    config: Object
    description: Optional[str] = None


class EvaluatorProfileArchiveRequest(Lenient):
    evaluator_family: Optional[Name] = None


ID = "3f1e2d4c-1111-4222-8333-444455556666"
INTERACTION = {"state": "s", "action": "a"}
PARAMS = {
    "max_tokens": 5,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "enable_thinking": True,
    "reasoning_budget": "low",
}
CONTEXT = {"environment_state": "c", "task_context": None}
MESSAGES = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
SAMPLING = {name: PARAMS[name] for name in Sampling.model_fields}
SAMPLE = {
    "evaluated_model_output": "o",
    "label": "l",
    "evaluated_model_id": "m",
    "evaluated_model_params": {"a": 1},
    "tags": {"a": "b"},
}
REFERENCE = {"evaluator": "judge", "profile_name": "p", "criteria": "p", "explain_strategy": "never", "criterion_id": "j"}
FILTER = {
    "app": "a",
    "evaluator_family": "f",
    "profile_name": "p",
    "explain_strategy": "always",
    "status": "failed",
    "after_datetime": "2026-01-31",
    "before_datetime": "2026-01-31 12:00:00+02:00",
    "tags": {"a": "b"},
    "pass": True,
    "score_raw_min": 0.5,
}

VALID = [
    (WorldModelRequest, {"interaction": INTERACTION, "context": CONTEXT, "params": PARAMS}),
    (ChatCompletionRequest, {"model": "m", "messages": MESSAGES, "stream": False, **SAMPLING}),
    (ChatCompletionRequest, {"interaction": INTERACTION, "context": CONTEXT, "params": PARAMS}),
    (ApiKeyCreateRequest, {"name": "k", "expires_at": "2999-01-31T12:00:00Z"}),
    (ErrorTaxonomyRemoveLabelsRequest, {"account_id": ID, "labels": ["a", "b"]}),
    (ErrorTaxonomySetLabelsRequest, {"account_id": ID, "labels": ["a", "b"]}),
    (
        ErrorTaxonomyRevisionCreateRequest,
        {
            "error_taxonomy_id": ID,
            "error_taxonomy_name": "n",
            "error_taxonomy_description": "d",
            "create_only_if_not_exists": False,
            "body": [],
            "metadata": {"a": 1},
            "labels": ["a"],
        },
    ),
    (EvaluateRequest, {"evaluators": [REFERENCE], "capture": "all", "confidence_interval_strategy": "none", **SAMPLE}),
    (
        EvaluationResultBatchRequest,
        {
            "evaluation_results": [
                {"evaluator_id": "e", "profile_name": "p", "pass": True, "score_raw": 0.5, "explanation": "x", **SAMPLE}
            ]
        },
    ),
    (CorrectionRequest, {"pass": True, "score_raw": 0.5, "comment": "c"}),
    (
        EvaluationResultSearchRequest,
        {**FILTER, "order": "created_at", "limit": 5, "offset": 0, "text_limit": 5},
    ),
    (EvaluationSummaryRequest, {**FILTER, "group_by": ["app"], "tag": "t"}),
    (EvaluatorProfileCreateRequest, {"evaluator_family": "f", "name": "n", "config": {"a": 1}, "description": "d"}),
    (EvaluatorProfileRevisionRequest, {"evaluator_family": "f", "config": {"a": 1}, "description": "d"}),
    (EvaluatorProfileArchiveRequest, {"evaluator_family": "f"}),
]

NUMBERS = [0, 1, -1, 2, 1001, 1_000_001, 1.5, -0.5, 1e300, -1e300]
TEXTS = ["", "x", "abc", "1", "true", "2026-13-01", "2026-02-30", "2026-01-31T12:00:00", ID[:8], "y" * 121, "y" * 201]
OTHERS = [None, True, False, [], ["x"], [1, "x"], [None], ["x"] * 101, {}, {"a": 1}, {"a": "b"}, [{}]]
INSTANTS = {"expires_at", "after_datetime", "before_datetime"}
# Presage takes several types here, or reports that one of two names is missing.
UNCHANGED = {"body", ("EvaluatorProfileCreateRequest", "evaluator_family"), ("EvaluatorProfileCreateRequest", None)}


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def change(model, body, rng):
    body = copy.deepcopy(body)
    path = rng.choice(list(places(body)))
    field = path[-1] if path else None
    if field in UNCHANGED or (model.__name__, field) in UNCHANGED:
        return body
    value = copy.deepcopy(rng.choice(rng.choice([NUMBERS, TEXTS, OTHERS])))
    # Pydantic reads a number as seconds since 1970.
    if field in INSTANTS and (value == "1" or type(value) in (int, float)):
        return body
    # False is equal to the 0 that alone is valid.
    if field == "offset" and value is False:
        return body
    if not path:
        return value if rng.random() < 0.2 and value is not None else body
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    kind = rng.random()
    if kind < 0.2:
        del holder[field]
    elif kind < 0.3 and isinstance(holder[field], dict):
        holder[field]["zzz"] = value
    elif kind < 0.4 and isinstance(holder[field], list):
        holder[field].append(value)
    else:
        holder[field] = value
    return body


def issues_of(model, body):
    try:
        model.model_validate(body)
        return []
    except ValidationError as error:
        return [
            {name: issue[name] for name in ("type", "loc", "msg", "ctx") if name in issue}
            for issue in error.errors(include_url=False, include_input=False)
        ]


def main():
    keeps_all = "--all" in sys.argv
    rng = random.Random(11)
    seen = set()
    for number in range(30_000):
        model, valid = VALID[number % len(VALID)]
        body = valid
        for _ in range(rng.choice([1, 1, 2])):
            body = change(model, body, rng)
        issues = issues_of(model, body)
        # An index says nothing new.
        kinds = {
            (model.__name__, issue["type"], *(part for part in issue["loc"] if isinstance(part, str))) for issue in issues
        }
        if not keeps_all and kinds <= seen:
            continue
        seen |= kinds
        print(json.dumps({"schema": model.__name__, "body": body, "issues": issues}, separators=(",", ":")))


main()
