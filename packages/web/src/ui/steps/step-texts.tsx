import type { DatasetSample } from "@presage/sdk";
import { clsx } from "clsx";
import { formatCount } from "../../format/numbers.ts";
import { humanizeName } from "../../format/words.ts";
import { Fold } from "../card.tsx";
import { TextDifference } from "../difference/text-difference.tsx";
import { useNarrow } from "../screen.ts";
import { findJson } from "../untrusted-text/json-lines.ts";
import { PlainText } from "../untrusted-text/plain-text.tsx";

interface StepTextsProps {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
  isPredicted?: boolean;
  /** One above the other, where only half of the page is available. */
  isStacked?: boolean;
}

/** Two texts of a step side by side with the difference marked. If they differ entirely, marks would only be noise. */
export function StepTexts({ isStacked = false, ...texts }: StepTextsProps) {
  const { before, after, beforeLabel, afterLabel } = texts;
  const isNarrow = useNarrow();
  if (before === after) {
    return <PlainText text={after} label={`${beforeLabel} and ${afterLabel.toLowerCase()}, identical`} />;
  }
  if (sharesLines(before, after)) {
    return <TextDifference {...texts} firstLayout={isNarrow || isStacked ? "unified" : "side-by-side"} />;
  }
  return (
    <div className={clsx("grid min-w-0 gap-3", !isStacked && "lg:grid-cols-2")}>
      <PlainText text={before} label={beforeLabel} />
      <PlainText text={after} label={afterLabel} />
    </div>
  );
}

/** What the model is told besides state and action: the context, or the conversation so far. Closed at first, as steps share it. */
export function SampleBackground({ sample: { context, messages = [] } }: { sample: DatasetSample }) {
  const parts = Object.entries(context ?? {}).flatMap(([name, text]) =>
    typeof text === "string" ? [{ key: name, label: humanizeName(name), text }] : [],
  );
  const turns = messages.map(({ role, content }, index) => ({
    key: `${index}`,
    label: `${index + 1}. ${role}`,
    text: content,
  }));
  const shown = [...parts, ...turns];
  if (shown.length === 0) return null;
  const characters = shown.reduce((sum, { text }) => sum + text.length, 0);
  return (
    <Fold
      title={parts.length > 0 ? "Context" : "Conversation"}
      note={`${formatCount(characters)} characters`}
    >
      {shown.map(({ key, label, text }) => (
        <PlainText key={key} text={text} label={label} />
      ))}
    </Fold>
  );
}

type Asked = Pick<DatasetSample, "interaction" | "messages">;

/** The recorded state before the action; in a conversation, the last assistant turn. */
export function stateOf({ interaction, messages = [] }: Asked): string {
  if (interaction) return interaction.state;
  return messages.findLast(({ role }) => role === "assistant")?.content ?? "";
}

/** The action; in a conversation, the user's last turn. */
export function actionOf({ interaction, messages = [] }: Asked): string {
  if (interaction) return interaction.action;
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

/** Whether the difference of two texts is worth reading: both are JSON, or they share words or lines. */
export function sharesLines(before: string, after: string): boolean {
  if (findJson(before) !== undefined && findJson(after) !== undefined) return true;
  const lines = linesOf(before);
  const others = new Set(linesOf(after));
  if (lines.some((line) => others.has(line))) return true;
  // Single lines are compared by words.
  return lines.length <= fewLines && others.size <= fewLines && sharesWords(before, after);
}

const fewLines = 4;
const leastShared = 0.3;

function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

function sharesWords(before: string, after: string): boolean {
  const [one, other] = [wordsOf(before), wordsOf(after)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared >= leastShared * Math.min(one.size, other.size) && shared > 0;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
