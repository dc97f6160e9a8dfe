import { TextDifference } from "../difference/text-difference.tsx";
import { PlainText } from "../untrusted-text/plain-text.tsx";
import { useNarrow } from "../use-narrow.ts";
import { sharesLines } from "./shares-lines.ts";

interface StepTextsProps {
  before: string;
  after: string;
  beforeLabel: string;
  afterLabel: string;
}

/** Two texts of a step beside each other with the difference marked. Where all of it differs, marks would only be noise. */
export function StepTexts({ before, after, beforeLabel, afterLabel }: StepTextsProps) {
  const isNarrow = useNarrow();
  if (before === after) {
    return <PlainText text={after} label={`${beforeLabel} and ${afterLabel.toLowerCase()}, identical`} />;
  }
  if (sharesLines(before, after)) {
    return (
      <TextDifference
        before={before}
        after={after}
        beforeLabel={beforeLabel}
        afterLabel={afterLabel}
        firstLayout={isNarrow ? "unified" : "side-by-side"}
      />
    );
  }
  return (
    <div className="grid min-w-0 gap-3 lg:grid-cols-2">
      <PlainText text={before} label={beforeLabel} />
      <PlainText text={after} label={afterLabel} />
    </div>
  );
}
