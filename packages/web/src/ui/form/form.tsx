// Forms: their drafts, the issues of a refused save, and JSON in their fields.

import { PresageError, type ValidationError } from "@presage/sdk";
import { type ReactNode, useState } from "react";
import { plainMessage } from "../../format/errors.ts";
import { formatCount } from "../../format/numbers.ts";
import { signedInUserId } from "../../session.ts";
import { Button, type ButtonProps } from "../button.tsx";
import { ErrorNotice } from "../notice.tsx";

interface DraftFormProps<Request, Saved> {
  /** Saves the draft. */
  save: {
    mutate(request: Request, callbacks: { onSuccess(saved: Saved): void; onError(): void }): void;
    isPending: boolean;
    error: unknown;
    reset(): void;
  };
  /** Undefined while the draft cannot be saved. */
  request: Request | undefined;
  onSaved(saved: Saved): void;
  submitLabel: string;
  stored: Pick<DraftHandle<object>, "isChanged" | "discard">;
  /** The issues of a refused save. */
  refused: readonly FieldIssue[];
  /** The paths whose issues the fields show. */
  shownPaths: readonly (readonly string[])[];
  /** The revision that the draft began with, and the newest. */
  revisions?: RevisedMeanwhileProps;
  children: ReactNode;
}

/** A form with a stored draft. If saving is refused, the focus moves to the first field with an issue. */
export function DraftForm<Request, Saved>({
  save,
  request,
  onSaved,
  submitLabel,
  stored,
  refused,
  shownPaths,
  revisions,
  children,
}: DraftFormProps<Request, Saved>) {
  function startOver() {
    stored.discard();
    save.reset();
  }
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (request === undefined) return;
        const form = event.currentTarget;
        // Focuses after React has rendered the issues.
        save.mutate(request, { onSuccess: onSaved, onError: () => setTimeout(() => focusFirstIssue(form)) });
      }}
    >
      {children}
      <OtherIssueList issues={otherIssues(refused, shownPaths)} />
      {revisions !== undefined && !save.isPending && <RevisedMeanwhile {...revisions} />}
      {save.error !== null && refused.length === 0 && <ErrorNotice error={save.error} />}
      <div className="flex items-center justify-end gap-2">
        {stored.isChanged && (
          <Button variant="quiet" onClick={startOver}>
            Start over
          </Button>
        )}
        <Button type="submit" variant="primary" isBusy={save.isPending} disabled={request === undefined}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

interface DialogButtonsProps extends ButtonProps {
  onCancel(): void;
}

/** The end of a form in a dialog: its submit and cancel buttons. */
export function DialogButtons({ onCancel, ...submit }: DialogButtonsProps) {
  return (
    <div className="flex justify-end gap-2">
      <Button variant="quiet" onClick={onCancel}>
        Cancel
      </Button>
      <Button type="submit" variant="primary" {...submit} />
    </div>
  );
}

interface DraftHandle<Draft> {
  draft: Draft;
  /** Whether the draft differs from the initial one. */
  isChanged: boolean;
  change(part: Partial<Draft>): void;
  /** Resets to the initial draft. */
  discard(): void;
}

/**
 * Form input that survives closing the form, reloading the page and signing in again, until the tab is closed.
 * Stored per user, since someone else may sign in with this tab.
 */
export function useDraft<Draft extends Record<string, string>>(
  key: string,
  initial: Draft,
): DraftHandle<Draft> {
  const storageKey = `draft:${signedInUserId()}:${key}`;
  // Only the entered parts: the rest follows the initial draft, some of which may still be loading.
  const [entered, setEntered] = useState(() => readEntered(storageKey, initial));
  const draft = { ...initial, ...entered };
  return {
    draft,
    isChanged: Object.entries(initial).some(([name, text]) => draft[name] !== text),
    change(part) {
      const next = { ...entered, ...part };
      setEntered(next);
      storeDraft(storageKey, next);
    },
    discard() {
      setEntered({});
      sessionStorage.removeItem(storageKey);
    },
  };
}

