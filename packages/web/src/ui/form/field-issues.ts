import { PresageError, type ValidationError } from "@presage/sdk";
import { formatCount } from "../../format/format-number.ts";

/** What the server found wrong with a body, and where in it. */
export interface PlacedFault {
  path: string[];
  text: string;
}

/** The faults of a refused body; none of any other error. A name that is taken is a fault of `nameField`, if that is given. */
export function placedFaults(error: unknown, nameField?: string): PlacedFault[] {
  if (!(error instanceof PresageError)) return [];
  if (nameField !== undefined && error.category === "conflict") {
    return [{ path: [nameField], text: error.message }];
  }
  return error.faults.map((fault) => ({ path: fault.loc.slice(1).map(String), text: wordsOf(fault) }));
}

/** The server speaks to programs; what people meet most is said to them. */
function wordsOf({ type, msg, ctx }: ValidationError): string {
  if (type === "missing" || type === "string_too_short") return "Fill this in.";
  if (type === "too_short") return "Add at least one.";
  if (type === "string_too_long" && typeof ctx?.max_length === "number") {
    return `${formatCount(ctx.max_length)} characters are the most.`;
  }
  return msg.replace(/^Value error, /, "");
}

/** What is wrong with the value at a path or below it. */
export function faultAt(faults: readonly PlacedFault[], ...path: string[]): string | undefined {
  const texts = faults
    .filter((fault) => path.every((step, depth) => fault.path[depth] === step))
    .map((fault) => {
      const item = fault.path[path.length];
      return item !== undefined && /^\d+$/.test(item)
        ? `Item ${Number(item) + 1}: ${fault.text}`
        : fault.text;
    });
  return texts.length === 0 ? undefined : texts.join(". ");
}

/** The faults that lie at none of these paths, nor below one. */
export function faultsElsewhere(
  faults: readonly PlacedFault[],
  paths: readonly (readonly string[])[],
): PlacedFault[] {
  return faults.filter(
    (fault) => !paths.some((path) => path.every((step, depth) => fault.path[depth] === step)),
  );
}
