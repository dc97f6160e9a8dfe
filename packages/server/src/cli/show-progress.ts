import type { Run } from "@presage/contract";
import { describeFailures, describeTrouble } from "@presage/contract/describe-runs";
import { SingleBar } from "cli-progress";
import { printable } from "../platform/words.ts";
import { printNotice } from "./print-notice.ts";

const lineEveryMs = 10_000;
/** The rate is that of the last while: a run may have waited before. */
const rateOverMs = 30_000;
/** After this long without a sample that ended, the progress says so. */
const stillAfterMs = 10_000;
const barWidth = 20;

export interface ProgressDisplay {
  update(run: Run): void;
  /** Shows a line beside the progress. */
  say(text: string): void;
  stop(): void;
}

/** Shows how far a run is: as a bar in a terminal, otherwise as a line every ten seconds. */
export function showProgress({ progress }: Pick<Run, "progress">): ProgressDisplay {
  const rate = measureRate();
  return process.stderr.isTTY ? showBar(progress, rate) : showLines(rate);
}

type Progress = Run["progress"];
type Rate = ReturnType<typeof measureRate>;

/** What goes wrong on the way, and what to do about it. */
function describeTroubles({ progress, notes }: Run): string {
  const { retried = {}, timed_out = 0 } = progress.tries ?? {};
  const troubles = [...describeFailures(progress), ...notes, ...describeTrouble(progress)];
  if (timed_out > 0 || Object.keys(retried).length > 0)
    troubles.push("lower --concurrency or raise the time-out: docs/runs.md");
  return troubles.map((text) => `; ${printable(text)}`).join("");
}

function showBar(first: Progress, rate: Rate): ProgressDisplay {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} predictions{rest}",
    barsize: barWidth,
  });
  let latest = first;
  const start = () => bar.start(latest.samples, latest.evaluated, { rest: "" });
  start();
  return {
    update(run) {
      const { progress } = run;
      latest = progress;
      bar.setTotal(progress.samples);
      bar.update(progress.evaluated, { rest: rate(progress).describe() + describeTroubles(run) });
    },
    say(text) {
      bar.stop();
      printNotice(text);
      start();
    },
    stop: () => bar.stop(),
  };
}

function showLines(rate: Rate): ProgressDisplay {
  let lastLineAtMs = performance.now();
  let last: { text: string; isShown: boolean } = { text: "", isShown: true };
  const show = () => {
    if (!last.isShown) printNotice(last.text);
    last.isShown = true;
    lastLineAtMs = performance.now();
  };
  return {
    update(run) {
      const { evaluated, samples } = run.progress;
      const text = `${evaluated}/${samples} predictions${rate(run.progress).describe()}${describeTroubles(run)}`;
      last = { text, isShown: false };
      if (performance.now() - lastLineAtMs >= lineEveryMs) show();
    },
    say: (text) => printNotice(text),
    stop: show,
  };
}

/** How fast predictions become evaluated ones, or for how long none has. */
export function measureRate(nowMs = () => performance.now()) {
  let readings: { atMs: number; evaluated: number }[] = [];
  let lastEnd = { atMs: nowMs(), evaluated: 0 };
  return ({ evaluated, samples }: Pick<Progress, "evaluated" | "samples">) => {
    const now = nowMs();
    if (evaluated !== lastEnd.evaluated) lastEnd = { atMs: now, evaluated };
    readings = [...readings.filter(({ atMs }) => now - atMs <= rateOverMs), { atMs: now, evaluated }];
    const [oldest = { atMs: now, evaluated }] = readings;
    const perSecond = ((evaluated - oldest.evaluated) / (now - oldest.atMs)) * 1000;
    return {
      describe(): string {
        const stillMs = now - lastEnd.atMs;
        if (stillMs >= stillAfterMs && evaluated < samples)
          return `; no sample has ended for ${describeSeconds(stillMs / 1000)}`;
        if (!(perSecond > 0)) return "";
        const left =
          evaluated === samples ? "" : `, ${describeSeconds((samples - evaluated) / perSecond)} left`;
        return `, ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s${left}`;
      },
    };
  };
}

function describeSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
