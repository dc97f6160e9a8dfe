import type { EvaluationResult } from "@presage/sdk";
import type { ReactNode } from "react";
import type { ResultRow } from "../../data/results.ts";
import { formatScore } from "../../format/numbers.ts";
import { withoutVersion } from "../../format/words.ts";
import { TextDifference } from "../../ui/difference/text-difference.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";
import { PlainText } from "../../ui/untrusted-text/plain-text.tsx";
import { VerdictBadge } from "../../ui/verdict.tsx";

export type TextName = "difference" | "output" | "gold" | "input" | "system" | "context";

interface ResultTextsProps {
  result: EvaluationResult;
  /** The tab that was chosen last, possibly for another result. */
  chosen: TextName | undefined;
  onChoose(name: TextName): void;
}

interface Tab {
  value: TextName;
  label: string;
  content: ReactNode;
}

/** One tab for each evaluated text, and one that compares output and gold answer. */
export function ResultTexts({ result, chosen, onChoose }: ResultTextsProps) {
  const tabs = tabsOf(result);
  const first = tabs.at(0);
  if (first === undefined)
    return <p className="border-y border-line px-4 py-3 text-sm text-ink-3">No texts were stored.</p>;
  const shown = tabs.find(({ value }) => value === chosen) ?? first;
  return (
    <Tabs
      label="Texts"
      value={shown.value}
      onChange={onChoose}
      tabs={tabs.map((tab) => ({ ...tab, content: <div className="p-4 pb-0">{tab.content}</div> }))}
    />
  );
}

function tabsOf(result: EvaluationResult): Tab[] {
  const output = result.evaluated_model_output;
  const gold = result.evaluated_model_gold_answer;
  const contexts = result.evaluated_model_retrieved_context ?? [];
  const { positions } = result.additional_info;
  const tabs: (Tab | undefined)[] = [
    output !== null && gold !== null
      ? {
          value: "difference",
          label: "Output vs. gold answer",
          content: (
            <TextDifference
              before={gold}
              after={output}
              beforeLabel="Gold answer"
              afterLabel="Output"
              isPredicted
            />
          ),
        }
      : undefined,
    output === null
      ? undefined
      : {
          value: "output",
          label: positions?.length ? `Output (${positions.length} marked)` : "Output",
          content: <PlainText text={output} label="Output" positions={positions ?? undefined} />,
        },
    textTab("gold", "Gold answer", gold),
    textTab("input", "Input", result.evaluated_model_input),
    textTab("system", "System prompt", result.evaluated_model_system_prompt),
    contexts.length === 0
      ? undefined
      : {
          value: "context",
          label: `Retrieved context (${contexts.length})`,
          content: (
            <div className="flex flex-col gap-3">
              {contexts.map((text, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the list of one result never changes
                <PlainText key={index} text={text} label={`Context ${index + 1}`} />
              ))}
            </div>
          ),
        },
  ];
  return tabs.filter((tab) => tab !== undefined);
}

function textTab(value: TextName, label: string, text: string | null): Tab | undefined {
  return text === null ? undefined : { value, label, content: <PlainText text={text} label={label} /> };
}

type Verdict = Pick<ResultRow, "status" | "pass" | "score_raw" | "corrected" | "evaluator_id" | "created_at">;

/** The evaluator's verdict, and a person's correction. */
export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const { status, pass, score_raw, corrected, evaluator_id, created_at } = verdict;
  return (
    <div className="flex flex-wrap items-center gap-x-5 gap-y-2 text-sm">
      <Part name={corrected === null ? undefined : "Evaluator"}>
        <VerdictBadge status={status} pass={pass} />
        {score_raw !== null && <Score score={score_raw} />}
      </Part>
      {corrected !== null && (
        <Part name="A person">
          <VerdictBadge status={status} pass={corrected.pass} />
          {corrected.score !== null && <Score score={corrected.score} />}
        </Part>
      )}
      <span className="min-w-0 truncate font-medium" title={evaluator_id}>
        <InlineText text={withoutVersion(evaluator_id)} />
      </span>
      <span className="text-ink-3">
        <Time at={created_at} />
      </span>
    </div>
  );
}

function Part({ name, children }: { name: string | undefined; children: ReactNode }) {
  return (
    <span className="inline-flex items-center gap-2">
      {name !== undefined && <span className="text-xs text-ink-3">{name}</span>}
      {children}
    </span>
  );
}

function Score({ score }: { score: number }) {
  return (
    <span className="text-ink-2">
      score <span className="font-semibold text-ink tabular-nums">{formatScore(score)}</span>
    </span>
  );
}
