import type { StoredPrediction } from "@presage/sdk";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { LoggedPrediction } from "../../data/predictions.ts";
import { failureLabels } from "../../format/errors.ts";
import { formatCost, formatCount, formatDuration } from "../../format/numbers.ts";
import { withoutVersion } from "../../format/words.ts";
import { Badge } from "../../ui/badge.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { Time } from "../../ui/time.tsx";
import { Beginning, InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { VerdictSign, verdictLabel } from "../../ui/verdict.tsx";

/** A tool call in JSON: the tool's name distinguishes rows. */
const toolCall = /^\[?\s*\{\s*"name":\s*"([^"]+)",\s*"(?:parameters|arguments)":\s*([\s\S]*?)(?:\}\]?)?$/;

/** No column can be sorted: the server lists predictions by time. */
export const predictionColumns: DataColumn<LoggedPrediction>[] = [
  {
    id: "time",
    label: "Time",
    value: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} look="listed" />,
    widthPx: 126,
    isFixed: true,
  },
  {
    id: "action",
    label: "Action",
    value: ({ action }) => action,
    cell: ({ action }) => <Beginning text={action?.replace(toolCall, "$1 $2")} />,
    widthPx: 110,
    isElastic: true,
  },
  {
    id: "output",
    label: "Answer",
    hint: "The beginning of what was predicted, or why there is no prediction.",
    value: ({ output, error_message }) => output ?? error_message,
    cell: (row) => <Answer prediction={row} />,
    widthPx: 130,
    isElastic: true,
  },
  {
    id: "expected",
    label: "Expected",
    hint: "The next state in the dataset of its run.",
    value: ({ expected }) => expected,
    cell: ({ expected }) => <Beginning text={expected} />,
    widthPx: 100,
    isElastic: true,
  },
  {
    id: "verdicts",
    label: "Verdicts",
    value: ({ verdicts = [] }) => verdicts.map(describeVerdict).join("; "),
    cell: ({ verdicts = [] }) => <VerdictSigns verdicts={verdicts} />,
    widthPx: 104,
  },
  {
    id: "who",
    label: "By",
    hint: "The key of the request, or the user who started the run.",
    value: ({ made_by }) => made_by,
    widthPx: 132,
  },
  {
    id: "cost",
    label: "Cost",
    hint: "The cost of its tokens, at today’s prices.",
    value: ({ cost }) => cost,
    cell: ({ cost, currency }) =>
      cost == null || currency === null ? <Nothing /> : formatCost(cost, currency),
    widthPx: 112,
    isNumber: true,
  },
  {
    id: "status",
    label: "Status",
    value: ({ status, error_category }) =>
      status === "failed" ? categoryLabel(error_category) : "Succeeded",
    cell: (row) => <StatusBadge prediction={row} />,
    widthPx: 172,
    isExtra: true,
  },
  { id: "source", label: "Source", value: ({ source }) => sourceLabels[source], widthPx: 104, isExtra: true },
  {
    id: "run",
    label: "Run or environment",
    value: ({ run_name, run_id }) => run_name ?? run_id,
    widthPx: 160,
    isExtra: true,
  },
  {
    id: "deployment",
    label: "Deployment",
    value: ({ deployment }) => deployment,
    widthPx: 132,
    isExtra: true,
  },
  {
    id: "model",
    label: "Model",
    value: ({ model }) => model,
    cell: ({ model }) => (model === null ? <Nothing /> : <InlineText text={model} />),
    widthPx: 148,
    isExtra: true,
  },
  {
    id: "tokens",
    label: "Tokens",
    hint: "Tokens of the prompt and of the completion, as the upstream counted them.",
    value: ({ prompt_tokens, completion_tokens }) =>
      prompt_tokens === null
        ? null
        : `${formatCount(prompt_tokens)} in, ${formatCount(completion_tokens)} out`,
    widthPx: 132,
    isNumber: true,
    isExtra: true,
  },
  {
    id: "latency",
    label: "Latency",
    hint: "How long the upstream or the cache took, with retries.",
    value: ({ latency_ms }) => latency_ms,
    cell: ({ latency_ms }) => (latency_ms === null ? <Nothing /> : formatDuration(latency_ms)),
    widthPx: 92,
    isNumber: true,
    isExtra: true,
  },
  {
    id: "finish",
    label: "Finish reason",
    value: ({ finish_reason }) => finish_reason,
    widthPx: 112,
    isExtra: true,
  },
  {
    id: "request",
    label: "Request ID",
    value: ({ request_id }) => request_id,
    widthPx: 280,
    isExtra: true,
  },
];

export const sourceLabels: Record<StoredPrediction["source"], string> = {
  live: "Live traffic",
  run: "Run",
  episode: "Episode",
};

export const statusLabels: Record<StoredPrediction["status"], string> = {
  success: "Succeeded",
  failed: "Failed",
};

/** Why a prediction failed, in words. */
export function categoryLabel(category: StoredPrediction["error_category"]): string {
  if (category === null) return "Failed";
  if (category === "missing") return "Not made or uploaded";
  if (category === "error") return "Failed elsewhere";
  if (category === "skipped") return "Skipped: too long";
  if (category === "not_reached") return "Its trajectory had ended";
  return failureLabels[category];
}

export function StatusBadge({ prediction }: { prediction: StoredPrediction }) {
  const { status, error_category, finish_reason } = prediction;
  if (status === "failed") {
    return (
      <Badge tone="fail" icon={<CircleAlert aria-hidden />}>
        {categoryLabel(error_category)}
      </Badge>
    );
  }
  // A truncated completion is not the whole prediction.
  if (finish_reason === "length") return <Badge tone="warn">Cut off by its length</Badge>;
  return (
    <Badge tone="pass" icon={<CircleCheck aria-hidden />}>
      Succeeded
    </Badge>
  );
}

/** The answer, or the failure in its place. */
function Answer({ prediction }: { prediction: LoggedPrediction }) {
  const { output, error_message, status, finish_reason } = prediction;
  if (status === "success" && finish_reason !== "length") return <Beginning text={output} />;
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <StatusBadge prediction={prediction} />
      <span className="truncate">
        <Beginning text={output ?? error_message} />
      </span>
    </span>
  );
}

function VerdictSigns({ verdicts }: { verdicts: readonly ListedVerdict[] }) {
  if (verdicts.length === 0) return <Nothing />;
  return (
    <span className="inline-flex gap-1.5" title={verdicts.map(describeVerdict).join("\n")}>
      {verdicts.map((verdict) => (
        <VerdictSign
          key={`${verdict.evaluator} ${verdict.profile_name}`}
          verdict={verdict}
          of={withoutVersion(verdict.evaluator)}
        />
      ))}
    </span>
  );
}

type ListedVerdict = NonNullable<LoggedPrediction["verdicts"]>[number];

function describeVerdict(verdict: ListedVerdict): string {
  return `${withoutVersion(verdict.evaluator)}: ${verdictLabel(verdict)}`;
}

function Nothing() {
  return <span className="text-ink-3">–</span>;
}
