import type { EvaluationStatus } from "@presage/sdk";
import { clsx } from "clsx";
import { CircleAlert, CircleCheck, CircleMinus, CircleX, type LucideIcon } from "lucide-react";
import { formatScore } from "../format/numbers.ts";
import { Badge, type Tone } from "./badge.tsx";

interface Verdict {
  status: EvaluationStatus;
  pass: boolean | null;
}

/** The outcome of an evaluation. A missing verdict is a separate state and never looks like a fail. */
export function VerdictBadge(verdict: Verdict) {
  const { label, Icon, tone } = lookOf(verdict);
  return (
    <Badge tone={tone} icon={<Icon aria-hidden />}>
      {label}
    </Badge>
  );
}

/** A verdict where space is limited: a sign and the score. */
export function VerdictMark({ score, ...verdict }: Verdict & { score: number | null }) {
  const { label, Icon, tone } = lookOf(verdict);
  const said = tone === "warn" ? "No verdict" : label;
  // A score of 1 for a pass, or 0 for a fail, adds no information.
  const isSaid = verdict.pass !== null && score === Number(verdict.pass);
  return (
    <span className="inline-flex flex-row-reverse items-center gap-1.5 align-middle" title={said}>
      <Icon aria-label={said} role="img" className={clsx("size-3.5 shrink-0", inks[tone])} />
      <span className={clsx("tabular-nums", isSaid && "sr-only")}>{formatScore(score)}</span>
    </span>
  );
}

/** A verdict as a sign alone, named by its evaluator. */
export function VerdictSign({ verdict, of }: { verdict: Verdict; of: string }) {
  const { label, Icon, tone } = lookOf(verdict);
  return <Icon role="img" aria-label={`${of}: ${label}`} className={clsx("size-4 shrink-0", inks[tone])} />;
}

export function verdictLabel(verdict: Verdict): string {
  return lookOf(verdict).label;
}

interface Look {
  label: string;
  Icon: LucideIcon;
  tone: Exclude<Tone, "accent">;
}

const inks: Record<Look["tone"], string> = {
  neutral: "text-ink-3",
  pass: "text-pass",
  fail: "text-fail",
  warn: "text-warn",
};

function lookOf({ status, pass }: Verdict): Look {
  switch (status) {
    case "failed":
      return { label: "Error", Icon: CircleAlert, tone: "warn" };
    case "validation_error":
      return { label: "Unusable input", Icon: CircleAlert, tone: "warn" };
    case "contradictory":
      return { label: "Contradictory", Icon: CircleAlert, tone: "warn" };
    case "not_applicable":
      return { label: "Not applicable", Icon: CircleMinus, tone: "neutral" };
    case "success":
      if (pass === null) return { label: "Score only", Icon: CircleMinus, tone: "neutral" };
      return pass
        ? { label: "Pass", Icon: CircleCheck, tone: "pass" }
        : { label: "Fail", Icon: CircleX, tone: "fail" };
  }
}

/** The width of a column of verdicts, whose heading, the evaluator's name, has up to three lines. */
export function verdictColumnWidthPx(name: string): number {
  const longest = Math.max(name.length / 2, ...name.split(/(?<=-)| /).map((part) => part.length));
  return Math.min(128, Math.max(80, 28 + 7 * Math.ceil(longest)));
}
