import { cutBefore } from "./cut-before.ts";
import { Pieces } from "./pieces.tsx";

const maxCharacters = 300;

/** A short untrusted text inside a line. Line breaks are shown as symbols. */
export function InlineText({ text }: { text: string }) {
  const beginning = text.length > maxCharacters ? `${text.slice(0, cutBefore(text, maxCharacters))}…` : text;
  return (
    <bdi>
      <Pieces text={beginning.replaceAll("\n", "↵ ").replaceAll("\t", " ")} />
    </bdi>
  );
}
