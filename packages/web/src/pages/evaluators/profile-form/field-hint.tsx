import type { ConfigField } from "./config-field.ts";

export function FieldHint({ field: { description, fallback, kind } }: { field: ConfigField }) {
  const hasDefault = fallback !== undefined && kind !== "switch" && !isEmptyList(fallback);
  return (
    <>
      {description !== undefined && <WithCode text={description} />}
      {hasDefault && (
        <span>
          {description !== undefined && " "}
          Default: {Array.isArray(fallback) ? fallback.join(", ") : String(fallback)}.
        </span>
      )}
    </>
  );
}

/** Text between backticks is code. */
function WithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <code key={index} className="font-mono">
        {part}
      </code>
    ),
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
