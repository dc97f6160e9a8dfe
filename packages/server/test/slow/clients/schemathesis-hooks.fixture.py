"""What schemathesis is told about Presage: how to write JSON lines, and which refusals no schema can foretell."""

import json
import re
import uuid

import schemathesis
from schemathesis.core.failures import Failure

# Patterns of refusals of requests that match the document, and why the document cannot express them.
REFUSALS = (
    ("The Idempotency-Key was used for another request", "depends on the requests before"),
    ("Input should be the name of a deployment", "names what must exist"),
    ("has no such |[Tt]here is no such |There is no (deployment|dataset|environment) of this name|The dataset has no revision", "names what must exist"),
    ("This server has no price list|There is no price for ", "depends on the server's settings"),
    ("The world is not calibrated|The world has no `confidence`|The world escalates|What is tested is not", "depends on the revisions before"),
    ("Name the deployment that is asked then", "a field that another one requires"),
    (r"There is no world named |has no revision \d+; the latest is", "names what must exist"),
    (r"The operator declares no real environment named |names no real environment", "names what must exist"),
    ("Give one of pairs, episodes and dataset_id|Pairs need a name|Name the environment that simulates", "fields that rule each other out"),
    ("All pairs are taken|It is for a dataset_id|Name the environment that has this revision", "fields that need or rule out each other"),
    ("There should be as many |Input should rise", "lists that belong together"),
    ("Predictions made elsewhere are all evaluated|Nothing is drawn without a limit", "fields that need or rule out each other"),
    ("Nothing says what success is", "a field that another one requires"),
    ("success is about {goal}, which recordings do not have", "depends on the environment that is named"),
    ("It has no effect with format=", "a parameter that another one rules out"),
    ("No ended episode of revision", "names what must exist"),
    ("A world has its own( deployment)?; name one of the two", "a field that another one rules out"),
    ("Unknown evaluator; available:", "names what must exist"),
    ("has no profile of this name", "names what must exist"),
    (r"Invalid split: the environment \S+ has no tasks", "names what must exist"),
    (r"Invalid index: the split \S+ of the environment", "names what must exist"),
    ("Input should be the `next` of an earlier response", "its pattern describes a form, not what was sent before"),
    ("Episodes have no format", "a parameter that another one rules out"),
    (r'"loc":\["query","expected_count"\],"msg":"Field required"', "a parameter that another one requires"),
    (r'"loc":\["query","(test|calibration)"\],"msg":"Value error, It needs `split_by`"', "a parameter that another one requires"),
    (r'"loc":\["query","(test|calibration)"\],"msg":"Value error, The shares', "numbers that are bounded together"),
    (r'"loc":\["query","redact_rules"\]', "a text in another language"),
    (r'"loc":\["query","(evaluator|run)"\],"msg":"Field required"', "a parameter that another one requires"),
    ("A line names its result by|There is no result |The run has no verdict on this sample|The body has no labels", "what a file must hold"),
    (r'"loc":\["body","(line|document)",', "what a file must hold"),
    (r'"type":"unrecognised_layout"', "what a file must hold"),
    ("The body is not valid multipart/form-data", "its boundary is no matter of schemas"),
    ("The same task, episode and policy are in ", "uniqueness of some fields of items"),
    ("The body (has no samples|is empty)", "what a file must hold"),
    (r'"extra_forbidden","loc":\["body","trajectory_id"\]', "a parameter says that the body names episodes"),
    (r'"loc":\["body","ids"\],"msg":"Value error, a (run|comparison|reality check) has', "how many there are depends on `kind`"),
    (r'"loc":\["body","expires_at"\],"msg":"Value error, (the time is in the past|a link works for)', "depends on the time"),
    ("Give either (a task, or its split and index|interaction or sample)", "null counts as absent"),
    (r'"loc":\["body","(pairs|name|environment)"\],"msg":"Field required"', "required unless another one is there"),
    (r'"loc":\["body","interaction"\],"msg":"Field required"', "required unless `context` is null"),
    (r'"loc":\["body","messages"\],"msg":"Field required"', "required unless there is an interaction"),
    (r'"evaluators"\],"msg":"Field required"', "required under this or its old name"),
    (r'"evaluator"\],"msg":"Field required"', "required under this or its old name"),
    (r'"evaluator_family"\],"msg":"Field required"', "required under this or its old name"),
    (r'"evaluated_model_output"\],"msg":"Field required"', "required under this or its old name"),
    (r'"error_taxonomy_name"\],"msg":"Field required"', "required unless there is an id"),
)


@schemathesis.serializer("application/x-ndjson")
def json_lines(ctx, value):
    lines = value if isinstance(value, list) else [value]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@schemathesis.hook
def before_call(ctx, case, kwargs):
    for name in case.headers or {}:
        if name.lower() == "idempotency-key" and case.headers[name]:
            case.headers[name] = str(uuid.uuid4())


class ValidRequestRefused(Failure):
    pass


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    """In place of schemathesis' positive_data_acceptance, which knows no exceptions."""
    if response.status_code not in (400, 422) or not case.meta.generation.mode.is_positive:
        return
    if any(re.search(pattern, response.text) for pattern, _ in REFUSALS):
        return
    message = response.text[:1000]
    raise ValidRequestRefused(operation=case.operation.label, title="Valid request refused", message=message)
