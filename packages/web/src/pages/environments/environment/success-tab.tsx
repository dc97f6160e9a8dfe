import type { Environment, EpisodeFigures } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { usePresage } from "../../../data/client.ts";
import { episodeFiguresQuery } from "../../../data/environments.ts";
import { formatShare } from "../../../format/numbers.ts";
import { IntervalTable } from "../../../ui/charts/interval-table.tsx";
import { Segmented } from "../../../ui/form/choices.tsx";
import { Awaited } from "../../../ui/notice.tsx";
import { countSuccess, describeSuccess } from "../success-rate.tsx";

type By = "revision" | "deployment" | "split";

interface SuccessTabProps {
  environment: Environment;
  by: By;
  onChange(by: By): void;
}

const rowLabels: Record<By, string> = { revision: "Revision", deployment: "Deployment", split: "Split" };

/** The success rate of each revision, deployment or split, on one axis. */
export function SuccessTab({ environment, by, onChange }: SuccessTabProps) {
  const figures = useQuery(episodeFiguresQuery(usePresage(), by, environment.name));
  const rows = figures.data?.map((one) => ({
    key: labelOf(one, by),
    label: labelOf(one, by),
    shown: (
      <>
        {labelOf(one, by)} <span className="block text-xs text-ink-3">{countSuccess(one)} succeeded</span>
      </>
    ),
    value: one.success_interval === null ? null : one.success_rate,
    lower: one.success_interval?.lower,
    upper: one.success_interval?.upper,
    count: one.finished,
    basis: describeSuccess(one),
  }));
  if (by === "revision") rows?.reverse();
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <Segmented
          label="Success rate by"
          value={by}
          options={[
            { value: "revision", label: "Revision" },
            { value: "deployment", label: "Deployment" },
            { value: "split", label: "Split" },
          ]}
          onChange={onChange}
        />
        <p className="text-xs text-ink-3">Of the ended episodes, with 95&nbsp;% intervals by task.</p>
      </div>
      {rows === undefined ? (
        <Awaited error={figures.error} onRetry={figures.refetch} count={2} className="h-8" />
      ) : rows.length === 0 ? (
        <p className="px-4 py-3 text-sm text-ink-3">No episodes yet.</p>
      ) : (
        <IntervalTable
          mark="bar"
          label={`Success rate by ${by}`}
          rowLabel={rowLabels[by]}
          valueLabel="Success, %"
          explanation="Successes among the ended episodes. The interval is at 95&nbsp;%, clustered by task: episodes of one task depend on each other."
          counted="Episodes that have ended. How many tasks they are of, and how many their client left,"
          rows={rows}
          domain={[0, 1]}
          format={formatShare}
          formatTick={(value) => `${Math.round(value * 100)}`}
        />
      )}
    </>
  );
}

function labelOf({ revision, deployment, split }: EpisodeFigures, by: By): string {
  if (by === "revision") return `Revision ${revision}`;
  if (by === "split") return split ?? "–";
  return deployment ?? "no step taken";
}
