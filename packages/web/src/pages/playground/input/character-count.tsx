import { formatCount } from "../../../format/format-number.ts";

export function CharacterCount({ text }: { text: string }) {
  if (text === "") return null;
  const words = text.length === 1 ? "1 character" : `${formatCount(text.length)} characters`;
  return <span className="shrink-0 text-xs text-ink-3 tabular-nums">{words}</span>;
}
