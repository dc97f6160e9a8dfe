import type { DatasetImport, SampleUsage } from "@presage/sdk";
import { counted, formatCost, formatCount } from "../../format/numbers.ts";
import { TagList } from "../../parts/datasets.tsx";
import { Fact } from "../../ui/card.tsx";
import { ScrollRegion } from "../../ui/page.tsx";
import { InlineText } from "../../ui/untrusted-text/inline-text.tsx";

/** Singular and plural of what is left out. */
const leftOutNouns: Record<keyof DatasetImport["left_out"], [string, string]> = {
  reasoning: ["reasoning text", "reasoning texts"],
  text_beside_call: ["text beside a call of a tool", "texts beside calls of tools"],
  last_message_of_agent: ["last message of the agent", "last messages of the agent"],
  call_without_answer: ["call without an answer", "calls without an answer"],
  answer_without_call: ["answer without a call", "answers without a call"],
  side_chain: ["turn of a side chain", "turns of side chains"],
  branch: ["turn of another branch", "turns of other branches"],
  call_of_simulated_user: ["call of the simulated user", "calls of the simulated user"],
  turn_without_loss: ["turn without loss", "turns without loss"],
  media: ["image, sound or file", "images, sounds or files"],
  other_event: ["other event", "other events"],
};

/** The parts of traces that no sample contains, in words. */
export function describeLeftOut(leftOut: DatasetImport["left_out"]): string {
  return Object.entries(leftOut)
    .map(([reason, count]) => counted(count, ...(leftOutNouns[reason as keyof typeof leftOut] ?? [reason])))
    .join(", ");
}

/** The secrets that were replaced, in words. */
export function describeRedacted(redacted: DatasetImport["redacted"]): string {
  return Object.entries(redacted)
    .map(([kind, count]) => `${formatCount(count)} × ${kind.replaceAll(/[-_]/g, " ")}`)
    .join(", ");
}

/** The tokens and the cost of a call to a model, in words. */
export function describeUsage(usage: SampleUsage): string {
  const { prompt_tokens, completion_tokens, cached_tokens, cost_usd } = usage;
  const cached = cached_tokens === undefined ? "" : ` (${formatCount(cached_tokens)} cached)`;
  const parts = [
    prompt_tokens === undefined ? undefined : `${counted(prompt_tokens, "token")} in${cached}`,
    completion_tokens === undefined ? undefined : `${counted(completion_tokens, "token")} out`,
    cost_usd === undefined ? undefined : formatCost(cost_usd, "USD"),
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}

/** How the lines of a revision were made from traces. */
export function ImportFacts({ read }: { read: DatasetImport }) {
  const { format, files, left_out, redacted, repaired, skipped, options } = read;
  const texts = [
    ["Format", format === "mixed" ? [...new Set(files.map(({ format }) => format))].join(", ") : format],
    ["Left out", describeLeftOut(left_out)],
    ["Redacted", describeRedacted(redacted)],
    ["Repaired", repaired === 0 ? "" : counted(repaired, "text")],
    ["Faulty", skipped === 0 ? "" : `${counted(skipped, "line or document", "lines or documents")} left out`],
  ] as const;
  return (
    <>
      {texts.map(
        ([name, text]) =>
          text !== "" && (
            <Fact key={name} look="lined" name={name}>
              {text}
            </Fact>
          ),
      )}
      {files.length > 1 && (
        <Fact look="lined" name="Files">
          <ScrollRegion label="Files" className="max-h-40 min-w-0 overflow-y-auto">
            <ul>
              {files.map(({ file, format, recognised_by }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a revision never changes
                <li key={index} className="truncate" title={`${format}, recognised by ${recognised_by}`}>
                  <InlineText text={file ?? "without a name"} />
                </li>
              ))}
            </ul>
          </ScrollRegion>
        </Fact>
      )}
      {Object.keys(options).length > 0 && (
        <Fact look="lined" name="Options">
          <TagList tags={options} />
        </Fact>
      )}
    </>
  );
}
