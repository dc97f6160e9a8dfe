import { Tooltip } from "../../overlay/tooltip.tsx";

/** A name that says what it means where it is pointed at or focused. */
export function ExplainedName({ name, explanation }: { name: string; explanation: string | undefined }) {
  if (explanation === undefined) return name;
  return (
    <Tooltip text={explanation}>
      <button
        type="button"
        className="cursor-help font-medium underline decoration-dotted underline-offset-3"
      >
        {name}
      </button>
    </Tooltip>
  );
}
