import { PresageError, type ValidationError } from "@presage/sdk";
import { formatCount } from "../../format/format-number.ts";

/** What the server found wrong with a body, and where in it. */
export interface FieldIssue {
  path: string[];
  text: string;
}

/** The issues of a refused body; none of any other error. A name that is taken is a issue of `nameField`, if that is given. */
export function fieldIssues(error: unknown, nameField?: string): FieldIssue[] {
  if (!(error instanceof PresageError)) return [];
  if (nameField !== undefined && error.category === "conflict") {
    return [{ path: [nameField], text: error.message }];
  }
  return error.faults.map((issue) => ({ path: issue.loc.slice(1).map(String), text: wordsOf(issue) }));
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
export function issueAt(issues: readonly FieldIssue[], ...path: string[]): string | undefined {
  const texts = issues
    .filter((issue) => path.every((step, depth) => issue.path[depth] === step))
    .map((issue) => {
      const item = issue.path[path.length];
      return item !== undefined && /^\d+$/.test(item)
        ? `Item ${Number(item) + 1}: ${issue.text}`
        : issue.text;
    });
  return texts.length === 0 ? undefined : texts.join(". ");
}

/** The issues that lie at none of these paths, nor below one. */
export function otherIssues(
  issues: readonly FieldIssue[],
  paths: readonly (readonly string[])[],
): FieldIssue[] {
  return issues.filter(
    (issue) => !paths.some((path) => path.every((step, depth) => issue.path[depth] === step)),
  );
}

/** Leads the reader to the first control of a form that says it is wrong. */
export function focusFirstIssue(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}
