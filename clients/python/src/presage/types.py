"""Responses as they come. Fields have the names of the HTTP API, whose page `/docs` describes them all."""

from typing import Any, Literal, TypedDict

Split = Literal["train", "validation", "test"]


class Prediction(TypedDict):
    response: dict[str, str]
    reasoning: str | None
    finish_reason: str | None
    usage: dict[str, int]
    matched_stop: int | str | None


class Evaluation(TypedDict):
    evaluator_id: str
    profile_name: str
    status: Literal["success", "validation_error", "failed"]
    error_message: str | None
    evaluation_result: dict[str, Any] | None


class Step(TypedDict):
    observation: str
    reward: float | None
    terminated: bool
    truncated: bool
    info: dict[str, Any]
