import { describeFailures, describeTrouble } from "@presage/contract/describe-runs";
import type { Run } from "@presage/sdk";
import { CirclePause, TriangleAlert } from "lucide-react";
import { isActive } from "../../../data/runs/recent-runs.ts";
import { formatCount, formatShare } from "../../../format/format-number.ts";
import { Card } from "../../../ui/card.tsx";
import { ProgressBar } from "../progress-bar.tsx";

/** How far a run is, while it is not finished; afterwards, only what happened on the way. */
export function ProgressCard({ run }: { run: Run }) {
  const { status_reason, progress, notes } = run;
  const said = [...describeTrouble(progress), ...notes];
  const hasSomethingToSay = isActive(run) || status_reason !== null || said.length > 0;
  if (!hasSomethingToSay) return null;
  return (
    <Card>
      <div className="flex flex-col gap-2 px-4 py-3">
        {isActive(run) && (
          <>
            <p className="flex flex-wrap items-baseline gap-x-3 text-sm tabular-nums">
              <span className="font-medium">
                {formatCount(progress.evaluated)} of {formatCount(progress.samples)} done
              </span>
              <span className="text-ink-2">
                {formatShare(progress.samples === 0 ? 0 : progress.evaluated / progress.samples)}
              </span>
              <span className="text-ink-3">{formatCount(progress.predicted)} predicted</span>
              {describeFailures(progress).map((text) => (
                <span key={text} className="text-fail">
                  {text}
                </span>
              ))}
              <TimeLeft run={run} />
            </p>
            <ProgressBar progress={progress} />
          </>
        )}
        {status_reason !== null && (
          <p className="flex items-start gap-2 text-sm text-warn">
            <CirclePause className="mt-0.5 size-4 shrink-0" aria-hidden />
            {status_reason}
          </p>
        )}
        {said.length > 0 && (
          <ul className="flex flex-col gap-1 text-sm text-ink-2">
            {said.map((note) => (
              <li key={note} className="flex items-start gap-2">
                <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
                {note}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}

const minuteMs = 60_000;

/** From what the run has done since it started. */
function TimeLeft({ run: { status, started_at, progress } }: { run: Run }) {
  if (status !== "running" || started_at === null || progress.evaluated === 0) return null;
  const takenMs = Date.now() - Date.parse(started_at);
  const leftMs = (takenMs / progress.evaluated) * (progress.samples - progress.evaluated);
  const minutes = Math.ceil(leftMs / minuteMs);
  return (
    <span className="ml-auto text-ink-3">
      {minutes <= 1 ? "less than a minute left" : `about ${formatCount(minutes)} minutes left`}
    </span>
  );
}
