import type { Run, RunReport } from "@presage/sdk";
import { formatCost, formatCount, formatDuration } from "../../../format/numbers.ts";
import { Card } from "../../../ui/card.tsx";
import { Fact } from "../../../ui/card.tsx";
import { Tooltip } from "../../../ui/tooltip.tsx";

/** What a run cost: money, tokens and time. */
export function EffortCard({ run, report }: { run: Run; report: RunReport }) {
  const { cost, tokens, latency_ms, predictions_per_second } = report;
  const asked = "deployment" in run.target;
  return (
    <Card title="Cost and speed" hint="Of the predictions. The usage page shows what judges cost.">
      {asked ? (
        <dl className="grid grid-cols-2 gap-4 px-4 py-3 sm:grid-cols-3">
          <Figure
            name="Cost"
            explanation="What the tokens of models with a price cost, by today’s prices."
            value={cost == null ? "no prices" : formatCost(cost.total, cost.currency)}
          />
          <Figure
            name="Per 1,000 predictions"
            explanation="The cost divided by the predictions made, times 1,000."
            value={
              cost?.total == null || run.progress.predicted === 0
                ? "–"
                : formatCost((1000 * cost.total) / run.progress.predicted, cost.currency)
            }
          />
          <Figure
            name="Without a price"
            explanation="Tokens that the cost leaves out, as their model has no price or is not known."
            value={cost == null ? "–" : `${formatCount(cost.unpriced_tokens)} tokens`}
          />
          <Figure
            name="Prompt tokens"
            explanation="Of all prompts, as the upstream counted them; those in its cache in brackets."
            value={`${formatCount(tokens.prompt)}${!tokens.cached ? "" : ` (${formatCount(tokens.cached)} cached)`}`}
          />
          <Figure
            name="Completion tokens"
            explanation="Of all completions, as the upstream counted them."
            value={formatCount(tokens.completion)}
          />
          <Figure
            name="Predictions a second"
            explanation="From the run’s start to its end or its last prediction."
            value={predictions_per_second === null ? "–" : predictions_per_second.toFixed(1)}
          />
          {(["p50", "p95", "p99"] as const).map((rank) => (
            <Figure
              key={rank}
              name={`Latency ${rank}`}
              explanation={`Of the successful predictions: ${rank.slice(1)} % took at most this.`}
              value={latency_ms === null ? "–" : formatDuration(latency_ms[rank])}
            />
          ))}
        </dl>
      ) : (
        <p className="px-4 py-3 text-sm text-ink-2">
          Nothing:{" "}
          {"baseline" in run.target ? "the baseline asks no model." : "the predictions were made elsewhere."}
        </p>
      )}
    </Card>
  );
}

function Figure({ name, explanation, value }: { name: string; explanation: string; value: string }) {
  return (
    <Fact look="stacked" name={name}>
      <Tooltip text={explanation}>
        <span tabIndex={0} className="cursor-help rounded-sm font-medium text-ink">
          {value}
        </span>
      </Tooltip>
    </Fact>
  );
}