/** Binds fields to the parts of a draft: the value, a function that changes it, and its issue, found here or by the server. */
export function bindDraft<Draft extends Record<string, string>>(
  draft: Draft,
  change: (part: Partial<Draft>) => void,
  refused: readonly FieldIssue[],
  issues: { [Name in keyof Draft]?: string | undefined } = {},
) {
  /** `path` is the field's path in the request, where it differs from the name. */
  return (name: keyof Draft & string, ...path: string[]) => ({
    value: draft[name] ?? "",
    issue: issues[name] ?? issueAt(refused, ...(path.length === 0 ? [name] : path)),
    onChange: (text: string) => change({ [name]: text } as Partial<Draft>),
  });
}

export type BoundField<Draft extends Record<string, string>> = ReturnType<typeof bindDraft<Draft>>;

function readEntered<Draft extends Record<string, string>>(
  storageKey: string,
  initial: Draft,
): Partial<Draft> {
  const json = sessionStorage.getItem(storageKey);
  if (json === null) return {};
  // Another version of the page may have stored it: take only the fields that this version knows.
  const stored: Record<string, unknown> = JSON.parse(json);
  const known = Object.entries(stored).filter(([name, text]) => name in initial && typeof text === "string");
  return Object.fromEntries(known) as Partial<Draft>;
}

function storeDraft(storageKey: string, draft: Partial<Record<string, string>>): void {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify(draft));
  } catch {
    // Too long for the browser's storage: the form still has the input.
  }
}

/** An issue in a request body, and its path. */
export interface FieldIssue {
  path: string[];
  text: string;
}

/** The issues of a rejected body; none for other errors. A name that is taken is an issue of `nameField`, if given. */
export function fieldIssues(error: unknown, nameField?: string): FieldIssue[] {
  if (!(error instanceof PresageError)) return [];
  const isTaken = error.category === "conflict" && /\b(already|reserved)\b/.test(error.message);
  if (nameField !== undefined && isTaken) return [{ path: [nameField], text: error.message }];
  return error.issues.map((issue) => ({ path: issue.loc.slice(1).map(String), text: wordsOf(issue) }));
}

/** Rewords the most common issues for people. */
function wordsOf({ type, msg, ctx }: ValidationError): string {
  if (type === "missing" || type === "string_too_short") return "This field is required.";
  if (type === "too_short") return "Add at least one.";
  if (type === "string_too_long" && typeof ctx?.max_length === "number") {
    return `At most ${formatCount(ctx.max_length)} characters.`;
  }
  return plainMessage(msg);
}

/** The issues at a path or below it. */
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

/** The issues that are neither at one of these paths nor below one. */
export function otherIssues(
  issues: readonly FieldIssue[],
  paths: readonly (readonly string[])[],
): FieldIssue[] {
  return issues.filter(
    (issue) => !paths.some((path) => path.every((step, depth) => issue.path[depth] === step)),
  );
}

/** Focuses the first invalid control of a form. */
export function focusFirstIssue(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

/** The issues of a form that none of its fields shows. */
function OtherIssueList({ issues }: { issues: readonly FieldIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <ul role="alert" className="list-disc pl-5 text-sm text-fail">
      {issues.map(({ path, text }) => (
        <li key={`${path.join(".")} ${text}`}>
          <code className="font-mono text-xs">{path.join(".")}</code> {text}
        </li>
      ))}
    </ul>
  );
}

interface RevisedMeanwhileProps {
  /** The revision that the draft began with; undefined if it began with none. */
  before: { revision: number } | undefined;
  now: { revision: number } | undefined;
}

/** Warns of someone else's revision, which a save would overwrite. */
function RevisedMeanwhile({ before, now }: RevisedMeanwhileProps) {
  if (now?.revision === before?.revision) return null;
  return (
    <p role="status" className="text-sm text-warn">
      Revision {now?.revision} was created while you were editing. Saving overwrites its changes.
    </p>
  );
}

export type JsonObject = Record<string, unknown>;

/** The parsed object, or what is wrong with the text. */
export function parseJsonObject(text: string): { value: JsonObject } | { issue: string } {
  const parsed = parseJson(text);
  if ("issue" in parsed) return parsed;
  return isJsonObject(parsed.value) ? { value: parsed.value } : { issue: "This must be an object: {…}" };
}

/** The parsed value, or why the text is not JSON. */
export function parseJson(text: string): { value: unknown } | { issue: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { issue: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
