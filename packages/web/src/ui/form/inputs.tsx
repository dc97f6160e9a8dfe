import { clsx } from "clsx";
import { type ComponentProps, type InputHTMLAttributes, useState } from "react";

/** The look that inputs, text areas and selects share. */
export const controlLook =
  "w-full min-w-0 rounded-md border border-line-strong bg-surface text-sm text-ink transition-colors hover:border-ink-3 aria-invalid:border-fail disabled:cursor-not-allowed disabled:bg-sunken disabled:text-ink-3";

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return (
    <input
      type="text"
      autoComplete="off"
      {...rest}
      className={clsx(controlLook, "h-8.5 px-2.5", className)}
    />
  );
}

/** For a model's text: monospaced, and never corrected by the browser. */
export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return (
    <textarea
      spellCheck={false}
      autoComplete="off"
      autoCapitalize="off"
      {...rest}
      className={clsx(
        controlLook,
        "field-sizing-content max-h-80 min-h-16 px-2.5 py-1.5 font-mono text-xs leading-5",
        className,
      )}
    />
  );
}

export function Checkbox({ label, ...rest }: InputHTMLAttributes<HTMLInputElement> & { label: string }) {
  return (
    <label className="inline-flex items-center gap-2 text-sm">
      <input type="checkbox" {...rest} className="size-4 shrink-0 accent-accent" />
      {label}
    </label>
  );
}

interface SearchInputProps {
  label: string;
  placeholder?: string;
  /** The words in the URL. */
  words: string;
  onSearch(words: string): void;
}

/** A search field. The URL follows the input with a delay, and must not overwrite what has been typed since. */
export function SearchInput({ label, placeholder = "Search", words, onSearch }: SearchInputProps) {
  const [state, setState] = useState({ typed: words, seen: words, sent: [] as string[] });
  if (words !== state.seen) {
    const echo = state.sent.indexOf(words);
    setState(
      echo === -1
        ? { typed: words, seen: words, sent: [] }
        : { ...state, seen: words, sent: state.sent.slice(echo + 1) },
    );
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      className="w-56!"
      value={state.typed}
      onChange={({ target }) => {
        setState({ ...state, typed: target.value, sent: [...state.sent, target.value] });
        onSearch(target.value);
      }}
    />
  );
}
