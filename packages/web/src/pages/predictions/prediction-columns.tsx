import type { ListedPrediction, StoredPrediction } from "@presage/sdk";
import { CircleAlert, CircleCheck } from "lucide-react";
import { failureLabels } from "../../format/errors.ts";
import { formatCount, formatDuration } from "../../format/numbers.ts";
import { Badge } from "../../ui/badge.tsx";
import type { DataColumn } from "../../ui/data-table/columns.ts";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** Newest first, as the server lists them: no column is sorted. */
export const predictionColumns: DataColumn<ListedPrediction>[] = [
  {
    id: "time",
    label: "Time",
    value: ({ created_at }) => created_at,
    cell: ({ created_at }) => <Time at={created_at} />,
    widthPx: 124,
    isFixed: true,
  },
  {
    id: "status",
    label: "Status",
    value: ({ status, error_category }) =>
      status === "failed" ? categoryLabel(error_category) : "Succeeded",
    cell: (row) => <StatusBadge prediction={row} />,
    widthPx: 172,
  },
  {
    id: "output",
    label: "Prediction",
    hint: "The beginning of what was predicted, or why there is no prediction.",
    value: ({ output, error_message }) => output ?? error_message,
    cell: ({ output, error_message }) => <Beginning output={output} error={error_message} />,
    widthPx: 220,
    isElastic: true,
  },
  {
    id: "source",
    label: "Source",
    value: ({ source }) => sourceLabels[source],
    widthPx: 104,
    isWideOnly: true,
  },
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
    isWideOnly: true,
  },
  {
    id: "key",
    label: "API key",
    value: ({ api_key_name, api_key_id }) => api_key_name ?? api_key_id,
    widthPx: 136,
    isWideOnly: true,
  },
  {
    id: "tokens",
    label: "Tokens",
    hint: "Of the prompt and of the completion, as the upstream counted them.",
    value: ({ prompt_tokens, completion_tokens }) =>
      `${formatCount(prompt_tokens)} + ${formatCount(completion_tokens)}`,
    widthPx: 116,
    isNumber: true,
    isWideOnly: true,
  },
  {
    id: "latency",
    label: "Latency",
    hint: "How long the upstream or the cache took, with retries.",
    value: ({ latency_ms }) => latency_ms,
    cell: ({ latency_ms }) => (latency_ms === null ? <Nothing /> : formatDuration(latency_ms)),
    widthPx: 92,
    isNumber: true,
    isWideOnly: true,
  },
  {
    id: "finish",
    label: "Finish reason",
    value: ({ finish_reason }) => finish_reason,
    widthPx: 112,
    isExtra: true,
  },
  {
    id: "replica",
    label: "Replica",
    value: ({ replica }) => replica,
    widthPx: 200,
    isExtra: true,
  },
  {
    id: "request",
    label: "Request id",
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

const [time, status, output, ...rest] = predictionColumns;
/** On a phone what was predicted is in sight, and the rest follows. */
export const narrowPredictionColumns = [time, output, status, ...rest].filter(
  (column) => column !== undefined,
);

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

function Beginning({
  output,
  error,
}: {
  output: string | null | undefined;
  error: string | null | undefined;
}) {
  if (output != null) {
    return (
      <span className="font-mono text-xs text-ink">
        <InlineText text={output} />
      </span>
    );
  }
  if (error == null) return <Nothing />;
  return (
    <span className="text-warn">
      <InlineText text={error} />
    </span>
  );
}

function Nothing() {
  return <span className="text-ink-3">–</span>;
}
